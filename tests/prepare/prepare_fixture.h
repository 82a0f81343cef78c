// Made-up reviews, and a folder in which they are prepared.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "data/prepared.h"
#include "data/prepared_block.h"
#include "prepare/prepare.h"
#include "prepare/stop_words.h"

namespace paceline {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Review {
  std::string text;
  int rating = 0;
};

// Words of a few hundred, some texts twice and more with different ratings and different marks.
inline std::vector<Review> made_up(std::size_t count) {
  Random random(12);
  std::vector<Review> reviews;
  while (reviews.size() < count) {
    Review review;
    const std::uint64_t words = 1 + random.below(30);
    for (std::uint64_t i = 0; i < words; ++i) {
      const std::uint64_t word = random.below(1 + random.below(400));
      review.text +=
          word % 9 == 0 ? "the " : fmt::format("{}word{}! ", word % 5 == 0 ? "É" : "", word);
    }
    const std::uint64_t times = random.below(6) == 0 ? 1 + random.below(4) : 1;
    for (std::uint64_t i = 0; i < times; ++i) {
      review.rating = 1 + static_cast<int>(random.below(5));
      reviews.push_back({i % 2 == 0 ? review.text : "  " + review.text + "?", review.rating});
    }
  }
  return reviews;
}

inline std::string as_json(const std::vector<Review>& reviews) {
  std::string text;
  for (const Review& review : reviews) {
    text +=
        Json{{"reviewText", review.text}, {"overall", review.rating}, {"asin", "B0"}}.dump() + "\n";
  }
  return text;
}

inline void for_each_review(
    const PreparedReviews& file, PreparedPart part,
    const std::function<void(std::span<const std::int32_t> tokens, std::int32_t label)>& visit) {
  if (file.examples(part) == 0) return;
  const auto ids = file.ids(part);
  const std::vector<bool> labels = file.labels(part);
  auto label = labels.begin();
  for (std::uint64_t i = 0; i < ids->table().blocks(); ++i) {
    const PreparedBlock block =
        read_block(*ids, i, {file.numbers(), file.length(), TextCut::kEnd}, {});
    for (std::size_t row = 0; row < block.size(); ++row) {
      visit(block.row(row).subspan(1), *label++ ? 1 : 0);
    }
  }
}

// Stops the work as soon as there is such a file, or in the end: whoever is faster is not stopped.
class StopWhenThereIs {
 public:
  StopWhenThereIs(const fs::path& file, StopFlag& stop)
      : watcher_([this, file, &stop] {
          while (!over_ && !fs::exists(file)) std::this_thread::yield();
          stop = true;
        }) {}
  ~StopWhenThereIs() {
    over_ = true;
    watcher_.join();
  }
  StopWhenThereIs(const StopWhenThereIs&) = delete;
  StopWhenThereIs& operator=(const StopWhenThereIs&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::thread watcher_;
};

class PrepareTest : public testing::Test {
 protected:
  PrepareTest() {
    options_.output = dir_ / "out.h5";
    options_.settings.stop_words = default_stop_words();
    options_.settings.vocabulary = 2000;
    options_.settings.length = 20;
    options_.threads = 2;
    options_.memory = 400'000'000;
  }
  fs::path make(const std::string& name, const std::string& text) {
    write_atomically(dir_ / name, text);
    return dir_ / name;
  }
  Json prepare() { return prepare_reviews(options_, *alone_, stop_, {}); }
  Json prepare(const std::vector<fs::path>& inputs) {
    options_.inputs.clear();
    for (const fs::path& input : inputs) options_.inputs.push_back(input.string());
    return prepare();
  }
  std::string refusal() {
    try {
      prepare();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  TempDir dir_;
  std::unique_ptr<Fleet> alone_ = lone_process();
  PrepareOptions options_;
  StopFlag stop_ = false;
};

}  // namespace paceline
