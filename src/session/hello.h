// The first words on a link: who speaks, of which run, of which build of this program. Builds are
// never mixed: they might compute differently, and nobody would see it.
//
// The connecting side sends a Hello; the accepting side answers Welcome, or Refused with a sentence
// for people (net/refuse.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/process.h"
#include "net/link.h"

namespace paceline {

struct Hello {
  std::string role;           // "worker", "server", "evaluator", "chief"
  std::string config_digest;  // roles of one run must agree on the configuration
  std::string build = build_id();
};

std::string encode_hello(const Hello& hello);
Hello decode_hello(std::string_view meta);  // throws FrameError

// The accepting side: answers the hello `meta` that has come over `link`. Whoever has another
// configuration than `digest`, or is another build, is refused, in the name of `who` ("this
// server"); then there is nothing, and the link is closing. Throws FrameError.
std::optional<Hello> answer_hello(Link& link, std::string_view meta, const std::string& digest,
                                  std::string_view who);

}  // namespace paceline
