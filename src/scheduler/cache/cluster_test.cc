#include "scheduler/cache/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "api/views/amount_max.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

std::int64_t requested_cpu(const Cluster& cluster, std::string_view name) {
  NodeId node{};
  return cluster.find_node(name, node) ? cluster.resource(ResourceId::Cpu).requested[node] : -1;
}

TEST(Cluster, CountsPodsOnTheirNodes) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n1"}.make());
  cluster.set_pod(PodSample{.name = "a", .cpu = "1", .node_name = "n1"}.make());
  cluster.set_pod(PodSample{.name = "b", .cpu = "500m", .node_name = "n1"}.make());
  EXPECT_EQ(requested_cpu(cluster, "n1"), 1500);
  cluster.set_pod(PodSample{.name = "a", .cpu = "2", .node_name = "n1"}.make());
  EXPECT_EQ(requested_cpu(cluster, "n1"), 2500);
  cluster.remove_pod("default-a");
  EXPECT_EQ(requested_cpu(cluster, "n1"), 500);
  cluster.set_pod(
      PodSample{.name = "b", .cpu = "500m", .node_name = "n1", .status = R"("phase":"Failed")"}
          .make());
  EXPECT_EQ(requested_cpu(cluster, "n1"), 0);
}

TEST(Cluster, PodsThatAskForMoreThanThereIsNumbersForDoNotEmptyTheirNode) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n1"}.make());
  const std::string most = "9223372036854775807";
  cluster.set_pod(PodSample{.name = "a", .cpu = most, .node_name = "n1"}.make());
  cluster.set_pod(PodSample{.name = "b", .cpu = most, .node_name = "n1"}.make());
  EXPECT_EQ(requested_cpu(cluster, "n1"), 2 * api::kAmountMax);
  cluster.remove_pod("default-a");
  cluster.remove_pod("default-b");
  EXPECT_EQ(requested_cpu(cluster, "n1"), 0);
}

TEST(Cluster, AnAssumedPodIsConfirmedOrForgotten) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n1"}.make());
  const auto pending = PodSample{.name = "a", .cpu = "1"}.make();
  cluster.assume(pending, "n1");
  EXPECT_TRUE(cluster.is_assumed("default-a"));
  EXPECT_EQ(requested_cpu(cluster, "n1"), 1000);
  const std::uint64_t changes = cluster.log().end();
  cluster.set_pod(PodSample{.name = "a", .cpu = "1", .node_name = "n1"}.make());
  EXPECT_FALSE(cluster.is_assumed("default-a"));
  EXPECT_EQ(requested_cpu(cluster, "n1"), 1000);
  EXPECT_EQ(cluster.log().end(), changes) << "a confirmation changes no row";
  cluster.assume(PodSample{.name = "b", .cpu = "2"}.make(), "n1");
  cluster.forget("default-b");
  cluster.forget("default-b");
  cluster.forget("default-a");  // not assumed any more: stays
  EXPECT_EQ(requested_cpu(cluster, "n1"), 1000);
}

TEST(Cluster, AConfirmationOnAnotherNodeMovesThePod) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n1"}.make());
  cluster.set_node(NodeSample{.name = "n2"}.make());
  cluster.assume(PodSample{.name = "a", .cpu = "1"}.make(), "n1");
  cluster.set_pod(PodSample{.name = "a", .cpu = "1", .node_name = "n2"}.make());
  EXPECT_EQ(requested_cpu(cluster, "n1"), 0);
  EXPECT_EQ(requested_cpu(cluster, "n2"), 1000);
}

TEST(Cluster, PodsMayComeBeforeTheirNodeAndOutliveIt) {
  Cluster cluster;
  cluster.set_pod(PodSample{.name = "a", .cpu = "1", .node_name = "n1"}.make());
  EXPECT_EQ(cluster.node_count(), 0u);
  EXPECT_FALSE(cluster.has_node("n1"));
  cluster.set_node(NodeSample{.name = "n1"}.make());
  EXPECT_EQ(requested_cpu(cluster, "n1"), 1000);
  cluster.remove_node("n1");
  EXPECT_FALSE(cluster.has_node("n1"));
  cluster.set_node(NodeSample{.name = "n1"}.make());
  EXPECT_EQ(requested_cpu(cluster, "n1"), 1000);
  cluster.remove_node("n1");
  cluster.remove_pod("default-a");
  cluster.set_node(NodeSample{.name = "n2"}.make());
  NodeId node{};
  ASSERT_TRUE(cluster.find_node("n2", node));
  EXPECT_EQ(node, NodeId{}) << "the row is used again";
  EXPECT_EQ(requested_cpu(cluster, "n2"), 0);
}

// All that is derived from rows is made again when there are more of them.
TEST(Cluster, PodsOnNodesThatDoNotExistAddRowsRarely) {
  Cluster cluster;
  for (int i = 0; i < 100; ++i) cluster.set_node(NodeSample{.name = fmt::format("n{}", i)}.make());
  EXPECT_EQ(cluster.rows(), 100u);
  const std::uint64_t order = cluster.order_epoch();
  const std::uint64_t labels = cluster.label_epoch();
  int grown = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::size_t before = cluster.rows();
    cluster.set_pod(
        PodSample{.name = fmt::format("p{}", i), .node_name = fmt::format("none-{}", i)}.make());
    if (cluster.rows() != before) ++grown;
  }
  EXPECT_LE(grown, 12);
  EXPECT_LE(cluster.rows(), 1500u);
  EXPECT_EQ(cluster.order_epoch(), order);
  EXPECT_EQ(cluster.label_epoch(), labels);
}

TEST(Cluster, OrdersNodesByNameWhateverTheOrderTheyCameIn) {
  Cluster cluster;
  for (const char* name : {"c", "a", "d"}) cluster.set_node(NodeSample{.name = name}.make());
  EXPECT_EQ(cluster.node_name(cluster.node_at(0)), "a");
  cluster.remove_node("c");
  cluster.set_node(NodeSample{.name = "b"}.make());  // takes c's row
  cluster.set_node(NodeSample{.name = "e"}.make());
  std::string order;
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank)
    order += cluster.node_name(cluster.node_at(rank));
  EXPECT_EQ(order, "abde");
  for (std::uint32_t rank = 0; rank < cluster.node_count(); ++rank)
    EXPECT_EQ(cluster.ranks()[cluster.node_at(rank)], rank);
}

TEST(Cluster, PodsWithEqualNeedsAreOneClass) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n", .extended = {{"x.com/y", "4"}}}.make());
  const PodClass& a = cluster.class_of(PodSample{.name = "a", .cpu = "1", .priority = 3}.make());
  const PodClass& b = cluster.class_of(PodSample{.name = "b", .cpu = "1000m"}.make());
  const PodClass& c =
      cluster.class_of(PodSample{.name = "c", .cpu = "1", .extended = {{"x.com/y", "2"}}}.make());
  EXPECT_EQ(a.id, b.id);
  EXPECT_NE(a.id, c.id);
  EXPECT_EQ(c.wants.size(), 2u);
  ResourceId resource{};
  EXPECT_TRUE(cluster.find_resource("x.com/y", resource));
}

TEST(Cluster, InternsTheLabelsSomebodyWatches) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n1", .labels = {{"rack", "a"}}}.make());
  const LabelColumn& rack = cluster.watch_label("rack");
  cluster.set_node(NodeSample{.name = "n2", .labels = {{"rack", "b"}}}.make());
  cluster.set_node(NodeSample{.name = "n3"}.make());
  NodeId n1{}, n2{}, n3{};
  ASSERT_TRUE(cluster.find_node("n1", n1) && cluster.find_node("n2", n2) &&
              cluster.find_node("n3", n3));
  EXPECT_EQ(rack.names[index_of(rack.values[n1])], "a");
  EXPECT_EQ(rack.names[index_of(rack.values[n2])], "b");
  EXPECT_EQ(rack.values[n3], LabelValueId::Absent);
  cluster.set_node(NodeSample{.name = "n1", .labels = {{"rack", "b"}}}.make());
  EXPECT_EQ(rack.values[n1], rack.values[n2]);
}

TEST(Cluster, KnowsTheMembersOfAGroup) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n1"}.make());
  cluster.set_pod(PodSample{.name = "a", .node_name = "n1", .group = "g"}.make());
  cluster.assume(PodSample{.name = "b", .group = "g"}.make(), "n1");
  cluster.set_pod(
      PodSample{.name = "dying", .node_name = "n1", .group = "g", .terminating = true}.make());
  cluster.set_pod(
      PodSample{.name = "c", .node_name = "n1", .group = "g", .status = R"("phase":"Succeeded")"}
          .make());
  const GroupMembers* members = cluster.members("default", "g");
  ASSERT_NE(members, nullptr);
  EXPECT_EQ(members->running_total, 2);
  EXPECT_EQ(members->succeeded, 1);
  EXPECT_EQ(cluster.members("other", "g"), nullptr);
  for (const char* uid : {"default-a", "default-b", "default-c", "default-dying"})
    cluster.remove_pod(uid);
  EXPECT_EQ(cluster.members("default", "g"), nullptr);
}

TEST(Cluster, TellsLabelsFromOtherChanges) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n1", .labels = {{"rack", "a"}}}.make());
  const std::uint64_t before = cluster.label_epoch();
  cluster.set_node(
      NodeSample{.name = "n1", .labels = {{"rack", "a"}}, .unschedulable = true}.make());
  EXPECT_EQ(cluster.label_epoch(), before) << "a cordon changes no label";
  cluster.set_node(NodeSample{.name = "n1", .labels = {{"rack", "b"}}}.make());
  const std::uint64_t relabelled = cluster.label_epoch();
  EXPECT_GT(relabelled, before);
  cluster.remove_node("n1");
  EXPECT_GT(cluster.label_epoch(), relabelled);
}

TEST(Cluster, WhatIsKeptForAPodCountsInAColumnThatAppearsLater) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n1"}.make());
  const auto pod = PodSample{.name = "p", .extended = {{"example.com/gpu", "2"}}}.make();
  cluster.count_nominated(pod, "n1");
  cluster.set_node(NodeSample{.name = "n2", .extended = {{"example.com/gpu", "4"}}}.make());
  ResourceId gpu{};
  NodeId n1{};
  ASSERT_TRUE(cluster.find_resource("example.com/gpu", gpu) && cluster.find_node("n1", n1));
  EXPECT_EQ(cluster.resource(gpu).requested[n1], 2);
  cluster.discount_nominated(pod, "n1");
  EXPECT_EQ(cluster.resource(gpu).requested[n1], 0);
  cluster.remove_node("n1");  // checks that nothing is left on the row
}

TEST(Cluster, KnowsTheClassesOfPodsThatNodesAreKeptFor) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n1"}.make());
  const auto pod = PodSample{.name = "p", .labels = {{"app", "db"}}}.make();
  cluster.count_nominated(pod, "n1");
  NodeId n1{};
  ASSERT_TRUE(cluster.find_node("n1", n1));
  ASSERT_EQ(cluster.nominated_on(n1).size(), 1U);
  const ClassId before = cluster.nominated_on(n1).front();
  // Somebody asks about it: from now on it is of a class of its own, in a copy too.
  const auto asks = PodSample{.name = "q", .spec = R"("affinity":{"podAntiAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"host",
      "labelSelector":{"matchLabels":{"app":"db"}}}]}})"}
                        .make();
  const PodClass& asking = cluster.class_of(asks);
  EXPECT_NE(cluster.nominated_on(n1).front(), before);
  EXPECT_TRUE(
      cluster.pod_class(cluster.nominated_on(n1).front()).is_matched_by(asking.terms.front()));
  Cluster copy = cluster.fork();
  const PodClass& there = copy.class_of(asks);
  ASSERT_EQ(copy.nominated_on(n1).size(), 1U);
  EXPECT_TRUE(copy.pod_class(copy.nominated_on(n1).front()).is_matched_by(there.terms.front()));
  cluster.discount_nominated(pod, "n1");
  EXPECT_TRUE(cluster.nominated_rows().empty());
}

TEST(RowLog, KnowsWhichChangeOfARowIsTheLast) {
  RowLog log;
  log.grow(3);
  const auto node = [](std::uint32_t row) { return static_cast<NodeId>(row); };
  log.add(node(1), RowLog::What::Usage);
  log.add(node(2), RowLog::What::Usage);
  log.add(node(1), RowLog::What::Usage);
  EXPECT_TRUE(log.is_outdated(0));
  EXPECT_FALSE(log.is_outdated(1));
  EXPECT_FALSE(log.is_outdated(2));
}

TEST(Cluster, TellsWhereTwoOfThemDiffer) {
  Cluster one;
  Cluster other;
  // Other rows, other times; the same cluster.
  one.set_node(NodeSample{.name = "gone"}.make());
  for (Cluster* cluster : {&one, &other}) {
    cluster->set_node(NodeSample{.name = "n1", .labels = {{"rack", "a"}}}.make());
    cluster->set_pod(PodSample{.name = "a", .cpu = "1", .node_name = "n1", .group = "g"}.make());
  }
  one.remove_node("gone");
  one.watch_label("rack");
  EXPECT_EQ(one.difference(other), "");

  one.assume(PodSample{.name = "b", .cpu = "1"}.make(), "n1");
  EXPECT_EQ(one.difference(other), "default/b: assumed on n1; the other: unknown there");
  EXPECT_EQ(other.difference(one), "default/b: unknown here; the other: assumed on n1");
  one.forget("default-b");
  EXPECT_EQ(one.difference(other), "");
  one.set_node(NodeSample{.name = "n1", .labels = {{"rack", "a"}}, .unschedulable = true}.make());
  EXPECT_NE(one.difference(other).find("node n1: cordoned, cpu 1000 of 4000"), std::string::npos);
}

TEST(Cluster, AForkIsEqualAndLivesOnItsOwn) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n1", .labels = {{"zone", "a"}}}.make());
  cluster.set_node(NodeSample{.name = "n2", .labels = {{"zone", "b"}}}.make());
  cluster.set_pod(PodSample{.name = "a", .cpu = "1", .node_name = "n1", .group = "g"}.make());
  cluster.assume(PodSample{.name = "b", .cpu = "2"}.make(), "n2");
  cluster.watch_label("zone");
  const PodClass& pods = cluster.class_of(PodSample{.name = "c", .cpu = "3"}.make());
  cluster.retain_class(pods.id);

  Cluster fork = cluster.fork();
  EXPECT_EQ(cluster.difference(fork), "");
  EXPECT_TRUE(fork.is_assumed("default-b"));
  EXPECT_EQ(fork.members("default", "g")->running_total, 1);

  fork.remove_pod("default-a");
  fork.set_node(NodeSample{.name = "n0", .labels = {{"zone", "c"}}}.make());
  EXPECT_EQ(requested_cpu(fork, "n1"), 0);
  EXPECT_EQ(requested_cpu(cluster, "n1"), 1000);
  EXPECT_FALSE(cluster.has_node("n0"));
  EXPECT_EQ(cluster.label("zone").names.size(), 3U);  // absent, a, b
  EXPECT_EQ(fork.label("zone").names.size(), 4U);
  EXPECT_EQ(fork.node_name(fork.node_at(0)), "n0");
  EXPECT_EQ(cluster.node_name(cluster.node_at(0)), "n1");
  cluster.forget("default-b");
  EXPECT_TRUE(fork.is_assumed("default-b"));
  // Classes are interned again, with users of their own.
  EXPECT_EQ(fork.class_of(PodSample{.name = "c", .cpu = "3"}.make()).users, 0U);
}

TEST(Cluster, ListsNodesByLabelValue) {
  Cluster cluster;
  const auto node = [&](const std::string& name, const std::string& zone) {
    NodeSample sample{.name = name};
    if (!zone.empty()) sample.labels["zone"] = zone;
    cluster.set_node(sample.make());
  };
  const auto in = [&](const std::string& zone) {
    const LabelColumn& column = cluster.watch_label("zone");
    const auto value = column.ids.find(zone);
    std::vector<std::string> names;
    if (value == column.ids.end()) return names;
    for (const NodeId id : cluster.nodes_with(column, value->second))
      names.push_back(cluster.node_name(id));
    std::ranges::sort(names);
    return names;
  };
  using Names = std::vector<std::string>;
  node("n1", "a");
  node("n2", "b");
  node("n3", "");
  EXPECT_EQ(in("a"), Names{"n1"});
  node("n4", "a");
  node("n2", "a");
  node("n5", "c");
  EXPECT_EQ(in("a"), (Names{"n1", "n2", "n4"}));
  EXPECT_EQ(in("b"), Names{});
  EXPECT_EQ(in("c"), Names{"n5"});
  cluster.remove_node("n1");
  node("n4", "");
  EXPECT_EQ(in("a"), Names{"n2"});
  node("n1", "a");
  EXPECT_EQ(in("a"), (Names{"n1", "n2"}));
  EXPECT_TRUE(cluster.nodes_with(cluster.label("zone"), LabelValueId::Absent).empty());
}

TEST(Cluster, FollowsPodsByClass) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n1"}.make());
  cluster.set_pod(PodSample{.name = "a", .cpu = "1", .node_name = "n1"}.make());
  cluster.set_pod(PodSample{.name = "b", .cpu = "1", .node_name = "n1"}.make());
  cluster.follow_pods();
  EXPECT_EQ(cluster.pod_log().end(), 0U) << "who was there is counted, not logged";
  cluster.assume(PodSample{.name = "c", .cpu = "2"}.make(), "n1");
  cluster.remove_pod("default-a");
  const auto running = [&] {
    std::map<std::int64_t, std::uint32_t> counts;  // by CPU
    cluster.for_each_running([&](const PodClass& pods, NodeId, std::uint32_t count) {
      counts[pods.needs->requests.cpu_milli] += count;
    });
    return counts;
  };
  EXPECT_EQ(running(), (std::map<std::int64_t, std::uint32_t>{{1000, 1}, {2000, 1}}));
  // A change that counts nothing else may still change the class.
  cluster.set_pod(PodSample{.name = "b",
                            .cpu = "1",
                            .node_name = "n1",
                            .spec = R"("tolerations":[{"operator":"Exists"}])"}
                      .make());
  ASSERT_EQ(cluster.pod_log().end(), 4U);
  EXPECT_TRUE(cluster.pod_log().at(0).came);
  EXPECT_FALSE(cluster.pod_log().at(1).came);
  EXPECT_NE(cluster.pod_log().at(2).pods, cluster.pod_log().at(3).pods);
  // The log keeps the classes of pods that are long gone.
  cluster.remove_pod("default-b");
  cluster.forget("default-c");
  EXPECT_TRUE(running().empty());
  for (std::uint64_t i = 0; i < cluster.pod_log().end(); ++i)
    EXPECT_GT(cluster.pod_class(cluster.pod_log().at(i).pods).users, 0U);
}

// --- classes as fine as somebody asks ---

api::ObjectPtr labelled(const std::string& name, const std::map<std::string, std::string>& labels,
                        const std::string& name_space = "default") {
  return PodSample{.name = name, .cpu = "1", .name_space = name_space, .labels = labels}.make();
}

PodSample asking(const std::string& name, const std::string& app) {
  return {
      .name = name,
      .spec = R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
              R"([{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":")" +
              app + R"("}}}]}})"};
}

TEST(Classes, LabelsAndNamespacesMatterOnceSomebodyAsks) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n", .labels = {{"zone", "z"}}}.make());
  const ClassId plain = cluster.class_of(labelled("a", {})).id;
  EXPECT_EQ(cluster.class_of(labelled("b", {{"app", "web"}, {"index", "7"}})).id, plain);
  EXPECT_EQ(cluster.class_of(labelled("c", {{"app", "web"}}, "other")).id, plain);

  const ClassId asks = cluster.class_of(asking("q", "web").make()).id;
  cluster.retain_class(asks);
  const ClassId web = cluster.class_of(labelled("b", {{"app", "web"}, {"index", "7"}})).id;
  EXPECT_NE(web, plain);
  EXPECT_EQ(cluster.class_of(labelled("d", {{"app", "web"}, {"index", "8"}})).id, web)
      << "nobody asks for the index";
  EXPECT_EQ(cluster.class_of(labelled("a", {})).id, plain);
  EXPECT_EQ(cluster.class_of(labelled("c", {{"app", "web"}}, "other")).id, plain)
      << "the term means its own namespace";
  cluster.release_class(asks);
  EXPECT_EQ(cluster.class_of(labelled("b", {{"app", "web"}})).id, plain) << "nobody asks any more";
}

// Pods that run are split when somebody asks something new, and found by what others ask of them.
TEST(Classes, RunningPodsAreSplitByANewTerm) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n", .labels = {{"zone", "z"}}}.make());
  cluster.follow_pods();
  for (const char* app : {"web", "db"})
    cluster.set_pod(PodSample{.name = app, .node_name = "n", .labels = {{"app", app}}}.make());
  const auto classes = [&] {
    std::map<ClassId, std::uint32_t> found;
    cluster.for_each_running(
        [&](const PodClass& pods, NodeId, std::uint32_t count) { found[pods.id] += count; });
    return found;
  };
  EXPECT_EQ(classes().size(), 1u);
  const PodClass& asks = cluster.class_of(asking("q", "web").make());
  cluster.retain_class(asks.id);
  ASSERT_EQ(asks.terms.size(), 1u);
  EXPECT_EQ(classes().size(), 2u);
  std::size_t matched = 0;
  cluster.for_each_running([&](const PodClass& pods, NodeId, std::uint32_t) {
    matched += pods.is_matched_by(asks.terms[0]) ? 1 : 0;
  });
  EXPECT_EQ(matched, 1u);
}

// A node with a pod whose label changes, and those who ask about it.
class ALabelThatChanges : public testing::Test {
 protected:
  ALabelThatChanges() {
    cluster_.set_node(NodeSample{.name = "n"}.make());
    cluster_.follow_pods();
  }
  void runs(const std::string& app) {
    cluster_.set_pod(PodSample{.name = "p", .node_name = "n", .labels = {{"app", app}}}.make());
  }
  std::uint32_t count(const PodClass& asks) const {
    std::uint32_t found = 0;
    cluster_.for_each_running([&](const PodClass& pods, NodeId, std::uint32_t there) {
      if (pods.is_matched_by(asks.terms[0])) found += there;
    });
    return found;
  }
  std::uint32_t counted(const std::string& app) {
    return count(cluster_.class_of(asking("q", app).make()));
  }
  // Nobody asks it any more afterwards.
  std::uint32_t counted_once(const std::string& app) {
    const PodClass& asks = cluster_.class_of(asking("q", app).make());
    cluster_.retain_class(asks.id);
    const std::uint32_t found = count(asks);
    cluster_.release_class(asks.id);
    return found;
  }

  Cluster cluster_;
};

TEST_F(ALabelThatChanges, BeforeAnybodyAskedIsFound) {
  runs("old");
  runs("web");
  EXPECT_EQ(counted("web"), 1u);
  EXPECT_EQ(counted("old"), 0u);
  runs("old");
  EXPECT_EQ(counted("old"), 1u);
  EXPECT_EQ(counted("web"), 0u);
  cluster_.remove_pod("default-p");
  EXPECT_EQ(counted("other"), 0u);
  EXPECT_EQ(counted("old"), 0u);
}

// Somebody has asked once, so that labels are looked up, and does not ask any more.
TEST_F(ALabelThatChanges, WhileNobodyAskedIsFound) {
  runs("old");
  EXPECT_EQ(counted_once("old"), 1u);
  runs("web");
  EXPECT_EQ(counted_once("web"), 1u);
  EXPECT_EQ(counted_once("old"), 0u);
  runs("late");
  EXPECT_EQ(counted_once("late"), 1u);
  EXPECT_EQ(counted_once("web"), 0u);
}

TEST(Classes, InventedNamesCostNothingThatStays) {
  Cluster cluster;
  for (int i = 0; i < 64; ++i) cluster.set_node(NodeSample{.name = "n" + std::to_string(i)}.make());
  const std::size_t columns = cluster.resources().size();
  std::vector<ClassId> made;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "example.com/invented-" + std::to_string(i);
    const PodSample pod{.name = "p", .extended = {{name, "1"}}};
    made.push_back(cluster.class_of(pod.make()).id);
    cluster.retain_class(made.back());
  }
  EXPECT_EQ(cluster.resources().size(), columns);
  for (const ClassId id : made) cluster.release_class(id);
  // What a node offers later is counted for those that run.
  cluster.set_pod(
      PodSample{.name = "user", .extended = {{"example.com/late", "2"}}, .node_name = "n3"}.make());
  const api::ObjectPtr wants =
      PodSample{.name = "p", .extended = {{"example.com/late", "1"}}}.make();
  EXPECT_EQ(cluster.class_of(wants).missing.size(), 1u);
  cluster.set_node(NodeSample{.name = "n3", .extended = {{"example.com/late", "5"}}}.make());
  ResourceId late{};
  NodeId node{};
  ASSERT_TRUE(cluster.find_resource("example.com/late", late));
  ASSERT_TRUE(cluster.find_node("n3", node));
  EXPECT_EQ(cluster.resource(late).requested[node], 2);
  EXPECT_TRUE(cluster.class_of(wants).missing.empty());
  EXPECT_EQ(cluster.class_of(wants).wants.size(), 1u);
}

// Names of hosts come and go with nodes; a column of them is as long as there are nodes.
TEST(Cluster, ValuesThatNoNodeHasAnyMoreAreForgotten) {
  Cluster cluster;
  const LabelColumn& hosts = cluster.watch_label("host");
  const auto host_of = [&](const std::string& name) {
    NodeId node{};
    EXPECT_TRUE(cluster.find_node(name, node));
    EXPECT_EQ(cluster.nodes_with(hosts, hosts.values[node]).size(), 1u);
    EXPECT_EQ(cluster.nodes_with(hosts, hosts.values[node])[0], node);
    return hosts.names[index_of(hosts.values[node])];
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.set_node(NodeSample{.name = name, .labels = {{"host", name}}}.make());
    if (i < 3) continue;
    cluster.remove_node("n" + std::to_string(i - 3));
    ASSERT_EQ(host_of(name), name);
    ASSERT_EQ(host_of("n" + std::to_string(i - 1)), "n" + std::to_string(i - 1));
    ASSERT_LE(hosts.names.size(), 80u);
  }
}

TEST(Classes, LabelColumnsGoWithTheLastClassThatComparesThem) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "n", .labels = {{"disk", "ssd"}}}.make());
  const PodSample picky{.name = "p", .spec = R"("nodeSelector":{"disk":"ssd"})"};
  const ClassId id = cluster.class_of(picky.make()).id;
  cluster.retain_class(id);
  EXPECT_EQ(cluster.label("disk").names.size(), 2u);
  cluster.release_class(id);
  EXPECT_DEATH(cluster.label("disk"), "not watched");
  cluster.watch_label("disk");
  const ClassId again = cluster.class_of(picky.make()).id;
  cluster.retain_class(again);
  cluster.release_class(again);
  EXPECT_EQ(cluster.label("disk").names.size(), 2u) << "somebody else asked for it";
}

}  // namespace
}  // namespace muster::scheduler
