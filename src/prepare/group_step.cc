#include "prepare/group_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "prepare/groups.h"
#include "prepare/word_hash.h"
#include "prepare/word_table.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBuffer = std::size_t{256} << 10;
constexpr std::size_t kLeastBuffer = std::size_t{16} << 10;

class Grouping {
 public:
  Grouping(const GroupTask& task, const PrepareSettings& settings)
      : task_(task),
        settings_(settings),
        table_(settings.stop_words, task.memory / 2),
        writers_{GroupWriter(group_path(task.name, ReviewPart::kTrain)),
                 GroupWriter(group_path(task.name, ReviewPart::kValidation)),
                 GroupWriter(group_path(task.name, ReviewPart::kTest))} {}

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
    if (!table_.empty()) write_words();
    for (GroupWriter& writer : writers_) writer.commit();
    return report_;
  }

 private:
  void take(const RatedText& text) {
    std::uint64_t reviews = 0;
    for (const RatingCount& rating : text.ratings) reviews += rating.count;
    ++report_.texts;
    report_.duplicates += reviews - 1;
    const ReviewPart part = part_of(text.hash, settings_);
    const bool counted = part == ReviewPart::kTrain && settings_.words.empty();
    std::uint64_t rows = 0;
    const auto add = [&](Rating rating, std::uint64_t times) {
      const auto label = label_of(rating, settings_);
      if (!label) {
        report_.undecided += times;
        return;
      }
      if (rows == 0) keep_words(text.text, counted);
      rows += times;
      if (kept_.empty()) {
        report_.empty += times;
        return;
      }
      report_.labels[static_cast<std::size_t>(part)][*label] += times;
      for (; times > 0; --times) {
        writers_[static_cast<std::size_t>(part)].add({*label, kept_});
      }
    };
    if (settings_.duplicates == Duplicates::kGroup) {
      add(settle(text.ratings), 1);
    } else {
      for (const RatingCount& rating : text.ratings) {
        add(static_cast<Rating>(rating.rating), rating.count);
      }
    }
    if (rows > 0 && !kept_.empty()) note(text.text, counted, rows);
  }

  // The words that a row will have: without those that are stopped, and at most `length`. Counts
  // them, those that are cut off included.
  void keep_words(std::string_view text, bool counted) {
    kept_.clear();
    ends_.clear();
    for_each_clean_word(text, [&](std::string_view word) {
      const auto found = counted ? table_.count(word) : table_.look(word);
      if (found == WordTable::Found::kStopped) return;
      if (!kept_.empty()) kept_ += ' ';
      kept_ += word;
      ends_.push_back(kept_.size());
    });
    if (ends_.size() <= settings_.length) return;
    if (settings_.cut == TextCut::kEnd) {
      kept_.resize(ends_[settings_.length - 1]);
    } else {
      kept_.erase(0, ends_[ends_.size() - settings_.length - 1] + 1);
    }
  }

  void note(std::string_view text, bool counted, std::uint64_t rows) {
    const std::size_t words = ends_.size();
    report_.words += words * rows;
    report_.cut += words > settings_.length ? rows : 0;
    report_.lengths[std::min(words / 10, kLengthBins - 1)] += rows;
    if (!counted) return;
    for (; rows > 1; --rows) {  // duplicates that are kept
      for_each_clean_word(text, [this](std::string_view word) { table_.count(word); });
    }
    if (table_.full()) write_words();
  }

  void write_words() { table_.write(words_path(task_.name, report_.lists++)); }

  const GroupTask& task_;
  const PrepareSettings& settings_;
  WordTable table_;
  std::array<GroupWriter, kReviewParts> writers_;
  GroupReport report_;
  std::string kept_;
  std::vector<std::size_t> ends_;  // of the words that are not stopped, before any is cut off
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
  lists += more.lists;
}

std::uint64_t GroupReport::rows(ReviewPart part) const {
  const auto& counts = labels[static_cast<std::size_t>(part)];
  return counts[0] + counts[1];
}

nlohmann::json to_json(const GroupReport& report) {
  return {{"texts", report.texts},         {"duplicates", report.duplicates},
          {"undecided", report.undecided}, {"empty", report.empty},
          {"labels", report.labels},       {"lengths", report.lengths},
          {"words", report.words},         {"cut", report.cut},
          {"lists", report.lists}};
}

GroupReport group_report(const nlohmann::json& json) {
  GroupReport report;
  json.at("texts").get_to(report.texts);
  json.at("duplicates").get_to(report.duplicates);
  json.at("undecided").get_to(report.undecided);
  json.at("empty").get_to(report.empty);
  json.at("labels").get_to(report.labels);
  json.at("lengths").get_to(report.lengths);
  json.at("words").get_to(report.words);
  json.at("cut").get_to(report.cut);
  json.at("lists").get_to(report.lists);
  return report;
}

fs::path group_path(const fs::path& name, ReviewPart part) {
  return name.string() + "." + name_of(part);
}

fs::path words_path(const fs::path& name, std::uint64_t number) {
  return name.string() + fmt::format("-{}.words", number);
}

GroupReport group_slices(const GroupTask& task, const PrepareSettings& settings) {
  return Grouping(task, settings).run();
}

}  // namespace paceline
