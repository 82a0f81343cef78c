// Made-up reviews for `paceline bench prepare`.
//
//   reviews_bench write FILE MEGABYTES   writes JSON lines
//
// Prints an object: how many lines and bytes were written.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "base/file.h"
#include "made_up_reviews.h"

namespace {

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

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 4 && std::strcmp(argv[1], "write") == 0) {
      write(argv[2], std::strtoull(argv[3], nullptr, 10) * 1'000'000);
      return 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reviews_bench: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: reviews_bench write FILE MEGABYTES\n");
  return 2;
}
