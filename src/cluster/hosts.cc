#include "cluster/hosts.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace paceline {
namespace {

bool is_name(std::string_view text) {
  // They become words of a command line, where a dash would begin an option.
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == ',' ||
           c == '.' || c == ':';
  });
}

Host parse_host(std::string_view text) {
  Host host;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    const std::string key = equals == std::string::npos ? "" : word.substr(0, equals);
    const std::string value = equals == std::string::npos ? word : word.substr(equals + 1);
    std::string* into = key.empty()      ? &host.address
                        : key == "netns" ? &host.netns
                        : key == "cores" ? &host.cores
                                         : nullptr;
    if (into == nullptr || !into->empty() || !is_name(value)) {
      throw ConfigError("'{}' is not part of a host: write ADDRESS netns=NAME cores=LIST", word);
    }
    *into = value;
  }
  if (host.address.empty()) throw ConfigError("the host '{}' has no address", text);
  return host;
}

}  // namespace

std::vector<std::string> Host::prefix() const {
  std::vector<std::string> words;
  if (!netns.empty()) words.insert(words.end(), {"ip", "netns", "exec", netns});
  if (!cores.empty()) words.insert(words.end(), {"taskset", "-c", cores});
  return words;
}

std::vector<Host> parse_hosts(std::string_view text) {
  std::vector<Host> hosts;
  if (text.find_first_not_of(' ') == std::string_view::npos) return hosts;
  for (const std::string& part : split(text, ';')) hosts.push_back(parse_host(part));
  return hosts;
}

}  // namespace paceline
