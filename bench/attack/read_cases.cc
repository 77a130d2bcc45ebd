// Reads that cost more than they look like.
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <random>
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
constexpr int kLabelled = 50'000;

void make_many_maps(const Cast& cast) {
  make_many(tenant(cast), kMany, [](int i) {
    return Wire::Ask{
        .method = "POST", .target = kMaps, .body = large_map(fmt::format("many-{}", i), 2'000)};
  });
}

void make_labelled_maps(const Cast& cast) {
  std::string labels;
  for (int i = 0; i < 20; ++i) labels += fmt::format(R"({}"label-{}":"x")", i == 0 ? "" : ",", i);
  make_many(tenant(cast), kLabelled, [&](int i) {
    return Wire::Ask{.method = "POST",
                     .target = kMaps,
                     .body = fmt::format(
                         R"({{"metadata":{{"name":"labelled-{}","labels":{{{}}}}}}})", i, labels)};
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

// 300 MiB that pack badly, for two users who may read them.
void make_much(const Cast& cast) {
  must(
      admin(cast),
      {.method = "POST",
       .target = "/apis/rbac.authorization.k8s.io/v1/namespaces/tenant/rolebindings",
       .body =
           R"({"metadata":{"name":"second"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
           R"("kind":"ClusterRole","name":"view"},"subjects":[{"kind":"User","name":"nobody"}]})"});
  make_many(tenant(cast), 1'200, [](int i) {
    std::minstd_rand random(static_cast<unsigned>(i) + 1);
    std::string text(std::size_t{256} << 10U, ' ');
    for (char& c : text) c = static_cast<char>('A' + random() % 26);
    return Wire::Ask{
        .method = "POST",
        .target = kMaps,
        .body = fmt::format(R"({{"metadata":{{"name":"much-{}"}},"data":{{"x":"{}"}}}})", i, text)};
  });
}

// Each of the two lists all of it on one connection (one such answer is written at a time, others
// are refused), and as much as one user may have on two more.
void list_much(const Cast& cast, Run& run, int number) {
  const Who who = number % 2 == 0 ? tenant(cast) : nobody(cast);
  const std::string query = number < 2 ? "" : "?limit=240";
  repeat(
      who,
      [&](int) { return Wire::Ask{.target = kMaps + query, .headers = {"Accept-Encoding: gzip"}}; },
      run);
}

// A condition again and again: as many as a selector may have, one left out.
std::string terms(std::string_view term) {
  std::string out = fmt::format("{}1", term);
  for (int i = 2; i < 250; ++i) out += fmt::format(",{}{}", term, i);
  return out;
}
std::string by_labels() { return kMaps + "?labelSelector=" + terms("!k") + ",sought"; }
std::string by_fields() { return kCore + "secrets?limit=1&fieldSelector=" + terms("type!="); }

}  // namespace

std::vector<Case> read_cases() {
  return {{.name = "lists ahead of the store, 20,000 objects",
           .who = "tenant",
           .prepare = make_many_maps,
           .attack = list_ahead_of_the_store,
           .alone = true},
          {.name = "lists by 250 labels, 50,000 objects",
           .who = "tenant",
           .threads = 4,
           .prepare = make_labelled_maps,
           .attack = repeated(tenant, always("GET", by_labels(), "", "")),
           .alone = true},
          {.name = "lists by 250 fields, Secrets of 1 MB",
           .who = "tenant",
           .threads = 4,
           .prepare = make_large_secrets,
           .attack = repeated(tenant, always("GET", by_fields(), "", "")),
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
           .attack = crowd(50, {.method = "PATCH",
                                .target = kMaps + "/half",
                                .headers = {"Content-Type: application/merge-patch+json",
                                            "Accept-Encoding: gzip"},
                                .body = R"({"metadata":{"labels":{"x":"y"}}})"}),
           .alone = true},
          {.name = "300 MiB, listed packed by two users",
           .who = "two",
           .threads = 6,
           .prepare = make_much,
           .attack = [next = std::make_shared<std::atomic<int>>(0)](
                         const Cast& cast, Run& run) { list_much(cast, run, (*next)++ % 6); },
           .alone = true}};
}

}  // namespace muster::attack
