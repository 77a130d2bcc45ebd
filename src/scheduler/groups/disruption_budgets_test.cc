#include "scheduler/groups/disruption_budgets.h"

#include <gtest/gtest.h>

#include "api/json.h"
#include "api/kinds/kind.h"

namespace muster::scheduler {
namespace {

using api::JsonObject;

api::ObjectPtr pod(const std::string& name, const std::string& app) {
  JsonObject metadata{{"name", name}, {"namespace", "default"}, {"uid", name}};
  if (!app.empty()) metadata["labels"] = JsonObject{{"app", app}};
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

TEST(DisruptionBudgets, AreForgottenWhenTheyGo) {
  DisruptionBudgets budgets;
  const api::ObjectPtr gone = budget("b", web(), 0);
  budgets.put(gone);
  EXPECT_FALSE(budgets.empty());
  budgets.remove(*gone);
  EXPECT_TRUE(budgets.empty());
  EXPECT_EQ(DisruptionBudgets::Ledger(budgets).spend(*pod("v", "web")), "");
}

}  // namespace
}  // namespace muster::scheduler
