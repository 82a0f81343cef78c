// Fields of JSON that lies in files: one that is not there, and one of another type, are the same.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace paceline {

// Of an object, or of anything else, which has no fields.
inline std::string text_at(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

inline std::optional<std::uint64_t> count_at(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

// On one line, without its end, or indented. Bytes that are not UTF-8, as names of files may have,
// are replaced: dump() alone would throw.
inline std::string to_text(const nlohmann::json& json, int indent = -1) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace paceline
