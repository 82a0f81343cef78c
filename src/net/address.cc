#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "net/socket.h"

namespace paceline {
namespace {

constexpr std::string_view kTcp = "tcp:";
constexpr std::string_view kUnix = "unix:";

[[noreturn]] void fail(std::string_view text, std::string_view what) {
  throw ConfigError("'{}' is not an address: {}; write tcp:HOST:PORT or unix:PATH", text, what);
}

Address parse_tcp(std::string_view text) {
  const std::string_view rest = text.substr(kTcp.size());
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) fail(text, "it has no port");
  std::string_view host = rest.substr(0, colon);
  const std::string_view port = rest.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    fail(text, "an IPv6 host goes into brackets");
  }
  if (host.empty()) fail(text, "it has no host");
  Address address{Address::Kind::kTcp, std::string(host), 0};
  const char* end = port.data() + port.size();
  const auto parsed = std::from_chars(port.data(), end, address.port);
  if (parsed.ec != std::errc() || parsed.ptr != end) fail(text, "a port is a number up to 65535");
  return address;
}

}  // namespace

Address neighbour_of(const Address& tcp) {
  return {Address::Kind::kUnix, "@paceline-" + tcp.text(), 0};
}

std::string Address::text() const {
  if (kind == Kind::kUnix) return fmt::format("{}{}", kUnix, host);
  if (host.find(':') != std::string::npos) return fmt::format("{}[{}]:{}", kTcp, host, port);
  return fmt::format("{}{}:{}", kTcp, host, port);
}

Address Address::parse(std::string_view text) {
  if (text.starts_with(kTcp)) return parse_tcp(text);
  if (!text.starts_with(kUnix)) fail(text, "it begins with neither tcp: nor unix:");
  const std::string_view path = text.substr(kUnix.size());
  if (path.empty()) fail(text, "the path is empty");
  if (path.find('\0') != std::string_view::npos) fail(text, "the path has a zero byte");
  return {Kind::kUnix, std::string(path), 0};
}

}  // namespace paceline
