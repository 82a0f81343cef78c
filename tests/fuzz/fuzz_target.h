// What all fuzzers have in common. A fuzzer feeds any bytes to one of our parsers: it must accept
// them and keep its promises, or refuse them with the error that its header names. Whatever else
// comes out of run() is a bug: another exception, a broken promise, a sanitizer's finding.
//
// libFuzzer drives one of them at a time (libfuzzer_main.cc). The cases that are kept beside them
// are fed to all of them by an ordinary test (kept_cases_test.cc), which any compiler can build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace paceline {

using FuzzBytes = std::span<const std::uint8_t>;

struct FuzzTarget {
  const char* name;
  void (*run)(FuzzBytes bytes);
  // Gives bytes the checksums that no fuzzer would guess; none: there are no such.
  void (*seal)(std::span<std::uint8_t> bytes) = nullptr;
};

// All of them: those below.
std::span<const FuzzTarget* const> fuzz_targets();

extern const FuzzTarget kAddressFuzzer, kCheckpointFuzzer, kCoreFuzzer, kFrameFuzzer, kIdxFuzzer,
    kMessageFuzzer, kNameListFuzzer, kPackageFuzzer, kPngFuzzer, kPreparedFuzzer, kRecipeFuzzer,
    kReviewFuzzer, kRowFuzzer, kRowCacheFuzzer, kRowTextFuzzer, kRunRecordFuzzer, kSettingFuzzer,
    kTextFuzzer, kWordListFuzzer, kWorkFolderFuzzer;

// Throws what no parser throws.
void require(bool promise, const char* file = __builtin_FILE(), int line = __builtin_LINE());

// A file that has these bytes and lies in memory alone.
class BytesFile {
 public:
  explicit BytesFile(FuzzBytes bytes);
  ~BytesFile();
  BytesFile(const BytesFile&) = delete;
  BytesFile& operator=(const BytesFile&) = delete;
  std::filesystem::path path() const;

 private:
  int file_;
};

inline std::string_view as_text(FuzzBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Takes the first byte; 0 when there is none.
inline std::uint8_t take_byte(FuzzBytes& bytes) {
  if (bytes.empty()) return 0;
  const std::uint8_t first = bytes.front();
  bytes = bytes.subspan(1);
  return first;
}

// Calls `parse`; false when it has refused with an Error.
template <typename Error, typename Parse>
bool accepts(const Parse& parse) {
  try {
    parse();
    return true;
  } catch (const Error& error) {
    require(!std::string_view(error.what()).empty());
    return false;
  }
}

}  // namespace paceline
