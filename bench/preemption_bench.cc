// What one search for victims costs: upstream's own workloads, and a large cluster.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "bench/harness.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/plugins/default_profile.h"
#include "scheduler/preemption/preemption.h"

namespace muster::bench {
namespace {

using scheduler::ClusterModel;
using scheduler::GroupKind;
using scheduler::PreemptionArgs;
using scheduler::PreemptionPlan;

struct GroupLine {
  std::string name;
  int minimum = 1;
  int priority = 0;
  bool together = false;
  bool in_rack = false;
};

api::ObjectPtr group(const GroupLine& line) {
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}},"priority":{},"disruptionMode":{{"{}":{{}}}}{}}},"status":{{}}}})",
      line.name, line.minimum, line.priority, line.together ? "all" : "single",
      line.in_rack ? R"(,"schedulingConstraints":{"topology":[{"key":"rack"}]})" : ""));
  return api::Object::make(api::kinds::pod_group(), document->value);
}

api::ObjectPtr pod(const std::string& name, const std::string& cpu, const std::string& node,
                   const std::string& of, int priority) {
  return scheduler::PodSample{
      .name = name, .cpu = cpu, .node_name = node, .group = of, .priority = priority}
      .make();
}

std::shared_ptr<ClusterModel> make_model(int nodes, const std::string& cpu, int racks) {
  auto model =
      std::make_shared<ClusterModel>(scheduler::default_profile(), scheduler::ModelOptions{});
  for (int i = 0; i < nodes; ++i)
    model->put(scheduler::NodeSample{.name = fmt::format("n{:04}", i),
                                     .cpu = cpu,
                                     .memory = "128Gi",
                                     .labels = {{"rack", fmt::format("r{}", i % racks)}}}
                   .make());
  return model;
}

void add_preemptor(ClusterModel& model, const GroupLine& line, int pods, const std::string& cpu) {
  model.put(group(line));
  for (int i = 0; i < pods; ++i)
    model.put(pod(fmt::format("{}-{}", line.name, i), cpu, "", line.name, line.priority));
}

// Five low gangs of 100 on 100 nodes, against one of 100 that needs them all gone.
std::shared_ptr<ClusterModel> five_gangs() {
  auto model = make_model(100, "4", 1);
  for (int g = 0; g < 5; ++g) {
    model->put(group({.name = fmt::format("low{}", g), .minimum = 100, .together = true}));
    for (int i = 0; i < 100; ++i)
      model->put(pod(fmt::format("low{}-{}", g, i), "600m", fmt::format("n{:04}", i),
                     fmt::format("low{}", g), 0));
  }
  add_preemptor(*model, {.name = "high", .minimum = 100, .priority = 10}, 100, "3500m");
  return model;
}

// 1,000 low pods of 40m on 100 nodes, against a gang of 100 that needs every node nearly empty.
std::shared_ptr<ClusterModel> lone_pods() {
  auto model = make_model(100, "4", 1);
  for (int i = 0; i < 1000; ++i)
    model->put(pod(fmt::format("low{}", i), "40m", fmt::format("n{:04}", i % 100), "", 0));
  add_preemptor(*model, {.name = "high", .minimum = 100, .priority = 10}, 100, "3970m");
  return model;
}

// 5,000 nodes full of 50,000 pods, 20,000 of them lower than the preemptor.
std::shared_ptr<ClusterModel> large(const GroupLine& preemptor, int pods) {
  auto model = make_model(5000, "10", 50);
  for (int i = 0; i < 50'000; ++i)
    model->put(
        pod(fmt::format("p{}", i), "1", fmt::format("n{:04}", i % 5000), "", i < 20'000 ? 1 : 100));
  add_preemptor(*model, preemptor, pods, "3");
  return model;
}

// The same with all 50,000 pods lower, each of a thousand priorities on nodes all over the cluster.
std::shared_ptr<ClusterModel> many_priorities(const GroupLine& preemptor, int pods) {
  auto model = make_model(5000, "10", 50);
  for (int i = 0; i < 50'000; ++i)
    model->put(pod(fmt::format("p{}", i), "1", fmt::format("n{:04}", i % 5000), "",
                   static_cast<int>((i * 7919LL) % 1000)));
  add_preemptor(*model, preemptor, pods, "3");
  return model;
}

Case search(std::string name, std::function<std::shared_ptr<ClusterModel>()> make, int times,
            PreemptionArgs::Mode mode, Goal goal, double kubernetes_us,
            std::size_t nominated = 100) {
  return {.name = std::move(name),
          .setup = [make = std::move(make), times, mode]() -> std::function<void(Meter&)> {
            return [model = make(), times, mode](Meter& meter) {
              const auto tree = model->build({GroupKind::PodGroup, "default", "high"});
              PreemptionArgs args;
              args.mode = mode;
              for (int i = 0; i < times; ++i) {
                const PreemptionPlan plan = meter.attempt(
                    [&] { return scheduler::preempt_for_group(*model, tree, args, Time{}); });
                meter.note(plan.message);
                meter.placed(plan.nominated.size());
              }
            };
          },
          .pods_expected = nominated* static_cast<std::size_t>(times),
          .goal = goal,
          .kubernetes_us = kubernetes_us};
}

Case lone_pod(std::string name, int priority, std::function<std::shared_ptr<ClusterModel>()> make) {
  return {.name = std::move(name),
          .setup = [make = std::move(make), priority]() -> std::function<void(Meter&)> {
            return [model = make(), priority](Meter& meter) {
              const scheduler::PendingPod pending{pod("lone", "3", "", "", priority), 0, {}, {}};
              for (int i = 0; i < 10; ++i) {
                const PreemptionPlan plan = meter.attempt(
                    [&] { return scheduler::preempt_for_pod(*model, pending, {}, Time{}); });
                meter.note(plan.message);
                meter.placed(plan.nominated.size());
              }
            };
          },
          .pods_expected = 10,
          .goal = {.us = 20'000}};
}

// A thousand priorities below the preemptor's, or half of them, or hardly any; and a gang for which
// it is not enough that all of them leave.
void run_priorities(Report& report) {
  using Mode = PreemptionArgs::Mode;
  const Goal none{};
  const auto gang = [](int priority, bool in_rack, int pods) {
    return [=] {
      return many_priorities(
          {.name = "high", .minimum = pods, .priority = priority, .in_rack = in_rack}, pods);
    };
  };
  for (const int priority : {2000, 500, 10}) {
    report.run(search(fmt::format("gang of 100 anywhere, 1,000 priorities, {} of them lower",
                                  std::min(priority, 1000)),
                      gang(priority, false, 100), 10, Mode::Search, none, 0));
    report.run(search(fmt::format("gang of 100 in a rack, 1,000 priorities, {} of them lower",
                                  std::min(priority, 1000)),
                      gang(priority, true, 100), 10, Mode::Search, none, 0,
                      priority > 10 ? 100 : 0));
  }
  report.run(search("gang of 1,000 in no rack, 1,000 priorities, all lower", gang(2000, true, 1000),
                    10, Mode::Search, none, 0, 0));
  report.run(lone_pod("lone pod, 5,000 nodes, 1,000 priorities", 2000,
                      [] { return many_priorities({.name = "high"}, 0); }));
}

int run(const Request& request) {
  using Mode = PreemptionArgs::Mode;
  Report report("Preemption", request);
  report.run(
      search("5 gangs of 100 on 100 nodes", five_gangs, 20, Mode::Search, {.us = 2000}, 437'000));
  report.run(search("the same in upstream's way", five_gangs, 20, Mode::Upstream, {}, 437'000));
  report.run(search("1,000 lone pods on 100 nodes", lone_pods, 20, Mode::Search, {}, 0));
  const auto rack = [] {
    return large({.name = "high", .minimum = 100, .priority = 10, .in_rack = true}, 100);
  };
  report.run(search("gang of 100 in a rack, 5,000 nodes, 20,000 candidates", rack, 10, Mode::Search,
                    {.us = 20'000}, 0));
  const auto anywhere = [] { return large({.name = "high", .minimum = 100, .priority = 10}, 100); };
  report.run(search("gang of 100 anywhere, 5,000 nodes, 20,000 candidates", anywhere, 10,
                    Mode::Search, {.us = 20'000}, 0));
  report.run(lone_pod("lone pod, 5,000 nodes, 20,000 candidates", 10,
                      [] { return large({.name = "high"}, 0); }));
  run_priorities(report);
  return report.finish();
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  return muster::bench::run(muster::bench::parse_arguments(argc, argv));
}
