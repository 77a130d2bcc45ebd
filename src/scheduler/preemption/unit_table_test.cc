#include "scheduler/preemption/unit_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "scheduler/plugins/default_profile.h"
#include "scheduler/preemption/preemption_testing.h"
#include "scheduler/preemption/victims.h"

namespace muster::scheduler {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// At noon of a day on which pods started in the morning.
class UnitTableTest : public ::testing::Test {
 protected:
  UnitTableTest() {
    for (const char* name : {"n1", "n2"}) model_.put(NodeSample{.name = name}.make());
  }
  struct Runs {
    std::string group = {};
    int hour = -1;  // of the day it started; below 0: it has not
    bool terminating = false;
    std::string name_space = "default";
  };
  void run(const std::string& name, const std::string& node, int priority, const Runs& how) {
    model_.put(PodSample{
        .name = name,
        .cpu = "100m",
        .node_name = node,
        .group = how.group,
        .priority = priority,
        .status =
            how.hour < 0 ? "" : fmt::format(R"("startTime":"2026-01-01T{:02}:00:00Z")", how.hour),
        .name_space = how.name_space,
        .terminating = how.terminating}
                   .make());
  }
  void run(const std::string& name, const std::string& node, int priority) {
    run(name, node, priority, Runs());
  }
  UnitTable table(int priority, Duration patience = minutes{2}) {
    return UnitTable(model_, {.priority = priority, .now = noon_, .patience = patience});
  }
  static std::string text_of(const UnitTable& table, std::uint32_t unit) {
    std::vector<std::string> names;
    for (const UnitTable::Pod& pod : table.pods_of(unit))
      names.push_back(table.object(pod)->meta().name);
    std::ranges::sort(names);
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : "+") + name;
    return text;
  }
  // The units, the most important first.
  std::vector<std::string> order(bool is_upstream = false) {
    const UnitTable made = table(100);
    std::vector<std::uint32_t> units(made.units().size());
    for (std::uint32_t i = 0; i < units.size(); ++i) units[i] = i;
    std::ranges::sort(units, [&](std::uint32_t a, std::uint32_t b) {
      return is_upstream ? made.is_more_important_upstream(a, b) : made.is_more_important(a, b);
    });
    std::vector<std::string> texts;
    for (const std::uint32_t unit : units) texts.push_back(text_of(made, unit));
    return texts;
  }
  NodeId node(const std::string& name) {
    NodeId id{};
    EXPECT_TRUE(model_.cluster().find_node(name, id));
    return id;
  }
  static std::uint32_t unit_with(const UnitTable& table, const std::string& name) {
    for (const UnitTable::Pod& pod : table.pods())
      if (table.object(pod)->meta().name == name) return pod.unit;
    ADD_FAILURE() << name;
    return 0;
  }

  using Texts = std::vector<std::string>;
  // When pods that are terminating were to be gone.
  const Time midnight_ = *PodSample{.name = "x", .terminating = true}.make()->meta().deletion_time;
  Time noon_ = midnight_ + hours{12};
  ClusterModel model_{default_profile(), {}};
};

TEST_F(UnitTableTest, HoldsWhoIsLowerByNode) {
  run("a", "n1", 1);
  run("b", "n2", 4);
  run("c", "n1", 5);
  run("d", "n2", -1);
  const UnitTable lower = table(5);
  EXPECT_EQ(lower.units().size(), 3U);
  EXPECT_EQ(lower.on(node("n1")).size(), 1U);
  EXPECT_EQ(lower.object(lower.pods()[lower.on(node("n1"))[0]])->meta().name, "a");
  EXPECT_EQ(lower.on(node("n2")).size(), 2U);
  EXPECT_FALSE(lower.empty());
  EXPECT_EQ(lower.units()[unit_with(lower, "b")].priority, 4);
  EXPECT_EQ(lower.group_of(unit_with(lower, "b")), nullptr);
  const UnitTable none = table(-1);
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none.on(node("n1")).empty());
  EXPECT_TRUE(none.leaving_on(node("n1")).empty());
  const UnitTable one = table(0);
  EXPECT_EQ(one.units().size(), 1U);
}

TEST_F(UnitTableTest, WhoEndsAlreadyIsNobodysVictim) {
  run("a", "n1", 1);
  run("ends", "n1", 1, {.terminating = true});
  run("high", "n1", 9, {.terminating = true});
  noon_ = midnight_ + minutes{1};
  const UnitTable now = table(5);
  EXPECT_EQ(now.units().size(), 1U);
  ASSERT_EQ(now.leaving().size(), 1U) << "the higher one is not counted on";
  EXPECT_EQ(now.object(now.leaving()[0])->meta().name, "ends");
  EXPECT_EQ(now.leaving_on(node("n1")).size(), 1U);
  EXPECT_TRUE(now.leaving_on(node("n2")).empty());
  EXPECT_EQ(table(5, minutes{1}).leaving().size(), 0U) << "patience is over";
  EXPECT_EQ(table(5, minutes{1} + seconds{1}).leaving().size(), 1U);
  model_.remove(*PodSample{.name = "a", .node_name = "n1"}.make());
  EXPECT_FALSE(table(5).empty()) << "somebody leaves";
}

TEST_F(UnitTableTest, AHigherPriorityThenAnEarlierStartIsMoreImportant) {
  run("late", "n1", 1, {.hour = 9});
  run("early", "n1", 1, {.hour = 8});
  run("high", "n1", 2, {.hour = 11});
  run("never", "n1", 1);
  run("negative", "n1", -7, {.hour = 1});
  EXPECT_EQ(order(), (Texts{"high", "early", "late", "never", "negative"}));
}

TEST_F(UnitTableTest, EqualPodsAreOrderedByNamespaceAndName) {
  run("a", "n1", 1, {.hour = 8, .name_space = "z"});
  run("c", "n1", 1, {.hour = 8, .name_space = "b"});
  run("b", "n2", 1, {.hour = 8, .name_space = "b"});
  EXPECT_EQ(order(), (Texts{"b", "c", "a"}));
}

TEST_F(UnitTableTest, GroupsComeBeforePodsAndLargerBeforeSmaller) {
  for (const char* name : {"small", "large", "old"})
    model_.put(GroupSample{.name = name, .priority = 1, .all = true}.make());
  model_.put(GroupSample{.name = "top", .priority = 1, .all = true, .composite = true}.make());
  model_.put(GroupSample{.name = "below", .priority = 1, .parent = "top"}.make());
  run("alone", "n1", 1, {.hour = 1});
  run("s1", "n1", 1, {.group = "small", .hour = 7});
  run("l1", "n1", 1, {.group = "large", .hour = 9});
  run("l2", "n2", 1, {.group = "large", .hour = 9});
  run("o1", "n2", 1, {.group = "old", .hour = 5});
  run("t1", "n2", 1, {.group = "below", .hour = 11});
  EXPECT_EQ(order(), (Texts{"t1", "l1+l2", "o1", "s1", "alone"}));
}

TEST_F(UnitTableTest, GroupsOfOneAgeAndSizeAreOrderedByName) {
  for (const char* name : {"b", "a"}) {
    model_.put(GroupSample{.name = name, .priority = 1, .all = true}.make());
    run(std::string("of-") + name, "n1", 1, {.group = name, .hour = 8});
  }
  EXPECT_EQ(order(), (Texts{"of-a", "of-b"}));
}

// L25: upstream regards a pod of any group more highly than a lone pod.
TEST_F(UnitTableTest, UpstreamPutsMembersBeforeLonePods) {
  model_.put(GroupSample{.name = "g", .priority = 1}.make());
  model_.put(GroupSample{.name = "whole", .priority = 1, .all = true}.make());
  model_.put(GroupSample{.name = "top", .priority = 1, .all = true, .composite = true}.make());
  model_.put(GroupSample{.name = "below", .priority = 1, .parent = "top"}.make());
  run("alone", "n1", 1, {.hour = 1});
  run("member", "n1", 1, {.group = "g", .hour = 9});
  run("w", "n1", 1, {.group = "whole", .hour = 10});
  run("t", "n1", 1, {.group = "below", .hour = 10});
  run("high", "n1", 2, {.hour = 11});
  EXPECT_EQ(order(), (Texts{"high", "t", "w", "alone", "member"}));
  EXPECT_EQ(order(true), (Texts{"high", "t", "w", "member", "alone"}));
}

TEST_F(UnitTableTest, AUnitStartedWithItsFirstPodAndLosesTheWorkOfAll) {
  model_.put(GroupSample{.name = "g", .priority = 1, .all = true}.make());
  run("g1", "n1", 1, {.group = "g", .hour = 10});
  run("g2", "n2", 1, {.group = "g", .hour = 9});
  run("g3", "n2", 1, {.group = "g"});
  run("alone", "n2", 3, {.hour = 11});
  run("future", "n2", 3, {.hour = 13});
  const UnitTable made = table(5);
  const std::uint32_t group = unit_with(made, "g1");
  EXPECT_EQ(unit_with(made, "g3"), group);
  EXPECT_EQ(*made.group_of(group), (GroupKey{GroupKind::PodGroup, "default", "g"}));
  EXPECT_EQ(made.start(group), midnight_ + hours{9});
  for (int again = 0; again < 2; ++again) {
    Cost cost;
    made.add_cost(group, cost);
    EXPECT_EQ(cost.pods, 3);
    EXPECT_EQ(cost.groups, 1);
    EXPECT_EQ(cost.lost, hours{2 + 3});
    made.add_cost(unit_with(made, "alone"), cost);
    EXPECT_EQ(cost.groups, 1);
    EXPECT_EQ(cost.lost, hours{2 + 3 + 1});
    ASSERT_EQ(cost.priorities.size(), 2U);
    EXPECT_EQ(cost.priorities[0], (std::pair<std::int32_t, std::int64_t>{3, 1}));
    made.add_cost(unit_with(made, "future"), cost);
    EXPECT_EQ(cost.lost, hours{2 + 3 + 1}) << "nothing is lost of what has not begun";
  }
}

TEST_F(UnitTableTest, APlanNamesAUnitWithItsPodsByName) {
  model_.put(GroupSample{.name = "g", .priority = 3, .all = true}.make());
  run("g2", "n1", 3, {.group = "g"});
  run("g1", "n2", 3, {.group = "g"});
  run("alone", "n2", 4);
  const UnitTable made = table(5);
  const std::uint32_t group = unit_with(made, "g1");
  std::vector<std::string> exceeded(2);
  for (std::size_t i = 0; i < 2; ++i)
    exceeded[i] = "budget of " + made.object(made.pods_of(group)[i])->meta().name;
  const VictimUnit victim = victim_of(made, model_.cluster(), group, exceeded);
  EXPECT_EQ(victim.group, (GroupKey{GroupKind::PodGroup, "default", "g"}));
  EXPECT_EQ(victim.priority, 3);
  ASSERT_EQ(victim.pods.size(), 2U);
  EXPECT_EQ(victim.pods[0].pod->meta().name, "g1");
  EXPECT_EQ(victim.pods[0].node, "n2");
  EXPECT_EQ(victim.pods[0].exceeds, "budget of g1");
  EXPECT_EQ(victim.pods[1].pod->meta().name, "g2");
  const VictimUnit alone = victim_of(made, model_.cluster(), unit_with(made, "alone"), {});
  EXPECT_EQ(alone.group, std::nullopt);
  EXPECT_EQ(alone.priority, 4);
  EXPECT_EQ(alone.pods.at(0).exceeds, "");
}

TEST_F(UnitTableTest, BudgetsAreSpentByTheMostImportantFirst) {
  const auto budget = api::parse_json(R"({"metadata":{"name":"b","namespace":"default","uid":"b"},
      "spec":{"selector":{"matchLabels":{"app":"db"}}},"status":{"disruptionsAllowed":1}})");
  model_.put(api::Object::make(*api::find_kind("policy", "PodDisruptionBudget"), budget->value));
  for (const char* name : {"a", "b", "other"})
    model_.put(PodSample{.name = name,
                         .node_name = "n1",
                         .labels = {{"app", std::string_view(name) == "other" ? "web" : "db"}}}
                   .make());
  const UnitTable made = table(5);
  const std::vector<std::uint32_t> units{unit_with(made, "b"), unit_with(made, "other"),
                                         unit_with(made, "a")};
  const Violations violations(made, model_.budgets(), units);
  EXPECT_FALSE(violations.any(0)) << "one may go";
  EXPECT_FALSE(violations.any(1));
  EXPECT_TRUE(violations.any(2));
  EXPECT_EQ(violations.count(0), 0);
  EXPECT_EQ(violations.count(2), 1);
  EXPECT_EQ(violations.exceeded[2], Texts{"default/b"});
}

}  // namespace
}  // namespace muster::scheduler
