#include "fuzz/fuzz_target.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace paceline {

std::span<const FuzzTarget* const> fuzz_targets() {
  static constexpr const FuzzTarget* kAll[] = {
      &kAddressFuzzer,   &kCheckpointFuzzer, &kCoreFuzzer,    &kFrameFuzzer,    &kIdxFuzzer,
      &kMessageFuzzer,   &kNameListFuzzer,   &kPackageFuzzer, &kPngFuzzer,      &kPreparedFuzzer,
      &kRecipeFuzzer,    &kReviewFuzzer,     &kRowFuzzer,     &kRowCacheFuzzer, &kRowTextFuzzer,
      &kRunRecordFuzzer, &kSettingFuzzer,    &kTextFuzzer,    &kWordListFuzzer, &kWorkFolderFuzzer};
  return kAll;
}

void require(bool promise, const char* file, int line) {
  if (promise) return;
  throw std::logic_error(fmt::format("a promise is broken: {}, line {}", file, line));
}

BytesFile::BytesFile(FuzzBytes bytes) : file_(::memfd_create("bytes", MFD_CLOEXEC)) {
  require(file_ >= 0);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    require(written > 0);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

BytesFile::~BytesFile() {
  ::close(file_);
}

std::filesystem::path BytesFile::path() const {
  return fmt::format("/proc/self/fd/{}", file_);
}

}  // namespace paceline
