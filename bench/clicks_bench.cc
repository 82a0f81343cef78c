// Made-up clicks, and the limit that learning from them has.
//
//   clicks_bench write DIR   writes train.svm and test.svm in LIBSVM's format, where the first
//                            feature is number 1
//   clicks_bench bare        rows in memory, one pass of AdaGrad, nothing around it
//
// Prints an object: what was written and the hidden model's loss on the test rows, or the
// speed of the pass and the loss on the test rows after it.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "base/denormals.h"
#include "base/file/file.h"
#include "made_up_clicks.h"

namespace {

using bench::Click;
using bench::kClickFeatures;
using bench::kClickNumbers;

struct Written {
  double positive = 0;
  double hidden_loss = 0;
};

Written write(const bench::MadeUpClicks& clicks, const std::filesystem::path& path,
              std::uint64_t first, std::uint64_t count) {
  paceline::AtomicFile file(path);
  Written written;
  std::string text;
  char word[32];
  for (std::uint64_t i = 0; i < count; ++i) {
    const Click click = clicks.click(first + i);
    written.positive += click.label / static_cast<double>(count);
    written.hidden_loss += click.loss / static_cast<double>(count);
    text += click.label > 0 ? "1" : "0";
    for (std::size_t k = 0; k < kClickFeatures; ++k) {
      if (k < kClickNumbers) {
        std::snprintf(word, sizeof word, " %u:%.3f", click.keys[k] + 1,
                      static_cast<double>(click.numbers[k]));
      } else {
        std::snprintf(word, sizeof word, " %u:1", click.keys[k] + 1);
      }
      text += word;
    }
    text += '\n';
    if (text.size() > (1U << 20)) {
      file.write(std::string_view(text));
      text.clear();
    }
  }
  file.write(std::string_view(text));
  file.commit();
  return written;
}

// A row of a data set in memory: 39 keys and values, and a label.
struct Row {
  std::uint32_t keys[kClickFeatures];
  float values[kClickFeatures];
  float label;
};

std::vector<Row> rows_of(const bench::MadeUpClicks& clicks, std::uint64_t first,
                         std::uint64_t count) {
  std::vector<Row> rows(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Click click = clicks.click(first + i);
    for (std::size_t k = 0; k < kClickFeatures; ++k) {
      rows[i].keys[k] = click.keys[k];
      rows[i].values[k] = k < kClickNumbers ? click.numbers[k] : 1;
    }
    rows[i].label = click.label;
  }
  return rows;
}

struct Weight {
  float weight = 0;
  float squares = 0;
};

double bare_pass(const std::vector<Row>& rows, std::vector<Weight>& table, float& bias,
                 float rate) {
  constexpr std::size_t kAhead = 8;
  double loss = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kAhead < rows.size()) {
      for (const std::uint32_t key : rows[i + kAhead].keys) __builtin_prefetch(&table[key], 1);
    }
    const Row& row = rows[i];
    float score = bias;
    for (std::size_t k = 0; k < kClickFeatures; ++k) {
      score += table[row.keys[k]].weight * row.values[k];
    }
    const float chance = 1 / (1 + std::exp(-score));
    loss -= std::log(std::max(row.label > 0 ? chance : 1 - chance, 1e-7F));
    const float slope = chance - row.label;
    for (std::size_t k = 0; k < kClickFeatures; ++k) {
      Weight& at = table[row.keys[k]];
      const float gradient = slope * row.values[k];
      at.squares += gradient * gradient;
      at.weight -= rate * gradient / (std::sqrt(at.squares) + 1e-8F);
    }
    bias -= 0.01F * slope;
  }
  return loss / static_cast<double>(rows.size());
}

double test_loss(const std::vector<Row>& rows, const std::vector<Weight>& table, float bias) {
  double loss = 0;
  for (const Row& row : rows) {
    float score = bias;
    for (std::size_t k = 0; k < kClickFeatures; ++k) {
      score += table[row.keys[k]].weight * row.values[k];
    }
    loss += std::log1p(std::exp(row.label > 0 ? -score : score));
  }
  return loss / static_cast<double>(rows.size());
}

void run_bare() {
  const bench::MadeUpClicks clicks;
  const auto train = rows_of(clicks, 0, bench::kTrainClicks);
  const auto test = rows_of(clicks, bench::kFirstTestClick, bench::kTestClicks);
  std::vector<Weight> table(bench::kClickKeys);
  float bias = 0;
  const auto begun = std::chrono::steady_clock::now();
  const double progressive = bare_pass(train, table, bias, 0.1F);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  std::printf(
      "{\"rows_per_second\": %.0f, \"seconds\": %.6f, \"progressive_loss\": %.6f, "
      "\"test_loss\": %.6f}\n",
      static_cast<double>(train.size()) / seconds, seconds, progressive,
      test_loss(test, table, bias));
}

void run_write(const std::filesystem::path& folder) {
  const bench::MadeUpClicks clicks;
  std::filesystem::create_directories(folder);
  const Written train = write(clicks, folder / "train.svm", 0, bench::kTrainClicks);
  const Written test =
      write(clicks, folder / "test.svm", bench::kFirstTestClick, bench::kTestClicks);
  std::printf("{\"positive\": %.6f, \"hidden_train_loss\": %.6f, \"hidden_test_loss\": %.6f}\n",
              train.positive, train.hidden_loss, test.hidden_loss);
}

}  // namespace

int main(int argc, char** argv) {
  paceline::flush_denormals();
  try {
    if (argc == 2 && std::strcmp(argv[1], "bare") == 0) {
      run_bare();
    } else if (argc == 3 && std::strcmp(argv[1], "write") == 0) {
      run_write(argv[2]);
    } else {
      std::fprintf(stderr, "usage: clicks_bench write DIR | clicks_bench bare\n");
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "clicks_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
