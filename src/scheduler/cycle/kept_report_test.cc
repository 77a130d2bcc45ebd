#include "scheduler/cycle/kept_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standings.h"
#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

// Nodes that come, go and change, pods that come and go; what is kept says the same as a look at
// all nodes each time.
RC_GTEST_PROP(KeptReport, SaysTheSameAsALookAtAllNodes, ()) {
  Cluster cluster;
  const Profile profile = default_profile();
  const std::vector<api::ObjectPtr> waiting{
      PodSample{.name = "big", .cpu = "3"}.make(),
      PodSample{.name = "bigger", .cpu = "9", .memory = "2Gi"}.make()};
  const auto put_node = [&cluster](int number) {
    cluster.set_node(NodeSample{.name = fmt::format("n{}", number),
                                .cpu = std::to_string(*rc::gen::inRange(1, 4)),
                                .memory = *rc::gen::element<std::string>("1Gi", "4Gi"),
                                .unschedulable = *rc::gen::inRange(0, 4) == 0}
                         .make());
  };
  for (int i = 0; i < 4; ++i) put_node(i);
  int pods = 0;
  for (int step = 0; step < 30; ++step) {
    const int number = *rc::gen::inRange(0, 6);
    switch (*rc::gen::inRange(0, 4)) {
      case 0: put_node(number); break;
      case 1: cluster.remove_node(fmt::format("n{}", number)); break;
      case 2:
        cluster.set_pod(PodSample{
            .name = fmt::format("p{}", ++pods), .cpu = "1", .node_name = fmt::format("n{}", number)}
                            .make());
        break;
      default: cluster.remove_pod(PodSample{.name = fmt::format("p{}", pods)}.make()->meta().uid);
    }
    if (*rc::gen::arbitrary<bool>()) continue;  // several changes between two reports
    for (const api::ObjectPtr& pod : waiting) {
      const Standing& standing = Standings::of(cluster, profile).of_pod(pod);
      const Histogram kept = why_not_kept(standing, cluster);
      const Histogram naive = why_not(standing, cluster);
      RC_ASSERT(kept.reasons == naive.reasons);
      RC_ASSERT(kept.plugins == naive.plugins);
      RC_ASSERT(kept.hopeless == naive.hopeless);
    }
  }
}

// Each node lacks other things than the next one.
TEST(KeptReport, ManyWaysToRefuseAreNotKept) {
  constexpr int kResources = 9;
  constexpr int kNodes = 400;
  Cluster cluster;
  const Profile profile = default_profile();
  const auto resources = [](int mask) {
    std::map<std::string, std::string> out;
    for (int bit = 0; bit < kResources; ++bit)
      out[fmt::format("example.com/r{}", bit)] = (mask >> bit) % 2 == 0 ? "4" : "0";
    return out;
  };
  for (int i = 0; i < kNodes; ++i)
    cluster.set_node(
        NodeSample{.name = fmt::format("n{}", i), .cpu = "1", .extended = resources(i + 1)}.make());
  const api::ObjectPtr pod = PodSample{.name = "p", .extended = resources(0)}.make();
  for (int step = 0; step < 3 * kNodes; ++step) {
    if (step == kNodes)  // from now on they are alike
      for (int i = 0; i < kNodes; ++i)
        cluster.set_node(
            NodeSample{.name = fmt::format("n{}", i), .cpu = "1", .extended = resources(1)}.make());
    cluster.set_node(NodeSample{.name = "n0", .cpu = std::to_string(1 + step % 2)}.make());
    if (step % 97 > 1) continue;
    const Standing& standing = Standings::of(cluster, profile).of_pod(pod);
    const Histogram kept = why_not_kept(standing, cluster);
    const Histogram naive = why_not(standing, cluster);
    EXPECT_EQ(kept.reasons, naive.reasons) << step;
    EXPECT_EQ(kept.plugins, naive.plugins) << step;
    EXPECT_EQ(kept.hopeless, naive.hopeless) << step;
  }
}

}  // namespace
}  // namespace muster::scheduler
