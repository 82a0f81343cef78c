// What libFuzzer calls, for the fuzzer that the environment's PACELINE_FUZZER names.
#include <google/protobuf/stubs/logging.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/fuzz_target.h"

namespace {

const paceline::FuzzTarget& chosen() {
  static const paceline::FuzzTarget& target = []() -> const paceline::FuzzTarget& {
    const char* name = std::getenv("PACELINE_FUZZER");
    for (const paceline::FuzzTarget* each : paceline::fuzz_targets()) {
      if (name != nullptr && std::string_view(name) == each->name) return *each;
    }
    std::fputs("PACELINE_FUZZER must be the name of a folder in tests/fuzz\n", stderr);
    std::exit(2);
  }();
  return target;
}

}  // namespace

extern "C" {

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t limit);

int LLVMFuzzerInitialize(int*, char***) {
  chosen();
  spdlog::set_level(spdlog::level::off);
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t limit,
                                    unsigned seed) {
  size = LLVMFuzzerMutate(data, size, limit);
  const auto seal = chosen().seal;
  if (seal != nullptr && seed % 4 != 0) seal({data, size});
  return size;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen().run({data, size});
  return 0;
}
}
