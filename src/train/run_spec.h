// What every process of a run must know, made once by whoever starts the run.
//
// A role gets it as bytes, over a descriptor, and opens no file for it. It says what the data is
// like, so that chief and servers of a vector open no data. The run's own files that a role does
// read, such as vocabularies, are known by what they contain.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "data/dataset.h"
#include "session/protocol.pb.h"
#include "train/workload.h"

namespace paceline {

struct RunSpec {
  RunConfig config;
  std::string config_text;  // as in config.toml
  std::string digest;       // of what all processes must agree on
  std::uint64_t id = 0;     // of this start: another start of the same configuration has another
  DatasetInfo data;         // of the training data
  std::optional<std::uint64_t> bad_lines;  // of click logs: left out
  std::filesystem::path checkpoint;        // that the run goes on from; empty: none
  std::vector<wire::RunFile> files;
};

// Of a run that begins now, in its run directory; all of its files are there. Opens click logs.
RunSpec make_run_spec(const RunConfig& config, const DatasetInfo& data);

// The model of the run and all that belongs to it.
Workload make_workload(const RunSpec& spec);
// Of version `version`, all steps below which are applied.
CheckpointInfo checkpoint_info(const RunSpec& spec, const Workload& workload,
                               std::uint64_t version);

wire::RunSpec encode_spec(const RunSpec& spec);
// Throws ConfigError when the configuration cannot be read.
RunSpec decode_spec(const wire::RunSpec& message);

// Throws DataError naming the first of the run's files that is not what it was when the run began.
void check_files(const RunSpec& spec);

}  // namespace paceline
