#include "data/image_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/plugin.h"
#include "base/random.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> kExtensions = {".bmp", ".jpeg", ".jpg",  ".pgm", ".png",
                                                         ".ppm", ".tif",  ".tiff", ".webp"};
constexpr const char* kWanted = "reading folders of images";

ImageDecoder& image_decoder() {
  static ImageDecoder decoder;
  return decoder;
}

const ImageDecoder& loaded_decoder() {
  if (!image_decoder()) load_plugin("images", kWanted);
  return image_decoder();
}

bool is_image(const fs::path& file) {
  std::string extension = file.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

template <typename Belongs>
std::vector<std::string> names_in_folder(const fs::path& folder, const Belongs& belongs) {
  std::error_code error;
  std::vector<std::string> names;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (belongs(*entry)) names.push_back(entry->path().filename().string());
  }
  if (error) throw DataError("cannot read the folder {}: {}", folder.string(), error.message());
  std::sort(names.begin(), names.end());
  return names;
}

// A pipe that nobody fills would be waited for without a word.
void expect_no_pipe(const fs::path& file, const fs::file_status& status) {
  if (!fs::is_other(status)) return;
  throw DataError("{} is not a regular file: an image is read more than once. Remove it",
                  file.string());
}

std::vector<std::string> images_in(const fs::path& folder) {
  return names_in_folder(folder, [](const fs::directory_entry& entry) {
    if (!is_image(entry.path())) return false;
    std::error_code gone;
    expect_no_pipe(entry.path(), entry.status(gone));
    return entry.is_regular_file();
  });
}

std::vector<std::string> folders_in(const fs::path& folder) {
  return names_in_folder(folder, [](const auto& entry) { return entry.is_directory(); });
}

struct ImageFile {
  std::string name;  // "cat/17.jpg"
  std::int32_t label = 0;
};

// All files of all classes; every class has some.
std::vector<ImageFile> list_files(const fs::path& folder, const std::vector<std::string>& classes) {
  std::vector<ImageFile> files;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const auto names = images_in(folder / classes[label]);
    if (names.empty()) {
      throw DataError("the class '{}' has no images: there are none in {}", classes[label],
                      (folder / classes[label]).string());
    }
    for (const std::string& name : names) {
      files.push_back({classes[label] + "/" + name, static_cast<std::int32_t>(label)});
    }
  }
  return files;
}

void expect_same_classes(const fs::path& train, const std::vector<std::string>& in_train,
                         const fs::path& test, const std::vector<std::string>& in_test) {
  const auto expect_all = [](const fs::path& of, const std::vector<std::string>& wanted,
                             const fs::path& in, const std::vector<std::string>& found) {
    for (const std::string& name : wanted) {
      if (std::find(found.begin(), found.end(), name) != found.end()) continue;
      throw DataError("the class '{}' of {} has no folder in {}", name, of.string(), in.string());
    }
  };
  expect_all(test, in_test, train, in_train);
  expect_all(train, in_train, test, in_test);
}

struct Listing {
  fs::path folder;
  std::vector<std::string> classes;
  std::vector<ImageFile> files;
};

Listing list_split(const ImageFolders& folders, Split split, std::uint64_t limit) {
  const bool own_tests = !folders.test_folder.empty();
  const bool test = split == Split::kTest;
  Listing listing{
      test && own_tests ? folders.test_folder : folders.folder, image_classes(folders.folder), {}};
  if (own_tests) {
    expect_same_classes(folders.folder, listing.classes, folders.test_folder,
                        folders_in(folders.test_folder));
  }
  listing.files = list_files(listing.folder, listing.classes);
  if (!own_tests) {
    std::erase_if(listing.files, [&](const ImageFile& file) {
      return is_for_test(file.name, folders.test_share) != test;
    });
  }
  if (listing.files.empty()) {
    throw DataError("no image of {} is left to {}: change --test-share, which is {}",
                    folders.folder.string(), test ? "test on" : "train on", folders.test_share);
  }
  std::sort(listing.files.begin(), listing.files.end(), [](const ImageFile& a, const ImageFile& b) {
    return std::pair(mix(digest_bits(a.name)), a.name) <
           std::pair(mix(digest_bits(b.name)), b.name);
  });
  if (!test && limit > 0 && limit < listing.files.size()) listing.files.resize(limit);
  return listing;
}

DatasetInfo image_info(const Listing& listing, const ImageOptions& options, std::string name) {
  DatasetInfo info;
  info.name = std::move(name);
  info.examples = listing.files.size();
  info.image = {options.size, options.size, 3};
  info.width = info.image.bytes();
  info.classes = static_cast<std::int32_t>(listing.classes.size());
  for (const ImageFile& file : listing.files) info.memory_bytes += sizeof file + file.name.size();
  return info;
}

// A part of an image, and whether it is mirrored.
struct View {
  std::uint32_t left = 0;
  std::uint32_t top = 0;
  bool mirrored = false;
};

// Cuts [size, size, 3] out of [side, side, 3].
void cut_out(const std::uint8_t* image, std::uint32_t side, const View& view, std::uint32_t size,
             std::uint8_t* out) {
  for (std::uint32_t y = 0; y < size; ++y) {
    const std::uint8_t* row = image + (std::size_t{view.top + y} * side + view.left) * 3;
    if (!view.mirrored) {
      std::memcpy(out, row, std::size_t{size} * 3);
    } else {
      for (std::uint32_t x = 0; x < size; ++x) {
        std::memcpy(out + std::size_t{x} * 3, row + std::size_t{size - 1 - x} * 3, 3);
      }
    }
    out += std::size_t{size} * 3;
  }
}

class ImageFolder final : public Dataset {
 public:
  enum class Unreadable { kSkip, kRefuse };

  ImageFolder(Listing listing, const ImageOptions& options, Unreadable unreadable,
              const std::string& name)
      : decode_(loaded_decoder()),
        listing_(std::move(listing)),
        options_(options),
        unreadable_rule_(unreadable),
        info_(image_info(listing_, options, name)) {}

  const DatasetInfo& info() const override { return info_; }

  void read(std::span<const std::uint64_t> examples, Batch& batch) const override {
    const std::size_t bytes = info_.width;
    if (batch.storage.size() < examples.size() * bytes) {
      batch.storage = Buffer(examples.size() * bytes);
    }
    auto* out = reinterpret_cast<std::uint8_t*>(batch.storage.data());
    batch.rows.resize(examples.size());
    batch.labels.resize(examples.size());
    batch.weights.clear();
    batch.width = bytes;
    std::size_t skipped = 0;
    for (std::size_t i = 0; i < examples.size(); ++i, out += bytes) {
      PACELINE_CHECK(examples[i] < info_.examples);
      batch.rows[i] = out;
      batch.labels[i] = listing_.files[examples[i]].label;
      if (decode(examples[i], batch.epoch, {out, bytes})) continue;
      std::fill_n(out, bytes, std::uint8_t{0});
      skip(examples[i]);
      batch.weights.resize(examples.size(), 1.0f);
      batch.weights[i] = 0;
      ++skipped;
    }
    batch.weight = static_cast<double>(examples.size() - skipped);
  }

  std::vector<std::string> unreadable() const override {
    const std::lock_guard lock(mutex_);
    return as_found_;
  }

 private:
  bool decode(std::uint64_t example, std::uint64_t epoch, std::span<std::uint8_t> out) const {
    const fs::path file = listing_.folder / listing_.files[example].name;
    if (!options_.augment) return decode_(file, options_.size, out);
    const std::uint32_t margin = std::max(1U, options_.size / 7);
    const std::uint32_t side = options_.size + margin;
    thread_local std::vector<std::uint8_t> whole;
    whole.resize(std::size_t{side} * side * 3);
    if (!decode_(file, side, whole)) return false;
    Random random(random_bits(options_.seed, {epoch, example}));
    const auto place = [&] { return static_cast<std::uint32_t>(random.below(margin + 1)); };
    const View view{place(), place(), random.below(2) == 1};
    cut_out(whole.data(), side, view, options_.size, out.data());
    return true;
  }

  void skip(std::uint64_t example) const {
    const std::string file = (listing_.folder / listing_.files[example].name).string();
    if (unreadable_rule_ == Unreadable::kRefuse) throw DataError("cannot decode {}", file);
    const std::lock_guard lock(mutex_);
    if (unreadable_.insert(file).second) as_found_.push_back(file);
    expect_few_unreadable(unreadable_, info_);
  }

  ImageDecoder decode_;
  Listing listing_;
  ImageOptions options_;
  Unreadable unreadable_rule_;
  DatasetInfo info_;
  mutable std::mutex mutex_;
  mutable std::set<std::string> unreadable_;
  mutable std::vector<std::string> as_found_;
};

}  // namespace

void register_image_decoder(ImageDecoder decoder) {
  image_decoder() = std::move(decoder);
}

std::vector<std::string> image_classes(const fs::path& folder) {
  const auto classes = folders_in(folder);
  if (classes.size() >= 2) return classes;
  throw DataError("{} has {}: the images of every class must be in a folder of its own",
                  folder.string(), classes.empty() ? "no folders in it" : "only one folder in it");
}

void expect_few_unreadable(const std::set<std::string>& files, const DatasetInfo& data) {
  if (files.size() * 100 <= data.examples) return;
  std::vector<std::string> some(files.begin(), files.end());
  some.resize(std::min<std::size_t>(some.size(), 3));
  throw DataError(
      "{}: {} of {} images cannot be decoded, which is more than 1 %: {}{}. Repair them to go "
      "on, or remove them and start anew",
      data.name, format_count(files.size()), format_count(data.examples), join(some, ", "),
      files.size() > some.size() ? ", …" : "");
}

std::unique_ptr<Dataset> open_image_folder(const ImageFolders& folders, const ImageOptions& options,
                                           Split split, std::uint64_t limit,
                                           const std::string& name) {
  ImageOptions used = options;
  if (split == Split::kTest) used.augment = false;
  return std::make_unique<ImageFolder>(list_split(folders, split, limit), used,
                                       ImageFolder::Unreadable::kSkip, name);
}

DatasetInfo estimate_image_folder(const ImageFolders& folders, const ImageOptions& options,
                                  Split split, std::uint64_t limit, const std::string& name) {
  if (!image_decoder()) check_plugin("images", kWanted);
  return image_info(list_split(folders, split, limit), options, name);
}

std::unique_ptr<Dataset> open_image_files(const fs::path& path, const ImageOptions& options) {
  ImageOptions used = options;
  used.augment = false;
  Listing listing{path, {"image"}, {}};
  if (fs::is_directory(path)) {
    for (const std::string& name : images_in(path)) listing.files.push_back({name, 0});
  } else {
    std::error_code missing;
    expect_no_pipe(path, fs::status(path, missing));
    listing.folder = path.parent_path();
    listing.files.push_back({path.filename().string(), 0});
  }
  if (listing.files.empty()) throw DataError("there are no images in {}", path.string());
  return std::make_unique<ImageFolder>(std::move(listing), used, ImageFolder::Unreadable::kRefuse,
                                       path.string());
}

}  // namespace paceline
