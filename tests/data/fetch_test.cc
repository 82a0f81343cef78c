#include "data/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/idx_files.h"
#include "data/sha256.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

std::string sha256_of(const std::string& text) {
  Sha256 sum;
  sum.add(std::as_bytes(std::span(text)));
  return sum.hex();
}

void ignore(std::string_view) {}

// A set of four short files, and sources that deliver it in different states.
class Fetch : public testing::Test {
 protected:
  Fetch() {
    set_.name = "letters";
    for (const char letter : {'a', 'b', 'c', 'd'}) {
      const std::string text(1000, letter);
      set_.files.push_back({std::string(1, letter), text.size(), sha256_of(text)});
    }
  }

  static void deliver(const KnownSet& set, const fs::path& folder) {
    for (const DataFile& file : set.files) {
      const std::string text(file.bytes, file.name[0]);
      // Half of the files are compressed, as sources like it.
      if (file.name < "c") {
        write_plain(folder / file.name, text);
      } else {
        write_gzip(folder / (file.name + ".gz"), text);
      }
    }
  }

  DataSource good() {
    return {"the good source", [this](const fs::path& scratch) {
              ++calls_;
              fs::create_directory(scratch / "package");
              deliver(set_, scratch / "package");
              return scratch / "package";
            }};
  }
  DataSource unreachable() {
    return {"the far source", [this](const fs::path&) -> fs::path {
              ++calls_;
              throw DataError("no route to host");
            }};
  }
  // Delivers all four, of which one is replaced by `text`.
  DataSource wrong(const std::string& name, const std::string& text) {
    return {"the wrong source", [this, name, text](const fs::path& scratch) {
              ++calls_;
              deliver(set_, scratch);
              write_plain(scratch / name, text);
              return scratch;
            }};
  }

  fs::path get(std::vector<DataSource> sources) {
    set_.sources = std::move(sources);
    return fetch(set_, cache_, [this](std::string_view line) { said_.emplace_back(line); });
  }
  std::string error_of(std::vector<DataSource> sources) {
    return data_error_of([&] { get(std::move(sources)); });
  }

  void expect_whole_set() {
    EXPECT_TRUE(is_complete(set_, home_));
    for (const DataFile& file : set_.files) {
      EXPECT_EQ(read_text(home_ / file.name), std::string(1000, file.name[0]));
    }
    EXPECT_FALSE(fs::exists(cache_ / "letters.partial"));
  }

  TempDir dir_;
  fs::path cache_ = dir_ / "cache";
  fs::path home_ = cache_ / "letters";
  KnownSet set_;
  std::vector<std::string> said_;
  int calls_ = 0;
};

TEST_F(Fetch, StoresTheFilesUncompressedWithTheirSums) {
  EXPECT_EQ(get({good()}), home_);
  expect_whole_set();
  std::string sums;
  for (const DataFile& file : set_.files) sums += file.sha256 + "  " + file.name + "\n";
  EXPECT_EQ(read_text(home_ / "SHA256SUMS"), sums);
}

TEST_F(Fetch, TriesTheSourcesInOrderUntilOneDelivers) {
  get({unreachable(), wrong("b", "short"), good(), unreachable()});
  EXPECT_EQ(calls_, 3);
  expect_whole_set();
  EXPECT_THAT(said_, Contains(AllOf(HasSubstr("the far source"), HasSubstr("no route to host"))));
  EXPECT_THAT(said_, Contains(AllOf(HasSubstr("the wrong source"), HasSubstr("b has 5 bytes"),
                                    HasSubstr("expected 1,000"))));
}

TEST_F(Fetch, SaysThatTheSetIsAlreadyThere) {
  get({good()});
  said_.clear();
  EXPECT_EQ(get({good()}), home_);
  EXPECT_EQ(calls_, 1);
  EXPECT_THAT(said_, testing::ElementsAre(HasSubstr("already in")));
}

TEST_F(Fetch, RefusesOtherContentOfTheRightSize) {
  const std::string error = error_of({wrong("c", std::string(1000, 'x'))});
  EXPECT_THAT(error, AllOf(HasSubstr("SHA-256 of c"), HasSubstr(sha256_of(std::string(1000, 'x'))),
                           HasSubstr(set_.files[2].sha256)));
  EXPECT_FALSE(fs::exists(home_));
}

TEST_F(Fetch, RefusesLongerContent) {
  EXPECT_THAT(error_of({wrong("a", std::string(5'000'000, 'a'))}), HasSubstr("a has more bytes"));
}

TEST_F(Fetch, RefusesASetWithAFileMissing) {
  DataSource source = good();
  source.get = [this](const fs::path& scratch) {
    deliver(set_, scratch);
    fs::remove(scratch / "d.gz");
    return scratch;
  };
  EXPECT_THAT(error_of({source}), HasSubstr("neither d nor d.gz"));
}

TEST_F(Fetch, ThatFailsEverywhereListsEachReasonAndWhatToDo) {
  EXPECT_THAT(error_of({unreachable(), wrong("b", "short")}),
              AllOf(HasSubstr("the far source: no route to host"),
                    HasSubstr("the wrong source: b has 5 bytes"), HasSubstr("a, b, c, d"),
                    HasSubstr("to " + home_.string()), HasSubstr("paceline data get letters")));
  EXPECT_FALSE(is_complete(set_, home_));
  EXPECT_FALSE(fs::exists(cache_ / "letters.partial"));
}

TEST_F(Fetch, TakesFilesThatWereCopiedByHand) {
  fs::create_directories(home_);
  deliver(set_, home_);
  EXPECT_FALSE(is_complete(set_, home_));
  get({unreachable()});
  EXPECT_EQ(calls_, 0);
  expect_whole_set();
}

TEST_F(Fetch, ReplacesFilesCopiedByHandThatAreWrong) {
  fs::create_directories(home_);
  write_plain(home_ / "a", "mine");
  write_plain(home_ / "notes", "keep this");
  get({good()});
  expect_whole_set();
  EXPECT_EQ(read_text(home_ / "notes"), "keep this");
}

TEST_F(Fetch, RepairsASetOfWhichAFileWasDamaged) {
  get({good()});
  fs::resize_file(home_ / "b", 10);
  EXPECT_FALSE(is_complete(set_, home_));
  get({good()});
  expect_whole_set();
}

TEST_F(Fetch, NoticesAndRepairsAFileThatChangedButNotInSize) {
  get({good()});
  EXPECT_NO_THROW(verify_files(set_, home_));
  const std::string other(1000, 'x');
  write_plain(home_ / "b", other);
  EXPECT_EQ(data_error_of([&] { verify_files(set_, home_); }),
            (home_ / "b").string() + " is damaged: its SHA-256 is " + sha256_of(other) +
                ", expected " + set_.files[1].sha256 +
                ". Replace it with: paceline data get letters --data-dir " +
                home_.parent_path().string());
  said_.clear();
  get({good()});
  EXPECT_THAT(said_, Contains(AllOf(HasSubstr("b is damaged"), HasSubstr("getting it anew"))));
  expect_whole_set();
  verify_files(set_, home_);
}

TEST_F(Fetch, DoesNotTakeTheSumsOfAnotherSetForItsOwn) {
  get({good()});
  set_.files[0].sha256 = sha256_of(std::string(1000, 'x'));
  EXPECT_FALSE(is_complete(set_, home_));
}

TEST_F(Fetch, GivesSourcesAnAbsoluteFolder) {
  DataSource source = good();
  source.get = [this](const fs::path& scratch) {
    EXPECT_TRUE(scratch.is_absolute());
    deliver(set_, scratch);
    return scratch;
  };
  cache_ = fs::proximate(cache_);
  ASSERT_TRUE(cache_.is_relative());
  EXPECT_TRUE(fs::equivalent(get({source}), home_));
  expect_whole_set();
}

TEST_F(Fetch, IntoAPlaceThatCannotBeWrittenIsADataError) {
  write_plain(dir_ / "file", "");
  cache_ = dir_ / "file";
  EXPECT_THAT(error_of({good()}), HasSubstr((dir_ / "file").string()));
}

// Kills a process at each line it says, one process per line, until one gets through.
TEST_F(Fetch, KilledAtAnyPointLeavesNoHalfSet) {
  set_.sources = {unreachable(), good()};
  bool got_through = false;
  for (int fatal_line = 0; !got_through; ++fatal_line) {
    ASSERT_LT(fatal_line, 100);
    fs::remove_all(cache_);
    const pid_t child = ::fork();
    if (child == 0) {
      int line = 0;
      fetch(set_, cache_, [&](std::string_view) {
        if (line++ == fatal_line) ::kill(::getpid(), SIGKILL);
      });
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    got_through = WIFEXITED(status);
    EXPECT_TRUE(got_through || WTERMSIG(status) == SIGKILL);
    // What is there is whole or does not count; either way the next attempt succeeds.
    if (is_complete(set_, home_)) {
      for (const DataFile& file : set_.files) {
        EXPECT_EQ(read_text(home_ / file.name), std::string(1000, file.name[0]));
      }
    }
    fetch(set_, cache_, ignore);
    expect_whole_set();
  }
}

TEST_F(Fetch, KilledInsideASourceLeavesNothingThatCounts) {
  DataSource deadly = good();
  deadly.get = [](const fs::path& scratch) {
    write_plain(scratch / "a", std::string(1000, 'a'));
    ::kill(::getpid(), SIGKILL);
    return scratch;
  };
  set_.sources = {deadly};
  const pid_t child = ::fork();
  if (child == 0) {
    fetch(set_, cache_, ignore);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(fs::exists(cache_ / "letters.partial"));
  EXPECT_FALSE(fs::exists(home_));
  get({good()});
  expect_whole_set();
}

TEST_F(Fetch, ByTwoAtOnceGetsTheSetOnce) {
  std::atomic<int> delivered = 0;
  set_.sources = {{"the counting source", [&](const fs::path& scratch) {
                     ++delivered;
                     deliver(set_, scratch);
                     return scratch;
                   }}};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { fetch(set_, cache_, ignore); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(delivered, 1);
  expect_whole_set();
}

}  // namespace
}  // namespace paceline
