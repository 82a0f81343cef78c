// What can be known to be wrong before hours of work begin, and what the memory is for.
//
// Throws ConfigError or DataError with what to change.
#pragma once

#include <cstddef>
#include <vector>

#include "prepare/fleet.h"
#include "prepare/input.h"
#include "prepare/prepare.h"

namespace paceline {

void check_options(const PrepareOptions& options, const Fleet& fleet);

// Where the output will be, as far as the first process can see it, and what is read.
void check_places(const PrepareOptions& options, const std::vector<InputFile>& files,
                  const Fleet& fleet);

// What each thread may use.
std::size_t thread_memory(const PrepareOptions& options);

}  // namespace paceline
