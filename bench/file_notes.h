// What processes on different hosts leave for each other in a folder that all see.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/file/file.h"
#include "exchange/allreduce/ring.h"

namespace bench {

namespace fs = std::filesystem;

class FileNotes final : public paceline::RingNotes {
 public:
  explicit FileNotes(fs::path folder) : folder_(std::move(folder)) {}

  void leave(const std::string& key, const std::string& note) override {
    paceline::write_atomically(path(key), note);
  }
  std::string find(const std::string& key) override {
    const paceline::TimePoint end = paceline::Clock::now() + std::chrono::seconds(60);
    while (!fs::exists(path(key))) {
      if (paceline::Clock::now() > end)
        throw paceline::CommError("nobody has left the note {}", key);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return paceline::read_text(path(key));
  }

 private:
  fs::path path(std::string key) const {
    std::replace(key.begin(), key.end(), '/', '_');
    return folder_ / key;
  }

  fs::path folder_;
};

}  // namespace bench
