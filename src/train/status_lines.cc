#include "train/status_lines.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace paceline {
namespace {

// JSON has no word for a loss that is not finite, nor for a test that was not made: null.
double number(const nlohmann::json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

RunProgress progress_of(const nlohmann::json& line) {
  RunProgress progress{line.at("epoch"),
                       line.at("epochs"),
                       line.at("examples_done"),
                       line.at("examples_total"),
                       line.at("examples_per_second"),
                       number(line.at("train_loss")),
                       {}};
  if (progress.examples_per_second > 0 && progress.examples_done < progress.examples_total) {
    progress.eta =
        from_seconds(static_cast<double>(progress.examples_total - progress.examples_done) /
                     progress.examples_per_second);
  }
  return progress;
}

EpochResult epoch_of(const nlohmann::json& line) {
  EpochResult result{line.at("epoch"),
                     line.at("epochs"),
                     number(line.at("train_loss")),
                     number(line.at("test_loss")),
                     number(line.value("test_accuracy", nlohmann::json())),
                     from_seconds(line.at("seconds"))};
  if (line.contains("test_rmse")) result.test_rmse = number(line.at("test_rmse"));
  return result;
}

}  // namespace

bool StatusLines::read(int fd) {
  std::array<char, 65536> block;
  const ssize_t got = ::read(fd, block.data(), block.size());
  if (got <= 0) return got < 0 && errno == EINTR;
  buffer_.append(block.data(), static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = buffer_.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string line = buffer_.substr(begin, end - begin);
    try {
      handle(nlohmann::json::parse(line));
    } catch (const nlohmann::json::exception&) {
      throw CommError("the chief has said what makes no sense: {}", line);
    }
  }
  buffer_.erase(0, begin);
  return true;
}

void StatusLines::handle(const nlohmann::json& line) {
  const std::string type = line.at("type");
  if (type == "address") {
    address_ = line.at("address");
  } else if (type == "begun") {
    begun_ = true;
  } else if (type == "progress") {
    reporter_.progress(progress_of(line));
  } else if (type == "epoch") {
    reporter_.epoch(epoch_of(line));
  } else if (type == "notice") {
    reporter_.notice(line.at("text"));
  } else if (type == "warning") {
    reporter_.warning(line.at("text"));
  } else if (type == "stopping") {
    stopping_ = true;
  } else if (type == "leaving") {
    doing_ = line.at("doing");
    hears_ = line.at("hears");
    ++farewells_;
  } else if (type == "summary") {
    reporter_.summary(line.at("summary"));
  }
}

}  // namespace paceline
