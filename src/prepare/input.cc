#include "prepare/input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "data/gzip.h"
#include "data/sparse/text_lines.h"
#include "data/zstd.h"
#include "prepare/columns.h"
#include "prepare/line_reader.h"
#include "prepare/piped_text.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

ReviewFormat guess(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first != std::string_view::npos && line[first] == '{') return ReviewFormat::kJson;
  return line.find('\t') != std::string_view::npos ? ReviewFormat::kTsv : ReviewFormat::kCsv;
}

// By its name. Nothing: it is given by a number, or by nothing and none of the usual ones is there.
std::optional<std::size_t> find_column(const InputFile& file, const std::vector<std::string>& names,
                                       const std::string& field,
                                       const std::vector<std::string>& wanted, const char* flag) {
  if (column_number(field)) return std::nullopt;
  for (const std::string& name : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  if (field.empty()) return std::nullopt;
  throw DataError("{} has no column '{}' ({}): its first line has {}", file.path.string(), field,
                  flag, join(names, ", "));
}

void find_columns(InputFile& file, std::string_view line, const ReviewFields& fields) {
  Columns columns(file.format == ReviewFormat::kCsv ? Columns::Kind::kCsv : Columns::Kind::kTsv);
  std::vector<std::string> names;
  for (columns.begin(line); columns.more();) names.emplace_back(columns.next());
  const auto text = find_column(file, names, fields.text, names_of_text(fields), "--text-field");
  const auto rating =
      find_column(file, names, fields.rating, names_of_rating(fields), "--rating-field");
  const auto text_number = column_number(fields.text);
  const auto rating_number = column_number(fields.rating);
  file.text_column = text.value_or(text_number.value_or(1));
  file.rating_column = rating.value_or(rating_number.value_or(0));
  const bool several = names.size() > 1 && file.rating_column < names.size();
  const std::string& first = several ? names[file.rating_column] : "";
  file.header =
      text || rating || (!first.empty() && first.find_first_of("0123456789") == std::string::npos);
  // Places are for files that name no columns.
  if (file.header && ((!text && !text_number) || (!rating && !rating_number))) {
    throw DataError("{}: which of its columns ({}) is the {}? Say so with {}", file.path.string(),
                    join(names, ", "), text || text_number ? "rating" : "text",
                    text || text_number ? "--rating-field" : "--text-field");
  }
}

void set_grouped(InputFile& file) {
  file.text_column = 0;
  file.rating_column = 1;
  file.times_column = 2;
}

// `first_line` gives it, with line ends in quotes where the file is known to be CSV.
void look_at_lines(InputFile& file, const ReviewFields& fields,
                   const std::function<std::string(const InputFile& file)>& first_line) {
  std::string line = first_line(file);
  if (line.empty()) return;
  if (file.format == ReviewFormat::kAuto) {
    file.format = guess(line);
    line = first_line(file);
  }
  if (file.format == ReviewFormat::kCsv || file.format == ReviewFormat::kTsv) {
    find_columns(file, line, fields);
  }
}

void look_at(InputFile& file, ReviewFormat format, const ReviewFields& fields,
             const StopFlag& stop) {
  if (format == ReviewFormat::kGrouped) set_grouped(file);
  file.format = format;
  if (file.piped()) {
    file.pipe = std::make_shared<PipedText>(STDIN_FILENO, stop);
    return look_at_lines(file, fields, [](const InputFile& look) {
      return std::string(look.pipe->first_line(look.format == ReviewFormat::kCsv));
    });
  }
  struct stat status {};
  if (::stat(file.path.c_str(), &status) != 0) {
    throw DataError("cannot read {}: {}", file.path.string(), errno_text(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    throw DataError("{} is not a regular file: pipe it in, and name it -", file.path.string());
  }
  file.bytes = static_cast<std::uint64_t>(status.st_size);
  file.changed = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
  file.compressed = ZstdReader::is_one(file.path) || GzipReader(file.path).compressed();
  look_at_lines(file, fields, [](const InputFile& look) {
    return std::string(LineReader(look, {0, 0, look.bytes}).next().value_or(""));
  });
}

}  // namespace

std::vector<std::string> names_of_text(const ReviewFields& fields) {
  if (!fields.text.empty()) return {fields.text};
  return {"reviewText", "text"};
}

std::vector<std::string> names_of_rating(const ReviewFields& fields) {
  if (!fields.rating.empty()) return {fields.rating};
  return {"overall", "stars", "rating"};
}

std::optional<std::size_t> column_number(const std::string& field) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error != std::errc() || end != field.data() + field.size() || number == 0)
    return std::nullopt;
  return number - 1;
}

std::string name_of(ReviewFormat format) {
  switch (format) {
    case ReviewFormat::kAuto:
      return "auto";
    case ReviewFormat::kJson:
      return "json";
    case ReviewFormat::kCsv:
      return "csv";
    case ReviewFormat::kTsv:
      return "tsv";
    case ReviewFormat::kGrouped:
      return "grouped";
  }
  return "";
}

std::vector<InputFile> find_inputs(const std::vector<std::string>& names, ReviewFormat format,
                                   const ReviewFields& fields, const StopFlag& stop,
                                   const fs::path& output) {
  std::vector<fs::path> paths;
  std::error_code different;
  for (const std::string& name : names) {
    if (name == kStandardInput) {
      paths.emplace_back(name);
      continue;
    }
    for (const fs::path& path : files_of(name)) {
      if (path != name && fs::equivalent(path, output, different)) continue;
      const fs::path normal = path.lexically_normal();
      paths.push_back(normal == kStandardInput ? path : normal);
    }
  }
  if (paths.empty()) throw DataError("there are no files in {}", join(names, ", "));
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::vector<InputFile> files;
  std::set<std::pair<dev_t, ino_t>> known;
  for (const fs::path& path : paths) {
    struct stat status {};
    if (path != kStandardInput && ::stat(path.c_str(), &status) == 0 &&
        !known.emplace(status.st_dev, status.st_ino).second) {
      continue;
    }
    InputFile file;
    file.path = path;
    look_at(file, format, fields, stop);
    if (file.format == ReviewFormat::kAuto) file.format = ReviewFormat::kJson;  // it is empty
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<Portion> cut_into_portions(const std::vector<InputFile>& files, std::uint64_t bytes) {
  std::vector<Portion> portions;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const InputFile& file = files[i];
    if (file.piped() || file.compressed || file.format == ReviewFormat::kCsv) {
      portions.push_back({i, 0, file.bytes});
      continue;
    }
    for (std::uint64_t begin = 0; begin < file.bytes; begin += bytes) {
      portions.push_back({i, begin, std::min(begin + bytes, file.bytes)});
    }
  }
  return portions;
}

}  // namespace paceline
