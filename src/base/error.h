// Failures, by what the user can do about them.
//
// Everything that can go wrong in the world is an exception derived from Error. Its sentence names
// who failed, at what, and what to try; an Error that has led to another is its cause, and is told
// behind it. PACELINE_CHECK is for our own bugs: it ends the process with a stack-free sentence.
// Only `main` turns an Error into an exit code (see docs/errors.md).
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

// One part of an Error: what has failed. The next one is why. A remark has its own punctuation.
struct Reason {
  std::string sentence;
  ExitCode code = ExitCode::kInternal;
  std::string about{};   // the member of a run that it happened to, "server0"; empty: none
  std::string remark{};  // told after all causes: what follows, what to try
};

// A value: copies share what they say, and setters change one copy only.
class Error : public std::exception {
 public:
  static constexpr std::size_t kMostReasons = 16;
  static constexpr std::size_t kMostBytes = 16384;  // of each text of a reason

  explicit Error(std::string sentence, ExitCode code = ExitCode::kInternal)
      : Error(std::vector<Reason>{{std::move(sentence), code}}) {}
  // What `cause` has led to.
  Error(const Error& cause, std::string sentence, ExitCode code);
  // At least one, the last consequence first. What is beyond the limits is cut off.
  explicit Error(std::vector<Reason> reasons);
  // Without a move: what() is there as long as the Error is.
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;

  // All of it as one sentence: "what has failed: why: why that".
  const char* what() const noexcept override { return content_->words.c_str(); }
  ExitCode code() const { return reasons().front().code; }
  const std::vector<Reason>& reasons() const { return content_->reasons; }

  void set_about(std::string member);
  void add_remark(const std::string& words);
  // Whoever knows better why what is about `member` has happened gives it another cause. Where
  // nothing is about it, nothing changes.
  void explain(const std::string& member, const Error& cause);

 private:
  struct Content {
    std::vector<Reason> reasons;
    std::string words;
  };
  std::shared_ptr<const Content> content_;
};

// An Error with this exit code, from the words of a format. A cause comes before the format.
template <ExitCode kCode>
class ErrorOf : public Error {
 public:
  template <typename... Args>
  explicit ErrorOf(fmt::format_string<Args...> format, Args&&... args)
      : Error(fmt::format(format, std::forward<Args>(args)...), kCode) {}
  template <typename... Args>
  ErrorOf(const Error& cause, fmt::format_string<Args...> format, Args&&... args)
      : Error(cause, fmt::format(format, std::forward<Args>(args)...), kCode) {}
};

class ConfigError : public ErrorOf<ExitCode::kUsage> {
 public:
  using ErrorOf::ErrorOf;
};

class DataError : public ErrorOf<ExitCode::kData> {
 public:
  using ErrorOf::ErrorOf;
};

// The disk is full, or the user's part of it: what did not fit may fit later.
class DiskFull : public DataError {
 public:
  using DataError::DataError;
};

class CommError : public ErrorOf<ExitCode::kCommunication> {
 public:
  using ErrorOf::ErrorOf;
};

class ResourceError : public ErrorOf<ExitCode::kResources> {
 public:
  using ErrorOf::ErrorOf;
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

// The exception that is being handled, whatever it is, in words for people.
Error current_error();

// The sentence of the system's last error, e.g. "No space left on device".
std::string errno_text(int error);

// Throws DiskFull or, for other reasons of the system, DataError: "cannot write FILE: REASON".
[[noreturn]] void throw_unwritable(const std::string& file, int error);

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace paceline

#define PACELINE_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::paceline::check_failed(#condition, __FILE__, __LINE__))
