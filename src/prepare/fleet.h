// Processes that prepare one output together, on one host or on many.
//
// Each has a rank and a folder of its own, and does its part of the tasks. What they tell each
// other goes through gather(), what they have made for each other through exchange(), and rows of
// the output they write at the same time. All of them make the same calls in the same order, from
// one thread; a call ends when all have made it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "prepare/file_piece.h"

namespace paceline {

// An HDF5 file whose tables exist already.
class SharedTables {
 public:
  virtual ~SharedTables() = default;
  // Each process writes rows of its own, or none, as `rows` of the table's type.
  virtual void write(const std::string& table, std::uint64_t first, std::uint64_t count,
                     const std::string& rows) = 0;
};

class Fleet {
 public:
  virtual ~Fleet() = default;
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  virtual unsigned neighbours() const = 0;  // processes on this host, this one included
  virtual std::string host() const = 0;

  // What each of them says, by rank.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;

  // Sends outgoing[r] to process r; those for itself stay. What comes becomes the file that `place`
  // names. Returns these files.
  using Place = std::function<std::filesystem::path(std::size_t from, std::size_t number)>;
  virtual std::vector<std::filesystem::path> exchange(
      const std::vector<std::vector<FilePiece>>& outgoing, const Place& place) = 0;

  virtual std::unique_ptr<SharedTables> open(const std::filesystem::path& file) = 0;

  // Ends the others, who would wait for this process for ever.
  virtual void abandon(const Error& reason) = 0;
};

// One process alone.
std::unique_ptr<Fleet> lone_process();

// Those that mpirun or srun has started, by the plugin that needs MPI. Throws ConfigError when it
// was not built.
std::unique_ptr<Fleet> mpi_fleet();
using MakeFleet = std::unique_ptr<Fleet> (*)();
void register_mpi_fleet(MakeFleet make);

// What went wrong in one process, and all know it. Of the processes the first has the words, and
// the causes.
class SharedError : public Error {
 public:
  using Error::Error;
};

// Does `work`, for which no process needs another, and returns what it has returned in each. When
// it fails in one, all throw SharedError.
std::vector<nlohmann::json> do_together(Fleet& fleet, const std::function<nlohmann::json()>& work);

}  // namespace paceline
