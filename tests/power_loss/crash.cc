#include "power_loss/crash.h"

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/random.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Kind = DiskEvent::Kind;

// Each seed has its own odds, so that both extremes are met: names without content, and content
// without names.
class Luck {
 public:
  explicit Luck(std::uint64_t seed) : seed_(seed), random_(seed) {
    constexpr std::uint64_t kOdds[] = {0, 20, 50, 80, 100};  // per cent
    bytes_ = kOdds[random_.below(5)];
    sizes_ = kOdds[random_.below(5)];
    names_ = kOdds[random_.below(5)];
    unit_ = random_.below(2) == 0 ? 512 : 4096;
  }
  bool keeps_bytes() { return falls(bytes_); }
  bool keeps_size() { return falls(sizes_); }
  bool keeps_name() { return falls(names_); }
  std::uint64_t unit() const { return unit_; }

 private:
  bool falls(std::uint64_t odds) { return seed_ != 0 && random_.below(100) < odds; }

  std::uint64_t seed_;
  Random random_;
  std::uint64_t bytes_ = 0;
  std::uint64_t sizes_ = 0;
  std::uint64_t names_ = 0;
  std::uint64_t unit_ = 512;
};

class Disk {
 public:
  Disk(const DiskLog& log, const Crash& crash) : nodes_(log.nodes), luck_(crash.seed) {
    const std::vector<bool> synced = find_synced(log, crash.events);
    for (std::size_t i = 0; i < crash.events; ++i) apply(log.events[i], synced[i]);
  }

  void write(Node node, const fs::path& path) const {
    if (!nodes_[node].is_folder) {
      std::ofstream(path, std::ios::binary) << nodes_[node].bytes;
      return;
    }
    fs::create_directory(path);
    for (const auto& [name, entry] : nodes_[node].names) write(entry, path / name);
  }

 private:
  // A name belongs to its folder, all else to the file itself.
  static Node owner(const DiskEvent& event) {
    return event.kind == Kind::kName || event.kind == Kind::kRemove ? event.folder : event.node;
  }

  static std::vector<bool> find_synced(const DiskLog& log, std::size_t events) {
    std::vector<bool> synced(events);
    std::map<Node, std::uint64_t> until;  // events before it are on the disk
    for (std::size_t i = events; i-- > 0;) {
      const DiskEvent& event = log.events[i];
      std::uint64_t& end = until[owner(event)];
      if (event.kind == Kind::kSync) {
        end = std::max(end, event.offset);
      } else {
        synced[i] = i < end;
      }
    }
    return synced;
  }

  void apply(const DiskEvent& event, bool synced) {
    switch (event.kind) {
      case Kind::kWrite:
        return put(event, synced);
      case Kind::kResize:
        if (synced || luck_.keeps_size()) nodes_[event.node].bytes.resize(event.offset);
        return;
      case Kind::kName:
        if (!synced && !luck_.keeps_name()) return;
        if (!event.old_name.empty()) forget(event.old_folder, event.old_name);
        nodes_[event.folder].names[event.name] = event.node;
        return;
      case Kind::kRemove:
        if (synced || luck_.keeps_name()) forget(event.folder, event.name);
        return;
      case Kind::kSync:
        return;
    }
  }

  void forget(Node folder, const std::string& name) { nodes_[folder].names.erase(name); }

  void put(const DiskEvent& event, bool synced) {
    std::string& file = nodes_[event.node].bytes;
    const std::uint64_t end = event.offset + event.bytes.size();
    if ((synced || luck_.keeps_size()) && file.size() < end) file.resize(end);
    for (std::uint64_t at = event.offset; at < end;) {
      const std::uint64_t next = std::min(end, (at / luck_.unit() + 1) * luck_.unit());
      if (synced || luck_.keeps_bytes()) {
        if (file.size() < next) file.resize(next);
        file.replace(at, next - at, event.bytes, at - event.offset, next - at);
      }
      at = next;
    }
  }

  std::vector<DiskNode> nodes_;
  Luck luck_;
};

}  // namespace

void restore(const DiskLog& log, const Crash& crash, const fs::path& into) {
  PACELINE_CHECK(crash.events <= log.events.size() && !fs::exists(into));
  Disk(log, crash).write(0, into);
}

}  // namespace paceline
