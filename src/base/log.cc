#include "base/log.h"

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/error.h"
#include "base/signals.h"

namespace paceline {

void start_logging(const std::string& role, const std::filesystem::path& path,
                   const std::string& level) {
  // spdlog takes an unknown word for "off": a typo would silence the log.
  const auto threshold = spdlog::level::from_str(level);
  if (threshold == spdlog::level::off && level != "off") {
    throw ConfigError(
        "'{}' is not a log level: trace, debug, info, warning, error, critical or off", level);
  }
  try {
    std::shared_ptr<spdlog::sinks::sink> sink;
    if (path.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
    }
    constexpr std::size_t kLines = 8192;
    const SignalsHeld held;
    spdlog::init_thread_pool(kLines, 1);
    auto logger =
        std::make_shared<spdlog::async_logger>(role, std::move(sink), spdlog::thread_pool(),
                                               spdlog::async_overflow_policy::overrun_oldest);
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %n %l: %v");
    logger->set_level(threshold);
    // A full disk under a log stops nobody, and is said by those who must write to it.
    logger->set_error_handler([](const std::string&) {});
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
  } catch (const spdlog::spdlog_ex& error) {
    throw DataError("cannot open the log: {}", error.what());
  }
}

void log_to_people() {
  auto logger =
      std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%l: %v");
  logger->set_level(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

void stop_logging() {
  spdlog::details::registry::instance().set_tp(nullptr);  // joins the thread
  spdlog::set_default_logger(nullptr);
}

}  // namespace paceline
