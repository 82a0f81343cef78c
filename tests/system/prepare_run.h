// Raw reviews for `paceline prepare reviews`, and how it is run on them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "system/paceline_process.h"

namespace paceline {

// Returns its exit code.
inline int run_shell(const std::filesystem::path& dir, const std::string& command) {
  const int status = std::system(("cd '" + dir.string() + "' && " + command).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// For processes that this test starts: MPI's own plugins let go of nothing at their end, and are no
// longer there when the leak sanitizer looks whose memory it was.
inline void expect_leaks_of_mpi() {
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

class PrepareRun : public testing::Test {
 protected:
  // About 10 MB.
  PrepareRun() {
    Random random(6);
    std::string text;
    for (int i = 0; i < 40'000; ++i) {
      text += fmt::format("{{\"overall\": {}, \"reviewText\": \"", 1 + random.below(5));
      for (std::uint64_t words = 5 + random.below(40); words > 0; --words) {
        text += fmt::format("word{} ", random.below(1 + random.below(3000)));
      }
      text += "\"}\n";
    }
    write_atomically(dir_ / "reviews.json", text);
  }
  std::vector<std::string> command(const std::string& output) const {
    return {"prepare",  "reviews",         dir_.file("reviews.json"),
            "--output", dir_.file(output), "--test-share",
            "0.1",      "--threads",       "2"};
  }
  Result run(const std::string& output) { return paceline(dir_.path(), command(output)); }

  TempDir dir_;
};

}  // namespace paceline
