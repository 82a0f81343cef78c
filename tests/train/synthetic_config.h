// A configuration that needs no files, small enough to count by hand.
#pragma once

#include "config/run_config.h"

namespace paceline {

inline RunConfig synthetic() {
  RunConfig config;
  config.data.name = "synthetic";
  config.data.synthetic.examples = 1000;
  config.data.synthetic.width = 100;
  return config;
}

}  // namespace paceline
