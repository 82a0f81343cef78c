// A file of JSON objects, one per line, that grows while a run goes on.
//
// A thread of its own writes, so that a disk that stalls stops nobody. While the disk is full lines
// wait in memory, in their order: nobody's training ends for want of them. One thread calls.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace paceline {

class MetricsFile {
 public:
  // Appends lines to `path`; one that is cut off there stays apart. Throws DataError when it cannot
  // be opened.
  explicit MetricsFile(const std::filesystem::path& path);
  ~MetricsFile();  // writes what is left, if there is room
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  // A line that may be left out is, when the disk has fallen far behind. Throws DataError when an
  // earlier line could not be written for any reason but a full disk.
  enum class Need { kAlways, kIfThereIsTime };
  void write(const nlohmann::json& object, Need need = Need::kAlways);
  // Waits until all is written. Throws DiskFull when there is no room, DataError when it failed
  // otherwise; no line is cut in two.
  void flush();

 private:
  void work();
  void write_out(std::string& lines);  // takes off what is written

  std::filesystem::path path_;
  int file_;          // the writer's
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::string lines_;    // not yet written
  bool wanted_ = false;  // a try: there is a new line, somebody waits, or it is the end
  bool over_ = false;
  std::exception_ptr failure_;  // of the last try
  std::thread writer_;
};

// The epochs that such a file tells of up to `version`, in their order; of several lines on one the
// last. What is no line of an epoch is passed over: the power may have failed while it was written.
std::vector<nlohmann::json> read_epochs(const std::filesystem::path& path, std::uint64_t version);

}  // namespace paceline
