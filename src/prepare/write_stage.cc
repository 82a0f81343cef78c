#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "data/words.h"
#include "prepare/sequence_file.h"
#include "prepare/stages.h"

namespace paceline {
namespace {

using Json = nlohmann::json;

void describe(SequenceFile& file, const Description& description,
              const std::vector<std::string>& stop_words) {
  file.set_words("vocabulary", description.words);
  file.set_words("stop_words", stop_words);
  file.set_attribute("settings", description.settings);
  file.set_attribute("counts", description.counts);
  file.set_attribute("input_checksum", description.input_checksum);
  file.set_attribute("content_checksum", description.content_checksum);
}

SequenceShape shape_of(const PrepareContext& context, const NumberResult& numbered) {
  const std::uint32_t length = context.options.settings.length;
  return {length, numbered.id_bytes, chunk_rows(length), task_rows(length)};
}

// Chunks as they are, one behind the other.
void write_chunks(const PrepareContext& context, const GroupResult& grouped,
                  const NumberResult& numbered, const Description& description) {
  SequenceFile file(context.options.output, shape_of(context, numbered));
  std::size_t part = kReviewParts;
  for (const NumberResult::Rows& rows : numbered.rows) {
    throw_if_stopped(context.stop);
    if (rows.part != part) {
      part = rows.part;
      file.begin_part(name_of(grouped.parts[part].part), grouped.parts[part].all);
    }
    const NumberedRows chunks = read_numbered(rows.path);
    for (const std::string& chunk : chunks.ids) file.add_ids(chunk);
    file.add_labels(chunks.labels);
  }
  describe(file, description, context.options.settings.stop_words);
  file.commit();
}

// The rows of a part, some of each process at a time: as often as the one with the most needs.
void write_part(const PrepareContext& context, const NumberResult& numbered, std::size_t part,
                const std::string& name, SharedTables& tables) {
  std::vector<const NumberResult::Rows*> mine;
  for (const NumberResult::Rows& rows : numbered.rows) {
    if (rows.part == part) mine.push_back(&rows);
  }
  const auto counts = do_together(context.fleet, [&]() -> Json { return mine.size(); });
  const std::size_t rounds = *std::max_element(counts.begin(), counts.end());
  for (std::size_t i = 0; i < rounds; ++i) {
    NumberResult::Rows rows;
    NumberedRows content{{""}, ""};
    if (i < mine.size()) {
      rows = *mine[i];
      content = read_numbered(rows.path);
    }
    tables.write(name + "/ids", rows.first, rows.end - rows.first, content.ids[0]);
    tables.write(name + "/labels", rows.first, rows.end - rows.first, content.labels);
  }
}

// The first process makes the file, then all write rows.
void write_together(const PrepareContext& context, const GroupResult& grouped,
                    const NumberResult& numbered, const Description& description) {
  std::unique_ptr<SequenceFile> file;
  do_together(context.fleet, [&]() -> Json {
    if (context.fleet.rank() > 0) return {};
    file = std::make_unique<SequenceFile>(context.options.output, shape_of(context, numbered));
    for (const PartRows& rows : grouped.parts) {
      if (rows.all > 0) file->begin_part(name_of(rows.part), rows.all);
    }
    describe(*file, description, context.options.settings.stop_words);
    file->close();
    return {};
  });
  auto tables = context.fleet.open(SequenceFile::partial_path(context.options.output));
  try {
    for (std::size_t part = 0; part < kReviewParts; ++part) {
      const PartRows& rows = grouped.parts[part];
      if (rows.all > 0) write_part(context, numbered, part, name_of(rows.part), *tables);
    }
  } catch (const Error& error) {
    context.fleet.abandon(error);  // the others are writing: none can close it
    throw;
  }
  tables.reset();
  do_together(context.fleet, [&]() -> Json {
    if (file) file->commit();
    return {};
  });
}

// To look at: part, label, and the words again.
void write_tsv(const PrepareContext& context, const GroupResult& grouped,
               const NumberResult& numbered, const std::vector<std::string>& words) {
  AtomicFile file(context.options.output);
  const std::size_t length = context.options.settings.length;
  for (const NumberResult::Rows& rows : numbered.rows) {
    throw_if_stopped(context.stop);
    const NumberedRows content = read_numbered(rows.path);
    const char* at = content.ids[0].data();
    std::string text;
    for (const char label : content.labels) {
      text += fmt::format("{}\t{}\t", name_of(grouped.parts[rows.part].part), int{label});
      for (std::size_t i = 0; i < length; ++i, at += numbered.id_bytes) {
        std::uint32_t number = 0;
        std::memcpy(&number, at, numbered.id_bytes);
        if (number == Vocabulary::kPadding) continue;
        if (i > 0) text += ' ';
        text += number == Vocabulary::kUnknown ? "?" : words[number - Vocabulary::kFirstWord];
      }
      text += '\n';
    }
    file.write(std::string_view(text));
  }
  file.commit();
}

}  // namespace

void write_stage(const PrepareContext& context, const GroupResult& grouped,
                 const NumberResult& numbered, const Description& description) {
  if (context.options.format == PrepareFormat::kTsv) {
    return write_tsv(context, grouped, numbered, description.words);
  }
  if (writes_together(context)) return write_together(context, grouped, numbered, description);
  do_together(context.fleet, [&]() -> Json {
    if (context.fleet.rank() == 0) write_chunks(context, grouped, numbered, description);
    return {};
  });
}

}  // namespace paceline
