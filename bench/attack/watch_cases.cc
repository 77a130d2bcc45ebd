// Watches that begin with much or are far behind, and lists that nobody reads to their end.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "asks.h"
#include "bodies.h"
#include "cases.h"
#include "server/http/testing_http2.h"

namespace muster::attack {
namespace {

using server::testing::Http2Wire;

constexpr int kCrowd = 100'000;
constexpr int kLarge = 50;

void make_maps(const Cast& cast) {
  make_many(tenant(cast), kCrowd, [](int i) {
    return Wire::Ask{
        .method = "POST", .target = kMaps, .body = large_map(fmt::format("many-{}", i), 10)};
  });
}

Wire::Ask large(int i) {
  const std::string name = fmt::format("large-{}", i % kLarge);
  const auto bytes = static_cast<std::size_t>(1'000'000 + i % 1'000);
  return {.method = "PUT", .target = kMaps + "/" + name, .body = large_map(name, bytes)};
}
void make_large_maps(const Cast& cast) {
  make_many(tenant(cast), kLarge, [](int i) {
    Wire::Ask ask = large(i);
    ask.method = "POST";
    ask.target = kMaps;
    return ask;
  });
}

// The revision of the newest list; 0 if there was none.
long newest_revision(const Cast& cast) {
  Wire wire(cast.server, {.client = &cast.tenant});
  const std::string list = wire.get(kMaps + "?limit=1").body;
  const std::string_view mark = R"("resourceVersion":")";
  const std::size_t at = list.find(mark);
  return at == std::string::npos ? 0 : std::stol(list.substr(at + mark.size()));
}

// A thousand watches on ten connections whose client reads nothing for a while, then all of it.
void watch_unread(const Cast& cast, Run& run, const std::string& query) {
  while (!run.over()) {
    std::vector<std::unique_ptr<Http2Wire>> held;
    for (int i = 0; i < 10 && !run.over(); ++i) {
      held.push_back(std::make_unique<Http2Wire>(
          cast.server, Wire::Options{.client = &cast.tenant, .receive_buffer = 4096}));
      for (int stream = 0; stream < 100; ++stream) held.back()->ask("GET", kMaps + query);
      held.back()->send();
      run.sent(10'000);
    }
    for (int i = 0; i < 15 && !run.over(); ++i) pause_ms(100);
    for (int turns = 0; turns < 1'000 && !run.over(); ++turns)
      if (!held[static_cast<std::size_t>(turns) % held.size()]->turn()) break;
  }
}

void watch_from_the_beginning(const Cast& cast, Run& run) { watch_unread(cast, run, "?watch=1"); }

// Each change is asked about all conditions, and the last one never holds.
void watch_far_behind(const Cast& cast, Run& run) {
  const long newest = newest_revision(cast);
  if (newest < kCrowd) return run.complain("there is nothing to be behind");
  std::string selector = "zz=none";
  for (int i = 0; i < 249; ++i) selector += fmt::format(",!k{}", i);
  watch_unread(cast, run,
               fmt::format("?watch=1&resourceVersion={}&labelSelector={}", newest - kCrowd * 9 / 10,
                           selector));
}

// All large objects are replaced, then somebody keeps them as they are now: by a watch that is not
// read, or by a list of which only the first page is.
void keep_old_states(const Cast& cast, Run& run) {
  std::vector<std::unique_ptr<Http2Wire>> held;
  std::unique_ptr<Wire> wire;
  for (int i = 0; !run.over(); ++i) {
    if (!wire) wire = std::make_unique<Wire>(cast.server, Wire::Options{.client = &cast.tenant});
    const Wire::Ask ask = large(i);
    const int code = wire->ask(ask).code;
    run.answered(code, ask.body.size());
    if (code == 429) pause_ms(20);
    if (code != 200) wire.reset();
    if (i % 10 != 0 || !wire) continue;
    run.answered(wire->get(kMaps + "?limit=1").code, 0);
    held.push_back(std::make_unique<Http2Wire>(
        cast.server, Wire::Options{.client = &cast.tenant, .receive_buffer = 4096}));
    held.back()->ask("GET", kMaps + "?watch=1");
    held.back()->send();
  }
}

}  // namespace

std::vector<Case> watch_cases() {
  return {{.name = "watches that begin with 100,000 objects, unread",
           .who = "tenant",
           .prepare = make_maps,
           .attack = watch_from_the_beginning,
           .alone = true},
          {.name = "watches 90,000 changes behind that select none",
           .who = "tenant",
           .prepare = make_maps,
           .attack = watch_far_behind,
           .alone = true},
          {.name = "large objects replaced, their old states kept",
           .who = "tenant",
           .threads = 2,
           .prepare = make_large_maps,
           .attack = keep_old_states,
           .alone = true}};
}

}  // namespace muster::attack
