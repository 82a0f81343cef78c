// What the tests of config/ and cli/ share: a folder of files that goes away, and the sentence of
// an error.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/temp_dir.h"

namespace paceline {

class TestFolder : public TempDir {
 public:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }
};

// What `action` complains about; the test fails when it does not.
template <typename Failure, typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Failure& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace paceline
