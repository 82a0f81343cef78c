#include "prepare/prepare.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <map>
#include <set>
#include <sstream>

#include "base/text.h"
#include "data/clean.h"
#include "prepare/prepare_fixture.h"
#include "prepare/streaming.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The same by the shortest way: text without stop words → label.
std::map<std::string, std::multiset<int>> expected_rows(const std::vector<Review>& reviews,
                                                        const PrepareSettings& settings) {
  std::map<std::string, std::map<int, int>> ratings;
  for (const Review& review : reviews) {
    std::string cleaned;
    append_clean(review.text, cleaned);
    ++ratings[cleaned][review.rating];
  }
  const std::set<std::string> stops(settings.stop_words.begin(), settings.stop_words.end());
  std::map<std::string, std::multiset<int>> rows;
  for (const auto& [text, counts] : ratings) {
    int best = 0;
    for (const auto& [rating, count] : counts) {
      if (best == 0 || count > counts.at(best)) best = rating;
    }
    std::vector<std::string> kept;
    for (const std::string& word : split(text, ' ')) {
      if (!stops.contains(word) && kept.size() < settings.length) kept.push_back(word);
    }
    if (!kept.empty()) rows[join(kept, " ")].insert(best <= 3 ? 0 : 1);
  }
  return rows;
}

TEST_F(PrepareTest, GivesWhatTheShortestWayGives) {
  const auto reviews = made_up(3000);
  const Json summary = prepare({make("r.json", as_json(reviews))});
  EXPECT_EQ(summary["rows_in"], reviews.size());
  EXPECT_EQ(summary["texts"].get<std::size_t>() + summary["duplicates"].get<std::size_t>(),
            reviews.size());
  const PreparedReviews file(options_.output);
  const Vocabulary words = file.vocabulary();
  std::map<std::string, std::multiset<int>> rows;
  for_each_review(file, PreparedPart::kTrain,
                  [&](std::span<const std::int32_t> tokens, std::int32_t label) {
                    std::vector<std::string> text;
                    for (const std::int32_t token : tokens) text.emplace_back(words.word(token));
                    rows[join(text, " ")].insert(label);
                  });
  EXPECT_EQ(rows, expected_rows(reviews, options_.settings));
  EXPECT_FALSE(fs::exists(dir_ / "out.h5.work"));
  EXPECT_FALSE(fs::exists(dir_ / "out.h5.partial"));
}

TEST_F(PrepareTest, TheContentDependsOnNeitherThreadsNorFilesNorTheirOrder) {
  const auto reviews = made_up(2000);
  options_.settings.test_share = 0.2;
  options_.settings.validation_share = 0.1;
  const Json one = prepare({make("all.json", as_json(reviews))});
  const std::string bytes = read_text(options_.output);
  options_.threads = 1;
  EXPECT_EQ(prepare()["content_checksum"], one["content_checksum"]);
  EXPECT_EQ(read_text(options_.output), bytes);
  options_.threads = 5;
  options_.portion_bytes = 10'000;
  prepare();
  EXPECT_EQ(read_text(options_.output), bytes);

  const std::span<const Review> all(reviews);
  const std::vector<Review> first(all.begin(), all.begin() + 700);
  const std::vector<Review> second(all.begin() + 700, all.end());
  const fs::path a = make("a.json", as_json(second));
  const fs::path b = make("b.json", as_json(first));
  EXPECT_EQ(prepare({a, b})["content_checksum"], one["content_checksum"]);
  const std::string of_two = read_text(options_.output);
  prepare({b, a});
  EXPECT_EQ(read_text(options_.output), of_two);
}

TEST_F(PrepareTest, FilesMayBeCompressedAndOfAnyFormat) {
  const auto reviews = made_up(500);
  const Json plain = prepare({make("r.json", as_json(reviews))});
  const std::string text = as_json(reviews);
  gzFile gzip = ::gzopen(dir_.file("r.gz").c_str(), "wb");
  ::gzwrite(gzip, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(gzip);
  EXPECT_EQ(prepare({dir_ / "r.gz"})["content_checksum"], plain["content_checksum"]);
  std::string zstd(::ZSTD_compressBound(text.size()), '\0');
  zstd.resize(::ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 1));
  EXPECT_EQ(prepare({make("r.zst", zstd)})["content_checksum"], plain["content_checksum"]);
  std::string tsv;
  std::string csv = "text,stars\n";
  for (const Review& review : reviews) {
    tsv += fmt::format("{}\t{}\n", review.rating, review.text);
    csv += fmt::format("\"{}\",{}\n", review.text, review.rating);
  }
  EXPECT_EQ(prepare({make("r.tsv", tsv)})["content_checksum"], plain["content_checksum"]);
  EXPECT_EQ(prepare({make("r.csv", csv)})["content_checksum"], plain["content_checksum"]);
}

TEST_F(PrepareTest, ATextIsInOnePartHoweverOftenItIsThere) {
  options_.settings.test_share = 0.3;
  options_.settings.duplicates = Duplicates::kKeep;
  options_.settings.stop_words.clear();
  Random random(3);
  std::string text;
  for (int i = 0; i < 500; ++i) {
    std::string line = "5\t";
    for (int k = 0; k < 6; ++k) line += fmt::format(" w{}", random.below(40));
    text += line + "\n" + line + "\n" + line + "\n";
  }
  prepare({make("r.tsv", text)});
  const PreparedReviews file(options_.output);
  std::array<std::set<std::vector<std::int32_t>>, 2> parts;
  for (const PreparedPart part : {PreparedPart::kTrain, PreparedPart::kTest}) {
    for_each_review(file, part, [&](std::span<const std::int32_t> tokens, std::int32_t) {
      parts[part == PreparedPart::kTest].emplace(tokens.begin(), tokens.end());
    });
  }
  EXPECT_GT(parts[1].size(), 100U);
  EXPECT_EQ(parts[0].size() + parts[1].size(), 500U);
  for (const auto& tokens : parts[1]) EXPECT_FALSE(parts[0].contains(tokens));
}

TEST_F(PrepareTest, OnlyWordsOfTheTrainingPartCount) {
  options_.settings.test_share = 0.3;
  options_.settings.length = 100;
  prepare({make("r.json", as_json(made_up(2000)))});
  const PreparedReviews file(options_.output);
  std::set<std::int32_t> used;
  for_each_review(file, PreparedPart::kTrain,
                  [&](std::span<const std::int32_t> tokens, std::int32_t) {
                    used.insert(tokens.begin(), tokens.end());
                  });
  EXPECT_EQ(used.size(), file.vocabulary().words().size());
  EXPECT_GT(file.examples(PreparedPart::kTest), 300U);
}

TEST_F(PrepareTest, DuplicatesMayBeKept) {
  options_.settings.duplicates = Duplicates::kKeep;
  const auto reviews = made_up(800);
  const Json summary = prepare({make("r.json", as_json(reviews))});
  EXPECT_EQ(
      summary["parts"]["train"]["rows"].get<std::size_t>() + summary["empty"].get<std::size_t>(),
      reviews.size());
}

TEST_F(PrepareTest, AVocabularyMayBeGiven) {
  options_.settings.words = {"good", "bad"};
  prepare({make("r.tsv", "5\tgood stuff\n1\tbad, bad\n")});
  const PreparedReviews file(options_.output);
  std::multiset<std::vector<std::int32_t>> rows;
  for_each_review(file, PreparedPart::kTrain,
                  [&](std::span<const std::int32_t> tokens, std::int32_t) {
                    rows.emplace(tokens.begin(), tokens.end());
                  });
  EXPECT_EQ(rows, (std::multiset<std::vector<std::int32_t>>{{4, 1}, {5, 5}}));
}

TEST_F(PrepareTest, CutsOffEitherEnd) {
  options_.settings.length = 2;
  options_.settings.cut = TextCut::kStart;
  options_.format = PrepareFormat::kTsv;
  options_.output = dir_ / "out.tsv";
  const Json summary = prepare({make("r.tsv", "5\tone1 two2 three3\n")});
  EXPECT_EQ(read_text(options_.output), "train\t1\ttwo2 three3\n");
  EXPECT_EQ(summary["cut"], 1);
  EXPECT_EQ(summary["different_words"], 3);
}

TEST_F(PrepareTest, CountsWhatItLeavesOut) {
  const Json summary = prepare({make("r.json",
                                     "{\"overall\":5,\"reviewText\":\"fine thing1\"}\n"
                                     "{\"overall\":5}\n"
                                     "{\"reviewText\":\"x\"}\n"
                                     "{\"overall\":9,\"reviewText\":\"x\"}\n"
                                     "{\"overall\":3.5,\"reviewText\":\"between\"}\n"
                                     "{\"overall\":2,\"reviewText\":\"!!!\"}\n"
                                     "{\"overall\":2,\"reviewText\":\"the a\"}\n"
                                     "garbage \x01\x02\xFF\n"
                                     "{\"overall\":1,\"reviewText\":\"bad\xFFthing\"}\n")});
  EXPECT_EQ(summary["rows_in"], 9);
  EXPECT_EQ(summary["rejected"], (Json{{"without a text", 1},
                                       {"without a rating", 1},
                                       {"with a rating out of range", 1},
                                       {"without a word", 1},
                                       {"not of the format", 1}}));
  EXPECT_EQ(summary["undecided"], 1);
  EXPECT_EQ(summary["empty"], 1);
  EXPECT_EQ(summary["replaced_bytes"], 2);
  EXPECT_EQ(summary["parts"]["train"]["rows"], 2);
}

TEST_F(PrepareTest, SaysWhyThereIsNothingToTake) {
  options_.inputs = {make("empty.json", "").string()};
  EXPECT_THAT(refusal(), HasSubstr("the files are empty"));
  EXPECT_FALSE(fs::exists(dir_ / "out.h5.work"));
  options_.output = dir_ / "b.h5";
  options_.inputs = {make("bad.json", "nonsense\nmore\n").string()};
  EXPECT_THAT(refusal(), HasSubstr("without a rating"));
  options_.output = dir_ / "c.h5";
  options_.inputs = {make("stop.tsv", "5\tthe\n").string()};
  EXPECT_THAT(refusal(), HasSubstr("nothing is left without stop words"));
  EXPECT_FALSE(fs::exists(options_.output));
  options_.memory = 1'000'000;
  EXPECT_THAT(refusal(), HasSubstr("--memory"));
}

TEST_F(PrepareTest, AQuoteThatIsNotClosedIsNotOfTheFormat) {
  const Json summary = prepare({make("r.csv", "5,good1\n1,\"never closed\n2,bad1\n")});
  EXPECT_EQ(summary["rejected"], (Json{{"not of the format", 1}}));
}

TEST_F(PrepareTest, FoldersAreReadWithoutWhatOthersPutThere) {
  fs::create_directory(dir_ / "in");
  for (const char* name : {"part-0", ".part-0.crc", "_SUCCESS"}) {
    make(fmt::format("in/{}", name), "5\tgood1\n");
  }
  EXPECT_EQ(prepare({dir_ / "in"})["rows_in"], 1);
  EXPECT_EQ(prepare({dir_ / "i*"})["rows_in"], 1);
}

// The folder of what is between matches, too.
TEST_F(PrepareTest, APatternMeansTheSameFilesAfterAnInterruption) {
  make("out-in.tsv", "5\tgood1\n1\tbad1\n");
  options_.inputs = {(dir_ / "out*").string()};
  stop_ = true;
  EXPECT_THROW(prepare(), Interrupted);
  make("out.h5.partial", "left behind");
  stop_ = false;
  EXPECT_EQ(prepare()["rows_in"], 2);
}

TEST_F(PrepareTest, RunsAreJoinedWhereThereAreTooManyToOpen) {
  options_.portion_bytes = 5'000;
  options_.threads = 2;
  const fs::path input = make("r.json", as_json(made_up(3000)));
  prepare({input});
  const std::string bytes = read_text(options_.output);
  fs::remove(options_.output);
  options_.open_files = 16;  // eight of each thread, again and again
  prepare();
  EXPECT_EQ(read_text(options_.output), bytes);
}

// It stays in bounds: no more than a few rows are in memory at a time.
TEST_F(PrepareTest, RowsMayBeVeryLong) {
  options_.settings.length = 65'535;
  const Json summary = prepare({make("r.json", as_json(made_up(300)))});
  const PreparedReviews file(options_.output);
  std::size_t rows = 0;
  for_each_review(file, PreparedPart::kTrain,
                  [&](std::span<const std::int32_t>, std::int32_t) { ++rows; });
  EXPECT_EQ(rows, summary["parts"]["train"]["rows"].get<std::size_t>());
}

TEST_F(PrepareTest, ARunThatWasStoppedGoesOnAndEndsTheSame) {
  const fs::path input = make("r.json", as_json(made_up(5000)));
  options_.portion_bytes = 20'000;
  const Json whole = prepare({input});
  const std::string bytes = read_text(options_.output);
  fs::remove(options_.output);
  // Stopped as soon as some task is done, at ever later ones; whoever is faster than that ends.
  int interrupted = 0;
  for (const char* name : {"read-000003.json", "group-001.json", "words.json"}) {
    stop_ = false;
    const StopWhenThereIs watcher(dir_ / "out.h5.work" / name, stop_);
    try {
      prepare();
    } catch (const Interrupted&) {
      ++interrupted;
      EXPECT_FALSE(fs::exists(options_.output));
      EXPECT_TRUE(fs::exists(dir_ / "out.h5.work" / "manifest.json"));
    }
  }
  EXPECT_GT(interrupted, 0);
  stop_ = false;
  EXPECT_EQ(prepare()["content_checksum"], whole["content_checksum"]);
  EXPECT_EQ(read_text(options_.output), bytes);
}

TEST_F(PrepareTest, AFolderOfAnEarlierRunIsUsedOrRefused) {
  const fs::path input = make("r.json", as_json(made_up(2000)));
  const Json whole = prepare({input});
  stop_ = true;
  EXPECT_THROW(prepare(), Interrupted);
  stop_ = false;
  bool told = false;
  prepare_reviews(options_, *alone_, stop_,
                  {[](const PrepareProgress&) {},
                   [&](const std::string& sentence) {
                     told = told || sentence.find("going on") != std::string::npos;
                   }});
  EXPECT_TRUE(told);
  options_.settings.length = 21;
  stop_ = true;
  EXPECT_THROW(prepare(), Interrupted);
  options_.settings.length = 22;
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--fresh"), HasSubstr("with other length:")));
  options_.fresh = true;
  stop_ = false;
  EXPECT_NE(prepare()["content_checksum"], whole["content_checksum"]);
}

// As Hadoop would: two mappers, a sort, two reducers, and the rest in one command.
TEST_F(PrepareTest, WhatMappersAndReducersMakeIsTheSame) {
  const auto reviews = made_up(3000);
  options_.settings.test_share = 0.1;
  const Json whole = prepare({make("all.json", as_json(reviews))});
  const std::string text = as_json(reviews);
  const std::size_t half = text.find('\n', text.size() / 2) + 1;
  std::vector<std::string> lines;
  for (const std::string& part : {text.substr(0, half), text.substr(half)}) {
    std::ostringstream mapped;
    map_reviews(find_inputs({make("part.json", part).string()}, ReviewFormat::kAuto, {}, false),
                options_.settings, false, mapped);
    for (std::string& line : split(mapped.str(), '\n')) {
      if (!line.empty()) lines.push_back(std::move(line));
    }
  }
  std::ranges::sort(lines);
  options_.settings.format = ReviewFormat::kGrouped;
  const auto key = [](const std::string& line) { return line.substr(0, line.find('\t')); };
  std::array<std::string, 2> sorted;
  for (const std::string& line : lines) sorted[hash_of_text(key(line)) % 2] += line + "\n";
  std::vector<fs::path> grouped;
  for (const std::string& part : sorted) {
    std::ostringstream reduced;
    reduce_reviews(find_inputs({make("sorted", part).string()}, ReviewFormat::kGrouped, {}, false),
                   options_.settings, false, reduced);
    grouped.push_back(make(fmt::format("part-{}", grouped.size()), reduced.str()));
  }
  const Json end = prepare(grouped);
  EXPECT_EQ(end["content_checksum"], whole["content_checksum"]);
  EXPECT_EQ(end["rows_in"], whole["rows_in"]);
  EXPECT_EQ(end["duplicates"], whole["duplicates"]);
}

}  // namespace
}  // namespace paceline
