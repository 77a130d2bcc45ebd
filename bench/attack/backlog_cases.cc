// Small writes that make a component think about very many objects: what it has not yet got to must
// keep neither a neighbour's pods waiting, nor the end of the process.
#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "asks.h"
#include "cases.h"

namespace muster::attack {
namespace {

const std::string kMerge = "application/merge-patch+json";
const std::string kSets = "/apis/apps/v1/namespaces/tenant/replicasets";
const std::string kAlpha = "/apis/scheduling.k8s.io/v1alpha3/namespaces/tenant/";
const std::string kBeta = "/apis/scheduling.k8s.io/v1beta1/namespaces/tenant/";
const std::string kComposites = kAlpha + "compositepodgroups";

// One object, patched again and again with `change(i)`.
std::function<void(const Cast&, Run&)> patched(const std::string& target,
                                               std::string (*change)(int)) {
  return repeated(tenant, [=](int i) {
    return Wire::Ask{
        .method = "PATCH", .target = target, .headers = of_type(kMerge), .body = change(i)};
  });
}

// --- One composite of very many groups.

void make_composite(const Cast& cast) {
  must(
      tenant(cast),
      {.method = "POST",
       .target = kComposites,
       .body =
           R"({"metadata":{"name":"wide"},"spec":{"schedulingPolicy":{"gang":{"minGroupCount":2}},)"
           R"("workloadRef":{"workloadName":"w","templateName":"t"}}})"});
  make_many(tenant(cast), 15'000, [](int i) {
    return Wire::Ask{
        .method = "POST",
        .target = kAlpha + "podgroups",
        .body = fmt::format(
            R"({{"metadata":{{"name":"leaf-{}"}},"spec":{{"parentCompositePodGroupName":"wide",)"
            R"("schedulingPolicy":{{"basic":{{}}}},"workloadRef":{{"workloadName":"w","templateName":"t"}}}}}})",
            i)};
  });
}

std::string other_minimum(int i) {
  return fmt::format(R"({{"spec":{{"schedulingPolicy":{{"gang":{{"minGroupCount":{}}}}}}}}})",
                     2 + i % 7);
}

// --- One group of very many pods.

// Made by a ReplicaSet, which is faster than we are. `more` of a pod's spec, or the CPUs it asks
// for, keep them from nodes.
void make_group(const Cast& cast, int pods, const std::string& policy, const std::string& more,
                const std::string& cpu = "30") {
  must(tenant(cast),
       {.method = "POST",
        .target = kBeta + "podgroups",
        .body = fmt::format(R"({{"metadata":{{"name":"large"}},"spec":{{"schedulingPolicy":{}}}}})",
                            policy)});
  must(
      tenant(cast),
      {.method = "POST",
       .target = kSets,
       .body = fmt::format(
           R"({{"metadata":{{"name":"large"}},"spec":{{"replicas":{},"selector":{{"matchLabels":{{"a":"b"}}}},)"
           R"("template":{{"metadata":{{"labels":{{"a":"b"}}}},"spec":{{"schedulingGroup":{{"podGroupName":"large"}},)"
           R"({},"containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}}}}}})",
           pods, more, cpu)});
  const std::string all = fmt::format(R"("replicas":{})", pods);
  Wire wire(cast.server, {.client = &cast.tenant});
  for (int i = 0; i < 1'200; ++i, pause_ms(100)) {
    const std::string body = wire.get(kSets + "/large").body;
    const std::size_t status = body.find(R"("status":)");
    if (status != std::string::npos && body.find(all, status) != std::string::npos) return;
  }
  throw Unprepared(fmt::format("{} pods were not made within two minutes", pods));
}

std::string other_size(int i) {
  return fmt::format(
      R"({{"metadata":{{"annotations":{{"scheduling.muster.dev/expected-pods":"{}"}}}}}})", i + 1);
}

constexpr int kGang = 9'900;

// One more than there are pods, and as many as there are, in turn.
std::string other_need(int i) {
  return fmt::format(R"({{"spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}}}}})",
                     kGang + (i + 1) % 2);
}

// It has a pod too few until now.
void let_it_be_bound(const Cast& cast, Run& run) {
  const Wire::Ask ask{.method = "PATCH",
                      .target = kBeta + "podgroups/large",
                      .headers = of_type(kMerge),
                      .body = other_need(1)};
  must(tenant(cast), ask);
  run.answered(200, ask.body.size());
  Wire wire(cast.server, {.client = &cast.tenant});
  while (!run.over()) {
    pause_ms(500);
    const std::string body = wire.get(kBeta + "podgroups/large").body;
    if (body.find(R"("status":"True")") != std::string::npos) return;
  }
  run.complain("the gang was not bound");
}

// The neighbour deletes pods all the time: each time there is room, though never enough.
void wait_for_room(const Cast& /*cast*/, Run& run) {
  while (!run.over()) pause_ms(10);
}

Case cannot_fit(std::string_view name, int pods, int minimum) {
  return {.name = name,
          .who = "tenant",
          .prepare =
              [=](const Cast& cast) {
                make_group(cast, pods, fmt::format(R"({{"gang":{{"minCount":{}}}}})", minimum),
                           R"("terminationGracePeriodSeconds":0)");
              },
          .attack = wait_for_room,
          .alone = true};
}

}  // namespace

std::vector<Case> backlog_cases() {
  return {
      {.name = "a composite of 15,000 groups whose minimum changes",
       .who = "tenant",
       .threads = 2,
       .prepare = make_composite,
       .attack = patched(kComposites + "/wide", other_minimum)},
      {.name = "a Basic group of 20,000 waiting pods whose size changes",
       .who = "tenant",
       .threads = 2,
       .prepare =
           [](const Cast& cast) {
             make_group(cast, 20'000, R"({"basic":{}})", R"("nodeSelector":{"no":"where"})");
           },
       .attack = patched(kBeta + "podgroups/large", other_size),
       .alone = true},
      {.name = "a gang of 9,900 waiting pods whose minimum changes",
       .who = "tenant",
       .threads = 2,
       .prepare =
           [](const Cast& cast) {
             make_group(cast, kGang, fmt::format(R"({{"gang":{{"minCount":{}}}}})", kGang),
                        R"("terminationGracePeriodSeconds":0)");
           },
       .attack = patched(kBeta + "podgroups/large", other_need),
       .alone = true},
      {.name = "a gang of 9,900 that is bound",
       .who = "tenant",
       .prepare =
           [](const Cast& cast) {
             make_group(cast, kGang, fmt::format(R"({{"gang":{{"minCount":{}}}}})", kGang + 1),
                        R"("terminationGracePeriodSeconds":0)", "1m");
           },
       .attack = let_it_be_bound,
       .alone = true,
       .flags = {"--nodes-per-rack", "100", "--node-resources", "cpu=32,memory=128Gi,pods=200"}},
      cannot_fit("a gang of 9,900 that cannot fit, while a neighbour deletes pods", kGang, kGang),
      cannot_fit("a gang of 50,000 that cannot fit, while a neighbour deletes pods", 50'000,
                 50'000),
      cannot_fit("a gang of 9,000 with 50,000 pods that cannot fit, while a neighbour deletes pods",
                 50'000, 9'000)};
}

}  // namespace muster::attack
