// Made-up reviews for `paceline bench prepare`, and how fast prepared ones are read.
//
//   reviews_bench write FILE MEGABYTES   writes JSON lines
//   reviews_bench read FILE              an epoch of /train, as a run reads it, in one thread
//   reviews_bench bare FILE              the limit: the same chunks inflated, the same rows copied
//
// Prints an object: how many lines and bytes were written; or sequences per second, how many there
// were and the sum of all their numbers, which is the same for both.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "data/order.h"
#include "data/text.h"
#include "made_up_reviews.h"
#include "prepared_chunks.h"

namespace {

using paceline::Batch;
using paceline::Order;
using paceline::OrderKind;
using paceline::OrderOptions;

constexpr std::uint64_t kBatch = 256;

void write(const char* path, std::uint64_t bytes) {
  const bench::MadeUpReviews reviews;
  paceline::AtomicFile file(path);
  std::string text;
  std::uint64_t lines = 0;
  std::uint64_t written = 0;
  while (written + text.size() < bytes) {
    reviews.append(lines++, text);
    if (text.size() < (1U << 20)) continue;
    file.write(std::string_view(text));
    written += text.size();
    text.clear();
  }
  file.write(std::string_view(text));
  file.commit();
  std::printf("{\"lines\": %llu, \"bytes\": %llu}\n", static_cast<unsigned long long>(lines),
              static_cast<unsigned long long>(written + text.size()));
}

// Calls `read` with the examples of each batch of an epoch; it returns the sum of their numbers.
template <typename Read>
void measure(const OrderOptions& options, std::uint64_t rows, const Read& read) {
  const Order order(options, rows);
  std::vector<std::uint64_t> examples;
  std::uint64_t sum = 0;
  const auto begun = std::chrono::steady_clock::now();
  for (std::uint64_t begin = 0; begin < rows; begin += kBatch) {
    const paceline::Range positions{begin, std::min(begin + kBatch, rows)};
    examples.resize(positions.size());
    order.examples(0, positions, examples);
    sum += read(examples);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::printf("{\"sequences_per_second\": %.0f, \"rows\": %llu, \"sum\": %llu}\n",
              static_cast<double>(rows) / took.count(), static_cast<unsigned long long>(rows),
              static_cast<unsigned long long>(sum));
}

void read(const char* path) {
  paceline::TextOptions options;
  options.file = path;
  options.test_file = path;  // all of /train is learned from
  const auto size = paceline::prepared_size(options);
  if (!size) throw paceline::DataError("{} has no prepared reviews", path);
  options.vocabulary = size->vocabulary;
  options.length = size->length;
  options.order = {.kind = OrderKind::kBlocks, .seed = 1, .block = size->block};
  const auto dataset = open_texts(paceline::TextKind::kReviews, options, paceline::Split::kTrain, 0,
                                  "reviews/train");
  Batch batch;
  measure(options.order, dataset->info().examples, [&](const auto& examples) {
    dataset->read(examples, batch);
    std::uint64_t sum = 0;
    for (const std::uint8_t* row : batch.rows) {
      const auto tokens = paceline::sequence_of(row, 0);
      sum += static_cast<std::uint64_t>(std::accumulate(tokens.begin(), tokens.end(), 0));
    }
    return sum;
  });
}

// Keeps as many chunks as two windows have, and replaces the oldest.
void bare(const char* path) {
  bench::PreparedChunks chunks(path);
  const OrderOptions options{.kind = OrderKind::kBlocks, .seed = 1, .block = chunks.chunk_rows()};
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::vector<std::uint16_t>> slots(2 * options.window + 1);
  std::vector<std::uint64_t> chunk_in(slots.size(), kNone);
  std::vector<std::size_t> slot_of(chunks.chunks(), kNone);
  std::size_t next = 0;
  std::vector<std::uint16_t> batch(kBatch * chunks.length());
  measure(options, chunks.rows(), [&](const auto& examples) {
    std::uint16_t* out = batch.data();
    for (const std::uint64_t example : examples) {
      std::size_t& slot = slot_of[example / chunks.chunk_rows()];
      if (slot == kNone) {
        if (chunk_in[next] != kNone) slot_of[chunk_in[next]] = kNone;
        slot = next++;
        next %= slots.size();
        chunk_in[slot] = example / chunks.chunk_rows();
        chunks.inflate(chunk_in[slot], slots[slot]);
      }
      const std::uint16_t* row =
          slots[slot].data() + example % chunks.chunk_rows() * chunks.length();
      out = std::copy_n(row, chunks.length(), out);
    }
    return static_cast<std::uint64_t>(std::accumulate(batch.data(), out, 0U));
  });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string action = argc > 1 ? argv[1] : "";
    if (argc == 4 && action == "write") {
      write(argv[2], std::strtoull(argv[3], nullptr, 10) * 1'000'000);
      return 0;
    }
    if (argc == 3 && (action == "read" || action == "bare")) {
      action == "read" ? read(argv[2]) : bare(argv[2]);
      return 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reviews_bench: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: reviews_bench write FILE MEGABYTES | read FILE | bare FILE\n");
  return 2;
}
