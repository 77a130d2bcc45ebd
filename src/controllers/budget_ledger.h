#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/values/label_selector.h"
#include "client/kit/mirror.h"

namespace muster::controllers {

// The pods of one namespace, as its PodDisruptionBudgets count them. A change of a pod is only
// noted; noted changes are counted in slices, once for all budgets with the same selector, however
// often a pod changed meanwhile.
//
//   put_budget ──▶ book, by selector ──work: goes over the pods──▶ counted
//   pod_changed ──▶ noted ──work: is counted again in every book──▶ names of budgets to look at
class BudgetLedger {
 public:
  // How many comparisons of a pod with a selector one slice makes.
  static constexpr std::size_t kSlice = 4000;
  // How many makers of pods are remembered, counted over all books. Beyond that a book does not
  // know who made its pods.
  static constexpr std::size_t kMakersMax = 200'000;

  // The pods that a selector selects.
  struct Counts {
    std::int64_t pods = 0;
    std::int64_t healthy = 0;
    std::map<std::string, std::int64_t> makers = {};  // pods by the uid of their controller
    bool knows_makers = true;
  };

  explicit BudgetLedger(std::string name_space, std::size_t slice = kSlice,
                        std::size_t makers_max = kMakersMax)
      : name_space_(std::move(name_space)), slice_(slice), makers_max_(makers_max) {}

  // Budgets with equal `text` have the same selector.
  void put_budget(const std::string& name, const std::string& text,
                  const api::LabelSelector& selector);
  void remove_budget(const std::string& name);
  bool empty() const { return budgets_.empty(); }

  // One of them is null if the pod was added or removed.
  void pod_changed(const api::ObjectPtr& before, const api::ObjectPtr& after);
  // What budgets ask about makers has changed: all of them are looked at.
  void makers_changed() { wake_all_ = true; }
  bool has_work() const { return !noted_.empty() || !uncounted_.empty() || wake_all_; }
  // Does a slice of the pending work; returns the budgets to look at. `pods` are those of
  // all namespaces, found by label.
  std::vector<std::string> work(const client::Mirror& pods);

  bool has_budget(std::string_view name) const { return budgets_.find(name) != budgets_.end(); }
  // Null: its pods have not all been counted yet.
  const Counts* counts_of(std::string_view budget) const;
  // Whether a pod of this name is counted as healthy for the budget.
  bool is_healthy(std::string_view budget, std::string_view pod, const client::Mirror& pods) const;

  std::uint64_t steps() const { return steps_; }  // comparisons so far

 private:
  struct Book {
    api::LabelSelector selector;
    std::set<std::string> budgets = {};
    Counts counts = {};
    bool counted = false;           // all pods are
    api::ObjectPtr last = nullptr;  // until then: those up to it by name are
  };
  using Books = std::map<std::string, Book>;  // by text

  bool covers(const Book& book, std::string_view pod) const;
  // True if the book concerns the pod.
  bool count_change(Book& book, const api::ObjectPtr& before, const api::ObjectPtr& after);
  void count(Book& book, const api::Object& pod, std::int64_t sign);
  void count_maker(Counts& counts, const std::string& uid, std::int64_t sign);
  void recount(Books::iterator at);
  bool count_more(Book& book, const client::Mirror& pods, std::uint64_t end);

  const std::string name_space_;
  const std::size_t slice_;
  const std::size_t makers_max_;
  Books books_;
  std::map<std::string, Books::iterator, std::less<>> budgets_;  // by name
  // Pods that changed: by name, the version that books have counted; null: none.
  std::map<std::string, api::ObjectPtr, std::less<>> noted_;
  std::set<std::string> uncounted_;  // texts of books that are not counted
  std::set<std::string> crowded_;    // … that do not know the makers of their pods
  std::size_t makers_ = 0;           // entries of all books
  bool wake_all_ = false;
  std::uint64_t steps_ = 0;
};

}  // namespace muster::controllers
