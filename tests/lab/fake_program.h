// Programs for the tests of the runner: shell scripts.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace paceline {

// Puts a script with this content there and returns its path.
inline std::filesystem::path write_program(const std::filesystem::path& file,
                                           const std::string& script) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

}  // namespace paceline
