#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/plugins/default_profile.h"
#include "scheduler/preemption/preemption.h"
#include "scheduler/preemption/preemption_testing.h"

namespace muster::scheduler {
namespace {

using Names = std::vector<std::string>;
using Answer = PreemptionPlan::Answer;

class PreemptGroup : public testing::Test {
 protected:
  void add_nodes(const Names& names, const std::string& rack = "r1", const std::string& cpu = "4") {
    for (const std::string& name : names)
      model_.put(NodeSample{.name = name, .cpu = cpu, .labels = {{"rack", rack}}}.make());
  }
  void run(const std::string& name, const std::string& node, std::int64_t priority,
           const std::string& group = "", const std::string& cpu = "4") {
    model_.put(
        PodSample{.name = name, .cpu = cpu, .node_name = node, .group = group, .priority = priority}
            .make());
  }
  PreemptionPlan preempt(const GroupSample& group, int pods, const std::string& cpu = "4") {
    model_.put(group.make());
    for (int i = 0; i < pods; ++i)
      model_.put(PodSample{.name = fmt::format("{}-{}", group.name, i),
                           .cpu = cpu,
                           .group = group.name,
                           .priority = group.priority}
                     .make());
    return preempt(group);
  }
  PreemptionPlan preempt(const GroupSample& root) {
    const Group tree = model_.build(root.group_key());
    model_.count_nominated(tree);
    return preempt_for_group(model_, tree, args_, now_);
  }
  static Names nodes_of(const PreemptionPlan& plan) {
    Names nodes;
    for (const PreemptionPlan::Place& place : plan.nominated) nodes.push_back(place.node);
    std::ranges::sort(nodes);
    return nodes;
  }

  ClusterModel model_{default_profile(), {}};
  PreemptionArgs args_;
  Time now_ = Time{} + std::chrono::hours{1000};
};

TEST_F(PreemptGroup, EvictsWhatIsInTheWayAndNobodyElse) {
  add_nodes({"a", "b", "c"});
  run("x", "a", 1);
  run("y", "b", 1);
  run("z", "c", 2);
  const PreemptionPlan plan = preempt({.name = "g", .minimum = 2, .priority = 5}, 2);
  EXPECT_EQ(plan.answer, Answer::Preempts);
  EXPECT_EQ(victim_names(plan), (Names{"x", "y"}));
  EXPECT_EQ(nodes_of(plan), (Names{"a", "b"}));
  EXPECT_EQ(plan.victims_at_least, 2);
  EXPECT_EQ(plan.message,
            "pod group preemption: found a placement for podgroup, preempting 2 victims (at least "
            "2 needed)");
}

// L7
TEST_F(PreemptGroup, RoomIsKeptWhereFewOfTheSamePriorityHaveToEnd) {
  add_nodes({"a1", "a2"}, "r1");
  add_nodes({"b1", "b2"}, "r2");
  for (const char* node : {"a1", "a2", "b1"}) run(std::string("x-") + node, node, 5);
  const GroupSample group{.name = "g", .minimum = 2, .priority = 5, .key = "rack"};
  EXPECT_EQ(preempt(group, 2).answer, Answer::NoVictims) << "nobody is lower";
  const Reservation kept = reserve_for_group(model_, model_.build(group.group_key()), args_, now_);
  Names nodes;
  for (const PreemptionPlan::Place& place : kept.places) nodes.push_back(place.node);
  std::ranges::sort(nodes);
  EXPECT_EQ(nodes, (Names{"b1", "b2"}));
  EXPECT_EQ(kept.nodes, 2U);
  run("high", "b2", 6);
  const Reservation other = reserve_for_group(model_, model_.build(group.group_key()), args_, now_);
  ASSERT_EQ(other.places.size(), 2U);
  EXPECT_EQ(other.places.front().node.front(), 'a') << "the higher one may never end";
}

// L16
TEST_F(PreemptGroup, TheRackWithFewerVictimsIsTaken) {
  add_nodes({"a1", "a2", "a3", "a4"}, "r1");
  add_nodes({"b1", "b2", "b3", "b4"}, "r2");
  for (int i = 1; i <= 4; ++i) run(fmt::format("x{}", i), fmt::format("a{}", i), 1);
  run("y", "b2", 1);
  const PreemptionPlan plan = preempt({.name = "g", .minimum = 4, .priority = 5, .key = "rack"}, 4);
  EXPECT_EQ(victim_names(plan), Names{"y"});
  EXPECT_EQ(plan.victims_at_least, 1);
}

TEST_F(PreemptGroup, AGroupThatIsDisruptedTogetherGoesTogether) {
  add_nodes({"a", "b"});
  model_.put(GroupSample{.name = "low", .minimum = 2, .priority = 1, .all = true}.make());
  run("low-0", "a", 1, "low");
  run("low-1", "b", 1, "low");
  const PreemptionPlan plan = preempt({.name = "g", .minimum = 1, .priority = 5}, 1);
  ASSERT_EQ(plan.victims.size(), 1U);
  EXPECT_EQ(plan.victims[0].group, (GroupKey{GroupKind::PodGroup, "default", "low"}));
  EXPECT_EQ(victim_names(plan), (Names{"low-0", "low-1"}));
}

TEST_F(PreemptGroup, TheHighestGroupThatIsDisruptedTogetherIsTheUnit) {
  add_nodes({"a", "b"});
  model_.put(GroupSample{.name = "top", .priority = 1, .all = true, .composite = true}.make());
  for (const char* leaf : {"x", "y"})
    model_.put(GroupSample{.name = leaf, .priority = 1, .parent = "top"}.make());
  run("x-0", "a", 1, "x");
  run("y-0", "b", 1, "y");
  const PreemptionPlan plan = preempt({.name = "g", .priority = 5}, 1);
  ASSERT_EQ(plan.victims.size(), 1U);
  EXPECT_EQ(plan.victims[0].group, (GroupKey{GroupKind::CompositePodGroup, "default", "top"}));
  EXPECT_EQ(victim_names(plan), (Names{"x-0", "y-0"}));
}

TEST_F(PreemptGroup, APodsPriorityIsThatOfItsRoot) {
  add_nodes({"a"});
  model_.put(GroupSample{.name = "top", .priority = 10, .composite = true}.make());
  model_.put(GroupSample{.name = "x", .priority = 1, .parent = "top"}.make());
  run("x-0", "a", 1, "x");
  EXPECT_EQ(preempt({.name = "g", .priority = 5}, 1).answer, Answer::NoVictims);
}

TEST_F(PreemptGroup, FewPodsOfAWholeGroupCostMoreThanASinglePod) {
  add_nodes({"a", "b", "c"});
  model_.put(GroupSample{.name = "low", .minimum = 2, .priority = 1, .all = true}.make());
  run("low-0", "a", 1, "low");
  run("low-1", "b", 1, "low");
  run("alone", "c", 1);
  EXPECT_EQ(victim_names(preempt({.name = "g", .priority = 5}, 1)), Names{"alone"});
}

// As many pods of one priority go either way.
TEST_F(PreemptGroup, PodsByThemselvesGoBeforeAGroupIsEnded) {
  add_nodes({"a", "b", "c"});
  for (const auto& [gang, node] : {std::pair{"left", "a"}, {"right", "c"}}) {
    model_.put(GroupSample{.name = gang, .minimum = 2, .priority = 1, .all = true}.make());
    for (int i = 0; i < 2; ++i) run(fmt::format("{}-{}", gang, i), node, 1, gang, "2");
  }
  for (const char* alone : {"x", "y"}) run(alone, "b", 1, "", "2");
  EXPECT_EQ(victim_names(preempt({.name = "g", .priority = 5}, 1)), (Names{"x", "y"}));
}

// L17
TEST_F(PreemptGroup, NobodyGoesForAChildThatFailsAnyway) {
  for (int i = 0; i < 6; ++i) {
    add_nodes({fmt::format("n{}", i)});
    run(fmt::format("x{}", i), fmt::format("n{}", i), 1);
  }
  const GroupSample root{.name = "root", .priority = 5, .composite = true};
  model_.put(root.make());
  model_.put(GroupSample{.name = "c2", .minimum = 7, .priority = 5, .parent = "root"}.make());
  for (int i = 0; i < 7; ++i)
    model_.put(PodSample{.name = fmt::format("c2-{}", i), .cpu = "4", .group = "c2", .priority = 5}
                   .make());
  model_.put(GroupSample{.name = "c1", .minimum = 2, .priority = 5, .parent = "root"}.make());
  for (int i = 0; i < 2; ++i)
    model_.put(PodSample{.name = fmt::format("c1-{}", i), .cpu = "4", .group = "c1", .priority = 5}
                   .make());
  const PreemptionPlan plan = preempt(root);
  EXPECT_EQ(plan.victim_pods(), 2);
  EXPECT_EQ(plan.nominated.size(), 2U);
}

TEST_F(PreemptGroup, CannotHelpWhereTheClusterIsTooSmall) {
  add_nodes({"a"});
  run("x", "a", 1);
  EXPECT_EQ(preempt({.name = "g", .minimum = 2, .priority = 5}, 2).answer, Answer::NotHelpful);
}

TEST_F(PreemptGroup, BudgetsAreSparedWhereOthersCanGo) {
  add_nodes({"a", "b"});
  const auto labelled = [](const std::string& name, const std::string& node) {
    api::Json pod = PodSample{.name = name, .cpu = "4", .node_name = node}.make()->document();
    api::ensure_object(pod.as_object(), "metadata")["labels"] = api::JsonObject{{"app", "web"}};
    return api::Object::make(api::kinds::pod(), pod);
  };
  model_.put(labelled("web", "a"));
  run("other", "b", 3);
  model_.put(api::Object::make(
      *api::find_kind("policy", "PodDisruptionBudget"),
      api::JsonObject{
          {"metadata", api::JsonObject{{"name", "pdb"}, {"namespace", "default"}, {"uid", "u"}}},
          {"spec",
           api::JsonObject{
               {"selector", api::JsonObject{{"matchLabels", api::JsonObject{{"app", "web"}}}}}}},
          {"status", api::JsonObject{{"disruptionsAllowed", 0}}}}));
  EXPECT_EQ(victim_names(preempt({.name = "g", .priority = 5}, 1)), Names{"other"});
  const PreemptionPlan both = preempt({.name = "h", .minimum = 2, .priority = 5}, 2);
  ASSERT_EQ(both.victims.size(), 2U);
  EXPECT_EQ(cost_of(both).violations, 1);
  EXPECT_EQ(both.victims[1].pods[0].exceeds, "default/pdb");
  args_.violates_budgets = false;
  EXPECT_EQ(preempt({.name = "h", .minimum = 2, .priority = 5}).answer, Answer::NotHelpful);
}

TEST_F(PreemptGroup, ThoseThatEndAlreadyAreWaitedFor) {
  add_nodes({"a"});
  model_.put(PodSample{.name = "x", .cpu = "4", .node_name = "a", .terminating = true}.make());
  now_ = *PodSample{.name = "x", .terminating = true}.make()->meta().deletion_time;
  const GroupSample group{.name = "g", .priority = 5};
  const PreemptionPlan plan = preempt(group, 1);
  EXPECT_EQ(plan.answer, Answer::Waits);
  ASSERT_EQ(plan.leaving.size(), 1U);
  now_ += args_.victim_patience + std::chrono::seconds{1};
  EXPECT_FALSE(preempt(group).found()) << "it takes too long";
}

TEST_F(PreemptGroup, PatienceBeginsWhenTheDeletionWasAskedFor) {
  add_nodes({"a"});
  const api::ObjectPtr slow = PodSample{.name = "x",
                                        .cpu = "4",
                                        .node_name = "a",
                                        .terminating = true,
                                        .metadata = R"("deletionGracePeriodSeconds":600)"}
                                  .make();
  model_.put(slow);
  const GroupSample group{.name = "g", .priority = 5};
  now_ = *slow->meta().deletion_time - std::chrono::seconds{600} + args_.victim_patience -
         std::chrono::seconds{1};
  EXPECT_EQ(preempt(group, 1).answer, Answer::Waits);
  now_ += std::chrono::seconds{1};
  EXPECT_FALSE(preempt(group).found()) << "it takes too long";
}

// The lower pods are of several priorities, so that a cheaper plan is looked for.
TEST_F(PreemptGroup, RoomIsMadeForAsManyAsWouldFitNotOnlyForTheMinimum) {
  add_nodes({"a", "b", "c", "d", "e"});
  run("v1", "a", 1);
  run("v2", "b", 1);
  run("v3", "c", 2);
  run("v4", "d", 2);
  run("v5", "e", 3);
  const PreemptionPlan plan = preempt({.name = "g", .minimum = 2, .priority = 5}, 4);
  EXPECT_EQ(plan.nominated.size(), 4U);
  EXPECT_EQ(victim_names(plan), (Names{"v1", "v2", "v3", "v4"}));
}

// Says where room will be, if it was told so.
class RoomIsComing final : public PodGroupPostFilter {
 public:
  static constexpr std::string_view kName = "RoomIsComing";
  explicit RoomIsComing(std::string node) : node_(std::move(node)) {}
  PreemptionPlan make_room(ClusterModel&, const Group& root, Time) const override {
    PreemptionPlan plan;
    plan.message = node_.empty() ? "no room is coming" : "room is coming";
    plan.answer = node_.empty() ? Answer::NotHelpful : Answer::Waits;
    if (!node_.empty()) plan.nominated.push_back({root.pods.front().pod, node_});
    plan.steps = 5;
    return plan;
  }

 private:
  std::string node_;
};

TEST(MakeRoom, PluginsAreAskedInTurnUntilOneHasFoundSomething) {
  const GroupSample group{.name = "g", .priority = 5};
  const auto ask = [&group](const Profile& profile) {
    ClusterModel model{profile, {}};
    model.put(NodeSample{.name = "a", .cpu = "4"}.make());
    model.put(PodSample{.name = "x", .cpu = "4", .node_name = "a", .priority = 7}.make());
    model.put(group.make());
    model.put(PodSample{.name = "g-0", .cpu = "4", .group = "g", .priority = 5}.make());
    return make_room_for_group(model, model.build(group.group_key()), Time{});
  };
  Profile profile = default_profile();
  EXPECT_EQ(ask(profile).answer, Answer::NoVictims);
  const std::string usual = ask(profile).message;
  profile.add<RoomIsComing>(1, "");
  EXPECT_EQ(ask(profile).message, usual + ", no room is coming");
  EXPECT_EQ(ask(profile).answer, Answer::NotHelpful);
  profile.add<RoomIsComing>(1, "a");
  EXPECT_EQ(ask(profile).message, "room is coming");
  EXPECT_EQ(ask(profile).nominated.size(), 1U);
  EXPECT_EQ(ask(profile).steps, 10U);
  EXPECT_FALSE(ask(Profile()).found()) << "nobody is asked";
}

}  // namespace
}  // namespace muster::scheduler
