// What libFuzzer calls, for the fuzzer that PACELINE_FUZZER names.
#include <google/protobuf/stubs/logging.h>
#include <spdlog/spdlog.h>

#include "fuzz/fuzz_target.h"

extern "C" {

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t limit);

int LLVMFuzzerInitialize(int*, char***) {
  spdlog::set_level(spdlog::level::off);
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t limit,
                                    unsigned seed) {
  size = LLVMFuzzerMutate(data, size, limit);
  const auto seal = paceline::PACELINE_FUZZER.seal;
  if (seal != nullptr && seed % 4 != 0) seal({data, size});
  return size;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  paceline::PACELINE_FUZZER.run({data, size});
  return 0;
}
}
