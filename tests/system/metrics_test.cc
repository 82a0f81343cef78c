// docs/metrics.md names every field that a run writes.
#include <cmath>
#include <set>
#include <sstream>

#include "base/paths.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

using MetricsOfARun = SyntheticRun;

void collect_fields(const nlohmann::json& value, std::set<std::string>& fields) {
  for (const auto& [key, child] : value.items()) {
    if (value.is_object()) fields.insert(key);
    if (child.is_structured()) collect_fields(child, fields);
  }
}

void collect_lines(const std::string& text, std::set<std::string>& fields) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto object = nlohmann::json::parse(line);
    collect_fields(object, fields);
    fields.insert(object["type"]);
  }
}

// Times come to the console in whole nanoseconds.
bool is_same(const nlohmann::json& a, const nlohmann::json& b) {
  if (!a.is_number_float()) return a == b;
  return b.is_number() && std::abs(a.get<double>() - b.get<double>()) < 1e-8;
}

TEST_F(MetricsOfARun, AreDocumentedFieldByField) {
  std::set<std::string> fields;
  for (const std::string mode : {"sync", "async"}) {
    Arguments arguments = train(mode, {"--mode", mode, "--json"});
    std::erase(arguments, "--quiet");
    const Result result = paceline(arguments);
    ASSERT_EQ(result.code, 0) << result.output;
    collect_lines(result.output, fields);
    collect_lines(read_text(path(mode) / "metrics.jsonl"), fields);
    collect_fields(summary(mode), fields);
  }
  EXPECT_GT(fields.size(), 30U);
  const std::string documentation = read_text(source_path("docs/metrics.md"));
  for (const std::string& field : fields) {
    EXPECT_NE(documentation.find("`" + field + "`"), std::string::npos) << field;
  }
}

// What --json shares with metrics.jsonl has one name and one value in both.
TEST_F(MetricsOfARun, AreTheSameOnTheConsoleAndInTheFile) {
  Arguments arguments = train("run", {"--json"});
  std::erase(arguments, "--quiet");
  const Result result = paceline(arguments);
  ASSERT_EQ(result.code, 0) << result.output;
  std::vector<nlohmann::json> written;
  std::istringstream file(read_text(path("run") / "metrics.jsonl"));
  for (std::string line; std::getline(file, line);) written.push_back(nlohmann::json::parse(line));
  std::istringstream shown(result.output);
  int compared = 0;
  for (std::string line; std::getline(shown, line);) {
    auto object = nlohmann::json::parse(line);
    if (object["type"] != "progress" && object["type"] != "epoch") continue;
    object.erase("eta_seconds");  // follows from the others
    const auto same = [&](const nlohmann::json& other) {
      return std::ranges::all_of(object.items(), [&](const auto& item) {
        return other.contains(item.key()) && is_same(other[item.key()], item.value());
      });
    };
    EXPECT_TRUE(std::ranges::any_of(written, same)) << line;
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

}  // namespace
}  // namespace paceline
