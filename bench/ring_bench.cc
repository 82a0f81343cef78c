// Sums over a ring of workers, without a model or a run around it.
//
//   ring_bench RANK SIZE ADDRESS NOTES FLOATS ROUNDS [bf16]
//
// One process per rank, each with an address of its own; NOTES is a folder that all see.
// A round sums FLOATS floats, bucket by bucket from the back, as a backward pass would
// release them. Rank 0 prints the median round.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/error.h"
#include "exchange/allreduce/buckets.h"
#include "exchange/allreduce/ring.h"
#include "file_notes.h"

namespace {

using namespace paceline;
double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 6 || words.size() > 7) {
    throw std::invalid_argument("usage: ring_bench RANK SIZE ADDRESS NOTES FLOATS ROUNDS [bf16]");
  }
  RingOptions options;
  options.rank = static_cast<std::uint32_t>(std::stoul(words[0]));
  options.size = static_cast<std::uint32_t>(std::stoul(words[1]));
  options.host = words[2];
  options.name = "rank" + words[0];
  options.wire = words.size() == 7 ? WireFormat::kBf16 : WireFormat::kFloat;
  bench::FileNotes notes(words[3]);
  const std::uint64_t floats = std::stoull(words[4]);
  const std::uint64_t rounds = std::stoull(words[5]);
  Ring ring(options);
  ring.connect(notes);
  const Buckets buckets(floats);
  Buffer values = Buffer::floats(floats);
  std::vector<double> times;
  for (std::uint64_t round = 0; round < rounds + 1; ++round) {
    std::fill(values.as_floats().begin(), values.as_floats().end(), 1.0f);
    double ready[] = {1};
    ring.sum(std::span<double>(ready), 0);  // all begin together
    const TimePoint begin = Clock::now();
    for (std::size_t bucket = buckets.size(); bucket-- > 0;) {
      const Range range = buckets.floats(bucket);
      ring.sum(values.as_floats().subspan(range.begin, range.size()),
               static_cast<std::uint32_t>(bucket + 1));
    }
    if (round > 0) times.push_back(seconds(Clock::now() - begin));
    for (const float value : values.as_floats()) {
      if (value != static_cast<float>(options.size)) throw Error("a sum is wrong");
    }
  }
  if (options.rank == 0) std::printf("{\"seconds_per_round\": %.9f}\n", median(std::move(times)));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "ring_bench: %s\n", error.what());
  return 1;
}
