#include "controllers/budget_ledger.h"

#include <algorithm>
#include <utility>

#include "api/views/pod_view.h"
#include "base/check.h"

namespace muster::controllers {
namespace {

// From the view, which is made once for each version of a pod.
bool is_healthy_pod(const api::Object& pod) {
  return !pod.meta().deletion_time &&
         std::ranges::any_of(pod.view<api::PodView>().conditions, [](const auto& condition) {
           return condition.type == "Ready" && condition.status == "True";
         });
}

const std::string* maker_of(const api::Object& pod) {
  const auto& owners = pod.meta().owners;
  const auto found = std::ranges::find_if(owners, &api::OwnerReference::controller);
  return found == owners.end() ? nullptr : &found->uid;
}

// Whether budgets see no difference.
bool counts_the_same(const api::Object& a, const api::Object& b) {
  const std::string* maker_a = maker_of(a);
  const std::string* maker_b = maker_of(b);
  return a.meta().labels == b.meta().labels &&
         a.meta().deletion_time.has_value() == b.meta().deletion_time.has_value() &&
         is_healthy_pod(a) == is_healthy_pod(b) &&
         (maker_a == nullptr ? maker_b == nullptr : maker_b != nullptr && *maker_a == *maker_b);
}

bool names_values(const api::LabelRequirement& requirement) {
  using enum api::LabelOperator;
  return requirement.op() == In || requirement.op() == Equals || requirement.op() == DoubleEquals;
}

// How many pods the mirror would look at to select some.
std::size_t candidates(const client::Mirror& pods, std::string_view name_space,
                       const api::LabelSelector& selector) {
  std::size_t fewest = pods.size();
  for (const api::LabelRequirement& requirement : selector.requirements()) {
    if (!names_values(requirement)) continue;
    std::size_t count = pods.with_many_labels(name_space).size();
    for (const std::string& value : requirement.values())
      count += pods.labeled(name_space, requirement.key(), value).size();
    fewest = std::min(fewest, count);
  }
  return fewest;
}

}  // namespace

void BudgetLedger::put_budget(const std::string& name, const std::string& text,
                              const api::LabelSelector& selector) {
  if (const auto known = budgets_.find(name); known != budgets_.end()) {
    if (known->second->first == text) return;
    remove_budget(name);
  }
  const auto [at, is_new] = books_.try_emplace(text, Book{.selector = selector});
  at->second.budgets.insert(name);
  budgets_.emplace(name, at);
  if (is_new) uncounted_.insert(text);
}

void BudgetLedger::remove_budget(const std::string& name) {
  const auto known = budgets_.find(name);
  if (known == budgets_.end()) return;
  const Books::iterator at = known->second;
  budgets_.erase(known);
  at->second.budgets.erase(name);
  if (!at->second.budgets.empty()) return;
  makers_ -= at->second.counts.makers.size();
  uncounted_.erase(at->first);
  crowded_.erase(at->first);
  books_.erase(at);
}

void BudgetLedger::pod_changed(const api::ObjectPtr& before, const api::ObjectPtr& after) {
  if (before != nullptr && after != nullptr && counts_the_same(*before, *after)) return;
  noted_.try_emplace((after != nullptr ? after : before)->meta().name, before);
}

bool BudgetLedger::covers(const Book& book, std::string_view pod) const {
  return book.counted || (book.last != nullptr && pod <= book.last->meta().name);
}

bool BudgetLedger::count_change(Book& book, const api::ObjectPtr& before,
                                const api::ObjectPtr& after) {
  ++steps_;
  if (!covers(book, (after != nullptr ? after : before)->meta().name)) return false;
  const bool was = before != nullptr && book.selector.matches(before->meta().labels);
  const bool is = after != nullptr && book.selector.matches(after->meta().labels);
  if (was) count(book, *before, -1);
  if (is) count(book, *after, +1);
  return was || is;
}

void BudgetLedger::count(Book& book, const api::Object& pod, std::int64_t sign) {
  book.counts.pods += sign;
  if (is_healthy_pod(pod)) book.counts.healthy += sign;
  if (const std::string* maker = maker_of(pod)) count_maker(book.counts, *maker, sign);
}

void BudgetLedger::count_maker(Counts& counts, const std::string& uid, std::int64_t sign) {
  if (!counts.knows_makers) return;
  auto at = counts.makers.find(uid);
  if (at == counts.makers.end()) {
    if (makers_ >= makers_max_) {
      counts.knows_makers = false;
      makers_ -= counts.makers.size();
      counts.makers.clear();
      return;
    }
    at = counts.makers.emplace(uid, 0).first;
    ++makers_;
  }
  at->second += sign;
  CHECK(at->second >= 0);
  if (at->second > 0) return;
  counts.makers.erase(at);
  --makers_;
}

void BudgetLedger::recount(Books::iterator at) {
  makers_ -= at->second.counts.makers.size();
  at->second.counts = {};
  at->second.counted = false;
  at->second.last = nullptr;
  uncounted_.insert(at->first);
}

std::vector<std::string> BudgetLedger::work(const client::Mirror& pods) {
  std::set<std::string> touched;  // texts
  const std::uint64_t end = steps_ + slice_;
  while (!noted_.empty() && steps_ < end) {
    const auto [name, before] = *noted_.begin();
    noted_.erase(noted_.begin());
    const api::ObjectPtr after = pods.find(name_space_, name);
    ++steps_;
    if (before == nullptr && after == nullptr) continue;
    for (auto& [text, book] : books_)
      if (count_change(book, before, after) && book.counted) touched.insert(text);
  }
  // Then all counted books have counted the pods as they are.
  while (noted_.empty() && !uncounted_.empty() && steps_ < end) {
    const auto at = books_.find(*uncounted_.begin());
    if (!count_more(at->second, pods, end)) break;
    uncounted_.erase(uncounted_.begin());
    touched.insert(at->first);
  }
  for (const std::string& text : touched)
    if (!books_.at(text).counts.knows_makers) crowded_.insert(text);
  // One whose pods have become so few that all their makers have room is counted again.
  const auto fits = std::ranges::find_if(crowded_, [&](const std::string& text) {
    return makers_ + static_cast<std::size_t>(books_.at(text).counts.pods) < makers_max_;
  });
  if (fits != crowded_.end()) {
    recount(books_.find(*fits));
    crowded_.erase(fits);
  }
  std::vector<std::string> out;
  if (std::exchange(wake_all_, false)) {
    for (const auto& [name, book] : budgets_) out.push_back(name);
    return out;
  }
  for (const std::string& text : touched)
    for (const std::string& name : books_.at(text).budgets) out.push_back(name);
  return out;
}

// True: all pods are counted.
bool BudgetLedger::count_more(Book& book, const client::Mirror& pods, std::uint64_t end) {
  ++steps_;
  if (book.selector.selects_nothing()) return book.counted = true;
  if (book.last == nullptr && candidates(pods, name_space_, book.selector) <= slice_) {
    for (const api::ObjectPtr& pod : pods.select(name_space_, book.selector)) {
      ++steps_;
      count(book, *pod, +1);
    }
    return book.counted = true;
  }
  const client::Mirror::Entries& all = pods.in_namespace(name_space_);
  const client::Mirror::Entry last{book.last};
  auto at = book.last == nullptr ? all.begin() : all.upper_bound(&last);
  for (; at != all.end() && steps_ < end; ++at) {
    ++steps_;
    book.last = (*at)->object;
    if (book.selector.matches(book.last->meta().labels)) count(book, *book.last, +1);
  }
  return book.counted = at == all.end();
}

const BudgetLedger::Counts* BudgetLedger::counts_of(std::string_view budget) const {
  const auto at = budgets_.find(budget);
  return at == budgets_.end() || !at->second->second.counted ? nullptr : &at->second->second.counts;
}

bool BudgetLedger::is_healthy(std::string_view budget, std::string_view pod,
                              const client::Mirror& pods) const {
  const auto at = budgets_.find(budget);
  if (at == budgets_.end()) return false;
  const auto noted = noted_.find(pod);
  const api::ObjectPtr counted =
      noted != noted_.end() ? noted->second : pods.find(name_space_, pod);
  return counted != nullptr && is_healthy_pod(*counted) &&
         at->second->second.selector.matches(counted->meta().labels);
}

}  // namespace muster::controllers
