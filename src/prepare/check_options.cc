#include "prepare/check_options.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file.h"
#include "data/clean.h"
#include "prepare/runs.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t kMega = 1'000'000;
constexpr std::uint64_t kOverhead = 48 * kMega;  // the program itself, and what files need
constexpr std::uint64_t kLeastPerThread = 64 * kMega;

// What no thread may use: the program itself, and a vocabulary that is large.
std::uint64_t overhead_of(const PrepareSettings& settings) {
  constexpr std::uint64_t kInOverhead = 50'000;  // words
  constexpr std::uint64_t kWordBytes = 300;      // 220 to 280 were seen
  const std::uint64_t words = std::max<std::uint64_t>(settings.vocabulary, settings.words.size());
  return kOverhead + kWordBytes * (std::max(words, kInOverhead) - kInOverhead);
}

// As JSON shows a text that may not be UTF-8.
std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// They stand in files that are JSON.
void expect_utf8(const std::string& what, const std::string& text) {
  std::string ignored;
  if (append_clean(text, ignored) > 0) {
    throw ConfigError("{} {} is not UTF-8: rename it, or give it another name by a link", what,
                      quoted(text));
  }
}

// Text may go to a device or a pipe.
void check_output(const PrepareOptions& options) {
  const fs::path output = behind_links(options.output);
  const fs::path folder = fs::absolute(output).parent_path();
  if (!fs::exists(folder)) {
    throw DataError("there is no folder {} for the output", folder.string());
  }
  const fs::file_status status = fs::status(output);
  const bool special = fs::exists(status) && !fs::is_regular_file(status);
  if (fs::is_directory(status)) {
    throw ConfigError("--output {} is a folder: name a file", output.string());
  }
  if (special && options.format == PrepareFormat::kHdf5) {
    throw ConfigError("--output {} is not a regular file: name one", output.string());
  }
  if (special && options.work_dir.empty()) {
    throw ConfigError("--output {} is not a regular file: say where to work, with --work-dir",
                      output.string());
  }
  if (::access(special ? output.c_str() : folder.c_str(), W_OK) != 0) {
    throw DataError("cannot write {}: {}", output.string(), errno_text(errno));
  }
}

}  // namespace

void check_options(const PrepareOptions& options, const Fleet& fleet) {
  check_settings(options.settings);
  for (const std::string& input : options.inputs) expect_utf8("the input", input);
  expect_utf8("--output", fs::absolute(options.output).string());
  expect_utf8("--work-dir", options.work_dir.string());
  expect_utf8("--text-field", options.settings.fields.text);
  expect_utf8("--rating-field", options.settings.fields.rating);
  const std::uint64_t least = overhead_of(options.settings) + options.threads * kLeastPerThread;
  if (options.memory < least) {
    throw ConfigError(
        "--memory {}M is too little for {} thread(s){}: at least {}M{}", options.memory / kMega,
        options.threads,
        least > kOverhead + options.threads * kLeastPerThread ? " and so large a vocabulary" : "",
        (least + kMega - 1) / kMega, options.threads > 1 ? ", or fewer --threads" : "");
  }
  if (fleet.size() == 1) return;
  if (fleet.size() > kSlices) {
    throw ConfigError("at most {} processes can share the work, and there are {}", kSlices,
                      fleet.size());
  }
  if (options.format == PrepareFormat::kTsv) {
    throw ConfigError("--format tsv is written by one process: leave out mpirun or srun");
  }
  if (std::ranges::find(options.inputs, kStandardInput) != options.inputs.end()) {
    throw ConfigError("several processes cannot share standard input: name files");
  }
}

void check_places(const PrepareOptions& options, const std::vector<InputFile>& files,
                  const Fleet& fleet) {
  if (fleet.rank() == 0) check_output(options);
  for (const InputFile& file : files) {
    if (file.piped()) continue;
    expect_utf8("the file", fs::absolute(file.path).string());
    std::error_code different;
    if (fs::equivalent(file.path, options.output, different)) {
      throw ConfigError("--output {} is one of the inputs: write somewhere else",
                        options.output.string());
    }
  }
}

std::size_t thread_memory(const PrepareOptions& options) {
  return (options.memory - overhead_of(options.settings)) / options.threads;
}

unsigned threads_for(const PrepareOptions& options, unsigned cores) {
  const std::uint64_t overhead = std::min(options.memory, overhead_of(options.settings));
  const std::uint64_t room = (options.memory - overhead) / kLeastPerThread;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(room, 1, std::max(1U, cores)));
}

}  // namespace paceline
