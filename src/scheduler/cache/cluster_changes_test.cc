// What the cluster says of a change: which rows to read again, and what to derive anew.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

// A node with a bit of everything, and a pod on it.
class ClusterChanges : public ::testing::Test {
 protected:
  ClusterChanges() {
    cluster_.set_node(node_.make());
    cluster_.set_pod(pod_.make());
  }
  NodeId row(const std::string& name = "n") const {
    NodeId row{};
    EXPECT_TRUE(cluster_.find_node(name, row));
    return row;
  }
  std::int64_t used_cpu() const { return cluster_.resource(ResourceId::Cpu).requested[row()]; }
  // What a change has made greater: "usage" or "node" for an entry in the log, then the epochs.
  std::string grown_by(const std::function<void()>& change) {
    const std::uint64_t log = cluster_.log().end();
    const std::uint64_t labels = cluster_.label_epoch();
    const std::uint64_t taints = cluster_.taint_epoch();
    const std::uint64_t order = cluster_.order_epoch();
    change();
    std::string grown;
    for (std::uint64_t at = log; at < cluster_.log().end(); ++at)
      grown += cluster_.log().at(at).what == RowLog::What::Node ? "node " : "usage ";
    if (cluster_.label_epoch() > labels) grown += "labels ";
    if (cluster_.taint_epoch() > taints) grown += "taints ";
    if (cluster_.order_epoch() > order) grown += "order ";
    if (!grown.empty()) grown.pop_back();
    return grown;
  }
  std::string grown_by_node(const NodeSample& node) {
    return grown_by([&] { cluster_.set_node(node.make()); });
  }
  std::string grown_by_pod(const PodSample& pod) {
    return grown_by([&] { cluster_.set_pod(pod.make()); });
  }

  static constexpr const char* kTaint = R"([{"key":"k","effect":"NoSchedule"}])";
  NodeSample node_{.name = "n",
                   .labels = {{"zone", "a"}},
                   .extended = {{"example.com/gpu", "2"}},
                   .taints = kTaint};
  PodSample pod_{.name = "p",
                 .cpu = "1",
                 .memory = "1Gi",
                 .extended = {{"example.com/gpu", "1"}},
                 .node_name = "n",
                 .group = "g",
                 .ports = R"([{"containerPort":80,"hostPort":80}])"};
  Cluster cluster_;
};

TEST_F(ClusterChanges, ANodeTellsWhatOfItChanged) {
  struct Case {
    const char* name;
    NodeSample node;
    const char* want;
  };
  const auto changed = [this](auto&& change) {
    NodeSample node = node_;
    change(node);
    return node;
  };
  const Case cases[] = {
      {"nothing", node_, ""},
      {"label", changed([](NodeSample& n) { n.labels["zone"] = "b"; }), "node labels"},
      {"cordon", changed([](NodeSample& n) { n.unschedulable = true; }), "node"},
      {"taint", changed([](NodeSample& n) { n.taints.clear(); }), "node taints"},
      {"not ready", changed([](NodeSample& n) {
         n.taints = R"([{"key":"k","effect":"NoSchedule"},
             {"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"},
             {"key":"node.kubernetes.io/unreachable","effect":"NoExecute"}])";
       }),
       "node"},
      {"cpu", changed([](NodeSample& n) { n.cpu = "5"; }), "usage"},
      {"slots", changed([](NodeSample& n) { n.pods = 7; }), "usage"},
      {"extended", changed([](NodeSample& n) { n.extended.clear(); }), "usage"},
      {"image",
       changed([](NodeSample& n) { n.status = R"("images":[{"names":["app"],"sizeBytes":5}])"; }),
       "usage"},
      {"feature", changed([](NodeSample& n) { n.status = R"("declaredFeatures":["f"])"; }), "node"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(grown_by_node(c.node), c.want) << c.name;
    EXPECT_EQ(grown_by_node(node_), c.want) << c.name << " and back";
  }
  EXPECT_EQ(grown_by_node({.name = "m"}), "node labels order");
  EXPECT_EQ(grown_by([this] { cluster_.remove_node("m"); }), "node labels order");
  EXPECT_EQ(grown_by([this] { cluster_.remove_node("m"); }), "") << "it is gone already";
}

TEST_F(ClusterChanges, APodIsCountedAgainIfAnythingThatCountsChanged) {
  const auto changed = [this](auto&& change) {
    PodSample pod = pod_;
    change(pod);
    return pod;
  };
  EXPECT_EQ(grown_by_pod(pod_), "");
  EXPECT_EQ(grown_by_pod(changed([](PodSample& p) { p.labels["a"] = "b"; })), "");
  EXPECT_EQ(grown_by_pod(changed([](PodSample& p) { p.priority = 7; })), "");
  const PodSample cases[] = {
      changed([](PodSample& p) { p.cpu = "2"; }),
      changed([](PodSample& p) { p.memory = "2Gi"; }),
      changed([](PodSample& p) { p.extended["example.com/gpu"] = "2"; }),
      changed([](PodSample& p) { p.ports = R"([{"containerPort":80,"hostPort":81}])"; }),
      changed([](PodSample& p) { p.group = "h"; }),
      changed([](PodSample& p) { p.terminating = true; }),
      changed([](PodSample& p) {
        p.spec = R"("affinity":{"podAntiAffinity":{
            "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone",
            "labelSelector":{"matchLabels":{"app":"db"}}}]}})";
      }),
      changed([](PodSample& p) {
        p.spec = R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}])";
      }),
  };
  for (const PodSample& pod : cases) {
    EXPECT_EQ(grown_by_pod(pod), "usage usage");
    EXPECT_EQ(grown_by_pod(pod_), "usage usage");
  }
  PodSample moved = pod_;
  moved.node_name = "m";
  cluster_.set_node(NodeSample{.name = "m"}.make());
  EXPECT_EQ(grown_by_pod(moved), "usage usage");
  EXPECT_EQ(used_cpu(), 0);
}

TEST_F(ClusterChanges, TheMembersOfAGroupAreCountedByNode) {
  cluster_.set_node(NodeSample{.name = "m"}.make());
  PodSample other = pod_;
  other.name = "q";
  other.ports.clear();
  cluster_.set_pod(other.make());
  other.name = "r";
  other.node_name = "m";
  cluster_.set_pod(other.make());
  const GroupMembers* members = cluster_.members("default", "g");
  ASSERT_NE(members, nullptr);
  EXPECT_EQ(members->running_total, 3);
  EXPECT_EQ(members->running.at(row()), 2);
  EXPECT_EQ(members->running.at(row("m")), 1);
  cluster_.remove_pod("default-r");
  EXPECT_EQ(cluster_.members("default", "g")->running.count(row("m")), 0U);
  pod_.terminating = true;
  cluster_.set_pod(pod_.make());
  EXPECT_EQ(cluster_.members("default", "g")->running_total, 1) << "who ends is no member any more";
  EXPECT_EQ(cluster_.members("default", "g")->running.at(row()), 1);
}

TEST_F(ClusterChanges, APodThatHasEndedHoldsNothing) {
  PodSample failed = pod_;
  failed.status = R"("phase":"Failed")";
  EXPECT_EQ(grown_by_pod(failed), "usage");
  EXPECT_EQ(cluster_.pod_count(), 0U);
  EXPECT_EQ(cluster_.members("default", "g"), nullptr);
  PodSample succeeded = pod_;
  succeeded.status = R"("phase":"Succeeded")";
  cluster_.set_pod(pod_.make());
  EXPECT_EQ(grown_by_pod(succeeded), "usage");
  EXPECT_EQ(cluster_.pod_count(), 1U) << "its group counts it";
  EXPECT_EQ(used_cpu(), 0);
  EXPECT_EQ(cluster_.pods_at(row()).size(), 0U);
  EXPECT_EQ(cluster_.pods_on()[row()], 0);
  succeeded.group.clear();
  cluster_.set_pod(succeeded.make());
  EXPECT_EQ(cluster_.pod_count(), 0U) << "nobody does";
}

TEST_F(ClusterChanges, ThePodsOfANodeAreListedInAnyOrderAndReplacedInPlace) {
  std::map<std::string, api::ObjectPtr> here{{"p", cluster_.pods_at(row())[0]}};
  for (const char* name : {"q", "r", "s"}) {
    PodSample pod{.name = name, .cpu = "100m", .node_name = "n"};
    here[name] = pod.make();
    cluster_.set_pod(here[name]);
  }
  const auto expect_here = [&](const char* when) {
    std::map<std::string, api::ObjectPtr> listed;
    for (const api::ObjectPtr& pod : cluster_.pods_at(row())) listed[pod->meta().name] = pod;
    EXPECT_EQ(listed, here) << when;
    EXPECT_EQ(cluster_.pods_on()[row()], static_cast<std::int64_t>(here.size())) << when;
  };
  expect_here("four");
  cluster_.remove_pod("default-q");
  here.erase("q");
  expect_here("the last took its place");
  here["s"] = PodSample{.name = "s", .cpu = "100m", .node_name = "n", .priority = 9}.make();
  cluster_.set_pod(here["s"]);
  expect_here("one of them is newer");
  cluster_.remove_pod("default-s");
  here.erase("s");
  expect_here("s is gone");
  cluster_.remove_pod("default-p");
  cluster_.remove_pod("default-r");
  here.clear();
  expect_here("all are gone");
}

TEST_F(ClusterChanges, WhatAPodTakesIsCountedInEveryColumn) {
  constexpr std::int64_t kMi = std::int64_t{1} << 20;
  const auto counts = [this] {
    ResourceId gpu{};
    EXPECT_TRUE(cluster_.find_resource("example.com/gpu", gpu));
    return std::vector<std::int64_t>{used_cpu(),
                                     cluster_.resource(ResourceId::Memory).requested[row()] / kMi,
                                     cluster_.resource(gpu).requested[row()],
                                     cluster_.nonzero_cpu()[row()],
                                     cluster_.nonzero_memory()[row()] / kMi,
                                     cluster_.pods_on()[row()],
                                     static_cast<std::int64_t>(cluster_.ports_on(row()).size())};
  };
  using Counts = std::vector<std::int64_t>;
  const Counts one{1000, 1024, 1, 1000, 1024, 1, 1};
  EXPECT_EQ(counts(), one);
  EXPECT_EQ(cluster_.resource(ResourceId::Cpu).allocatable[row()], 4000);
  EXPECT_EQ(cluster_.pod_slots()[row()], 110);
  const auto asks_nothing = PodSample{.name = "q"}.make();
  cluster_.assume(asks_nothing, "n");
  EXPECT_EQ(counts(), (Counts{1000, 1024, 1, 1100, 1224, 2, 1}));
  cluster_.forget("default-q");
  EXPECT_EQ(counts(), one);
  PodSample waits = pod_;
  waits.name = "w";
  waits.node_name.clear();
  const auto nominated = waits.make();
  const Counts two{2000, 2048, 2, 2000, 2048, 2, 2};
  cluster_.count_nominated(nominated, "n");
  EXPECT_EQ(counts(), two);
  EXPECT_EQ(cluster_.pods_at(row()).size(), 1U) << "it is not there yet";
  EXPECT_EQ(cluster_.members("default", "g")->running_total, 1);
  cluster_.discount_nominated(nominated, "n");
  EXPECT_EQ(counts(), one);
  const PodClass& pods = cluster_.class_of(nominated);
  cluster_.place(pods, row());
  EXPECT_EQ(counts(), two);
  cluster_.unplace(pods, row());
  EXPECT_EQ(counts(), one);
  cluster_.remove_pod("default-p");
  EXPECT_EQ(counts(), (Counts{0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(ClusterChanges, NominatedPodsOfANodeComeAndGoOneByOne) {
  const auto first = PodSample{.name = "w1", .cpu = "1"}.make();
  const auto second = PodSample{.name = "w2", .cpu = "2"}.make();
  cluster_.count_nominated(first, "n");
  const std::uint64_t one = cluster_.nominated_epoch();
  EXPECT_EQ(cluster_.nominated_on(row()).size(), 1U);
  cluster_.count_nominated(second, "n");
  EXPECT_EQ(cluster_.nominated_on(row()).size(), 2U);
  EXPECT_GT(cluster_.nominated_epoch(), one);
  const std::uint64_t two = cluster_.nominated_epoch();
  cluster_.discount_nominated(first, "n");
  ASSERT_EQ(cluster_.nominated_on(row()).size(), 1U);
  EXPECT_EQ(cluster_.pod_class(cluster_.nominated_on(row())[0]).needs->requests.cpu_milli, 2000);
  EXPECT_GT(cluster_.nominated_epoch(), two);
  const std::uint64_t left = cluster_.nominated_epoch();
  cluster_.discount_nominated(second, "n");
  EXPECT_TRUE(cluster_.nominated_on(row()).empty());
  EXPECT_TRUE(cluster_.nominated_rows().empty());
  EXPECT_GT(cluster_.nominated_epoch(), left);
  EXPECT_DEATH(cluster_.discount_nominated(first, "n"), "");
}

TEST_F(ClusterChanges, AnAssumedPodIsKnownWithItsNode) {
  EXPECT_EQ(cluster_.assumed_node("default-q"), "");
  cluster_.assume(PodSample{.name = "q"}.make(), "n");
  EXPECT_EQ(cluster_.assumed_node("default-q"), "n");
  EXPECT_TRUE(cluster_.is_assumed("default-q"));
  EXPECT_EQ(cluster_.assumed_node("default-p"), "") << "the watch has confirmed it";
  EXPECT_FALSE(cluster_.is_assumed("default-p"));
  EXPECT_DEATH(cluster_.assume(PodSample{.name = "q"}.make(), "n"),
               "pod default/q holds a node already");
}

TEST_F(ClusterChanges, ATaintedOrCordonedRowIsCleanWhenItIsUsedAgain) {
  node_.unschedulable = true;
  cluster_.set_node(node_.make());
  const NodeId before = row();
  EXPECT_TRUE(cluster_.unschedulable().contains(before));
  EXPECT_NE(cluster_.taint_set(before), TaintSetId{});
  cluster_.remove_pod("default-p");
  cluster_.remove_node("n");
  EXPECT_FALSE(cluster_.unschedulable().contains(before));
  cluster_.set_node(NodeSample{.name = "m", .pods = 3}.make());
  ASSERT_EQ(row("m"), before);
  EXPECT_FALSE(cluster_.unschedulable().contains(before));
  EXPECT_EQ(cluster_.taint_set(before), TaintSetId{});
  EXPECT_EQ(cluster_.pod_slots()[before], 3);
  EXPECT_EQ(cluster_.node_count(), 1U);
}

}  // namespace
}  // namespace muster::scheduler
