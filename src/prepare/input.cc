#include "prepare/input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "data/gzip.h"
#include "data/sparse/text_lines.h"
#include "data/zstd.h"
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

std::optional<std::size_t> column_number(const std::string& field) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error != std::errc() || end != field.data() + field.size() || number == 0)
    return std::nullopt;
  return number - 1;
}

// The names of columns; quotes around them are dropped.
std::vector<std::string> names_in(std::string_view line, char separator) {
  std::vector<std::string> names = split(line, separator);
  for (std::string& name : names) {
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
      name = name.substr(1, name.size() - 2);
    }
  }
  return names;
}

std::optional<std::size_t> find_column(const std::vector<std::string>& names,
                                       const std::string& field,
                                       const std::vector<std::string>& usual) {
  for (const std::string& wanted : field.empty() ? usual : std::vector{field}) {
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  return std::nullopt;
}

void find_columns(InputFile& file, std::string_view line, const ReviewFields& fields) {
  const auto names = names_in(line, file.format == ReviewFormat::kCsv ? ',' : '\t');
  const auto text = find_column(names, fields.text, {"reviewText", "text"});
  const auto rating = find_column(names, fields.rating, {"overall", "stars"});
  if (text && rating) {
    file.header = true;
    file.text_column = *text;
    file.rating_column = *rating;
    return;
  }
  const auto number = [&](const std::string& field, std::size_t usual, const char* flag) {
    if (field.empty()) return usual;
    if (const auto given = column_number(field)) return *given;
    throw DataError("{} has no column '{}' ({}): its first line has {}", file.path.string(), field,
                    flag, join(names, ", "));
  };
  file.text_column = number(fields.text, 1, "--text-field");
  file.rating_column = number(fields.rating, 0, "--rating-field");
  // Names that nobody asked for.
  if (file.rating_column < names.size()) {
    const std::string& first = names[file.rating_column];
    file.header = !first.empty() && first.find_first_of("0123456789") == std::string::npos;
  }
}

void set_grouped(InputFile& file) {
  file.text_column = 0;
  file.rating_column = 1;
  file.times_column = 2;
}

void look_at_line(InputFile& file, std::string_view line, const ReviewFields& fields) {
  if (file.format == ReviewFormat::kAuto) file.format = guess(line);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
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
    const std::string_view line = file.pipe->first_line();
    if (!line.empty()) look_at_line(file, without_byte_order_mark(line), fields);
    return;
  }
  struct stat status {};
  if (::stat(file.path.c_str(), &status) != 0) {
    throw DataError("cannot read {}: {}", file.path.string(), errno_text(errno));
  }
  file.bytes = static_cast<std::uint64_t>(status.st_size);
  file.changed = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
  file.compressed = ZstdReader::is_one(file.path) || GzipReader(file.path).compressed();
  LineReader lines(file, {0, 0, file.bytes});
  if (const auto first = lines.next()) look_at_line(file, *first, fields);
}

}  // namespace

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
                                   const ReviewFields& fields, const StopFlag& stop) {
  std::vector<fs::path> paths;
  for (const std::string& name : names) {
    if (name == kStandardInput) {
      paths.emplace_back(name);
      continue;
    }
    for (const fs::path& path : files_of(name)) paths.push_back(path.lexically_normal());
  }
  if (paths.empty()) throw DataError("there are no files in {}", join(names, ", "));
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::vector<InputFile> files;
  for (const fs::path& path : paths) {
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
