#include "base/control_group.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNoLimit = std::int64_t{1} << 62;

// The folder of this process's group in one hierarchy, and the top of that hierarchy as far as it
// can be seen from here.
struct Group {
  fs::path folder;
  fs::path top;
};

// Nothing where the file says that there is no limit: "max", -1, or (version 1) nearly 2^63.
std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::ifstream in(path);
  std::int64_t value = 0;
  if (!(in >> value) || value < 0 || value > kNoLimit) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

// The number beside `field` in a file of "field number" lines.
std::optional<std::uint64_t> number_beside(const fs::path& path, const std::string& field) {
  std::ifstream in(path);
  std::string name;
  for (std::uint64_t value = 0; in >> name >> value;) {
    if (name == field) return value;
  }
  return std::nullopt;
}

bool has_word(const std::string& list, const std::string& word) {
  const auto words = split(list, ',');
  return std::ranges::find(words, word) != words.end();
}

// The path of this process's group by controller; that of version 2 is "".
std::map<std::string, std::string> own_groups(const fs::path& root) {
  std::map<std::string, std::string> groups;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) groups[""] = path;
    for (const std::string& controller : split(controllers, ',')) groups[controller] = path;
  }
  return groups;
}

// Where the hierarchy with this controller is mounted, and the group that is its top there: in a
// container often the container's own.
std::optional<Group> find_group(const fs::path& root, const std::string& controller) {
  const auto groups = own_groups(root);
  const auto own = groups.find(controller);
  if (own == groups.end()) return std::nullopt;
  std::ifstream in(root / "proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    // 32 31 0:29 /group/at/the/top /mount/point rw … - cgroup source rw,cpu
    const std::size_t separator = line.find(" - ");
    if (separator == std::string::npos) continue;
    std::istringstream front(line.substr(0, separator));
    std::istringstream back(line.substr(separator + 3));
    std::string skipped, top, mount, kind, source, options;
    front >> skipped >> skipped >> skipped >> top >> mount;
    back >> kind >> source >> options;
    if (kind != (controller.empty() ? "cgroup2" : "cgroup")) continue;
    if (!controller.empty() && !has_word(options, controller)) continue;
    const fs::path at = root / fs::path(mount).relative_path();
    const fs::path inside = fs::path(own->second).lexically_relative(top);
    // A group that lies outside of what is mounted here: its limits cannot be seen.
    const bool below = !inside.empty() && *inside.begin() != "..";
    return Group{(below ? at / inside : at).lexically_normal(), at};
  }
  return std::nullopt;
}

// The group's folder and those around it.
std::vector<fs::path> folders_of(const std::optional<Group>& group) {
  std::vector<fs::path> folders;
  if (!group) return folders;
  fs::path folder = group->folder;
  if (folder.filename().empty()) folder = folder.parent_path();  // "…/."
  for (const fs::path top = group->top;; folder = folder.parent_path()) {
    folders.push_back(folder);
    if (folder == top || folder == folder.parent_path()) return folders;
  }
}

template <typename Number>
void lower(std::optional<Number>& limit, Number other) {
  limit = std::min(limit.value_or(other), other);
}

void lower_memory(ControlGroup& result, std::optional<std::uint64_t> limit,
                  std::optional<std::uint64_t> used, std::optional<std::uint64_t> cache) {
  if (!limit) return;
  const std::uint64_t all = used.value_or(0);
  const std::uint64_t held = all - std::min(all, cache.value_or(0));
  lower(result.memory_left, *limit - std::min(*limit, held));
}

void lower_cores(ControlGroup& result, std::optional<std::uint64_t> quota,
                 std::optional<std::uint64_t> period) {
  if (quota.value_or(0) == 0 || period.value_or(0) == 0) return;
  lower(result.cores, static_cast<double>(*quota) / static_cast<double>(*period));
}

}  // namespace

ControlGroup read_control_group(const fs::path& root) {
  ControlGroup result;
  for (const fs::path& folder : folders_of(find_group(root, "memory"))) {
    lower_memory(result, number_in(folder / "memory.limit_in_bytes"),
                 number_in(folder / "memory.usage_in_bytes"),
                 number_beside(folder / "memory.stat", "total_inactive_file"));
  }
  for (const fs::path& folder : folders_of(find_group(root, "cpu"))) {
    lower_cores(result, number_in(folder / "cpu.cfs_quota_us"),
                number_in(folder / "cpu.cfs_period_us"));
  }
  for (const fs::path& folder : folders_of(find_group(root, ""))) {
    lower_memory(result, number_in(folder / "memory.max"), number_in(folder / "memory.current"),
                 number_beside(folder / "memory.stat", "inactive_file"));
    std::ifstream in(folder / "cpu.max");  // "200000 100000", or "max 100000"
    std::uint64_t quota = 0;
    std::uint64_t period = 0;
    if (in >> quota >> period) lower_cores(result, quota, period);
  }
  return result;
}

}  // namespace paceline
