#include "scheduler/groups/disruption_budgets.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <map>
#include <string>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/views/budget_view.h"

namespace muster::scheduler {
namespace {

using api::JsonObject;

api::ObjectPtr pod(const std::string& name, const std::string& app, JsonObject labels = {}) {
  JsonObject metadata{{"name", name}, {"namespace", "default"}, {"uid", name}};
  if (!app.empty()) labels["app"] = app;
  if (!labels.empty()) metadata["labels"] = std::move(labels);
  return api::Object::make(api::kinds::pod(), JsonObject{{"metadata", std::move(metadata)}});
}

api::ObjectPtr budget(const std::string& name, JsonObject selector, int allowed,
                      JsonObject disrupted = {}) {
  return api::Object::make(
      *api::find_kind("policy", "PodDisruptionBudget"),
      JsonObject{{"metadata",
                  JsonObject{{"name", name}, {"namespace", "default"}, {"uid", "pdb-" + name}}},
                 {"spec", JsonObject{{"selector", std::move(selector)}}},
                 {"status", JsonObject{{"disruptionsAllowed", allowed},
                                       {"disruptedPods", std::move(disrupted)}}}});
}

JsonObject web() { return {{"matchLabels", JsonObject{{"app", "web"}}}}; }

TEST(DisruptionBudgets, M2AreSpentFromTheMostImportantOn) {
  DisruptionBudgets budgets;
  budgets.put(budget("b", web(), 1));
  DisruptionBudgets::Ledger ledger(budgets);
  EXPECT_EQ(ledger.spend(*pod("v1", "web")), "");
  EXPECT_EQ(ledger.spend(*pod("v2", "web")), "default/b");
  EXPECT_EQ(ledger.spend(*pod("v3", "web")), "default/b");
  EXPECT_EQ(ledger.spend(*pod("v4", "db")), "");
}

TEST(DisruptionBudgets, DoNotCountWhatIsCountedOrUnlabelledOrSelectsEverything) {
  DisruptionBudgets budgets;
  budgets.put(budget("b", web(), 0, JsonObject{{"v1", "2026-01-01T00:00:00Z"}}));
  budgets.put(budget("all", JsonObject{}, 0));
  DisruptionBudgets::Ledger ledger(budgets);
  EXPECT_EQ(ledger.spend(*pod("v1", "web")), "") << "its disruption is under way";
  EXPECT_EQ(ledger.spend(*pod("v2", "")), "");
  EXPECT_EQ(ledger.spend(*pod("v3", "web")), "default/b");
}

TEST(DisruptionBudgets, AreAskedInTheOrderOfTheirNames) {
  DisruptionBudgets budgets;
  budgets.put(budget("b", web(), 0));
  budgets.put(budget("a", {{"matchLabels", JsonObject{{"zone", "z1"}}}}, 0));
  EXPECT_EQ(DisruptionBudgets::Ledger(budgets).spend(*pod("v", "web", {{"zone", "z1"}})),
            "default/a");
}

TEST(DisruptionBudgets, AreForgottenWhenTheyGo) {
  DisruptionBudgets budgets;
  const api::ObjectPtr gone = budget("b", web(), 0);
  budgets.put(gone);
  EXPECT_FALSE(budgets.empty());
  budgets.remove(*gone);
  EXPECT_TRUE(budgets.empty());
  EXPECT_EQ(DisruptionBudgets::Ledger(budgets).spend(*pod("v", "web")), "");
}

TEST(DisruptionBudgets, AreComparedWithVictimsTheyMightConcern) {
  constexpr int kBudgets = 10'000;
  const auto number = [](int i) { return "web-" + std::to_string(i); };
  DisruptionBudgets budgets;
  for (int i = 0; i < kBudgets; ++i)
    budgets.put(budget("b" + std::to_string(i),
                       {{"matchLabels", JsonObject{{"all", "yes"}, {"app", number(i)}}}}, 0));
  DisruptionBudgets::Ledger ledger(budgets);
  constexpr int kVictims = 200;
  for (int i = 0; i < kVictims; ++i)
    EXPECT_EQ(ledger.spend(*pod("v", number(i), {{"all", "yes"}})),
              "default/b" + std::to_string(i));
  EXPECT_LE(budgets.looks(), 2 * kVictims) << "the first one is found by what all ask for";
}

TEST(DisruptionBudgets, TooManyForOneVictimAreExceeded) {
  DisruptionBudgets budgets;
  constexpr int kMany = static_cast<int>(DisruptionBudgets::kTestsMax);
  for (int i = 0; i < kMany; ++i) budgets.put(budget("b" + std::to_string(i), web(), 1));
  EXPECT_EQ(DisruptionBudgets::Ledger(budgets).spend(*pod("v", "web")), "");
  const api::ObjectPtr one_more = budget("c", web(), 1);
  budgets.put(one_more);
  const std::uint64_t looks = budgets.looks();
  EXPECT_EQ(DisruptionBudgets::Ledger(budgets).spend(*pod("v", "web")), "default/b0");
  EXPECT_EQ(DisruptionBudgets::Ledger(budgets).spend(*pod("v", "db")), "") << "not its own";
  EXPECT_EQ(budgets.looks(), looks);
  budgets.remove(*one_more);
  EXPECT_EQ(DisruptionBudgets::Ledger(budgets).spend(*pod("v", "web")), "");
}

// Every budget of the namespace, asked as upstream asks.
std::string spend_naively(const std::map<std::string, api::ObjectPtr>& budgets,
                          const api::Object& pod, std::map<std::string, std::int64_t>& spent) {
  if (pod.meta().labels.empty()) return {};
  for (const auto& [name, budget] : budgets) {
    const auto& view = budget->view<api::BudgetView>();
    if (!view.selector || view.selector->selects_everything()) continue;
    if (view.selects(pod.meta().labels) && ++spent[name] > view.disruptions_allowed)
      return "default/" + name;
  }
  return {};
}

JsonObject some_test() {
  constexpr std::array kOperators{"In", "In", "NotIn", "Exists", "DoesNotExist"};
  const std::string op = kOperators.at(*rc::gen::inRange<std::size_t>(0, kOperators.size()));
  JsonObject test{{"key", std::string(1, *rc::gen::inRange('a', 'd'))}, {"operator", op}};
  if (!op.ends_with("In")) return test;
  api::JsonArray values;
  for (int i = *rc::gen::inRange(1, 3); i > 0; --i)
    values.emplace_back(std::string(1, *rc::gen::inRange('x', 'z')));
  // More than it may be found by.
  if (*rc::gen::inRange(0, 8) == 0)
    for (int i = 0; i < 100; ++i) values.emplace_back("many-" + std::to_string(i));
  test["values"] = std::move(values);
  return test;
}

api::ObjectPtr some_budget() {
  api::JsonArray tests;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) tests.push_back(some_test());
  return budget(std::string(1, *rc::gen::inRange('a', 'h')), {{"matchExpressions", tests}},
                *rc::gen::inRange(0, 3));
}

RC_GTEST_PROP(DisruptionBudgets, SayWhatAllBudgetsOfTheNamespaceWouldSay, ()) {
  DisruptionBudgets budgets;
  std::map<std::string, api::ObjectPtr> all;
  for (int round = 0; round < 4; ++round) {
    for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
      const api::ObjectPtr budget = some_budget();
      const bool goes = *rc::gen::inRange(0, 3) == 0;
      if (goes) budgets.remove(*budget);
      if (goes) all.erase(budget->meta().name);
      if (!goes) budgets.put(budget);
      if (!goes) all[budget->meta().name] = budget;
    }
    const DisruptionBudgets copy(budgets);
    DisruptionBudgets::Ledger ledger(*rc::gen::arbitrary<bool>() ? budgets : copy);
    std::map<std::string, std::int64_t> spent;
    for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
      JsonObject labels;
      for (const char* key : {"a", "b", "c"})
        if (*rc::gen::arbitrary<bool>()) labels[key] = std::string(1, *rc::gen::inRange('x', 'z'));
      const api::ObjectPtr victim = pod("v", "", labels);
      RC_ASSERT(ledger.spend(*victim) == spend_naively(all, *victim, spent));
    }
  }
}

}  // namespace
}  // namespace muster::scheduler
