// Columns of resources come with the first node that offers them and go with the last node and the
// last class of pods that uses them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

constexpr std::size_t kAlwaysThere = 3;  // cpu, memory, ephemeral-storage
const std::string kGadget = "example.com/gadget";

bool has_columns(const Cluster& cluster, std::string_view name) {
  ResourceId id{};
  return cluster.find_resource(name, id);
}

std::int64_t requested(const Cluster& cluster, std::string_view name, std::string_view node) {
  ResourceId id{};
  NodeId row{};
  EXPECT_TRUE(cluster.find_resource(name, id));
  EXPECT_TRUE(cluster.find_node(node, row));
  return cluster.resource(id).requested[row];
}

TEST(ResourceColumns, GoWithTheLastNodeThatOffersThem) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "a", .extended = {{kGadget, "4"}}}.make());
  cluster.set_node(NodeSample{.name = "b", .extended = {{kGadget, "0"}}}.make());
  EXPECT_TRUE(has_columns(cluster, kGadget));
  cluster.remove_node("a");
  EXPECT_TRUE(has_columns(cluster, kGadget)) << "b names it";
  cluster.set_node(NodeSample{.name = "b"}.make());
  EXPECT_FALSE(has_columns(cluster, kGadget));
  EXPECT_EQ(cluster.resources().size(), kAlwaysThere);
  EXPECT_EQ(cluster.resources().id_end(), kAlwaysThere);
}

TEST(ResourceColumns, StayWhileAClassUsesThem) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "a", .extended = {{kGadget, "4"}}}.make());
  const api::ObjectPtr pod = PodSample{.name = "p", .extended = {{kGadget, "1"}}}.make();
  const PodClass& pods = cluster.class_of(pod);
  cluster.retain_class(pods.id);
  cluster.set_node(NodeSample{.name = "a"}.make());
  EXPECT_TRUE(has_columns(cluster, kGadget));
  EXPECT_EQ(cluster.resources().idle(), 1u);
  EXPECT_EQ(&cluster.class_of(pod), &pods);
  cluster.release_class(pods.id);
  EXPECT_FALSE(has_columns(cluster, kGadget));
  EXPECT_EQ(cluster.resources().idle(), 0u);
  EXPECT_EQ(cluster.class_of(pod).missing.size(), 1u);
}

TEST(ResourceColumns, WhatPodsUseIsKnownWhenTheyComeBack) {
  Cluster cluster;
  const NodeSample with{.name = "a", .extended = {{kGadget, "4"}}};
  cluster.set_node(with.make());
  cluster.set_pod(PodSample{.name = "p", .extended = {{kGadget, "3"}}, .node_name = "a"}.make());
  cluster.set_node(NodeSample{.name = "a"}.make());
  EXPECT_FALSE(has_columns(cluster, kGadget));
  cluster.set_pod(PodSample{.name = "q", .extended = {{kGadget, "2"}}, .node_name = "a"}.make());
  cluster.set_node(with.make());
  EXPECT_EQ(requested(cluster, kGadget, "a"), 5);
  cluster.set_node(NodeSample{.name = "a"}.make());
  cluster.remove_pod("default-p");
  cluster.set_node(with.make());
  EXPECT_EQ(requested(cluster, kGadget, "a"), 2);
}

// A pod that ran before any node offered what it uses: once it is evicted in a draft, that is free.
TEST(ResourceColumns, ClassesOfPodsOnNodesHearOfThem) {
  Cluster cluster;
  cluster.set_node(NodeSample{.name = "a"}.make());
  cluster.set_pod(PodSample{.name = "p", .extended = {{kGadget, "3"}}, .node_name = "a"}.make());
  cluster.follow_pods();
  EXPECT_EQ(cluster.followed_class("default-p").missing.size(), 1u);
  const std::uint64_t before = cluster.split_log().end();
  cluster.set_node(NodeSample{.name = "a", .extended = {{kGadget, "4"}}}.make());
  EXPECT_EQ(cluster.split_log().end(), before + 1);
  const PodClass& pods = cluster.followed_class("default-p");
  EXPECT_TRUE(pods.missing.empty());
  NodeId row{};
  ASSERT_TRUE(cluster.find_node("a", row));
  cluster.unplace(pods, row);
  EXPECT_EQ(requested(cluster, kGadget, "a"), 0);
  cluster.place(pods, row);
  EXPECT_EQ(requested(cluster, kGadget, "a"), 3);
}

// Each name is offered by a node, asked for by a pod and withdrawn again, in each order that these
// can end in; a few hundred are alive at any time.
TEST(ResourceColumns, AHundredThousandInventedNamesLeaveNothing) {
  constexpr int kRounds = 1000;
  constexpr std::size_t kNamesPerRound = 100;
  Cluster cluster;
  std::vector<ClassId> asked;
  for (int round = 0; round < kRounds; ++round) {
    const std::string node = fmt::format("n{}", round % 8);
    std::map<std::string, std::string> names;
    for (std::size_t i = 0; i < kNamesPerRound; ++i)
      names.emplace(fmt::format("example.com/r{}-{}", round, i), "8");
    cluster.set_node(NodeSample{.name = node, .extended = names}.make());
    PodSample wants{.name = "w"};
    wants.extended = {names.begin(), std::next(names.begin(), 10)};
    asked.push_back(cluster.class_of(wants.make()).id);
    cluster.retain_class(asked.back());
    if (round % 2 == 0) cluster.remove_node(node);
    if (asked.size() > 4) {
      cluster.release_class(asked.front());
      asked.erase(asked.begin());
    }
    // Those that 8 nodes offer, and those of 4 classes.
    ASSERT_LE(cluster.resources().size(), kAlwaysThere + 8 * kNamesPerRound + 40);
  }
  for (int i = 0; i < 8; ++i) cluster.set_node(NodeSample{.name = fmt::format("n{}", i)}.make());
  EXPECT_EQ(cluster.resources().size(), kAlwaysThere + 40);
  for (const ClassId id : asked) cluster.release_class(id);
  EXPECT_EQ(cluster.resources().size(), kAlwaysThere);
  EXPECT_EQ(cluster.resources().id_end(), kAlwaysThere);
}

// The log of pods keeps the classes of those that have left. Not many of their columns.
TEST(ResourceColumns, PodsThatHaveLeftKeepFew) {
  Cluster cluster;
  cluster.follow_pods();
  for (int round = 0; round < 1000; ++round) {
    const std::string name = fmt::format("example.com/r{}", round);
    const PodSample user{.name = "p", .extended = {{name, "1"}}, .node_name = "n"};
    if (round % 2 == 0) cluster.set_pod(user.make());
    cluster.set_node(NodeSample{.name = "n", .extended = {{name, "8"}}}.make());
    if (round % 2 != 0) cluster.set_pod(user.make());
    if (round % 3 == 0) cluster.set_node(NodeSample{.name = "n"}.make());
    cluster.remove_pod("default-p");
    ASSERT_LE(cluster.resources().size(), kAlwaysThere + 70);
  }
}

// Random histories against what a naive reader of the objects says.
class History {
 public:
  explicit History(std::uint32_t seed) : random_(seed) {
    if (pick(2) == 0) cluster_.follow_pods();
  }

  void step() {
    const std::string node = fmt::format("n{}", pick(4));
    const std::string pod = fmt::format("p{}", pick(6));
    switch (pick(7)) {
      case 0:
      case 1: {
        NodeSample sample{.name = node, .cpu = fmt::format("{}", 1 + pick(8))};
        sample.extended = some_names();
        nodes_[node] = sample.make();
        cluster_.set_node(nodes_[node]);
        break;
      }
      case 2:
        nodes_.erase(node);
        cluster_.remove_node(node);
        break;
      case 3: {
        PodSample sample{.name = pod, .node_name = node};
        sample.extended = some_names();
        pods_[pod] = sample.make();
        cluster_.set_pod(pods_[pod]);
        break;
      }
      case 4:
        pods_.erase(pod);
        cluster_.remove_pod("default-" + pod);
        break;
      case 5: {
        PodSample sample{.name = "w"};
        sample.extended = some_names();
        const ClassId id = cluster_.class_of(sample.make()).id;
        cluster_.retain_class(id);
        asked_.push_back(id);
        break;
      }
      default:
        if (asked_.empty()) break;
        const std::size_t at = pick(asked_.size());
        cluster_.release_class(asked_[at]);
        asked_.erase(asked_.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  void check() {
    Cluster fresh;
    for (const auto& [name, node] : nodes_) fresh.set_node(node);
    for (const auto& [name, pod] : pods_) fresh.set_pod(pod);
    ASSERT_EQ(cluster_.difference(fresh), "");
    const Cluster fork = cluster_.fork();
    ASSERT_EQ(fork.difference(fresh), "");
    ASSERT_EQ(fork.resources().size(), fresh.resources().size()) << "classes are not copied";
    std::set<std::string> used;
    for (const ClassId id : asked_) add_columns_of(cluster_.pod_class(id), used);
    for (const auto& [name, node] : nodes_)
      for (const auto& [resource, amount] : node->view<api::NodeView>().allocatable.scalars)
        used.insert(resource);
    for (const std::string& name : used) ASSERT_TRUE(has_columns(cluster_, name)) << name;
    cluster_.resources().for_each([&](const ResourceColumns& columns) {
      ASSERT_TRUE(columns.users > 0 || columns.offers > 0) << columns.name;
    });
    check_draft();
  }

  // Moves of a draft touch the columns of their class and nothing else.
  void check_draft() {
    if (asked_.empty() || nodes_.empty()) return;
    const Cluster before = cluster_.fork();
    const PodClass& pods = cluster_.pod_class(asked_[pick(asked_.size())]);
    NodeId row{};
    ASSERT_TRUE(cluster_.find_node(nodes_.begin()->first, row));
    cluster_.place(pods, row);
    for (const PodClass::Want& taken : pods.usage) {
      const std::string& name = cluster_.resource(taken.resource).name;
      ASSERT_EQ(taken.amount, pods.needs->usage.of(name)) << name;
      if (has_columns(before, name)) {
        ASSERT_EQ(requested(cluster_, name, nodes_.begin()->first),
                  requested(before, name, nodes_.begin()->first) + taken.amount);
      }
    }
    cluster_.unplace(pods, row);
    ASSERT_EQ(cluster_.difference(before), "");
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  std::map<std::string, std::string> some_names() {
    std::map<std::string, std::string> names;
    for (std::size_t i = pick(4); i > 0; --i)
      names.emplace(fmt::format("example.com/r{}", pick(6)), fmt::format("{}", pick(5)));
    return names;
  }
  void add_columns_of(const PodClass& pods, std::set<std::string>& into) const {
    for (const auto* list : {&pods.wants, &pods.usage})
      for (const PodClass::Want& want : *list) into.insert(cluster_.resource(want.resource).name);
  }

  std::mt19937 random_;
  Cluster cluster_;
  std::map<std::string, api::ObjectPtr> nodes_;
  std::map<std::string, api::ObjectPtr> pods_;
  std::vector<ClassId> asked_;
};

TEST(ResourceColumns, AreWhatAFreshTableSaysAfterAnyHistory) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    History history(seed);
    for (int step = 0; step < 60; ++step) {
      history.step();
      history.check();
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace muster::scheduler
