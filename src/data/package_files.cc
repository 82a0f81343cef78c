#include "data/package_files.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/json.h"

namespace paceline {
namespace {

nlohmann::json parse_array(std::string_view text, const char* of_what) {
  nlohmann::json all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_array()) throw DataError("the package has no JSON array of {}", of_what);
  return all;
}

// A review on one line, without the tags that break lines.
std::string one_line(std::string text) {
  constexpr std::string_view kBreak = "<br />";
  for (std::size_t at = 0; (at = text.find(kBreak, at)) != std::string::npos;) {
    text.replace(at, kBreak.size(), " ");
  }
  for (char& c : text) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

}  // namespace

ReviewLines split_reviews(std::string_view json) {
  constexpr std::size_t kParts = 4;
  const nlohmann::json all = parse_array(json, "reviews");
  if (all.empty() || all.size() % kParts != 0) {
    throw DataError("the package has {} reviews, which are no four parts of the same length",
                    all.size());
  }
  const std::size_t part = all.size() / kParts;
  std::set<std::string> tests;
  ReviewLines lines;
  for (const bool test : {true, false}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((i / part % 2 == 0) != test) continue;
      const auto label = count_at(all[i], "s");
      if (!label || *label > 1 || !all[i].contains("t") || !all[i]["t"].is_string()) {
        throw DataError("review {} of the package has no text, or no label 0 or 1", i + 1);
      }
      const auto& text = all[i]["t"].get_ref<const std::string&>();
      if (test) tests.insert(text);
      if (!test && tests.contains(text)) continue;
      (test ? lines.test : lines.train) += fmt::format("{}\t{}\n", *label, one_line(text));
    }
  }
  return lines;
}

std::vector<std::uint8_t> class_labels(std::string_view json, std::uint8_t classes) {
  std::vector<std::uint8_t> labels;
  for (const nlohmann::json& label : parse_array(json, "labels")) {
    if (!label.is_number_unsigned() || label.get<std::uint64_t>() >= classes) {
      throw DataError("label {} of the package is {}, expected a number below {}",
                      labels.size() + 1, label.dump(), classes);
    }
    labels.push_back(label.get<std::uint8_t>());
  }
  return labels;
}

}  // namespace paceline
