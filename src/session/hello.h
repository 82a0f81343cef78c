// The first words on a link: who speaks, of which run, in which version.
//
// The connecting side sends a Hello; the accepting side answers Welcome, or Refused with a sentence
// for people (net/refuse.h).
#pragma once

#include <string>
#include <string_view>

namespace paceline {

struct Hello {
  std::string role;           // "worker", "server", "evaluator", "chief"
  std::string config_digest;  // roles of one run must agree on the configuration
};

std::string encode_hello(const Hello& hello);
Hello decode_hello(std::string_view meta);  // throws FrameError

}  // namespace paceline
