#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/groups/cluster_model.h"

// What a ClusterModel says when groups come, change and go, and what it says of their trees.
namespace muster::scheduler {
namespace {

using api::ObjectPtr;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kCreated = R"("creationTimestamp":"1970-01-01T00:16:40Z")";
constexpr Time kThen{seconds{1000}};

GroupKey leaf(const std::string& name) { return {GroupKind::PodGroup, "default", name}; }
GroupKey composite(const std::string& name) {
  return {GroupKind::CompositePodGroup, "default", name};
}
ObjectPtr group_object(const GroupKey& key, const std::string& spec,
                       const std::string& annotations = "") {
  const auto document = api::parse_json(
      fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default","annotations":{{{}}}}},)"
                  R"("spec":{{{}}}}})",
                  key.name, annotations, spec));
  return api::Object::make(
      key.kind == GroupKind::PodGroup ? api::kinds::pod_group() : api::kinds::composite_pod_group(),
      document->value);
}

class ModelGroups : public ::testing::Test, private ModelListener {
 protected:
  ModelGroups() { model_.set_listener(this); }
  void on_pod(const PodChange&) override {}
  void on_node(const NodeChange&) override {}
  void on_group(const GroupChange& change) override { changes_.push_back(change); }
  void on_workload(const TreeFaults::Anchors& judged) override { judged_ = judged; }

  const GroupChange& put(const GroupKey& key, const std::string& spec = "",
                         const std::string& annotations = "") {
    model_.put(group_object(key, spec, annotations));
    return changes_.back();
  }
  const GroupChange& remove(const GroupKey& key) {
    model_.remove(*group_object(key, ""));
    return changes_.back();
  }
  void put_pod(const std::string& name, const std::string& group) {
    put_pod({.name = name, .group = group});
  }
  void put_pod(const PodSample& sample) { model_.put(sample.make()); }

  ClusterModel model_{Profile(), {}};
  std::vector<GroupChange> changes_;
  TreeFaults::Anchors judged_;
};

// --- changes

TEST_F(ModelGroups, ANewGroupIsRelinkedAndThenOnlyWhatChangesIsSaid) {
  const GroupChange first = put(leaf("g"));
  EXPECT_EQ(first.key, leaf("g"));
  EXPECT_EQ(first.object->meta().name, "g");
  EXPECT_FALSE(first.is_gone);
  EXPECT_TRUE(first.is_relinked);
  EXPECT_TRUE(first.requeues_pods);
  EXPECT_FALSE(first.schedules_alike);
  EXPECT_EQ(first.root_then, std::nullopt);
  const GroupChange again = put(leaf("g"));
  EXPECT_TRUE(again.schedules_alike);
  EXPECT_FALSE(again.is_relinked);
  EXPECT_FALSE(again.requeues_pods);
  EXPECT_EQ(again.root_then, leaf("g"));
}

TEST_F(ModelGroups, WhatPodsAreQueuedByRequeuesThem) {
  struct Case {
    const char* spec;
    bool requeues, relinked;
  };
  const Case cases[] = {
      {R"("schedulingPolicy":{"gang":{"minCount":2}})", false, false},
      {R"("priority":5)", true, false},
      {R"("schedulingConstraints":{"topology":[{"key":"rack"}]})", true, false},
      {R"("preemptionPolicy":"Never")", true, false},
      {R"("parentCompositePodGroupName":"c")", true, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec);
    put(leaf("g"));
    const GroupChange change = put(leaf("g"), c.spec);
    EXPECT_FALSE(change.schedules_alike);
    EXPECT_EQ(change.requeues_pods, c.requeues);
    EXPECT_EQ(change.is_relinked, c.relinked);
    remove(leaf("g"));
  }
}

TEST_F(ModelGroups, AGroupThatGoesSaysWhichRootItHad) {
  put(composite("c"));
  put(leaf("g"), R"("parentCompositePodGroupName":"c")");
  const ObjectPtr known = changes_.back().object;
  const GroupChange gone = remove(leaf("g"));
  EXPECT_TRUE(gone.is_gone);
  EXPECT_TRUE(gone.is_relinked);
  EXPECT_TRUE(gone.requeues_pods);
  EXPECT_EQ(gone.root_then, composite("c"));
  EXPECT_EQ(gone.object, known);
  const std::size_t changes = changes_.size();
  remove(leaf("g"));
  EXPECT_EQ(changes_.size(), changes) << "it is gone already";
}

TEST_F(ModelGroups, WhatCanBeWrongIsJudgedAgain) {
  const std::string parent = R"("parentCompositePodGroupName":"c")";
  put(composite("c"), R"("priority":1)");
  using Anchors = TreeFaults::Anchors;
  const Anchors root{composite("c")};
  const auto judged = [&](const std::string& more, const std::string& annotations = "") {
    return put(leaf("g"), parent + more, annotations).judged;
  };
  const std::string right = R"(,"priority":1)";
  EXPECT_EQ(judged(right), Anchors{});
  EXPECT_EQ(judged(R"(,"priority":2)"), root);
  EXPECT_NE(model_.fault(leaf("g")), nullptr);
  EXPECT_EQ(judged(right), root);
  EXPECT_EQ(model_.fault(leaf("g")), nullptr);
  EXPECT_EQ(judged(right + R"(,"workloadRef":{"workloadName":"w"})"), root);
  EXPECT_EQ(judged(right), root);
  EXPECT_EQ(judged(right + R"(,"priorityClassName":"high")"), root);
  EXPECT_EQ(judged(right), root);
  EXPECT_EQ(judged(right, R"("scheduling.muster.dev/preferred-topology":"no label")"), root);
  EXPECT_FALSE(model_.runnable(composite("c")));
  EXPECT_EQ(remove(leaf("g")).judged, root) << "the culprit is gone";
}

TEST_F(ModelGroups, AnotherTemplateIsJudgedAgainOnceTheTreeIsCompared) {
  const auto from = [](const std::string& name) {
    return fmt::format(R"("workloadRef":{{"workloadName":"w","templateName":"{}"}})", name);
  };
  const auto workload = api::parse_json(
      R"({"metadata":{"name":"w","namespace":"default"},"spec":{"podGroupTemplates":[{"name":"t"}]}})");
  const ObjectPtr object = api::Object::make(api::kinds::workload(), workload->value);
  model_.put(object);
  put(leaf("g"), from("lost"));
  put_pod("p", "g");
  EXPECT_EQ(model_.fault(leaf("g")), nullptr);
  EXPECT_EQ(model_.compare(leaf("g")), TreeFaults::Anchors{leaf("g")});
  EXPECT_FALSE(model_.runnable(leaf("g")));
  EXPECT_EQ(put(leaf("g"), from("t")).judged, TreeFaults::Anchors{leaf("g")});
  EXPECT_TRUE(model_.runnable(leaf("g")));
  put(leaf("g"), from("lost"));
  model_.remove(*object);
  EXPECT_EQ(judged_, TreeFaults::Anchors{leaf("g")}) << "a Workload that is gone holds nobody";
  EXPECT_TRUE(model_.runnable(leaf("g")));
}

// --- trees

TEST_F(ModelGroups, RootsAreThoseOfTreesWithMembersEachOnce) {
  put(composite("c"));
  for (const char* name : {"b", "a"}) {
    put(leaf(name), R"("parentCompositePodGroupName":"c")");
    put_pod(fmt::format("pod-{}", name), name);
  }
  put(leaf("empty"));
  put_pod("astray", "nowhere");
  put(leaf("lone"));
  put_pod({.name = "x", .node_name = "n", .group = "lone"});
  EXPECT_EQ(model_.roots(), (std::vector{leaf("lone"), composite("c")}));
}

TEST_F(ModelGroups, MembersThatDisagreeAreNotTriedOneByOne) {
  put(leaf("g"));
  put_pod("a", "g");
  EXPECT_TRUE(model_.loose(leaf("g")));
  put_pod({.name = "b", .group = "g", .priority = 5});
  EXPECT_FALSE(model_.loose(leaf("g")));
  model_.remove(*model_.pod("default", "b"));
  EXPECT_TRUE(model_.loose(leaf("g")));
  put(leaf("g"), R"("priority":5)");
  EXPECT_FALSE(model_.loose(leaf("g")));
}

// Of very many groups below the one that changed some are looked at now.
TEST(ModelGroupsInSteps, NothingOfATreeIsTriedBeforeAllOfItWasLookedAt) {
  ClusterModel model(Profile(), {.judged_at_once = 1});
  const std::string below = R"("parentCompositePodGroupName":"c")";
  for (const char* name : {"a", "b", "d"}) model.put(group_object(leaf(name), below));
  model.put(PodSample{.name = "p", .group = "a"}.make());
  model.put(PodSample{.name = "old", .node_name = "n", .group = "a"}.make());
  model.put(group_object(composite("c"), ""));
  EXPECT_EQ(model.unjudged(), std::vector<std::string>{"default"});
  EXPECT_FALSE(model.runnable(composite("c")));
  EXPECT_FALSE(model.loose(leaf("a")));
  std::size_t steps = 100;
  EXPECT_EQ(model.judge("default", steps), TreeFaults::Anchors{composite("c")});
  EXPECT_TRUE(model.unjudged().empty());
  EXPECT_TRUE(model.runnable(composite("c")));
  EXPECT_TRUE(model.loose(leaf("a")));
}

TEST_F(ModelGroups, ATreeIsBuiltWithTheWaitingPodsOfEachLeaf) {
  put(composite("c"));
  put(leaf("g"), R"("parentCompositePodGroupName":"c")");
  put_pod({.name = "b", .group = "g", .metadata = kCreated});
  put_pod({.name = "a", .nominated_node = "n1", .group = "g", .metadata = kCreated});
  put_pod({.name = "runs", .node_name = "n2", .group = "g", .spec = R"("schedulerName":"other")"});
  const Group tree = model_.build(composite("c"));
  ASSERT_EQ(tree.children.size(), 1U);
  const Group& only = tree.children[0];
  ASSERT_EQ(only.pods.size(), 2U);
  EXPECT_EQ(only.pods[0].pod->meta().name, "a");
  EXPECT_EQ(only.pods[0].nominated, "n1");
  EXPECT_EQ(only.pods[0].queued_at, kThen);
  EXPECT_EQ(only.pods[1].pod->meta().name, "b");
  EXPECT_EQ(only.pods[1].nominated, "");
  EXPECT_EQ(only.traits.size(), 2U) << "those of the running one, too";
  EXPECT_EQ(only.waits_since, kThen);
  EXPECT_EQ(tree.waits_since, kThen);
}

TEST_F(ModelGroups, ATreeWaitsSinceItsOldestPod) {
  put(composite("c"));
  const Time now = kThen + minutes{10};
  const auto since = [&] {
    return model_
        .build(
            composite("c"),
            [&](const GroupKey& key, std::vector<PendingPod>& pods) {
              for (const ObjectPtr& pod : model_.members(key, PodRole::Waiting))
                pods.push_back({.pod = pod, .attempts = 0, .queued_at = {}, .nominated = {}});
            },
            now)
        .waits_since;
  };
  EXPECT_EQ(since(), std::nullopt);
  for (const char* name : {"g", "h"}) put(leaf(name), R"("parentCompositePodGroupName":"c")");
  put_pod("young", "g");
  EXPECT_EQ(since(), now) << "nobody said when it was made";
  put_pod({.name = "old", .group = "h", .metadata = kCreated});
  EXPECT_EQ(since(), kThen);
}

// --- comparing with Workloads

TEST_F(ModelGroups, ATreeIsComparedWhenItsOldestPendingPodHasWaited) {
  const std::string spec =
      R"("schedulingPolicy":{"gang":{"minCount":3}},"workloadRef":{"workloadName":"w"})";
  const Time now = kThen + minutes{10};
  EXPECT_EQ(model_.comparison_due(leaf("g"), now), std::nullopt) << "not known";
  put(leaf("g"), spec);
  EXPECT_EQ(model_.comparison_due(leaf("g"), now), std::nullopt) << "nobody waits";
  put_pod({.name = "runs", .node_name = "n", .group = "g", .metadata = kCreated});
  EXPECT_EQ(model_.comparison_due(leaf("g"), now), std::nullopt);
  put_pod("undated", "g");
  EXPECT_EQ(model_.comparison_due(leaf("g"), now), now + minutes{1});
  put_pod({.name = "old", .group = "g", .metadata = kCreated});
  EXPECT_EQ(model_.comparison_due(leaf("g"), now), kThen + minutes{1});
  put(leaf("g"), R"("schedulingPolicy":{"gang":{"minCount":3}})");
  EXPECT_EQ(model_.comparison_due(leaf("g"), now), std::nullopt) << "no Workload";
}

// --- nominations

TEST_F(ModelGroups, ATreeDoesNotCountItsOwnNominationsAndLowerOnesNeither) {
  model_.put(NodeSample{.name = "n"}.make());
  const auto counted = [&] {
    NodeId row{};
    EXPECT_TRUE(model_.cluster().find_node("n", row));
    return model_.cluster().pods_on()[row];
  };
  put(composite("c"), R"("priority":5)");
  put(leaf("g"), R"("priority":5,"parentCompositePodGroupName":"c")");
  put_pod({.name = "own", .nominated_node = "n", .group = "g", .priority = 5});
  model_.put(PodSample{.name = "equal", .nominated_node = "n", .priority = 5}.make());
  model_.put(PodSample{.name = "lower", .nominated_node = "n", .priority = 1}.make());
  model_.count_nominated(model_.build(composite("c")));
  EXPECT_EQ(counted(), 1);
  const auto pending = [&](const std::string& name) {
    return PendingPod{.pod = model_.pod("default", name), .attempts = 0, .queued_at = {}};
  };
  model_.count_nominated(pending("lower"));
  EXPECT_EQ(counted(), 2);
  model_.count_nominated(pending("equal"));
  EXPECT_EQ(counted(), 1);
}

}  // namespace
}  // namespace muster::scheduler
