// Processes that mpirun or srun has started.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "prepare/fleet.h"

namespace paceline {

std::unique_ptr<Fleet> make_mpi_fleet();

// Calls MPI_Abort, behind a sentence that names this process.
[[noreturn]] void abort_fleet(const Error& reason);

// All processes open it together, and close it together when they destroy what they get.
std::unique_ptr<SharedTables> open_mpi_tables(const std::filesystem::path& file);

}  // namespace paceline
