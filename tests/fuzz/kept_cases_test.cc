// Every case that a fuzzer has found, and those it begins with, on any compiler.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/file/file.h"
#include "base/paths.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

class KeptCases : public testing::TestWithParam<const FuzzTarget*> {};

TEST_P(KeptCases, AreAcceptedOrRefused) {
  std::vector<fs::path> cases;
  for (const auto& entry :
       fs::directory_iterator(fs::path(source_path("tests/fuzz")) / GetParam()->name)) {
    cases.push_back(entry.path());
  }
  std::ranges::sort(cases);
  ASSERT_FALSE(cases.empty());
  for (const fs::path& kept : cases) {
    const std::string bytes = read_text(kept);
    const FuzzBytes view(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    EXPECT_NO_THROW(GetParam()->run(view)) << kept;
    if (GetParam()->seal == nullptr) continue;
    std::vector<std::uint8_t> sealed(view.begin(), view.end());
    GetParam()->seal(sealed);
    EXPECT_NO_THROW(GetParam()->run(sealed)) << kept << ", sealed";
  }
}

INSTANTIATE_TEST_SUITE_P(All, KeptCases, testing::ValuesIn(fuzz_targets()),
                         [](const auto& fuzzer) { return std::string(fuzzer.param->name); });

}  // namespace
}  // namespace paceline
