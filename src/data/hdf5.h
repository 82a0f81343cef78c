// What HDF5's library gives, given back. For sources of data/ and prepare/ that read or write such
// files; their headers do not include it.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <utility>

namespace paceline::hdf5 {

template <herr_t (*kClose)(hid_t)>
class Handle {
 public:
  explicit Handle(hid_t id) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) kClose(id_);
  }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Space = Handle<H5Sclose>;
using Table = Handle<H5Dclose>;
using Type = Handle<H5Tclose>;
using Attribute = Handle<H5Aclose>;
using Properties = Handle<H5Pclose>;

// Held by whoever calls the library, which need not have been built for threads. Whoever holds it
// may take it again.
class Alone {
 public:
  Alone() : lock_(mutex()) {}

 private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex one;
    return one;
  }
  std::lock_guard<std::recursive_mutex> lock_;
};

// The library would write its own words to the terminal, and at the end of the program it would
// close once more what could not be closed, for want of room on a disk, say; that crashes.
inline void be_quiet() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

}  // namespace paceline::hdf5
