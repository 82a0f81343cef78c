// What the plugin brings.
#include "base/plugin.h"

#include "prepare/mpi/mpi_fleet.h"

namespace paceline {

extern "C" void paceline_plugin_start() {
  register_mpi_fleet(make_mpi_fleet);
}

}  // namespace paceline
