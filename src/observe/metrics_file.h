// A file of JSON objects, one per line, that grows while a run goes on.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

namespace paceline {

class MetricsFile {
 public:
  // Appends to `path`. Throws DataError when it cannot be opened.
  explicit MetricsFile(const std::filesystem::path& path);
  // Writes a line and flushes it. Throws DataError when the disk is full.
  void write(const nlohmann::json& object);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace paceline
