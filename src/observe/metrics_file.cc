#include "observe/metrics_file.h"

#include <cerrno>

#include "base/error.h"

namespace paceline {

MetricsFile::MetricsFile(const std::filesystem::path& path)
    : path_(path), file_(std::fopen(path.c_str(), "ae")) {
  if (!file_) throw DataError("cannot open {}: {}", path.string(), errno_text(errno));
}

void MetricsFile::write(const nlohmann::json& object) {
  const std::string line = object.dump() + "\n";
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
      std::fflush(file_.get()) != 0) {
    throw DataError("cannot write {}: {}", path_.string(), errno_text(errno));
  }
}

}  // namespace paceline
