#include "power_loss/watched_tree.h"

#include <stdexcept>

#include "base/file/file.h"

namespace paceline {

namespace fs = std::filesystem;
using Kind = DiskEvent::Kind;

WatchedTree::WatchedTree(const fs::path& folder) : root_(fs::canonical(folder)) {
  struct stat status {};
  if (::stat(root_.c_str(), &status) != 0)
    throw std::runtime_error("cannot watch " + root_.string());
  scan(add(status, root_), root_);
}

Node WatchedTree::add(const struct stat& status, const fs::path& path) {
  log_.nodes.push_back({.is_folder = S_ISDIR(status.st_mode)});
  names_.emplace_back();
  paths_.push_back(path);
  // The number of a file that is gone may be given to a new one.
  inodes_[{status.st_dev, status.st_ino}] = log_.nodes.size() - 1;
  return log_.nodes.size() - 1;
}

void WatchedTree::scan(Node folder, const fs::path& path) {
  for (const auto& entry : fs::directory_iterator(path)) {
    struct stat status {};
    if (::lstat(entry.path().c_str(), &status) != 0) continue;
    const Node node = add(status, entry.path());
    log_.nodes[folder].names[entry.path().filename()] = node;
    names_[folder][entry.path().filename()] = node;
    if (S_ISDIR(status.st_mode)) {
      scan(node, entry.path());
    } else {
      log_.nodes[node].bytes = read_text(entry.path());
    }
  }
}

std::optional<WatchedTree::Place> WatchedTree::place_of(const fs::path& path) const {
  const fs::path below = path.lexically_normal().lexically_relative(root_);
  if (below.empty() || below == "." || *below.begin() == "..") return std::nullopt;
  Place place{0, ""};
  for (const fs::path& part : below) {
    if (part.empty()) continue;
    if (!place.name.empty()) {
      const auto folder = node_at(place);
      if (!folder) return std::nullopt;
      place.folder = *folder;
    }
    place.name = part;
  }
  return place;
}

std::optional<Node> WatchedTree::node_at(const Place& place) const {
  const auto found = names_[place.folder].find(place.name);
  return found == names_[place.folder].end() ? std::nullopt : std::optional(found->second);
}

std::optional<Node> WatchedTree::node_of(const struct stat& status) const {
  const auto found = inodes_.find({status.st_dev, status.st_ino});
  return found == inodes_.end() ? std::nullopt : std::optional(found->second);
}

struct stat WatchedTree::status_at(const Place& place) const {
  struct stat status {};
  ::lstat((paths_[place.folder] / place.name).c_str(), &status);
  return status;
}

void WatchedTree::created(const Place& place, const struct stat& status) {
  if (node_at(place)) return;
  const Node node = add(status, paths_[place.folder] / place.name);
  names_[place.folder][place.name] = node;
  log_.events.push_back(
      {.kind = Kind::kName, .node = node, .folder = place.folder, .name = place.name});
}

void WatchedTree::renamed(const Place& from, const Place& to) {
  const auto node = node_at(from);
  if (node && log_.nodes[*node].is_folder) throw std::runtime_error("a folder was renamed");
  if (!node) throw std::runtime_error("a file was renamed that nobody has made: " + from.name);
  names_[from.folder].erase(from.name);
  names_[to.folder][to.name] = *node;
  log_.events.push_back({.kind = Kind::kName,
                         .node = *node,
                         .folder = to.folder,
                         .name = to.name,
                         .old_folder = from.folder,
                         .old_name = from.name});
}

void WatchedTree::removed(const Place& place) {
  names_[place.folder].erase(place.name);
  log_.events.push_back({.kind = Kind::kRemove, .folder = place.folder, .name = place.name});
}

void WatchedTree::wrote(Node node, std::uint64_t offset, std::string bytes) {
  log_.events.push_back(
      {.kind = Kind::kWrite, .node = node, .offset = offset, .bytes = std::move(bytes)});
}

void WatchedTree::resized(Node node, std::uint64_t size) {
  log_.events.push_back({.kind = Kind::kResize, .node = node, .offset = size});
}

void WatchedTree::synced(Node node, std::size_t until) {
  log_.events.push_back({.kind = Kind::kSync, .node = node, .offset = until});
}

}  // namespace paceline
