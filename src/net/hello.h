// The first words on a link: who speaks, of which run, in which version.
//
// The connecting side sends a Hello; the accepting side answers Welcome or Refused with a
// sentence for people. The layout of the first eight header bytes and of Refused never
// changes, so that a peer of any other version can print why it was turned away.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/link.h"

namespace paceline {

struct Hello {
  std::string role;           // "worker", "server", "evaluator", "chief"
  std::string config_digest;  // roles of one run must agree on the configuration
};

std::string encode_hello(const Hello& hello);
Hello decode_hello(std::string_view meta);  // throws FrameError

// Sends a Refused frame with `sentence` and closes once it is out.
void refuse(Link& link, const std::string& sentence);

}  // namespace paceline
