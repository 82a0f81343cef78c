#include "prepare/fleet.h"

#include <nlohmann/json.hpp>

#include "base/plugin.h"

namespace paceline {
namespace {

using Json = nlohmann::json;

class LoneProcess : public Fleet {
 public:
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 1; }
  unsigned neighbours() const override { return 1; }
  std::string host() const override { return "this host"; }
  std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
  std::vector<std::filesystem::path> exchange(const std::vector<std::vector<FilePiece>>&,
                                              const Place&) override {
    return {};
  }
  std::unique_ptr<SharedTables> open(const std::filesystem::path&) override {
    PACELINE_CHECK(false && "a file of one process is not shared");
    return nullptr;
  }
  void abandon(const std::string&, ExitCode) override {}
};

MakeFleet& registered() {
  static MakeFleet make = nullptr;
  return make;
}

// The first that failed; one that failed by itself before one that was told to stop.
const Json* find_failure(const std::vector<Json>& reports) {
  const Json* found = nullptr;
  for (const Json& report : reports) {
    if (!report.contains("error")) continue;
    const bool interrupted = report["code"] == static_cast<int>(ExitCode::kInterrupted);
    if (!interrupted) return &report;
    if (found == nullptr) found = &report;
  }
  return found;
}

}  // namespace

std::unique_ptr<Fleet> lone_process() {
  return std::make_unique<LoneProcess>();
}

void register_mpi_fleet(MakeFleet make) {
  registered() = make;
}

std::unique_ptr<Fleet> mpi_fleet() {
  if (registered() == nullptr) load_plugin("mpi", "preparing with several processes");
  PACELINE_CHECK(registered() != nullptr);
  return registered()();
}

std::vector<Json> do_together(Fleet& fleet, const std::function<Json()>& work) {
  if (fleet.size() == 1) return {work()};
  Json mine;
  const auto fail = [&](const std::string& reason, ExitCode code) {
    mine = {{"error", fmt::format("process {} of {} on {}: {}", fleet.rank() + 1, fleet.size(),
                                  fleet.host(), reason)},
            {"code", code}};
  };
  try {
    mine["done"] = work();
  } catch (const Error& error) {
    fail(error.what(), error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    fail(error.what(), ExitCode::kData);
  } catch (const std::bad_alloc&) {
    fail("there is not enough memory left", ExitCode::kResources);
  }
  std::vector<Json> reports;
  for (const std::string& text : fleet.gather(mine.dump())) reports.push_back(Json::parse(text));
  if (const Json* failure = find_failure(reports)) {
    const std::string words = fleet.rank() == 0 ? failure->at("error").get<std::string>() : "";
    throw SharedError(words, failure->at("code").get<ExitCode>());
  }
  for (Json& report : reports) report = std::move(report["done"]);
  return reports;
}

}  // namespace paceline
