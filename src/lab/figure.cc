#include "lab/figure.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace paceline {
namespace {

bool selects(std::string_view word, std::string_view name) {
  return name == word ||
         (name.size() > word.size() && name.starts_with(word) && name[word.size()] == '.');
}

void check_known(const std::string& word, std::span<const Figure> figures) {
  std::vector<std::string> names;
  for (const Figure& figure : figures) {
    if (selects(word, figure.name)) return;
    names.push_back(figure.name);
    names.push_back(figure.name.substr(0, figure.name.find('.')));
  }
  throw ConfigError("'{}' is not a figure{} (see 'paceline bench --list')", word,
                    did_you_mean(word, names));
}

}  // namespace

bool reaches(const Figure& figure, double value) {
  return figure.comparison == Comparison::kAtLeast ? value >= figure.target
                                                   : value <= figure.target;
}

std::string target_text(const Figure& figure) {
  return fmt::format("{}{:g}", figure.comparison == Comparison::kAtLeast ? "≥" : "≤",
                     figure.target);
}

std::vector<Figure> select(std::span<const Figure> figures, std::span<const std::string> names) {
  for (const std::string& word : names) check_known(word, figures);
  std::vector<Figure> selected;
  for (const Figure& figure : figures) {
    const auto names_it = [&](const std::string& word) { return selects(word, figure.name); };
    if (names.empty() || std::ranges::any_of(names, names_it)) selected.push_back(figure);
  }
  return selected;
}

}  // namespace paceline
