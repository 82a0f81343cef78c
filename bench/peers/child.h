// A forked process of a peer: it runs one function, and dies with the process it is of.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>

namespace bench {

class Child {
 public:
  template <typename Function>
  explicit Child(Function function) : pid_(::fork()) {
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      function();
      ::_exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ::_exit(1);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

  // Waits for its end. Throws when it did not do what it was to do.
  void join() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    if (status != 0) throw std::runtime_error("a child process failed");
  }

 private:
  pid_t pid_;
};

}  // namespace bench
