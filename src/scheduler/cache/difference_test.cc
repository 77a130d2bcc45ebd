#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

NodeSample plain_node() { return {.name = "n", .cpu = "4", .memory = "1024", .pods = 9}; }

// Two clusters with one node; then something is done to the first.
std::string difference_after(const std::function<void(Cluster&)>& change) {
  Cluster one;
  Cluster other;
  for (Cluster* cluster : {&one, &other}) cluster->set_node(plain_node().make());
  change(one);
  return one.difference(other);
}

constexpr const char* kOther =
    "; the other: cpu 0 of 4000, memory 0 of 1024, cpu 0 and memory 0 by non-zero requests, 0 of 9 "
    "pods, ports [], taints [], version 0";

TEST(Difference, SaysAllOfARow) {
  EXPECT_EQ(difference_after([](Cluster&) {}), "");
  EXPECT_EQ(difference_after([](Cluster& cluster) {
              NodeSample node = plain_node();
              node.unschedulable = true;
              node.taints = R"([{"key":"k","value":"v","effect":"NoSchedule"},
                               {"key":"l","effect":"NoExecute"}])";
              node.extended = {{"example.com/gpu", "2"}};
              cluster.set_node(node.make());
            }),
            std::string("node n: cordoned, cpu 0 of 4000, example.com/gpu 0 of 2, memory 0 of "
                        "1024, cpu 0 and memory 0 by non-zero requests, 0 of 9 pods, ports [], "
                        "taints [k=v:NoSchedule l=:NoExecute ], version 0") +
                kOther);
  EXPECT_EQ(difference_after([](Cluster& cluster) {
              cluster.count_nominated(PodSample{.name = "w",
                                                .cpu = "1",
                                                .memory = "5",
                                                .extended = {{"example.com/gpu", "3"}},
                                                .ports = R"([{"containerPort":1,"hostPort":81},
                                        {"containerPort":2,"hostPort":80,"hostIP":"10.0.0.1",
                                         "protocol":"UDP"}])"}
                                          .make(),
                                      "n");
            }),
            std::string("node n: cpu 1000 of 4000, example.com/gpu 3 of 0, memory 5 of 1024, cpu "
                        "1000 and memory 5 by non-zero requests, 1 of 9 pods, ports [TCP "
                        "0.0.0.0:81 UDP 10.0.0.1:80], taints [], version 0") +
                kOther);
}

TEST(Difference, SaysWhoIsWhere) {
  const auto pod = [](const std::string& status) {
    return PodSample{.name = "a", .node_name = "n", .group = "g", .status = status}.make();
  };
  EXPECT_EQ(difference_after([&](Cluster& cluster) { cluster.set_pod(pod("")); }),
            "default/a: on n; the other: unknown there");
  EXPECT_EQ(
      difference_after([&](Cluster& cluster) { cluster.set_pod(pod(R"("phase":"Succeeded")")); }),
      "default/a: succeeded; the other: unknown there");
  EXPECT_EQ(difference_after([](Cluster& cluster) {
              cluster.set_node(NodeSample{.name = "m"}.make());
            }).substr(0, 16),
            "node m: cpu 0 of");
  EXPECT_EQ(difference_after([](Cluster& cluster) { cluster.remove_node("n"); }),
            std::string("node n: unknown here") + kOther);
}

TEST(Difference, SaysWhoBelongsToAGroup) {
  Cluster one;
  Cluster other;
  for (Cluster* cluster : {&one, &other}) {
    cluster->set_node(plain_node().make());
    cluster->set_pod(PodSample{.name = "a", .node_name = "n", .group = "g"}.make());
    cluster->set_pod(
        PodSample{.name = "b", .node_name = "n", .group = "g", .status = R"("phase":"Succeeded")"}
            .make());
  }
  EXPECT_EQ(one.difference(other), "");
  other.set_pod(PodSample{.name = "a", .node_name = "n", .group = "g", .terminating = true}.make());
  EXPECT_EQ(one.difference(other),
            "members of default/g: 1 running {\"n\": 1}, 1 succeeded; the other: 0 running {}, 1 "
            "succeeded");
}

}  // namespace
}  // namespace muster::scheduler
