#include "base/plugin.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
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

std::uint32_t& wanted_threads() {
  static std::uint32_t threads = 0;
  return threads;
}

// Variables that a library reads while it is loaded. What the user has set stays, and processes
// that are started later see nothing of it.
class ForALibrary {
 public:
  explicit ForALibrary(const std::vector<std::pair<const char*, std::string>>& variables) {
    for (const auto& [name, value] : variables) {
      if (value.empty() || ::getenv(name) != nullptr) continue;
      ::setenv(name, value.c_str(), 1);
      set_.push_back(name);
    }
  }
  ~ForALibrary() {
    for (const char* name : set_) ::unsetenv(name);
  }
  ForALibrary(const ForALibrary&) = delete;
  ForALibrary& operator=(const ForALibrary&) = delete;

 private:
  std::vector<const char*> set_;
};

}  // namespace

void check_plugin(const std::string& name, const std::string& wanted) {
  find(name, wanted);
}

void use_threads(std::uint32_t threads) {
  if (wanted_threads() == 0) wanted_threads() = threads;
}

std::string blas_kernels() {
#ifdef __x86_64__
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512vl");
  if (wide) return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return {};
}

void load_plugin(const std::string& name, const std::string& wanted) {
  const fs::path path = find(name, wanted);
  const std::string threads = std::to_string(std::max(1U, wanted_threads()));
  // Threads that wait must not take cores from those of other roles.
  const ForALibrary settings({{"OPENBLAS_NUM_THREADS", threads},
                              {"OMP_NUM_THREADS", threads},
                              {"OMP_WAIT_POLICY", "PASSIVE"},
                              {"OPENBLAS_CORETYPE", blas_kernels()}});
  spdlog::debug("loads {} with OMP_NUM_THREADS={}", path.filename().string(),
                ::getenv("OMP_NUM_THREADS"));
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
