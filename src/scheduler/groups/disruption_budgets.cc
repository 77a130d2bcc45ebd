#include "scheduler/groups/disruption_budgets.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace muster::scheduler {
namespace {

constexpr std::size_t kPlacesMax = 64;  // of one budget

bool asks_by_value(api::LabelOperator op) {
  return op == api::LabelOperator::In || op == api::LabelOperator::Equals ||
         op == api::LabelOperator::DoubleEquals;
}

bool asks_for_key(api::LabelOperator op) {
  return op == api::LabelOperator::Exists || op == api::LabelOperator::GreaterThan ||
         op == api::LabelOperator::LessThan;
}

// Of an eviction an empty selector selects everything, of a preemption nothing.
bool may_select(const api::BudgetView& budget) {
  return budget.selector && !budget.selector->selects_everything() &&
         !budget.selector->selects_nothing();
}

}  // namespace

// Empty if a pod without this label may pass the test.
std::vector<DisruptionBudgets::Place> DisruptionBudgets::places_for(
    const api::LabelRequirement& test) {
  std::vector<Place> places;
  if (asks_by_value(test.op()) && test.values().size() <= kPlacesMax)
    for (const std::string& value : test.values()) places.emplace_back(test.key(), true, value);
  else if (asks_by_value(test.op()) || asks_for_key(test.op()))
    places.emplace_back(test.key(), false, std::string());
  return places;
}

// A pod that is selected passes every test: any one of them will do to find the budget.
std::vector<DisruptionBudgets::Place> DisruptionBudgets::rarest_places(
    const Namespace& home, const api::BudgetView& budget) {
  std::vector<Place> rarest;
  std::size_t fewest = 0;
  std::size_t tests = 0;
  for (const api::LabelRequirement& test : budget.selector->requirements()) {
    if (++tests > kTestsMax) break;
    std::vector<Place> places = places_for(test);
    if (places.empty()) continue;
    std::size_t others = 0;
    for (const Place& place : places)
      if (const auto at = home.found_at.find(place); at != home.found_at.end())
        others += at->second.size();
    if (!rarest.empty() && others >= fewest) continue;
    rarest = std::move(places);
    fewest = others;
  }
  if (rarest.empty()) rarest.emplace_back();
  return rarest;
}

void DisruptionBudgets::put(const api::ObjectPtr& budget) {
  const std::string& name = budget->meta().name;
  Namespace& home = by_namespace_[budget->meta().name_space];
  Entry& entry = home.budgets[name];
  leave(home, name, entry);
  entry.budget = budget;
  home.unread.insert(name);
}

void DisruptionBudgets::remove(const api::Object& budget) {
  const auto at = by_namespace_.find(budget.meta().name_space);
  if (at == by_namespace_.end()) return;
  Namespace& home = at->second;
  const auto known = home.budgets.find(budget.meta().name);
  if (known == home.budgets.end()) return;
  leave(home, known->first, known->second);
  home.unread.erase(known->first);
  home.budgets.erase(known);
  if (home.budgets.empty()) by_namespace_.erase(at);
}

void DisruptionBudgets::leave(Namespace& home, const std::string& name, Entry& entry) {
  for (const Place& place : std::exchange(entry.places, {})) {
    const auto at = home.found_at.find(place);
    at->second.erase(name);
    if (at->second.empty()) home.found_at.erase(at);
  }
}

void DisruptionBudgets::read(Namespace& home) {
  for (const std::string& name : std::exchange(home.unread, {})) {
    Entry& entry = home.budgets.find(name)->second;
    const auto& view = entry.budget->view<api::BudgetView>();
    if (!may_select(view)) continue;
    entry.places = rarest_places(home, view);
    for (const Place& place : entry.places) home.found_at[place].emplace(name, entry.budget);
  }
}

// Those that might select the pod.
DisruptionBudgets::Candidates DisruptionBudgets::candidates(const api::ObjectMeta& pod) const {
  Candidates found;
  const auto home = by_namespace_.find(pod.name_space);
  if (home == by_namespace_.end() || pod.labels.empty()) return found;
  read(home->second);
  std::size_t tests = 0;
  const auto add = [&](const std::string& key, bool by_value, const std::string& value) {
    const auto at = home->second.found_at.find(std::tie(key, by_value, value));
    if (at == home->second.found_at.end()) return;
    for (const auto& [name, budget] : at->second) {
      if (found.too_many) return;
      found.budgets.push_back(budget.get());
      tests += budget->view<api::BudgetView>().selector->requirements().size();
      found.too_many = tests > kTestsMax;
    }
  };
  static const std::string kNone;
  for (const auto& [key, value] : pod.labels) {
    add(key, true, value);
    add(key, false, kNone);
  }
  add(kNone, false, kNone);
  std::ranges::sort(found.budgets, {},
                    [](const api::Object* budget) -> const auto& { return budget->meta().name; });
  return found;
}

// As upstream counts: budgets are asked in turn, and none after the first that is exceeded.
std::string DisruptionBudgets::Ledger::spend(const api::Object& pod) {
  const api::ObjectMeta& meta = pod.meta();
  const Candidates found = budgets_.candidates(meta);
  const auto name_of = [](const api::Object& budget) { return api::key_text(budget.meta()); };
  if (found.too_many) return name_of(*found.budgets.front());
  budgets_.looks_ += found.budgets.size();
  for (const api::Object* budget : found.budgets) {
    const auto& view = budget->view<api::BudgetView>();
    if (!view.selects(meta.labels)) continue;
    if (std::ranges::binary_search(view.disrupted, meta.name)) continue;
    if (++spent_[budget] > view.disruptions_allowed) return name_of(*budget);
  }
  return {};
}

}  // namespace muster::scheduler
