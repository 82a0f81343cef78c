// A file of JSON objects, one per line, that grows while a run goes on.
//
// A thread of its own writes, so that a disk that stalls stops nobody. What has gone wrong comes
// out of the next call. One thread calls.
#pragma once

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

namespace paceline {

class MetricsFile {
 public:
  // Appends to `path`. Throws DataError when it cannot be opened.
  explicit MetricsFile(const std::filesystem::path& path);
  ~MetricsFile();  // writes what is left
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  // A line that may be left out is, when the disk has fallen far behind. Throws DataError when an
  // earlier line could not be written.
  enum class Need { kAlways, kIfThereIsTime };
  void write(const nlohmann::json& object, Need need = Need::kAlways);
  void flush();  // waits until all is written; throws DataError when that failed

 private:
  void work();
  void write_out(const std::string& lines);
  void rethrow();  // with the mutex

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;  // the writer's
  std::mutex mutex_;                        // guards what follows
  std::condition_variable changed_;
  std::string lines_;  // not yet taken by the writer
  bool writing_ = false;
  bool over_ = false;
  std::exception_ptr failure_;
  std::thread writer_;
};

}  // namespace paceline
