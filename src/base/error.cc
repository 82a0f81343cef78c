#include "base/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace paceline {

std::string errno_text(int error) {
  return std::generic_category().message(error);
}

void throw_unwritable(const std::string& file, int error) {
  if (error == ENOSPC || error == EDQUOT) {
    throw DiskFull("cannot write {}: {}", file, errno_text(error));
  }
  throw DataError("cannot write {}: {}", file, errno_text(error));
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "paceline: internal error: %s does not hold at %s:%d\n", condition, file,
               line);
  std::abort();
}

}  // namespace paceline
