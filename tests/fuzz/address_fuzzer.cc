// Any text as an address, as hosts, as a quantity and as words to be told apart: a ConfigError, or
// what reads back the same.
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cluster/hosts.h"
#include "config/setting.h"
#include "fuzz/fuzz_target.h"
#include "net/socket.h"

namespace paceline {
namespace address_fuzzer {

void check_address(std::string_view text) {
  accepts<ConfigError>([&] {
    const Address address = Address::parse(text);
    require(!address.host.empty());
    const Address again = Address::parse(address.text());
    require(again.kind == address.kind && again.host == address.host && again.port == address.port);
  });
}

void check_hosts(std::string_view text) {
  accepts<ConfigError>([&] {
    std::string written;
    const std::vector<Host> hosts = parse_hosts(text);
    for (const Host& host : hosts) {
      if (!written.empty()) written += ';';
      written += host.address;
      if (!host.netns.empty()) written += " netns=" + host.netns;
      if (!host.cores.empty()) written += " cores=" + host.cores;
      // They become words of a command line, none of which may be taken for an option.
      for (const std::string& word : host.prefix()) require(word == "-c" || word[0] != '-');
    }
    const std::vector<Host> again = parse_hosts(written);
    require(again.size() == hosts.size());
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      require(again[i].address == hosts[i].address && again[i].prefix() == hosts[i].prefix());
    }
  });
}

void check_quantities(std::string_view text) {
  accepts<ConfigError>([&] {
    const std::uint64_t bytes = parse_bytes(text);
    require(parse_bytes(std::to_string(bytes)) == bytes);
  });
  accepts<ConfigError>([&] {
    const Duration duration = parse_duration(text);
    require(duration >= Duration::zero());
    require(parse_duration(format_exact_duration(duration)) == duration);
  });
}

void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  const std::string_view text = as_text(bytes);
  if (choice % 4 == 0) check_address(text);
  if (choice % 4 == 1) check_hosts(text);
  if (choice % 4 == 2) check_quantities(text);
  if (choice % 4 == 3) require(join(split(text, ','), ",") == text);
}

}  // namespace address_fuzzer

const FuzzTarget kAddressFuzzer{"address", address_fuzzer::run};

}  // namespace paceline
