#pragma once

#include <string>

#include "base/error.h"

namespace paceline {

// The message of the DataError that `action` throws.
template <typename Action>
std::string data_error_of(const Action& action) {
  try {
    action();
  } catch (const DataError& error) {
    return error.what();
  }
  return "no DataError";
}

}  // namespace paceline
