// `paceline prepare reviews` as a user runs it, stops it and kills it.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <csignal>

#include "base/file/file.h"
#include "base/paths.h"
#include "system/prepare_run.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(PrepareRun, EndsWithASummary) {
  const Result result = run("out.h5");
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("40,000"), HasSubstr("train"), HasSubstr("test"),
                                   HasSubstr("vocabulary"), HasSubstr("words of a review")));
}

// Wherever it is killed, the same command ends as if it had not been, and until then there is no
// output.
TEST_F(PrepareRun, ThatIsKilledGoesOn) {
  ASSERT_EQ(run("whole.h5").code, 0);
  const fs::path work = dir_ / "out.h5.work";
  for (const char* done : {"read-000000.json", "group-000.json", "words.json"}) {
    PacelineProcess process(dir_.path(), command("out.h5"));
    eventually(20, [&] { return fs::exists(work / done) || fs::exists(dir_ / "out.h5"); });
    process.signal(SIGKILL);
    process.wait();
    if (fs::exists(dir_ / "out.h5")) break;
  }
  ASSERT_EQ(run("out.h5").code, 0);
  EXPECT_EQ(read_text(dir_ / "out.h5"), read_text(dir_ / "whole.h5"));
  EXPECT_FALSE(fs::exists(work));
}

TEST_F(PrepareRun, ThatIsInterruptedSaysHowToGoOn) {
  int code = 0;
  for (int tries = 0; tries < 20 && code == 0; ++tries) {  // it may be faster
    fs::remove(dir_ / "out.h5");
    PacelineProcess process(dir_.path(), command("out.h5"));
    eventually(20, [&] {
      return fs::exists(dir_ / "out.h5.work" / "manifest.json") || fs::exists(dir_ / "out.h5");
    });
    process.signal(SIGINT);
    code = process.wait();
    if (code == 0) continue;
    EXPECT_THAT(process.output(), HasSubstr("the same command goes on"));
    EXPECT_FALSE(fs::exists(dir_ / "out.h5"));
  }
  EXPECT_EQ(code, 130);
}

TEST_F(PrepareRun, EndsAlsoWhenNobodyReadsItsSummary) {
  EXPECT_EQ(run_shell(dir_.path(), fmt::format("bash -c \"set -o pipefail; '{}' prepare reviews "
                                               "reviews.json --output out.h5 | true\"",
                                               program_path())),
            0);
  EXPECT_TRUE(fs::exists(dir_ / "out.h5"));
}

// What a shell, and Hadoop, would do.
TEST_F(PrepareRun, InTwoHalvesGivesTheSame) {
  ASSERT_EQ(run("whole.h5").code, 0);
  const std::string program = program_path();
  const std::string pipe = fmt::format(
      "'{0}' prepare reviews --as mapper < reviews.json 2> counters | LC_ALL=C sort | "
      "'{0}' prepare reviews --as reducer > grouped && "
      "'{0}' prepare reviews grouped --input-format grouped --output halves.h5 --test-share 0.1",
      program);
  ASSERT_EQ(run_shell(dir_.path(), pipe), 0);
  EXPECT_THAT(read_text(dir_ / "counters"), HasSubstr("reporter:counter:paceline,reviews,40000"));
  EXPECT_EQ(run_shell(dir_.path(),
                      "h5diff whole.h5 halves.h5 /train && "
                      "h5diff whole.h5 halves.h5 /test && "
                      "h5diff whole.h5 halves.h5 /vocabulary"),
            0);
}

// With its own libraries: h5py knows no class of ours.
TEST_F(PrepareRun, IsReadByOthers) {
  ASSERT_EQ(run("out.h5").code, 0);
  write_atomically(dir_ / "look.py", R"(import h5py, json
with h5py.File("out.h5") as file:
    counts = json.loads(file.attrs["counts"])
    ids, labels = file["train/ids"], file["train/labels"]
    assert ids.dtype == "uint16" and ids.chunks == (1024, 100) and ids.compression == "gzip"
    assert ids.shape == (counts["parts"]["train"]["rows"], 100) and labels.shape == ids.shape[:1]
    assert sum(labels[:]) == counts["parts"]["train"]["positive"]
    assert ids[:].max() == 3 + len(file["vocabulary"])
    assert file["vocabulary"][0].decode().startswith("word")
    assert "product" in [word.decode() for word in file["stop_words"]]
)");
  EXPECT_EQ(run_shell(dir_.path(), "/usr/bin/python3 look.py"), 0);
  EXPECT_EQ(run_shell(dir_.path(), "h5dump -d /train/labels out.h5 > labels.txt"), 0);
  EXPECT_THAT(read_text(dir_ / "labels.txt"), HasSubstr("H5T_STD_U8LE"));
}

// In a file system of its own, which is too small at first.
TEST_F(PrepareRun, OnAFullDiskSaysSoAndGoesOnWhenThereIsRoom) {
  fs::create_directory(dir_ / "small");
  const auto on_disk = [&](const std::string& size) {
    auto words = command("small/out.h5");
    words.insert(words.end(), {"--work-dir", dir_.file("work")});
    const std::string mount = fmt::format(
        "cd '{}' && mount -t tmpfs -o size={} none small && \"$0\" \"$@\"; "
        "code=$?; ls small; exit $code",
        dir_.path().string(), size);
    PacelineProcess process(dir_.path(), words,
                            {"unshare", "--map-root-user", "--mount", "sh", "-c", mount});
    const int code = process.wait();
    return Result{code, process.output()};
  };
  for (const char* size : {"100k", "500k", "1m"}) {  // at the start of the output, and in it
    const Result full = on_disk(size);
    EXPECT_EQ(full.code, 3) << full.output;
    EXPECT_THAT(full.output, HasSubstr("small/out.h5: No space left on device"));
    EXPECT_THAT(full.output, Not(HasSubstr("out.h5\n")));
  }
  const Result enough = on_disk("100m");
  EXPECT_EQ(enough.code, 0) << enough.output;
  EXPECT_THAT(enough.output, AllOf(HasSubstr("going on"), HasSubstr("out.h5\n")));
}

TEST_F(PrepareRun, LooksAtWhatIsPipedIn) {
  const auto piped = [&](const std::string& source) {
    const int code =
        run_shell(dir_.path(),
                  fmt::format("{} | '{}' prepare reviews - --output piped.h5 --json > summary 2>&1",
                              source, program_path()));
    return Result{code, read_text(dir_ / "summary")};
  };
  const Result tsv = piped("printf '5\\tgood1 thing1\\n1\\tbad1\\n'");
  EXPECT_EQ(tsv.code, 0) << tsv.output;
  EXPECT_THAT(tsv.output, AllOf(HasSubstr("\"rows_in\":2"), HasSubstr("\"input_bytes\":22")));
  const auto content_of = [](const Result& result) {
    EXPECT_EQ(result.code, 0) << result.output;
    return nlohmann::json::parse(result.output)["content_checksum"];
  };
  const auto plain = content_of(piped("cat reviews.json"));
  EXPECT_EQ(content_of(piped("gzip -c reviews.json")), plain);
  const Result cut = piped("gzip -c reviews.json | head -c 1000");
  EXPECT_EQ(cut.code, 3);
  EXPECT_THAT(cut.output, HasSubstr("standard input: the compressed data is cut off"));
}

// What was read of a pipe that is gone is not taken for what comes now.
TEST_F(PrepareRun, ThatWasPipedInIsNotGoneOnWith) {
  PacelineProcess process(
      dir_.path(), {"prepare", "reviews", "-", "--output", dir_.file("out.h5")},
      {"sh", "-c", fmt::format("exec \"$0\" \"$@\" < '{}'", dir_.file("reviews.json"))});
  eventually(20, [&] {
    return fs::exists(dir_ / "out.h5.work" / "read-000000.json") || fs::exists(dir_ / "out.h5");
  });
  process.signal(SIGKILL);
  process.wait();
  EXPECT_EQ(run_shell(dir_.path(), fmt::format("printf '5\\tgood1\\n' | '{}' prepare reviews - "
                                               "--output out.h5 --json > summary",
                                               program_path())),
            0);
  EXPECT_THAT(read_text(dir_ / "summary"), HasSubstr("\"rows_in\":1,"));
}

// At a terminal, where nothing comes until somebody types.
TEST_F(PrepareRun, ThatWaitsForAPipeIsInterrupted) {
  const std::string held = fmt::format(
      "cd '{}' && mkfifo pipe && exec 3<>pipe && exec \"$0\" \"$@\" < pipe", dir_.path().string());
  PacelineProcess process(dir_.path(), {"prepare", "reviews", "-", "--output", "out.h5"},
                          {"sh", "-c", held});
  ASSERT_TRUE(eventually(20, [&] {  // as soon as it takes SIGINT and SIGTERM itself
    const std::string status = read_text(fmt::format("/proc/{}/status", process.pid()));
    return status.find("SigBlk:\t0000000000004002") != std::string::npos;
  }));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130);
}

// Whoever should read what it writes does not, and no flag ends that.
TEST_F(PrepareRun, EndsAtOnceWhenInterruptedTwice) {
  ASSERT_EQ(::mkfifo(dir_.file("pipe").c_str(), 0600), 0);
  const int pipe = ::open(dir_.file("pipe").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(pipe, 0);
  PacelineProcess process(
      dir_.path(), {"prepare", "reviews", dir_.file("reviews.json"), "--as", "mapper"},
      {"sh", "-c", fmt::format("exec \"$0\" \"$@\" > '{}'", dir_.file("pipe"))});
  const int room = ::fcntl(pipe, F_GETPIPE_SZ);
  ASSERT_TRUE(eventually(20, [&] {
    int waiting = 0;
    return ::ioctl(pipe, FIONREAD, &waiting) == 0 && waiting > room - 4096;
  }));
  process.signal(SIGINT);
  ASSERT_TRUE(eventually(20, [&] { return !is_pending(process.pid(), SIGINT); }));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130);
  ::close(pipe);
}

TEST_F(PrepareRun, WithoutInputOrRoomSaysSo) {
  const auto refused = [&](std::vector<std::string> words, int code, const char* says) {
    words.insert(words.begin(), {"prepare", "reviews"});
    const Result result = paceline(dir_.path(), words);
    EXPECT_EQ(result.code, code) << result.output;
    EXPECT_THAT(result.output, HasSubstr(says));
  };
  const std::string input = dir_.file("reviews.json");
  refused({"nothing.json", "--output", dir_.file("x.h5")}, 3, "nothing.json");
  refused({input}, 2, "--output");
  refused({"--output", dir_.file("x.h5")}, 2, "INPUT");
  refused({input, "--as", "mapper", "--output", dir_.file("x.h5")}, 2, "--output");
  refused({input, "--output", dir_.file("x.h5"), "--cut", "middle"}, 2, "--cut");
  refused({input, "--output", dir_.file("x.h5"), "--memory", "10M"}, 2, "--memory");
  refused({input, "--output", dir_.file("x.h5"), "--parallel-output"}, 2, "mpirun");
  refused({input, "--output", dir_.file("x.h5"), "--test-share", "-1"}, 2, "below 0");
  write_atomically(dir_ / "r.tsv", "5\tfine\n");
  refused({dir_.file("r.tsv"), "--as", "mapper"}, 2, "--rating-field 1");
  refused({input, "--output", "/dev/null/x.h5"}, 3, "/dev/null/x.h5");
  refused({input, "--output", dir_.file("x.h5"), "--stop-words", "missing"}, 3, "missing");
}

}  // namespace
}  // namespace paceline
