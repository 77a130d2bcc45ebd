#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "api/kinds/kind.h"
#include "scheduler/config/scheduler_config.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

constexpr int kNodes = 100;
constexpr int kGpusPerNode = 8;

api::ObjectPtr parse(const api::Kind& kind, const std::string& text) {
  const auto document = api::parse_json(text);
  EXPECT_TRUE(document.has_value()) << text;
  return api::Object::make(kind, document->value);
}

api::ObjectPtr node(int number) {
  return parse(
      api::kinds::node(),
      fmt::format(
          R"({{"metadata":{{"name":"n{0:03}","uid":"n{0}","labels":{{"kubernetes.io/hostname":"n{0:03}"}}}},)"
          R"("status":{{"allocatable":{{"cpu":"64","memory":"512Gi","pods":"110","nvidia.com/gpu":"{1}"}}}}}})",
          number, kGpusPerNode));
}

api::ObjectPtr pod(const std::string& name, int gpus, const std::string& group) {
  return parse(
      api::kinds::pod(),
      fmt::format(
          R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"{0}"}},"spec":{{"schedulerName":"default-scheduler"{1},)"
          R"("containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"{2}","memory":"4Gi","nvidia.com/gpu":"{2}"}}}}}}]}}}})",
          name,
          group.empty() ? std::string()
                        : fmt::format(R"(,"schedulingGroup":{{"podGroupName":"{}"}})", group),
          gpus));
}

// Fills a cluster to 60 % with pods of 1, 2 and 4 GPUs, one in four of them a gang of three.
// Returns how much of what is free is on nodes that are empty, of a hundred.
double free_on_empty_nodes(const Profiles& profiles, std::uint64_t seed) {
  ClusterModel model(profiles, {});
  for (int i = 0; i < kNodes; ++i) model.put(node(i));
  std::mt19937_64 random(seed);
  int used = 0;
  for (int i = 0; used < kNodes * kGpusPerNode * 6 / 10; ++i) {
    const int gpus = 1 << (random() % 3);
    const bool is_gang = random() % 4 == 0;
    const std::string name = fmt::format("p{}", i);
    if (is_gang)
      model.put(parse(api::kinds::pod_group(),
                      fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"g-{0}"}},)"
                                  R"("spec":{{"schedulingPolicy":{{"gang":{{"minCount":3}}}}}}}})",
                                  name)));
    std::vector<api::ObjectPtr> pods;
    for (int k = 0; k < (is_gang ? 3 : 1); ++k) {
      pods.push_back(pod(fmt::format("{}-{}", name, k), gpus, is_gang ? name : ""));
      model.put(pods.back());
    }
    const Plan plan = is_gang ? attempt(model, GroupKey{GroupKind::PodGroup, "ns", name})
                              : attempt(model, pods.front());
    EXPECT_EQ(plan.assignments.size(), pods.size());
    for (const Assignment& assignment : plan.assignments)
      model.assume(assignment.pod, assignment.node);
    used += gpus * static_cast<int>(pods.size());
  }
  ResourceId gpu{};
  EXPECT_TRUE(model.cluster().find_resource("nvidia.com/gpu", gpu));
  const ResourceColumns& columns = model.cluster().resource(gpu);
  std::int64_t free = 0, on_empty = 0;
  model.cluster().nodes().for_each([&](NodeId id) {
    const std::int64_t here = columns.allocatable[id] - columns.requested[id];
    free += here;
    if (here == kGpusPerNode) on_empty += here;
  });
  return 100.0 * static_cast<double>(on_empty) / static_cast<double>(free);
}

TEST(Packing, LeavesWholeNodesFree) {
  const SchedulerConfig packing =
      read_scheduler_config(packing_config("nvidia.com/gpu").value()).value();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const double packed = free_on_empty_nodes(packing.profiles, seed);
    const double usual = free_on_empty_nodes(default_profile(), seed);
    fmt::print("seed {}: {:.1f} % of the free GPUs on empty nodes, {:.1f} % by default\n", seed,
               packed, usual);
    EXPECT_GE(packed, 95.0) << "seed " << seed;
    EXPECT_LT(usual, packed) << "seed " << seed;
  }
}

}  // namespace
}  // namespace muster::scheduler
