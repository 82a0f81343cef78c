// What the chief tells the process that started it, turned into calls of a Reporter.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "observe/reporter.h"

namespace paceline {

class StatusLines {
 public:
  explicit StatusLines(Reporter& reporter) : reporter_(reporter) {}

  // What is there; false at the end. Throws CommError when a line makes no sense.
  bool read(int fd);

  const std::string& address() const { return address_; }  // of the chief; empty: not yet
  bool begun() const { return begun_; }                    // all roles are there
  bool stopping() const { return stopping_; }              // it knows that it shall
  bool leaving() const { return farewells_ > 0; }          // it has sent all others home
  // How often it has said so: each is a sign that it gets on, with what it does.
  std::uint64_t farewells() const { return farewells_; }
  const std::string& doing() const { return doing_; }  // while it is leaving
  bool hears() const { return hears_; }                // that it is asked to stop

 private:
  void handle(const nlohmann::json& line);

  Reporter& reporter_;
  std::string buffer_;
  std::string address_;
  bool begun_ = false;
  bool stopping_ = false;
  std::uint64_t farewells_ = 0;
  std::string doing_;
  bool hears_ = true;
};

}  // namespace paceline
