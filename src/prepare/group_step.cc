#include "prepare/group_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "prepare/groups.h"
#include "prepare/word_table.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBuffer = std::size_t{256} << 10;
constexpr std::size_t kLeastBuffer = std::size_t{16} << 10;

// The files of a segment while it grows.
struct Segment {
  explicit Segment(const fs::path& name)
      : writers{GroupWriter(rows_path(name, ReviewPart::kTrain)),
                GroupWriter(rows_path(name, ReviewPart::kValidation)),
                GroupWriter(rows_path(name, ReviewPart::kTest))} {}
  std::array<GroupWriter, kReviewParts> writers;
};

class Grouping {
 public:
  Grouping(const GroupTask& task, const PrepareSettings& settings)
      : task_(task), settings_(settings), table_(settings.stop_words, task.memory / 2) {}

  GroupReport run() {
    const std::size_t buffer = std::clamp(
        task_.memory / 2 / std::max<std::size_t>(1, task_.runs.size()), kLeastBuffer, kMostBuffer);
    std::vector<RunReader> runs;
    for (const fs::path& run : task_.runs) runs.emplace_back(run, buffer);
    for (std::size_t slice = task_.first_slice; slice < task_.end_slice; ++slice) {
      throw_if_stopped(task_.stop);
      RunMerger merger(runs, slice);
      for (RatedText text; merger.next(text);) take(text);
      ++task_.progress;
    }
    if (segment_) end_segment();
    return std::move(report_);
  }

 private:
  void take(const RatedText& text) {
    ++report_.texts;
    for (const RatingCount& rating : text.ratings) report_.duplicates += rating.count;
    --report_.duplicates;
    decide(text.ratings);
    const std::uint64_t rows = decided_[0] + decided_[1];
    if (rows == 0) return;
    const ReviewPart part = part_of(text.hash, settings_);
    words_.clear();
    table_.number(text.text, part == ReviewPart::kTrain ? rows : 0, words_);
    if (words_.empty()) {
      report_.empty += rows;
      return;
    }
    add(part, rows);
    if (table_.full()) end_segment();
  }

  // How many rows of which label the text becomes.
  void decide(std::span<const RatingCount> ratings) {
    decided_ = {0, 0};
    const auto count = [this](Rating rating, std::uint64_t times) {
      const auto label = label_of(rating, settings_);
      (label ? decided_[*label] : report_.undecided) += times;
    };
    if (settings_.duplicates == Duplicates::kGroup) return count(settle(ratings), 1);
    for (const RatingCount& one : ratings) count(static_cast<Rating>(one.rating), one.count);
  }

  void add(ReviewPart part, std::uint64_t rows) {
    report_.words += words_.size() * rows;
    report_.cut += words_.size() > settings_.length ? rows : 0;
    report_.lengths[std::min(words_.size() / 10, kLengthBins - 1)] += rows;
    std::span<const std::uint32_t> kept(words_);
    if (kept.size() > settings_.length) {
      kept = settings_.cut == TextCut::kEnd ? kept.first(settings_.length)
                                            : kept.last(settings_.length);
    }
    if (!segment_) {
      segment_.emplace(segment_name(task_.name, report_.segments.size()));
    }
    for (std::uint8_t label = 0; label < 2; ++label) {
      report_.labels[static_cast<std::size_t>(part)][label] += decided_[label];
      for (std::uint64_t i = 0; i < decided_[label]; ++i) {
        segment_->writers[static_cast<std::size_t>(part)].add({label, kept});
      }
    }
  }

  void end_segment() {
    SegmentSize size;
    size.words = table_.words();
    for (std::size_t part = 0; part < kReviewParts; ++part) {
      size.rows[part] = segment_->writers[part].rows();
      segment_->writers[part].commit();
    }
    segment_.reset();
    table_.write(words_path(segment_name(task_.name, report_.segments.size())));
    report_.segments.push_back(size);
  }

  const GroupTask& task_;
  const PrepareSettings& settings_;
  WordTable table_;
  std::optional<Segment> segment_;
  GroupReport report_;
  std::array<std::uint64_t, 2> decided_{};  // of the text at hand: rows by label
  std::vector<std::uint32_t> words_;        // and its words that are not stopped
};

}  // namespace

void GroupReport::add(const GroupReport& more) {
  texts += more.texts;
  duplicates += more.duplicates;
  undecided += more.undecided;
  empty += more.empty;
  for (std::size_t part = 0; part < kReviewParts; ++part) {
    for (std::size_t label = 0; label < 2; ++label) labels[part][label] += more.labels[part][label];
  }
  for (std::size_t i = 0; i < kLengthBins; ++i) lengths[i] += more.lengths[i];
  words += more.words;
  cut += more.cut;
}

std::uint64_t GroupReport::rows(ReviewPart part) const {
  const auto& counts = labels[static_cast<std::size_t>(part)];
  return counts[0] + counts[1];
}

nlohmann::json to_json(const GroupReport& report) {
  nlohmann::json segments = nlohmann::json::array();
  for (const SegmentSize& size : report.segments) segments.push_back({size.rows, size.words});
  return {{"texts", report.texts},         {"duplicates", report.duplicates},
          {"undecided", report.undecided}, {"empty", report.empty},
          {"labels", report.labels},       {"lengths", report.lengths},
          {"words", report.words},         {"cut", report.cut},
          {"segments", segments}};
}

GroupReport group_report(const nlohmann::json& json) {
  return from_report([&] {
    GroupReport report;
    json.at("texts").get_to(report.texts);
    json.at("duplicates").get_to(report.duplicates);
    json.at("undecided").get_to(report.undecided);
    json.at("empty").get_to(report.empty);
    json.at("labels").get_to(report.labels);
    json.at("lengths").get_to(report.lengths);
    json.at("words").get_to(report.words);
    json.at("cut").get_to(report.cut);
    for (const nlohmann::json& segment : json.at("segments")) {
      SegmentSize size;
      segment.at(0).get_to(size.rows);
      segment.at(1).get_to(size.words);
      report.segments.push_back(size);
    }
    return report;
  });
}

fs::path segment_name(const fs::path& task_name, std::size_t number) {
  return task_name.string() + fmt::format("-{}", number);
}

fs::path rows_path(const fs::path& segment, ReviewPart part) {
  return segment.string() + "." + name_of(part);
}

fs::path words_path(const fs::path& segment) {
  return segment.string() + ".words";
}

fs::path numbers_path(const fs::path& segment) {
  return segment.string() + ".numbers";
}

GroupReport group_slices(const GroupTask& task, const PrepareSettings& settings) {
  return Grouping(task, settings).run();
}

}  // namespace paceline
