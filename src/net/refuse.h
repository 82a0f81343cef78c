// Turning a peer away, with a sentence for people. The layout of the first eight header bytes and
// of this frame never changes, so that a peer of any other version can print why.
#pragma once

#include <string>

#include "net/link.h"

namespace paceline {

// Sends a Refused frame with `sentence` and closes once it is out.
void refuse(Link& link, const std::string& sentence);

}  // namespace paceline
