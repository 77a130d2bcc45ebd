// What a fork of the model costs, by itself and with a question asked of it, and what the model
// adds to the intake of a pod.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "bench/harness.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::bench {
namespace {

using scheduler::ClusterModel;
using scheduler::GroupKey;
using scheduler::GroupKind;

constexpr int kNodes = 5000;
constexpr int kRunning = 40'000;  // in groups of 8
constexpr int kWaiting = 10'000;
constexpr int kPerGroup = 8;
constexpr int kForks = 30;
// A question may cost this much before it is answered.
constexpr double kForkGoalUs = 50'000;

api::ObjectPtr group(const std::string& name) {
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}},"schedulingConstraints":{{"topology":[{{"key":"rack"}}]}}}},"status":{{}}}})",
      name, kPerGroup));
  return api::Object::make(api::kinds::pod_group(), document->value);
}

api::ObjectPtr pod(int number, const std::string& node) {
  return scheduler::PodSample{.name = fmt::format("p{}", number),
                              .cpu = "1",
                              .memory = "1Gi",
                              .node_name = node,
                              .group = fmt::format("g{}", number / kPerGroup)}
      .make();
}

std::shared_ptr<ClusterModel> make_model() {
  auto model =
      std::make_shared<ClusterModel>(scheduler::default_profile(), scheduler::ModelOptions{});
  for (int i = 0; i < kNodes; ++i)
    model->put(scheduler::NodeSample{.name = fmt::format("n{}", i),
                                     .cpu = "32",
                                     .memory = "128Gi",
                                     .labels = {{"rack", fmt::format("r{}", i % 50)}}}
                   .make());
  for (int i = 0; i < (kRunning + kWaiting) / kPerGroup; ++i)
    model->put(group(fmt::format("g{}", i)));
  for (int i = 0; i < kRunning + kWaiting; ++i)
    model->put(pod(i, i < kRunning ? fmt::format("n{}", i / kPerGroup % kNodes) : ""));
  return model;
}

GroupKey waiting_group() {
  return {GroupKind::PodGroup, "default", fmt::format("g{}", kRunning / kPerGroup)};
}

int run(const Request& request) {
  Report report("Model", request);
  report.run({.name = "fork, 5000 nodes, 50000 pods in 6250 groups",
              .setup = []() -> std::function<void(Meter&)> {
                return [model = make_model()](Meter& meter) {
                  for (int i = 0; i < kForks; ++i) meter.attempt([&] { return model->fork(); });
                };
              },
              .goal = {.us = kForkGoalUs}});
  report.run({.name = "fork, remove a node, attempt a rack gang of 8",
              .setup = []() -> std::function<void(Meter&)> {
                return [model = make_model()](Meter& meter) {
                  for (int i = 0; i < kForks; ++i)
                    meter.placed(meter.attempt([&] {
                      const auto fork = model->fork();
                      fork->remove(*fork->node("n7"));
                      return attempt(*fork, waiting_group()).assignments.size();
                    }));
                };
              },
              .pods_expected = std::size_t{kForks} * kPerGroup,
              .goal = {.us = 2 * kForkGoalUs}});
  report.run({.name = "a waiting pod of a gang comes and goes, by 1000",
              .setup = []() -> std::function<void(Meter&)> {
                return [model = make_model()](Meter& meter) {
                  std::vector<api::ObjectPtr> pods;
                  for (int i = 0; i < 1000; ++i) pods.push_back(pod(kRunning + kWaiting + i, ""));
                  for (int i = 0; i < kForks; ++i)
                    meter.attempt([&] {
                      for (const auto& one : pods) model->put(one);
                      for (const auto& one : pods) model->remove(*one);
                      return 0;
                    });
                };
              }});
  return report.finish();
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  return muster::bench::run(muster::bench::parse_arguments(argc, argv));
}
