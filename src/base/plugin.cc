#include "base/plugin.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <array>
#include <cctype>
#include <filesystem>

#include "base/error.h"
#include "base/process.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// Relative to the program: in the build tree, and installed.
constexpr std::array kFolders = {"../plugins", "../lib/paceline", "."};

fs::path find(const std::string& name, const std::string& wanted) {
  const std::string file = "libpaceline_" + name + ".so";
  const fs::path home = fs::path(this_executable()).parent_path();
  for (const char* folder : kFolders) {
    if (const fs::path path = home / folder / file; fs::exists(path)) return path;
  }
  std::string option = name;
  for (char& c : option) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  throw ConfigError("{} needs {}, which was not built: configure with -DPACELINE_{}=ON", wanted,
                    file, option);
}

}  // namespace

void check_plugin(const std::string& name, const std::string& wanted) {
  find(name, wanted);
}

void load_plugin(const std::string& name, const std::string& wanted, std::uint32_t threads) {
  const fs::path path = find(name, wanted);
  // They are read when it is loaded. Threads that wait must not take cores from those of other
  // roles.
  ::setenv("OPENBLAS_NUM_THREADS", std::to_string(threads).c_str(), 0);
  ::setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 0);
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", 0);
  void* plugin = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    throw ConfigError("{} needs {}, which cannot be loaded: {}", wanted, path.string(),
                      ::dlerror());
  }
  void* start = ::dlsym(plugin, "paceline_plugin_start");
  if (start == nullptr) throw ConfigError("{} is not a plugin of Paceline", path.string());
  reinterpret_cast<void (*)()>(start)();
}

}  // namespace paceline
