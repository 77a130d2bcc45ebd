// How fast pods are placed that ask about each other: inter-pod affinity and topology spread, alone
// and in gangs. A block stands for a zone.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "api/views/pod_view.h"
#include "bench/fleet.h"
#include "bench/harness.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::bench {
namespace {

using scheduler::Group;
using scheduler::GroupKind;
using scheduler::PendingPod;
using scheduler::PodSample;

constexpr int kBatch = 100;
constexpr std::string_view kHost = "kubernetes.io/hostname";

std::string spread(std::string_view key, int skew, bool hard) {
  return fmt::format(
      R"({{"topologyKey":"{}","maxSkew":{},"whenUnsatisfiable":"{}","labelSelector":{{"matchLabels":{{"app":"web"}}}}}})",
      key, skew, hard ? "DoNotSchedule" : "ScheduleAnyway");
}
std::string spreads(const std::string& constraints) {
  return "\"topologySpreadConstraints\":[" + constraints + "]";
}
std::string required(std::string_view side, std::string_view key, std::string_view selector) {
  return fmt::format(
      R"("affinity":{{"{}":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{"topologyKey":"{}","labelSelector":{}}}]}}}})",
      side, key, selector);
}
std::string preferred(std::string_view side, std::string_view key) {
  return fmt::format(
      R"("affinity":{{"{}":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":10,"podAffinityTerm":{{"topologyKey":"{}","labelSelector":{{"matchLabels":{{"app":"web"}}}}}}}}]}}}})",
      side, key);
}
const std::string kWeb = R"({"matchLabels":{"app":"web"}})";

PendingPod pending(const PodSample& sample) {
  PendingPod pod{sample.make(), 0, {}};
  pod.pod->view<api::PodView>();
  return pod;
}

PodSample web(const std::string& name, const std::string& spec) {
  return {.name = name, .cpu = "500m", .memory = "512Mi", .spec = spec, .labels = {{"app", "web"}}};
}

void run_lone(Report& report, const std::string& name, const std::string& spec, int count) {
  report.run({.name = "pods by 100, 5000 nodes, " + name,
              .setup = [spec, count]() -> std::function<void(Meter&)> {
                const auto fleet = std::make_shared<Fleet>(FleetSize{});
                const auto pods = std::make_shared<std::vector<PendingPod>>();
                for (int i = 0; i < count; ++i)
                  pods->push_back(pending(web(fmt::format("p{}", i), spec)));
                return [fleet, pods](Meter& meter) {
                  for (std::size_t from = 0; from < pods->size(); from += kBatch)
                    meter.placed(meter.attempt([&] {
                      std::size_t placed = 0;
                      const std::size_t to = std::min(pods->size(), from + kBatch);
                      for (std::size_t i = from; i < to; ++i) {
                        const scheduler::Plan plan =
                            scheduler::attempt_pod((*pods)[i], fleet->cluster(), fleet->profile());
                        fleet->commit(plan);
                        placed += plan.assignments.size();
                      }
                      return placed;
                    }));
                };
              },
              .pods_expected = static_cast<std::size_t>(count),
              .goal = {.us = 1e6 / 20e3, .of = Goal::Of::Pod}});
}

// The pods of a gang carry an index each, as those of a Job do: it must not tell them apart.
Group gang(int number, int pods, const std::string& key, const std::string& spec) {
  Group group;
  group.key = {GroupKind::PodGroup, "default", fmt::format("gang-{}", number)};
  group.gang = true;
  group.minimum = pods;
  group.topology_key = key;
  for (int i = 0; i < pods; ++i) {
    PodSample pod = web(fmt::format("{}-{}", group.key.name, i), spec);
    pod.group = group.key.name;
    pod.labels["job"] = group.key.name;
    pod.labels["index"] = std::to_string(i);
    group.pods.push_back(pending(pod));
  }
  return group;
}

void run_gangs(Report& report, const std::string& name, int gangs, int pods, const std::string& key,
               const std::function<std::string(int)>& spec) {
  report.run({.name = name,
              .setup = [=]() -> std::function<void(Meter&)> {
                const auto fleet = std::make_shared<Fleet>(FleetSize{});
                const auto groups = std::make_shared<std::vector<Group>>();
                for (int g = 0; g < gangs; ++g) groups->push_back(gang(g, pods, key, spec(g)));
                return [fleet, groups](Meter& meter) { place_all(*fleet, *groups, meter); };
              },
              .pods_expected = static_cast<std::size_t>(gangs) * static_cast<std::size_t>(pods),
              .goal = {.us = 20e3}});
}

// Pods that run everywhere, as Jobs of a hundred pods each; each with requests of its own, or all
// alike.
struct Crowd {
  int pods = 0;
  bool is_alike = true;
};
std::shared_ptr<Fleet> busy_fleet(const Crowd& crowd) {
  auto fleet = std::make_shared<Fleet>(FleetSize{});
  scheduler::Cluster& cluster = fleet->cluster();
  const auto nodes = static_cast<std::uint32_t>(cluster.node_count());
  for (int i = 0; i < crowd.pods; ++i) {
    const std::uint32_t rank = static_cast<std::uint32_t>(i) % nodes;
    cluster.set_pod(PodSample{.name = fmt::format("runs-{}", i),
                              .cpu = "10m",
                              .memory = crowd.is_alike ? "" : std::to_string(1000 + i),
                              .node_name = cluster.node_name(cluster.node_at(rank)),
                              .labels = {{"app", i % 2 == 0 ? "web" : "db"},
                                         {"job", fmt::format("j{}", i / 100)},
                                         {"index", std::to_string(i)}}}
                        .make());
  }
  cluster.follow_pods();
  return fleet;
}

// The first pod that asks about others by some selector: its class is found, and so are those that
// match.
void run_selectors(Report& report, const Crowd& crowd, const std::string& whom, Goal goal,
                   const std::function<std::string(int)>& selector) {
  constexpr int kSelectors = 20;
  report.run(
      {.name = fmt::format("new selector among {} running pods{}, {}", crowd.pods,
                           crowd.is_alike ? "" : " of a class each", whom),
       .setup = [=]() -> std::function<void(Meter&)> {
         const auto fleet = busy_fleet(crowd);
         const auto asking = std::make_shared<std::vector<PendingPod>>();
         for (int i = 0; i < kSelectors; ++i)
           asking->push_back(pending({.name = fmt::format("asks-{}", i),
                                      .spec = required("podAntiAffinity", "block", selector(i))}));
         return [fleet, asking](Meter& meter) {
           scheduler::Cluster& cluster = fleet->cluster();
           for (const PendingPod& one : *asking)
             cluster.retain_class(meter.attempt([&] { return cluster.class_of(one.pod).id; }));
         };
       },
       .pods_expected = 0,
       .goal = goal});
}

// The same for a whole attempt, which counts those that match by block.
void run_attempts(Report& report, const Crowd& crowd, Goal goal,
                  const std::function<std::string(int)>& selector) {
  constexpr int kPods = 20;
  report.run(
      {.name = fmt::format("pod with a new selector among {} running pods, half of them match",
                           crowd.pods),
       .setup = [=]() -> std::function<void(Meter&)> {
         const auto fleet = busy_fleet(crowd);
         const auto asking = std::make_shared<std::vector<PendingPod>>();
         for (int i = 0; i < kPods; ++i)
           asking->push_back(pending(
               {.name = fmt::format("asks-{}", i),
                .spec = spreads(fmt::format(
                    R"({{"topologyKey":"block","maxSkew":1,"whenUnsatisfiable":"ScheduleAnyway","labelSelector":{}}})",
                    selector(i)))}));
         return [fleet, asking](Meter& meter) {
           for (const PendingPod& one : *asking)
             meter.placed(meter.attempt([&] {
               return scheduler::attempt_pod(one, fleet->cluster(), fleet->profile())
                   .assignments.size();
             }));
         };
       },
       .pods_expected = kPods,
       .goal = goal});
}

void run_selectors(Report& report, int pods) {
  constexpr Goal kFew{.us = 1000};
  const auto pair = [](const char* key, const char* prefix) {
    return
        [=](int i) { return fmt::format(R"({{"matchLabels":{{"{}":"{}{}"}}}})", key, prefix, i); };
  };
  const auto half = [](int i) {
    return fmt::format(
        R"({{"matchExpressions":[{{"key":"app","operator":"In","values":["web","none-{}"]}}]}})",
        i);
  };
  const auto all = [](int i) {
    return fmt::format(
        R"({{"matchExpressions":[{{"key":"app","operator":"NotIn","values":["none-{}"]}}]}})", i);
  };
  const Crowd alike{.pods = pods};
  run_selectors(report, alike, "which matches nobody", kFew, pair("app", "none-"));
  run_selectors(report, alike, "which matches one", kFew, pair("index", ""));
  run_selectors(report, alike, "which matches 100", kFew, pair("job", "j"));
  const Goal many{.us = pods / 10.0};
  run_selectors(report, alike, "which matches half of them", many, half);
  run_selectors(report, alike, "which matches all", many, all);
  run_selectors(report, {.pods = pods, .is_alike = false}, "which matches half of them", many,
                half);
  run_attempts(report, alike, many, half);
}

int run(const Request& request) {
  Report report("Pods that ask about each other", request);
  run_lone(report, "strict spread over 5 blocks", spreads(spread("block", 1, true)), 20'000);
  run_lone(report, "strict spread over hosts", spreads(spread(kHost, 1, true)), 20'000);
  run_lone(report, "soft spread over hosts and blocks",
           spreads(spread(kHost, 3, false) + "," + spread("block", 5, false)), 20'000);
  run_lone(report, "away from each other by host", required("podAntiAffinity", kHost, kWeb), 4'900);
  run_lone(report, "near each other by block", required("podAffinity", "block", kWeb), 20'000);
  run_lone(report, "prefer each other's block", preferred("podAffinity", "block"), 20'000);
  run_lone(report, "avoid each other's host", preferred("podAntiAffinity", kHost), 20'000);

  const auto same = [](const std::string& spec) { return [spec](int) { return spec; }; };
  run_gangs(report, "rack gang 5000 nodes, 9 x 1000, soft spread over hosts", 9, 1000, "rack",
            same(spreads(spread(kHost, 1, false))));
  run_gangs(report, "rack gang 5000 nodes, 3 x 1000, strict spread over hosts", 3, 1000, "rack",
            same(spreads(spread(kHost, 10, true))));
  run_gangs(report, "block gang 5000 nodes, 5 x 1000, away from other gangs", 5, 1000, "block",
            [](int g) {
              return required(
                  "podAntiAffinity", "block",
                  fmt::format(R"({{"matchLabels":{{"app":"web"}},"matchExpressions":)"
                              R"([{{"key":"job","operator":"NotIn","values":["gang-{}"]}}]}})",
                              g));
            });
  run_gangs(report, "block gang 5000 nodes, 5 x 900, one pod a host", 5, 900, "block",
            same(required("podAntiAffinity", kHost, kWeb)));
  for (const int pods : {50'000, 200'000}) run_selectors(report, pods);
  return report.finish();
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  return muster::bench::run(muster::bench::parse_arguments(argc, argv));
}
