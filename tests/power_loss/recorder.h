// Watches what a program does to the files of a folder: with ptrace, so below every library, and in
// all processes and threads that it starts.
//
// It knows the calls by which Paceline and its libraries change files. One that it does not know,
// such as a shared mapping that can be written to, is an error: nothing goes unnoticed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "power_loss/disk_log.h"

namespace paceline {

// Runs `program` with its arguments in the folder above `folder`.
DiskLog record(const std::filesystem::path& folder, const std::vector<std::string>& program);

// Runs `work` in a process of its own, whose exit code it returns.
DiskLog record(const std::filesystem::path& folder, const std::function<int()>& work);

}  // namespace paceline
