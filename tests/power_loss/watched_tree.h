// The names below a folder as they are now, and what happens to them as a DiskLog.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "power_loss/disk_log.h"

namespace paceline {

class WatchedTree {
 public:
  explicit WatchedTree(const std::filesystem::path& folder);

  struct Place {
    Node folder;
    std::string name;
  };
  // Where a path leads; nothing when it leads elsewhere.
  std::optional<Place> place_of(const std::filesystem::path& path) const;
  std::optional<Node> node_at(const Place& place) const;
  std::optional<Node> node_of(const struct stat& status) const;
  struct stat status_at(const Place& place) const;

  void created(const Place& place, const struct stat& status);  // when it was not there before
  void renamed(const Place& from, const Place& to);
  void removed(const Place& place);
  void wrote(Node node, std::uint64_t offset, std::string bytes);
  void resized(Node node, std::uint64_t size);
  void synced(Node node, std::size_t until);

  std::size_t events() const { return log_.events.size(); }
  DiskLog& log() { return log_; }

 private:
  using Inode = std::pair<dev_t, ino_t>;
  Node add(const struct stat& status, const std::filesystem::path& path);
  void scan(Node folder, const std::filesystem::path& path);

  std::filesystem::path root_;
  DiskLog log_;
  std::vector<std::map<std::string, Node>> names_;  // now, by folder
  std::vector<std::filesystem::path> paths_;        // of folders; they are not renamed
  std::map<Inode, Node> inodes_;
};

}  // namespace paceline
