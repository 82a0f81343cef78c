#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "config/recipe.h"
#include "config/settings.h"

namespace paceline {
namespace {

// One TOML document being read into a configuration.
class Reader {
 public:
  Reader(const std::string& source, TomlKind kind, RunConfig& config)
      : source_(source), kind_(kind), config_(config) {}

  NamedSettings read(const toml::table& document) {
    check_schema(document);
    // Only a run writes down the name of its recipe.
    from_run_ = kind_ == TomlKind::kRecipe && document.contains("recipe");
    for (const auto& [key, value] : document) {
      if (key == "schema") continue;
      if (key == "group") {
        read_groups(value);
      } else {
        read_setting(key, value);
      }
    }
    return std::move(named_);
  }

 private:
  std::string place(const toml::source_position& at) const {
    return fmt::format("{}:{}:{}: ", source_, at.line, at.column);
  }
  [[noreturn]] void fail(const toml::source_position& at, const std::string& sentence) const {
    throw ConfigError("{}{}", place(at), sentence);
  }

  // The schema is the first key, so that a file of another version is refused before any
  // of its keys is misunderstood.
  void check_schema(const toml::table& document) const {
    const toml::node* schema = document.get("schema");
    if (schema == nullptr) {
      fail({1, 1}, fmt::format("the file must begin with 'schema = {}'", kRecipeSchema));
    }
    for (const auto& [key, value] : document) {
      if (key.source().begin < schema->source().begin && key != "schema") {
        fail(key.source().begin, fmt::format("'schema' must be the first key, before '{}'",
                                             std::string_view(key.str())));
      }
    }
    const auto version = schema->value_exact<std::int64_t>();
    if (!version) fail(schema->source().begin, "schema must be a whole number");
    if (*version != kRecipeSchema) {
      fail(schema->source().begin,
           fmt::format("schema {} is not known: this version of paceline reads schema {}", *version,
                       kRecipeSchema));
    }
  }

  // The value as a flag would give it; nothing for tables, arrays and dates.
  static std::optional<std::string> text_of(const toml::node& value) {
    if (const auto* text = value.as_string()) return text->get();
    if (const auto* integer = value.as_integer()) return std::to_string(integer->get());
    if (const auto* number = value.as_floating_point()) return format_number(number->get());
    if (const auto* boolean = value.as_boolean()) return boolean->get() ? "true" : "false";
    return std::nullopt;
  }

  static bool fits(SettingType type, const toml::node& value) {
    switch (type) {
      case SettingType::kInteger:
        return value.is_integer();
      case SettingType::kNumber:
        return value.is_number();
      case SettingType::kBoolean:
        return value.is_boolean();
      case SettingType::kDuration:
        return value.is_string() || value.is_number();
      case SettingType::kBytes:
        return value.is_string() || value.is_integer();
      case SettingType::kText:
      case SettingType::kChoice:
      case SettingType::kPath:
        return value.is_string();
    }
    return false;
  }

  static const char* expected(SettingType type) {
    switch (type) {
      case SettingType::kInteger:
        return "a whole number";
      case SettingType::kNumber:
        return "a number";
      case SettingType::kBoolean:
        return "true or false, without quotes";
      case SettingType::kDuration:
        return "a time in quotes such as \"250ms\"";
      case SettingType::kBytes:
        return "a size in quotes such as \"512M\", or a number of bytes";
      case SettingType::kText:
      case SettingType::kChoice:
      case SettingType::kPath:
        return "a text in quotes";
    }
    return "";
  }

  void read_setting(const toml::key& key, const toml::node& value) {
    const Setting* setting = find_setting(key.str());
    if (setting == nullptr) {
      fail(key.source().begin, fmt::format("unknown setting '{}'{}", std::string_view(key.str()),
                                           did_you_mean(key.str(), recipe_keys())));
    }
    if (from_run_ && setting->scope == SettingScope::kCommandLine) return;
    if (kind_ == TomlKind::kRecipe && !from_run_ && setting->scope != SettingScope::kEverywhere) {
      fail(key.source().begin,
           fmt::format("'{}' concerns a single run and cannot be in a recipe", setting->key));
    }
    const auto at = value.source().begin;
    if (!fits(setting->type, value)) {
      fail(at, fmt::format("{} must be {}", setting->key, expected(setting->type)));
    }
    try {
      setting->parse(config_, *text_of(value));
    } catch (const ConfigError& error) {
      throw ConfigError(error, "{}{}", place(at), setting->key);
    }
    named_[setting->key] = place(key.source().begin) + setting->key;
  }

  void read_groups(const toml::node& value) {
    const toml::array* groups = value.as_array();
    if (groups == nullptr || !groups->is_array_of_tables()) {
      fail(value.source().begin, "groups are written as tables: [[group]]");
    }
    config_.groups.clear();
    for (const toml::node& group : *groups) config_.groups.push_back(read_group(*group.as_table()));
  }

  ParameterGroup read_group(const toml::table& table) const {
    const std::vector<std::string> keys = {"prefix", "rate-factor", "decay-factor"};
    ParameterGroup group;
    bool named = false;
    for (const auto& [key, value] : table) {
      if (key == "prefix" && value.is_string()) {
        group.prefix = value.as_string()->get();
        named = true;
      } else if (key == "rate-factor" && value.is_number()) {
        group.rate_factor = factor(value);
      } else if (key == "decay-factor" && value.is_number()) {
        group.decay_factor = factor(value);
      } else if (key == "prefix") {
        fail(value.source().begin, "prefix must be a text in quotes");
      } else if (key == "rate-factor" || key == "decay-factor") {
        fail(value.source().begin, fmt::format("{} must be a number", std::string_view(key.str())));
      } else {
        fail(key.source().begin,
             fmt::format("unknown key '{}' in [[group]]{}", std::string_view(key.str()),
                         did_you_mean(key.str(), keys)));
      }
    }
    if (!named) fail(table.source().begin, "[[group]] needs a prefix");
    return group;
  }

  double factor(const toml::node& value) const {
    const double number = *value.value<double>();
    if (!(number >= 0 && number <= std::numeric_limits<double>::max())) {
      fail(value.source().begin, "a factor must be finite and 0 or more");
    }
    return number;
  }

  const std::string& source_;
  TomlKind kind_;
  bool from_run_ = false;  // a config.toml that serves as a recipe
  RunConfig& config_;
  NamedSettings named_;
};

std::string quoted(const std::string& text) {
  constexpr auto kFlags =
      toml::toml_formatter::default_flags &
      ~(toml::format_flags::allow_literal_strings | toml::format_flags::allow_multi_line_strings);
  const toml::value<std::string> value(text);
  std::ostringstream out;
  out << toml::toml_formatter(value, kFlags);
  return out.str();
}

bool needs_quotes(SettingType type) {
  return type != SettingType::kInteger && type != SettingType::kNumber &&
         type != SettingType::kBoolean && type != SettingType::kBytes;
}

std::string line_of(const Setting& setting, const RunConfig& config) {
  const std::string value = setting.format(config);
  return fmt::format("{} = {}\n", setting.key, needs_quotes(setting.type) ? quoted(value) : value);
}

std::string lines_of_groups(const RunConfig& config) {
  std::string out;
  for (const ParameterGroup& group : config.groups) {
    out += fmt::format("\n[[group]]\nprefix = {}\nrate-factor = {}\ndecay-factor = {}\n",
                       quoted(group.prefix), format_number(group.rate_factor),
                       format_number(group.decay_factor));
  }
  return out;
}

}  // namespace

NamedSettings apply_toml(std::string_view text, const std::string& source, TomlKind kind,
                         RunConfig& config) {
  toml::table document;
  try {
    document = toml::parse(text);
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    throw ConfigError("{}:{}:{}: {}", source, at.line, at.column, error.description());
  }
  return Reader(source, kind, config).read(document);
}

std::string config_toml(const RunConfig& config) {
  std::string out = fmt::format("schema = {}\n\n# Every setting of this run, as it was resolved.\n",
                                kRecipeSchema);
  std::string section;
  for (const Setting& setting : settings()) {
    if (setting.section != section) {
      section = setting.section;
      out += fmt::format("\n# {}\n", section);
    }
    out += line_of(setting, config);
  }
  return out + lines_of_groups(config);
}

std::string shared_digest(const RunConfig& config) {
  std::string text;
  for (const Setting& setting : settings()) {
    if (setting.shared) text += line_of(setting, config);
  }
  return digest(text + lines_of_groups(config));
}

}  // namespace paceline
