#include "prepare/fleet.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/plugin.h"
#include "session/failure.h"

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
  void abandon(const Error&) override {}
};

MakeFleet& registered() {
  static MakeFleet make = nullptr;
  return make;
}

// The first that failed; one that failed by itself before one that was told to stop.
std::optional<Error> find_failure(const std::vector<Json>& reports) {
  std::optional<Error> found;
  for (const Json& report : reports) {
    if (!report.contains("failure")) continue;
    const Error failure = read_failure_line(report["failure"].get<std::string>()).value();
    if (failure.code() != ExitCode::kInterrupted) return failure;
    if (!found) found = failure;
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
  try {
    mine["done"] = work();
  } catch (const Json::exception&) {
    throw;
  } catch (const std::exception&) {
    const Error cause = current_error();
    const std::string process =
        fmt::format("process {} of {} on {}", fleet.rank() + 1, fleet.size(), fleet.host());
    mine = {{"failure", failure_line(Error(cause, process, cause.code()))}};
  }
  std::vector<Json> reports;
  for (const std::string& text : fleet.gather(mine.dump())) reports.push_back(Json::parse(text));
  if (const auto failure = find_failure(reports)) {
    if (fleet.rank() == 0) throw SharedError(failure->reasons());
    throw SharedError("", failure->code());
  }
  for (Json& report : reports) report = std::move(report["done"]);
  return reports;
}

}  // namespace paceline
