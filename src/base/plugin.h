// Parts of Paceline that are loaded when they are needed, because what they stand on is
// large: loading libtorch takes longer than training MNIST, and OpenCV brings half of a desktop.
#pragma once

#include <cstdint>
#include <string>

namespace paceline {

// Loads libpaceline_NAME.so, from where it was built or installed, or from beside the program.
// The plugin registers what it has, and computes with as many threads. Throws ConfigError naming
// `wanted` when it is not there.
void load_plugin(const std::string& name, const std::string& wanted, std::uint32_t threads = 1);

// Throws, as load_plugin() does, without loading anything.
void check_plugin(const std::string& name, const std::string& wanted);

// What a plugin defines: called once, after loading.
extern "C" void paceline_plugin_start();

}  // namespace paceline
