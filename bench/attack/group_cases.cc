// What kubectl shows of groups is counted, not stored: a composite of very many, looked at again
// and again.
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "asks.h"
#include "cases.h"
#include "server/http/testing_http2.h"

namespace muster::attack {
namespace {

using server::testing::Http2Wire;

constexpr int kGroups = 10'000;
const std::string kAlpha = "/apis/scheduling.k8s.io/v1alpha3/namespaces/tenant/";
const std::string kWide = kAlpha + "compositepodgroups/wide";
const std::pair<std::string, std::string> kAsTable{"accept",
                                                   "application/json;as=Table;v=v1;g=meta.k8s.io"};

// It has a topology and is being deleted, so that its row tells most.
void make_wide_composite(const Cast& cast) {
  must(tenant(cast),
       {.method = "POST",
        .target = kAlpha + "compositepodgroups",
        .body = R"({"metadata":{"name":"wide","finalizers":["example.com/stay"]},"spec":{)"
                R"("schedulingPolicy":{"gang":{"minGroupCount":2}},"schedulingConstraints":)"
                R"({"topology":[{"key":"kubernetes.io/hostname"}]},)"
                R"("workloadRef":{"workloadName":"w","templateName":"t"}}})"});
  make_many(tenant(cast), kGroups, [](int i) {
    return Wire::Ask{
        .method = "POST",
        .target = kAlpha + "podgroups",
        .body = fmt::format(
            R"({{"metadata":{{"name":"leaf-{}"}},"spec":{{"parentCompositePodGroupName":"wide",)"
            R"("schedulingPolicy":{{"basic":{{}}}},"workloadRef":{{"workloadName":"w","templateName":"t"}}}}}})",
            i)};
  });
  must(tenant(cast), {.method = "DELETE", .target = kWide});
}

// Sixteen at once, on one connection.
void get_wide(const Cast& cast, Run& run) {
  while (!run.over()) {
    Http2Wire wire(cast.server, {.client = &cast.tenant});
    for (int round = 0; round < 50 && wire.open() && !run.over(); ++round) {
      std::vector<std::int32_t> streams;
      for (int i = 0; i < 16; ++i) streams.push_back(wire.ask("GET", kWide, {}, {}, {kAsTable}));
      for (const std::int32_t stream : streams) run.answered(wire.wait_for(stream).code, 0);
    }
  }
}

// In several forms, as watches of one form share what is written.
void watch_wide(const Cast& cast, Run& run) {
  while (!run.over()) {
    Http2Wire wire(cast.server, {.client = &cast.tenant});
    for (const char* kind : {"compositepodgroups", "podgroups"})
      for (const char* include : {"None", "Metadata", "Object"})
        wire.ask("GET", fmt::format("{}{}?watch=1&includeObject={}", kAlpha, kind, include), {}, {},
                 {kAsTable});
    while (!run.over() && wire.turn()) {
      for (auto& [stream, reply] : wire.replies) reply.body.clear();
    }
  }
}

void change(const Cast& cast, Run& run, const std::string& target) {
  repeat(
      tenant(cast),
      [&](int i) {
        return Wire::Ask{
            .method = "PATCH",
            .target = target == kWide ? target : fmt::format("{}{}", target, i % kGroups),
            .headers = of_type("application/merge-patch+json"),
            .body = fmt::format(R"({{"metadata":{{"labels":{{"x":"{}"}}}}}})", i)};
      },
      run);
}

}  // namespace

std::vector<Case> group_cases() {
  return {{.name = "a composite of 10,000 groups, got and watched as Table",
           .who = "tenant",
           .threads = 6,
           .prepare = make_wide_composite,
           .attack =
               [next = std::make_shared<std::atomic<int>>(0)](const Cast& cast, Run& run) {
                 switch ((*next)++ % 6) {
                   case 0:
                   case 1: return get_wide(cast, run);
                   case 2: return watch_wide(cast, run);
                   case 3:
                   case 4: return change(cast, run, kWide);
                   default: return change(cast, run, kAlpha + "podgroups/leaf-");
                 }
               },
           .alone = true}};
}

}  // namespace muster::attack
