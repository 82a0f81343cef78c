#include "observe/summary_file.h"

#include "base/error.h"
#include "base/file/file.h"

namespace paceline {

nlohmann::json read_summary(const std::filesystem::path& run_dir) {
  const std::filesystem::path file = run_dir / "summary.json";
  if (!std::filesystem::exists(file)) return nullptr;
  nlohmann::json summary = nlohmann::json::parse(read_text(file), nullptr, false);
  if (!summary.is_object()) throw DataError("{} is damaged: it is no JSON object", file.string());
  return summary;
}

}  // namespace paceline
