// What a command line asks for, as plain data: one struct per command.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "config/run_config.h"
#include "infer/evaluate.h"
#include "prepare/prepare.h"

namespace paceline {

struct ShowText {  // --help, --version
  std::string text;
};

struct TrainOptions {
  RunConfig config;
  bool claims_run_dir = false;  // nobody has named one
  bool json = false;
  bool quiet = false;
  bool dry_run = false;
  bool ideal = false;
};

struct EvaluateCommand {
  EvaluateOptions evaluate;
  bool json = false;
};

struct PredictOptions {
  std::filesystem::path target;  // run directory or checkpoint
  std::filesystem::path input;   // IDX images, gzipped or not
  std::filesystem::path output;  // empty: standard output
  bool probabilities = false;
};

struct ExportOptions {
  std::filesystem::path target;  // run directory or checkpoint
  std::filesystem::path output;
};

struct InspectOptions {
  std::string target;  // run directory, checkpoint, recipe name or recipe file
  bool json = false;
};

struct DataGetOptions {
  std::vector<std::string> names;
  std::filesystem::path data_dir;
};

struct DataListOptions {
  std::filesystem::path data_dir;
  std::filesystem::path cache_dir;  // of rows; empty: in the data_dir
  bool json = false;
  bool verify = false;
};

struct DataCleanOptions {
  std::vector<std::string> names;  // of files; empty: those of no use
  bool all = false;
  bool dry_run = false;
  std::filesystem::path data_dir;
  std::filesystem::path cache_dir;  // of rows; empty: in the data_dir
};

struct PrepareReviewsOptions {
  PrepareOptions prepare;  // but for what follows, which is given as words
  std::string as;          // mapper or reducer; empty: all of the work
  std::string input_format = "auto";
  std::string duplicates = "group";
  std::string cut = "end";
  std::string stop_words;  // a file; empty: the usual ones; "none"
  std::filesystem::path vocabulary_file;
  std::string format = "hdf5";
  std::string memory = "1G";
  bool json = false;
  bool quiet = false;
};

struct BenchOptions {
  std::vector<std::string> names;  // of figures or groups of figures; empty: all
  std::filesystem::path data_dir;
  bool json = false;
  bool list = false;
};

struct SettingsOptions {
  bool markdown = false;
};

// One process of a run, started by the launcher of that run.
struct RoleOptions {
  std::string name;      // "server0": for people who look at processes
  int spec_fd = -1;      // where to read what it is to do
  int announce_fd = -1;  // where to write the own address when it is known; -1: nowhere
  int failure_fd = -1;   // where to write why it fails, for who started it; -1: nowhere
};

using ParsedCommand =
    std::variant<ShowText, TrainOptions, EvaluateCommand, PredictOptions, ExportOptions,
                 InspectOptions, DataGetOptions, DataListOptions, DataCleanOptions,
                 PrepareReviewsOptions, BenchOptions, SettingsOptions, RoleOptions>;

}  // namespace paceline
