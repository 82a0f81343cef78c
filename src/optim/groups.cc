#include "optim/groups.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace paceline {
namespace {

bool matches(const ParameterGroup& group, const Tensor& tensor) {
  return tensor.name.starts_with(group.prefix);
}

void check(const Layout& layout, std::span<const ParameterGroup> groups) {
  for (const ParameterGroup& group : groups) {
    const auto is_match = [&](const Tensor& tensor) { return matches(group, tensor); };
    if (std::ranges::none_of(layout.tensors, is_match)) {
      std::vector<std::string> names;
      for (const Tensor& tensor : layout.tensors) names.push_back(tensor.name);
      throw ConfigError("parameter group '{}': no tensor's name starts so; the model has {}",
                        group.prefix, join(names, ", "));
    }
    if (std::ranges::count(groups, group.prefix, &ParameterGroup::prefix) > 1) {
      throw ConfigError("parameter group '{}' is given twice; keep one", group.prefix);
    }
  }
}

ParameterGroup group_of(const Tensor& tensor, std::span<const ParameterGroup> groups) {
  ParameterGroup best;  // the empty prefix, with factors of 1
  for (const ParameterGroup& group : groups) {
    if (matches(group, tensor) && group.prefix.size() >= best.prefix.size()) best = group;
  }
  return best;
}

void append(std::vector<GroupRange>& ranges, const GroupRange& next) {
  if (next.floats.empty()) return;
  if (!ranges.empty() && ranges.back().rate_factor == next.rate_factor &&
      ranges.back().decay_factor == next.decay_factor && ranges.back().lazy == next.lazy) {
    ranges.back().floats.end = next.floats.end;
  } else {
    ranges.push_back(next);
  }
}

}  // namespace

std::vector<GroupRange> resolve_groups(const Layout& layout,
                                       std::span<const ParameterGroup> groups) {
  check(layout, groups);
  std::vector<const Tensor*> tensors;
  for (const Tensor& tensor : layout.tensors) tensors.push_back(&tensor);
  std::ranges::sort(tensors, {}, [](const Tensor* tensor) { return tensor->floats.begin; });

  std::vector<GroupRange> ranges;
  std::uint64_t covered = 0;
  for (const Tensor* tensor : tensors) {
    append(ranges, {{covered, tensor->floats.begin}});
    const ParameterGroup group = group_of(*tensor, groups);
    append(ranges, {tensor->floats, group.rate_factor, group.decay_factor, tensor->table});
    covered = tensor->floats.end;
  }
  append(ranges, {{covered, layout.size}});
  return ranges;
}

}  // namespace paceline
