#include "data/prepared.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/hdf5.h"

namespace paceline {
namespace {

using hdf5::Attribute;
using hdf5::File;
using hdf5::Space;
using hdf5::Table;
using hdf5::Type;

constexpr hsize_t kMostWords = 1 << 24;  // what the settings allow
constexpr hsize_t kLongestReview = 1 << 16;
constexpr std::size_t kLongestWord = 1 << 12;
constexpr std::array kPartNames = {"train", "validation", "test"};

std::vector<hsize_t> shape_of(const Table& table) {
  const Space space(H5Dget_space(table));
  std::vector<hsize_t> shape(
      static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  return shape;
}

}  // namespace

struct PreparedReviews::Impl {
  std::filesystem::path path;
  File file;
  std::vector<std::string> words;
  std::vector<std::string> stop_words;
  std::uint32_t length = 0;

  [[noreturn]] void refuse(const std::string& reason) const {
    throw DataError("{}: {}", path.string(), reason);
  }

  bool has(const std::string& name) const { return H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0; }

  Table open(const std::string& name) const {
    Table table(has(name.substr(0, name.find('/'))) ? H5Dopen2(file, name.c_str(), H5P_DEFAULT)
                                                    : H5I_INVALID_HID);
    if (!table.valid()) refuse(fmt::format("it has no table '{}'", name));
    return table;
  }

  void check_version() const {
    std::uint32_t version = 0;
    if (H5Aexists(file, kPreparedVersionName) > 0) {
      const Attribute attribute(H5Aopen(file, kPreparedVersionName, H5P_DEFAULT));
      const Space space(H5Aget_space(attribute));
      if (H5Sget_simple_extent_npoints(space) != 1 ||
          H5Aread(attribute, H5T_NATIVE_UINT32, &version) < 0) {
        refuse(fmt::format("its attribute '{}' is not a number", kPreparedVersionName));
      }
    }
    if (version == kPreparedVersion) return;
    refuse(version == 0 ? "an HDF5 file, but not of prepared reviews: it has no attribute '" +
                              std::string(kPreparedVersionName) + "'"
                        : fmt::format("prepared for version {}, and this program reads version {}: "
                                      "prepare it again",
                                      version, kPreparedVersion));
  }

  std::vector<std::string> read_words(const std::string& name) const {
    const Table table = open(name);
    const Type type(H5Dget_type(table));
    const auto shape = shape_of(table);
    if (shape.size() != 1 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0) {
      refuse(fmt::format("'{}' is not a list of words of a fixed size", name));
    }
    const std::size_t width = H5Tget_size(type);
    if (shape[0] > kMostWords || width > kLongestWord) {
      refuse(fmt::format("'{}' is too large", name));
    }
    std::vector<char> text(width * shape[0]);
    if (!text.empty() && H5Dread(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0) {
      refuse(fmt::format("'{}' cannot be read: the file is damaged", name));
    }
    std::vector<std::string> found;
    for (std::size_t i = 0; i < shape[0]; ++i) {
      const char* word = text.data() + i * width;
      found.emplace_back(word, std::find(word, word + width, '\0'));
    }
    return found;
  }

  std::uint32_t length_of(const std::string& part) const {
    const auto ids = shape_of(open(part + "/ids"));
    const auto labels = shape_of(open(part + "/labels"));
    if (ids.size() != 2 || labels.size() != 1 || ids[0] != labels[0]) {
      refuse(fmt::format("'{}' does not have as many labels as rows of ids", part));
    }
    if (ids[1] == 0 || ids[1] > kLongestReview) {
      refuse(fmt::format("'{}/ids' has rows of {} numbers", part, ids[1]));
    }
    return static_cast<std::uint32_t>(ids[1]);
  }

  std::vector<std::int32_t> read_labels(const Table& table, Range rows,
                                        const std::string& part) const {
    const hsize_t first = rows.begin;
    const hsize_t count = rows.size();
    std::vector<std::int32_t> labels(count);
    const Space chosen(H5Dget_space(table));
    H5Sselect_hyperslab(chosen, H5S_SELECT_SET, &first, nullptr, &count, nullptr);
    const Space memory(H5Screate_simple(1, &count, nullptr));
    if (H5Dread(table, H5T_NATIVE_INT32, memory, chosen, H5P_DEFAULT, labels.data()) < 0) {
      refuse(fmt::format("rows {} to {} of '{}/labels' cannot be read: the file is damaged", first,
                         rows.end - 1, part));
    }
    return labels;
  }
};

bool PreparedReviews::is_one(const std::filesystem::path& file) {
  constexpr std::array<char, 8> kSignature = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  std::array<char, 8> found{};
  std::ifstream(file, std::ios::binary).read(found.data(), found.size());
  return found == kSignature;
}

PreparedReviews::PreparedReviews(const std::filesystem::path& file) {
  const hdf5::Alone alone;
  hdf5::be_quiet();
  impl_ = std::make_unique<Impl>(
      Impl{file, File(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)), {}, {}, 0});
  if (!impl_->file.valid()) impl_->refuse("cannot be opened: not an HDF5 file, or a damaged one");
  impl_->check_version();
  impl_->words = impl_->read_words("vocabulary");
  if (impl_->has("stop_words")) impl_->stop_words = impl_->read_words("stop_words");
  impl_->length = impl_->length_of("train");
  for (const char* part : kPartNames) {
    if (impl_->has(part) && impl_->length_of(part) != impl_->length) {
      impl_->refuse("its parts have ids of different lengths");
    }
  }
}

PreparedReviews::~PreparedReviews() {
  const hdf5::Alone alone;
  impl_.reset();
}

std::uint32_t PreparedReviews::length() const {
  return impl_->length;
}

std::uint32_t PreparedReviews::numbers() const {
  return Vocabulary::kFirstWord + static_cast<std::uint32_t>(impl_->words.size());
}

Vocabulary PreparedReviews::vocabulary() const {
  return Vocabulary(impl_->words, impl_->stop_words);
}

std::string PreparedReviews::setting(const std::string& name) const {
  const hdf5::Alone alone;
  if (H5Aexists(impl_->file, "settings") <= 0) return {};
  const Attribute attribute(H5Aopen(impl_->file, "settings", H5P_DEFAULT));
  const Type type(H5Aget_type(attribute));
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0) return {};
  std::string text(H5Tget_size(type), '\0');
  if (H5Aread(attribute, type, text.data()) < 0) return {};
  const auto settings = nlohmann::json::parse(text, nullptr, false);
  if (!settings.is_object() || !settings.contains(name) || !settings[name].is_string()) return {};
  return settings[name];
}

std::uint64_t PreparedReviews::examples(PreparedPart part) const {
  const hdf5::Alone alone;
  const std::string name = kPartNames[static_cast<std::size_t>(part)];
  return impl_->has(name) ? shape_of(impl_->open(name + "/labels"))[0] : 0;
}

std::vector<bool> PreparedReviews::labels(PreparedPart part) const {
  constexpr std::uint64_t kAtOnce = 1 << 20;
  const hdf5::Alone alone;
  const std::string name = kPartNames[static_cast<std::size_t>(part)];
  std::vector<bool> labels(examples(part));
  if (labels.empty()) return labels;
  const Table table = impl_->open(name + "/labels");
  for (std::uint64_t first = 0; first < labels.size(); first += kAtOnce) {
    const Range rows{first, std::min<std::uint64_t>(first + kAtOnce, labels.size())};
    const std::vector<std::int32_t> some = impl_->read_labels(table, rows, name);
    for (std::uint64_t i = 0; i < some.size(); ++i) {
      if (some[i] != 0 && some[i] != 1) {
        impl_->refuse(
            fmt::format("label {} of '{}' is {}, and must be 0 or 1", first + i, name, some[i]));
      }
      labels[first + i] = some[i] == 1;
    }
  }
  return labels;
}

std::unique_ptr<PreparedIds> PreparedReviews::ids(PreparedPart part) const {
  return std::make_unique<PreparedIds>(
      impl_->path, std::string(kPartNames[static_cast<std::size_t>(part)]) + "/ids");
}

std::uint64_t PreparedReviews::block_rows() const {
  return ids(PreparedPart::kTrain)->table().block_rows;
}

}  // namespace paceline
