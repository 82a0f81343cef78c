// Parts of Paceline that are loaded when they are needed, because what they stand on is
// large: loading libtorch takes longer than training MNIST, and OpenCV brings half of a desktop.
#pragma once

#include <cstdint>
#include <string>

namespace paceline {

// With how many threads the libraries behind plugins compute. The first word counts, and it must be
// said before the first of them is loaded, otherwise it is one; what the environment says goes
// before either.
void use_threads(std::uint32_t threads);

// Which of its kernels OpenBLAS is to use here, for OPENBLAS_CORETYPE; empty: it shall choose. It
// knows processors by their model, and gives one that is newer than itself the kernels of a
// Pentium 4: a tenth of the speed.
std::string blas_kernels();

// Loads libpaceline_NAME.so, from where it was built or installed, or from beside the program.
// The plugin registers what it has. Throws ConfigError naming `wanted` when it is not there.
void load_plugin(const std::string& name, const std::string& wanted);

// Throws, as load_plugin() does, without loading anything.
void check_plugin(const std::string& name, const std::string& wanted);

// What a plugin defines: called once, after loading.
extern "C" void paceline_plugin_start();

}  // namespace paceline
