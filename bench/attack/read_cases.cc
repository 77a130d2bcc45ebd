// Reads that cost more than they look like.
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

constexpr int kMany = 20'000;

void make_many_maps(const Cast& cast) {
  make_many(tenant(cast), kMany, [](int i) {
    return Wire::Ask{
        .method = "POST", .target = kMaps, .body = large_map(fmt::format("many-{}", i), 2'000)};
  });
}

void make_large_secrets(const Cast& cast) {
  make_many(tenant(cast), 20, [](int i) {
    return Wire::Ask{
        .method = "POST",
        .target = kCore + "secrets",
        .body = fmt::format(R"({{"metadata":{{"name":"large-{}"}},"data":{{"x":"{}"}}}})", i,
                            std::string(1'000'000, 'A'))};
  });
}

// Many connections that ask for the same all the time.
std::function<void(const Cast&, Run&)> crowd(int connections, const Wire::Ask& ask) {
  return [=](const Cast& cast, Run& run) {
    std::vector<std::unique_ptr<Wire>> wires;
    for (int i = 0; i < connections; ++i)
      wires.push_back(std::make_unique<Wire>(cast.server, Wire::Options{.client = &cast.tenant}));
    while (!run.over()) {
      for (const auto& wire : wires) wire->send(ask);
      for (const auto& wire : wires) {
        if (run.over()) break;
        run.answered(wire->read_reply().code, 0);
      }
    }
  };
}

// Lists of a revision that comes in a moment, hundreds of them, which nobody reads then.
void list_ahead_of_the_store(const Cast& cast, Run& run) {
  while (!run.over()) {
    Wire wire(cast.server, {.client = &cast.tenant});
    const std::string list = wire.get(kMaps + "?limit=1").body;
    const std::string_view mark = R"("resourceVersion":")";
    const std::size_t at = list.find(mark);
    if (at == std::string::npos) return run.complain("no list");
    const long revision = std::stol(list.substr(at + mark.size()));
    std::vector<std::unique_ptr<Http2Wire>> held;
    for (int i = 0; i < 10 && !run.over(); ++i) {
      held.push_back(std::make_unique<Http2Wire>(
          cast.server, Wire::Options{.client = &cast.tenant, .receive_buffer = 4096}));
      for (int stream = 0; stream < 100; ++stream)
        held.back()->ask("GET", fmt::format("{}?resourceVersion={}", kMaps, revision + 20));
      held.back()->send();
      run.sent(10'000);
    }
    for (int i = 0; i < 30 && !run.over(); ++i) pause_ms(100);
  }
}

std::string terms(std::string_view term, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += fmt::format("{}{},", term, out.size());
  return out + std::string(term) + "0";
}

}  // namespace

std::vector<Case> read_cases() {
  return {
      {.name = "lists ahead of the store, 20,000 objects",
       .who = "tenant",
       .prepare = make_many_maps,
       .attack = list_ahead_of_the_store,
       .alone = true},
      {.name = "lists by thousands of labels, 20,000 objects",
       .who = "tenant",
       .threads = 4,
       .prepare = make_many_maps,
       .attack = repeated(
           tenant, always("GET", kMaps + "?limit=1&labelSelector=" + terms("!k", 60'000), "", "")),
       .alone = true},
      {.name = "lists by thousands of fields, Secrets of 1 MB",
       .who = "tenant",
       .threads = 4,
       .prepare = make_large_secrets,
       .attack = repeated(
           tenant, always("GET", kCore + "secrets?limit=1&fieldSelector=" + terms("type!=", 60'000),
                          "", "")),
       .alone = true},
      {.name = "large objects, read packed by 200 connections",
       .who = "tenant",
       .attack = crowd(200, {.target = kMaps + "/half", .headers = {"Accept-Encoding: gzip"}}),
       .alone = true},
      {.name = "large objects, read indented by 200 connections",
       .who = "tenant",
       .attack = crowd(200, {.target = kMaps + "/half?pretty=1"}),
       .alone = true},
      {.name = "large objects, written by 50 connections, answers packed",
       .who = "tenant",
       .attack = crowd(
           50, {.method = "PATCH",
                .target = kMaps + "/half",
                .headers = {"Content-Type: application/merge-patch+json", "Accept-Encoding: gzip"},
                .body = R"({"metadata":{"labels":{"x":"y"}}})"}),
       .alone = true}};
}

}  // namespace muster::attack
