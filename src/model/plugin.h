// Parts of Paceline that are loaded when they are needed, because what they stand on is
// large: loading libtorch takes longer than training MNIST.
#pragma once

#include <string>

namespace paceline {

// Loads libpaceline_NAME.so, from beside the program or from where it was built or
// installed, once. The plugin registers what it has. Throws ConfigError naming `wanted` when
// it is not there.
void load_plugin(const std::string& name, const std::string& wanted);

// What a plugin defines: called once, after loading.
extern "C" void paceline_plugin_start();

}  // namespace paceline
