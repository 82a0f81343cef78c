// Seeded mutations of frames and streams: whatever arrives, a link closes with a reason or
// goes on, asks for no more memory than allowed, and leaves its neighbours alone.
#include <array>

#include "base/random.h"
#include "net/frame_reader.h"
#include "net/link_harness.h"
#include "net/raw_peer.h"

namespace paceline {
namespace {

constexpr std::uint64_t kPayloadLimit = 100'000;
constexpr std::size_t kMetaLimit = 1000;

FrameLimits small_limits() {
  return {.meta_bytes = kMetaLimit, .payload_bytes = kPayloadLimit};
}

void mutate(Random& random, std::string& bytes) {
  const std::uint64_t changes = 1 + random.below(4);
  for (std::uint64_t i = 0; i < changes && !bytes.empty(); ++i) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.bits());
        break;
      case 2:
        bytes.erase(at, random.below(100));
        break;
      case 3:
        bytes.insert(at, random.below(100), static_cast<char>(random.bits()));
        break;
      default:
        bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(200)));
    }
  }
}

// A header with hostile values and a valid checksum.
FrameHeader hostile_header(Random& random) {
  constexpr std::array<std::uint64_t, 8> kValues = {
      0, 1, 0xffff, kPayloadLimit, kPayloadLimit + 1, 0xffffffff, kMetaLimit, ~std::uint64_t{0}};
  const auto value = [&] { return kValues[random.below(kValues.size())]; };
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(random.below(20));
  header.run = random.below(20) == 0 ? value() : 0;
  header.base_version = value();
  header.meta_bytes = static_cast<std::uint32_t>(random.below(2) == 0 ? value() : random.below(50));
  header.payload_bytes = random.below(2) == 0 ? value() : random.below(50);
  header.credit = static_cast<std::uint32_t>(random.below(4) == 0 ? value() : 0);
  return header;
}

// With the lengths it claims, whatever follows.
std::string header_bytes(const FrameHeader& header) {
  std::string bytes(kHeaderBytes, ' ');
  encode(header, std::as_writable_bytes(std::span(bytes)).first<kHeaderBytes>());
  return bytes;
}

std::string hostile_stream(Random& random) {
  std::string stream;
  const std::uint64_t frames = 1 + random.below(5);
  for (std::uint64_t i = 0; i < frames; ++i) {
    const FrameHeader header = hostile_header(random);
    const std::string payload(random.below(2000), 'p');
    const std::string meta(random.below(50), 'm');
    const bool honest = random.below(3) > 0;
    stream += honest ? raw_frame(header, meta, payload) : header_bytes(header) + meta + payload;
  }
  if (random.below(2) == 0) mutate(random, stream);
  return stream;
}

TEST(FrameFuzz, DecodeAcceptsOnlyWhatItWouldEncode) {
  Random random(20240501);
  int accepted = 0;
  for (int i = 0; i < 300'000; ++i) {
    std::string bytes = header_bytes(hostile_header(random));
    if (random.below(2) == 0) mutate(random, bytes);
    bytes.resize(kHeaderBytes, '\0');
    const auto span = std::as_bytes(std::span(bytes)).first<kHeaderBytes>();
    try {
      const FrameHeader header = decode(span, small_limits());
      ++accepted;
      ASSERT_LE(header.meta_bytes, kMetaLimit);
      ASSERT_LE(header.payload_bytes, kPayloadLimit);
      std::array<std::byte, kHeaderBytes> again;
      encode(header, again);
      if (header.type == kRefusedType) continue;  // may be of another version
      ASSERT_TRUE(std::equal(again.begin(), again.end(), span.begin()));
    } catch (const FrameError&) {
    }
  }
  EXPECT_GT(accepted, 1000);
}

// Asks for memory like a real handler, and notices being asked for too much.
struct Guard : Recorder {
  std::span<std::byte> place(Link& at, const FrameHeader& header, std::string_view meta) override {
    EXPECT_LE(header.payload_bytes, kPayloadLimit);
    EXPECT_LE(meta.size(), kMetaLimit);
    return Recorder::place(at, header, meta);
  }
};

TEST(FrameFuzz, HostileStreamsCloseOnlyTheirOwnLink) {
  TempDir directory;
  Loop loop;
  LinkOptions options;
  options.limits = small_limits();
  Guard guard;
  Recorder neighbour;
  Recorder far;
  std::tie(neighbour.link, far.link) =
      connect_in_memory({&loop, &neighbour, "far"}, {&loop, &far, "near"}, options);
  const Listener listener(loop, Address::parse("unix:" + directory.file("fuzz.sock")), options,
                          [&](std::shared_ptr<Link> link) {
                            guard.link = std::move(link);
                            return &guard;
                          });
  Random random(20240502);
  for (int round = 0; round < 3000; ++round) {
    guard.reasons.clear();
    guard.messages.clear();
    RawPeer peer(listener.address());
    peer.write(hostile_stream(random));
    if (random.below(2) == 0) peer.write(hostile_stream(random));
    peer.end();
    ASSERT_TRUE(loop.run_until([&] { return !guard.reasons.empty(); },
                               Clock::now() + std::chrono::seconds(20)))
        << "round " << round;
    ASSERT_FALSE(guard.reasons[0].empty());
  }
  neighbour.link->send(application_header(), "still there");
  EXPECT_TRUE(loop.run_until([&] { return far.messages.size() == 1; },
                             Clock::now() + std::chrono::seconds(20)));
}

}  // namespace
}  // namespace paceline
