#include "model/torch/features.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace paceline {
namespace {

constexpr std::uint32_t kThere = 1;
constexpr std::size_t kGrow = std::size_t{1} << 22;

// Set after the numbers are written: whoever sees it sees them.
std::atomic_ref<std::uint32_t> mark_of(std::byte* slot) {
  return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(slot));
}

}  // namespace

FeatureCache::FeatureCache(std::filesystem::path file, std::size_t width)
    : file_(std::move(file)), width_(width) {}

FeatureCache::~FeatureCache() {
  close();
}

FeatureCache::FeatureCache(FeatureCache&& other) noexcept {
  *this = std::move(other);
}

FeatureCache& FeatureCache::operator=(FeatureCache&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(width_, other.width_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(mapped_, other.mapped_);
  std::swap(found_, other.found_);
  return *this;
}

void FeatureCache::close() {
  if (data_ != nullptr) ::munmap(data_, mapped_);
  if (descriptor_ >= 0) ::close(descriptor_);
  data_ = nullptr;
  descriptor_ = -1;
  mapped_ = 0;
}

std::string FeatureCache::name() const {
  return file_.empty() ? "memory for features" : file_.string();
}

std::size_t FeatureCache::slot_bytes() const {
  return sizeof(std::uint32_t) + width_ * sizeof(float);
}

// The file never shrinks, so what is mapped stays valid whoever makes it longer.
void FeatureCache::reserve(std::uint64_t examples) {
  const std::size_t needed = examples * slot_bytes();
  if (needed <= mapped_) return;
  if (descriptor_ < 0) {
    descriptor_ = file_.empty() ? ::memfd_create("features", MFD_CLOEXEC)
                                : ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) throw DataError("cannot make {}: {}", name(), errno_text(errno));
  }
  map((needed + kGrow - 1) / kGrow * kGrow);
}

// Blocks are taken now: a full disk must not become a signal in the middle of a copy. MappedFile is
// no help: it is read only, and this one is written, grows, and is shared with other processes.
void FeatureCache::map(std::size_t bytes) {
  const auto size = static_cast<off_t>(bytes);
  const int error = !file_.empty()                        ? ::posix_fallocate(descriptor_, 0, size)
                    : ::ftruncate(descriptor_, size) != 0 ? errno
                                                          : 0;
  if (error != 0) throw DataError("cannot make {} longer: {}", name(), errno_text(error));
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) throw DataError("cannot map {}: {}", name(), errno_text(errno));
  if (data_ != nullptr) ::munmap(data_, mapped_);
  data_ = static_cast<std::byte*>(mapped);
  mapped_ = bytes;
}

bool FeatureCache::find(std::uint64_t example, std::span<float> row) {
  if (width_ == 0) return false;
  reserve(example + 1);
  std::byte* slot = data_ + example * slot_bytes();
  if (mark_of(slot).load(std::memory_order_acquire) != kThere) return false;
  std::memcpy(row.data(), slot + sizeof(std::uint32_t), row.size_bytes());
  ++found_;
  return true;
}

// Two that computed the same write the same bits, so they may do so at once.
void FeatureCache::keep(std::uint64_t example, std::span<const float> row) {
  if (width_ == 0) return;
  PACELINE_CHECK(row.size() == width_);
  reserve(example + 1);
  std::byte* slot = data_ + example * slot_bytes();
  std::memcpy(slot + sizeof(std::uint32_t), row.data(), row.size_bytes());
  mark_of(slot).store(kThere, std::memory_order_release);
}

}  // namespace paceline
