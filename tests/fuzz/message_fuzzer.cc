// Any bytes as the metadata and payloads of messages: a FrameError, or rows, floats and failures
// within their bounds. And any sequence of pushes and pulls to a server's state machine, which must
// refuse what makes no sense and go on.
#include <algorithm>
#include <vector>

#include "base/buffer.h"
#include "exchange/codec.h"
#include "exchange/ps/server_core.h"
#include "exchange/row_deal.h"
#include "fuzz/fuzz_target.h"
#include "session/failure.h"
#include "session/hello.h"
#include "session/message.h"

namespace paceline {
namespace message_fuzzer {

// Takes the bytes of the next message: its length is the first of them.
FuzzBytes take_message(FuzzBytes& bytes) {
  std::size_t length = take_byte(bytes);
  length = std::min(length, bytes.size());
  const FuzzBytes message = bytes.first(length);
  bytes = bytes.subspan(length);
  return message;
}

void check_hello(FuzzBytes bytes) {
  accepts<FrameError>([&] {
    const Hello hello = decode_hello(as_text(bytes));
    const Hello again = decode_hello(encode_hello(hello));
    require(again.role == hello.role && again.config_digest == hello.config_digest);
  });
}

void check_failure(FuzzBytes bytes) {
  const auto check = [](const Error& error) {
    require(!error.reasons().empty() && error.reasons().size() <= Error::kMostReasons);
    const Error again = error_of(failure_of(error));
    require(std::string_view(again.what()) == error.what() && again.code() == error.code());
    require(read_failure_line(failure_line(error)).has_value());
  };
  if (const auto error = read_failure_line(as_text(bytes))) check(*error);
  accepts<FrameError>([&] { check(error_of(parsed<wire::Failure>(as_text(bytes)))); });
}

void check_rows(FuzzBytes bytes) {
  constexpr std::uint64_t kRows = 5000;
  accepts<FrameError>([&] {
    const auto rows = decode_rows(std::as_bytes(bytes), kRows);
    require(std::ranges::is_sorted(rows, std::less_equal()));
    require(rows.empty() || rows.back() < kRows);
    const std::string again = encode_rows(rows);
    require(decode_rows(std::as_bytes(std::span(again)), kRows) == rows);
  });
}

void check_floats(FuzzBytes bytes) {
  const auto codec = static_cast<Codec>(take_byte(bytes) % 4);
  const std::size_t floats = 1 + std::size_t{take_byte(bytes)} * 16;
  Buffer from(bytes.size());
  std::ranges::copy(std::as_bytes(bytes), from.bytes().begin());
  std::vector<float> into(floats);
  const bool taken = accepts<FrameError>([&] { decode(codec, from.bytes(), into); });
  require(fits(codec, bytes.size(), floats) || !taken);
}

template <typename Options>
void check_core(FuzzBytes bytes, const Options& options) {
  ServerCore core(options);
  while (!bytes.empty()) {
    const std::uint8_t type = take_byte(bytes);
    const std::uint32_t client = type / 16 % 4;
    const std::uint64_t version = core.version();
    accepts<FrameError>([&] {
      switch (type % 5) {
        case 0: {
          const std::uint64_t base = take_byte(bytes);
          core.push({client, client, 0, base}, parsed<wire::Push>(as_text(take_message(bytes))));
          break;
        }
        case 1:
          core.pull(client, client, parsed<wire::Pull>(as_text(take_message(bytes))));
          break;
        case 2:
          core.client_gone(client, client);
          break;
        case 3:
          core.unpin(take_byte(bytes));
          break;
        default:
          core.report();
      }
    });
    require(core.version() >= version);
  }
}

void run(FuzzBytes bytes) {
  const std::uint8_t choice = take_byte(bytes);
  if (choice == 'f') return check_failure(bytes);
  if (choice % 6 == 0) return check_hello(bytes);
  if (choice % 6 == 1) return check_rows(bytes);
  if (choice % 6 == 2) return check_floats(bytes);
  ServerCore::Options options;
  options.mode = static_cast<Mode>(choice % 6 - 3);
  options.grid = {.examples = 30, .batch = 10, .tile = 3};
  options.chunks = {0, 2};
  options.servers = 2;
  options.staleness = 1;
  options.last_version = 9;
  options.rows = choice / 6 % 2 == 1;
  if (options.rows) options.chunks = {0};
  check_core(bytes, options);
}

}  // namespace message_fuzzer

const FuzzTarget kMessageFuzzer{"message", message_fuzzer::run};

}  // namespace paceline
