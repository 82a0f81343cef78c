#include "train/run_spec.h"

#include <fmt/format.h>

#include <random>

#include "base/error.h"
#include "base/file/mapped_file.h"
#include "base/text.h"
#include "base/xxh3.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"
#include "config/recipe.h"
#include "data/catalogue/open.h"
#include "model/catalogue/registry.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

wire::DatasetFacts facts_of(const DatasetInfo& info) {
  wire::DatasetFacts facts;
  facts.set_name(info.name);
  facts.set_examples(info.examples);
  facts.set_width(info.width);
  facts.set_classes(info.classes);
  facts.set_memory_bytes(info.memory_bytes);
  facts.set_image_height(info.image.height);
  facts.set_image_width(info.image.width);
  facts.set_image_channels(info.image.channels);
  facts.set_text_sequences(info.text.sequences);
  facts.set_text_length(info.text.length);
  facts.set_text_vocabulary(info.text.vocabulary);
  facts.set_row_bits(info.row_bits);
  return facts;
}

DatasetInfo info_of(const wire::DatasetFacts& facts) {
  DatasetInfo info;
  info.name = facts.name();
  info.examples = facts.examples();
  info.width = facts.width();
  info.classes = facts.classes();
  info.memory_bytes = facts.memory_bytes();
  info.image = {facts.image_height(), facts.image_width(), facts.image_channels()};
  info.text = {facts.text_sequences(), facts.text_length(), facts.text_vocabulary()};
  info.row_bits = facts.row_bits();
  return info;
}

// Of click logs. Files may be rotated or deleted while a run goes on, so they are asked at once.
std::optional<std::uint64_t> count_bad_lines(const DataOptions& data) {
  if (!is_rows(data)) return std::nullopt;
  std::uint64_t count = open_rows(data, Split::kTrain)->info().bad_lines;
  if (!data.text.test_file.empty()) count += open_rows(data, Split::kTest)->info().bad_lines;
  return count;
}

wire::RunFile describe(const fs::path& path) {
  const MappedFile file(path);
  const XXH128_hash_t hash = XXH3_128bits(file.bytes().data(), file.bytes().size());
  wire::RunFile result;
  result.set_path(path.string());
  result.set_bytes(file.bytes().size());
  result.set_xxh128(fmt::format("{:016x}{:016x}", hash.high64, hash.low64));
  return result;
}

// What roles read besides data and checkpoints.
std::vector<wire::RunFile> files_of(const RunConfig& config) {
  std::vector<wire::RunFile> files;
  if (is_script(config.model.name)) files.push_back(describe(config.model.name));
  const fs::path checkpoints = config.run_dir / "checkpoints";
  if (has_start(checkpoints)) files.push_back(describe(start_path(checkpoints)));
  return files;
}

std::uint64_t new_id(const std::string& digest) {
  std::random_device device;
  const std::uint64_t nonce = (std::uint64_t{device()} << 32) | device();
  return digest_bits(fmt::format("{} {:016x}", digest, nonce));
}

}  // namespace

RunSpec make_run_spec(const RunConfig& config, const DatasetInfo& data) {
  RunSpec spec;
  spec.config = config;
  spec.config_text = config_toml(config);
  spec.digest = shared_digest(config);
  spec.id = new_id(spec.digest);
  spec.data = data;
  spec.bad_lines = count_bad_lines(config.data);
  if (!config.resume.empty()) spec.checkpoint = find_checkpoint(config.resume);
  spec.files = files_of(config);
  return spec;
}

Workload make_workload(const RunSpec& spec) {
  return make_workload(spec.config, spec.data);
}

CheckpointInfo checkpoint_info(const RunSpec& spec, const Workload& workload,
                               std::uint64_t version) {
  CheckpointInfo info;
  info.layout = workload.model->layout();
  info.model = spec.config.model.name;
  info.optimizer = name_of(spec.config.optimizer.kind);
  info.slots = Optimizer(spec.config.optimizer).slots();
  info.steps = steps_in_words(spec.config, workload.grid);
  set_version(info, workload.grid, version);
  info.config = spec.config_text;
  return info;
}

wire::RunSpec encode_spec(const RunSpec& spec) {
  wire::RunSpec message;
  message.set_config(spec.config_text);
  message.set_digest(spec.digest);
  message.set_id(spec.id);
  *message.mutable_data() = facts_of(spec.data);
  if (spec.bad_lines) message.mutable_data()->set_bad_lines(*spec.bad_lines);
  message.set_checkpoint(spec.checkpoint.string());
  for (const wire::RunFile& file : spec.files) *message.add_files() = file;
  return message;
}

RunSpec decode_spec(const wire::RunSpec& message) {
  RunSpec spec;
  spec.config = parse_config(message.config(), "the configuration of the run");
  spec.config_text = message.config();
  spec.digest = message.digest();
  spec.id = message.id();
  spec.data = info_of(message.data());
  if (message.data().has_bad_lines()) spec.bad_lines = message.data().bad_lines();
  spec.checkpoint = message.checkpoint();
  spec.files = {message.files().begin(), message.files().end()};
  return spec;
}

void check_files(const RunSpec& spec) {
  for (const wire::RunFile& file : spec.files) {
    const wire::RunFile now = describe(file.path());
    if (now.bytes() == file.bytes() && now.xxh128() == file.xxh128()) continue;
    throw DataError(
        "{} is not what it was when the run began: put the file back that was there, or start a "
        "new "
        "run",
        file.path());
  }
}

}  // namespace paceline
