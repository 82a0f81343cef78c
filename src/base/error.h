// Failures, by what the user can do about them.
//
// Everything that can go wrong in the world is an exception derived from Error; its
// message names who failed, at what, and what to try. PACELINE_CHECK is for our own
// bugs: it ends the process with a stack-free sentence. Only `main` turns an Error into
// an exit code (see docs/errors.md).
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace paceline {

enum class ExitCode : int {
  kOk = 0,
  kInternal = 1,       // a bug of ours, or a failure with no better name
  kUsage = 2,          // unknown flag, bad value, bad recipe
  kData = 3,           // a file is missing, truncated, corrupt or unwritable
  kCommunication = 4,  // a peer is gone, silent or refuses
  kResources = 5,      // the run does not fit in memory
  kDiverged = 6,       // the training left the finite numbers
  kInterrupted = 130,  // Ctrl-C or SIGTERM; the last complete version is saved
};

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::kInternal)
      : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

class ConfigError : public Error {
 public:
  template <typename... Args>
  explicit ConfigError(fmt::format_string<Args...> format, Args&&... args)
      : Error(fmt::format(format, std::forward<Args>(args)...), ExitCode::kUsage) {}
};

class DataError : public Error {
 public:
  template <typename... Args>
  explicit DataError(fmt::format_string<Args...> format, Args&&... args)
      : Error(fmt::format(format, std::forward<Args>(args)...), ExitCode::kData) {}
};

// The disk is full, or the user's part of it: what did not fit may fit later.
class DiskFull : public DataError {
 public:
  using DataError::DataError;
};

class CommError : public Error {
 public:
  template <typename... Args>
  explicit CommError(fmt::format_string<Args...> format, Args&&... args)
      : Error(fmt::format(format, std::forward<Args>(args)...), ExitCode::kCommunication) {}
};

class ResourceError : public Error {
 public:
  template <typename... Args>
  explicit ResourceError(fmt::format_string<Args...> format, Args&&... args)
      : Error(fmt::format(format, std::forward<Args>(args)...), ExitCode::kResources) {}
};

// What `what` names is NaN or infinite: going on from there leads nowhere.
class DivergedError : public Error {
 public:
  explicit DivergedError(const std::string& what)
      : Error(what + " is not finite (NaN or infinity)", ExitCode::kDiverged) {}
};

// Someone asked the run to stop: not a failure, but nothing further is done.
class Interrupted : public Error {
 public:
  explicit Interrupted(const std::string& message) : Error(message, ExitCode::kInterrupted) {}
};

// The sentence of the system's last error, e.g. "No space left on device".
std::string errno_text(int error);

// Throws DiskFull or, for other reasons of the system, DataError: "cannot write FILE: REASON".
[[noreturn]] void throw_unwritable(const std::string& file, int error);

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace paceline

#define PACELINE_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::paceline::check_failed(#condition, __FILE__, __LINE__))
