#include "net/refuse.h"

#include <limits>

namespace paceline {

void refuse(Link& link, const std::string& sentence) {
  FrameHeader header;
  header.type = kRefusedType;
  link.send(header, sentence, {}, std::numeric_limits<int>::min());
  link.close("refused the peer: " + sentence, /*flush=*/true);
}

}  // namespace paceline
