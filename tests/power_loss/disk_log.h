// What a program did to the files of a folder, in the order in which the kernel did it: enough to
// say what a disk may hold when the power fails at any moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace paceline {

using Node = std::size_t;  // a file or a folder, whatever its names; 0: the folder that is watched

struct DiskEvent {
  enum class Kind {
    kWrite,   // `bytes` at `offset` of `node`
    kResize,  // `node` has `offset` bytes now
    kName,    // `node` has the name `name` in `folder`, and no longer `old_name` in `old_folder`
    kRemove,  // `name` of `folder` is gone
    kSync,    // of `node`: what was done to it before event `offset` is on the disk
  };
  Kind kind;
  Node node = 0;
  std::uint64_t offset = 0;
  std::string bytes{};
  Node folder = 0;
  std::string name{};
  Node old_folder = 0;
  std::string old_name{};  // empty: the name is new, nothing was renamed
};

struct DiskNode {
  bool is_folder = false;
  std::string bytes{};                  // at first
  std::map<std::string, Node> names{};  // in it, at first
};

struct DiskLog {
  std::vector<DiskNode> nodes;
  std::vector<DiskEvent> events;
  int exit_code = 0;   // −signal when a signal ended the program
  std::string output;  // what it wrote to standard output and standard error
};

}  // namespace paceline
