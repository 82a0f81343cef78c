// What the plugin brings.
#include "base/plugin.h"

#include "data/image_folder.h"
#include "data/images/decode.h"

namespace paceline {

extern "C" void paceline_plugin_start() {
  register_image_decoder(decode_image);
}

}  // namespace paceline
