#include "scheduler/placement/search.h"

#include <algorithm>
#include <tuple>

#include "base/saturating.h"

namespace muster::scheduler {
namespace {

// With more pods than this, going over every way to place them would not end within any budget.
constexpr std::int64_t kPodsMaxForEveryWay = 400;
// Each group to be placed takes a few frames of the stack; with more groups it could overflow.
constexpr std::size_t kGroupsMax = 500;
// Bounding every waiting task is worth it while there are few.
constexpr int kTasksBoundedMax = 32;

}  // namespace

Search::Search(const GroupTree& tree, Workspace& workspace, Bounds& bounds, Budget& budget,
               std::size_t remembered_bytes_max)
    : tree_(tree),
      workspace_(workspace),
      bounds_(bounds),
      budget_(budget),
      symmetry_(tree, workspace),
      kin_(tree.items.size()),
      forced_(tree.items.size(), 0),
      failed_(remembered_bytes_max) {
  for (std::size_t c = 0; c < tree.standings.size(); ++c)
    counts_exactly_ &= workspace.counts_exactly(c);
  is_one_class_ = counts_exactly_ && tree.standings.size() == 1;

  // Children first. Two groups are of one kin if they need as many pods of the same classes under
  // the same key, and their children are of the same kins. A group with running members is its own.
  std::map<std::vector<std::int64_t>, std::uint32_t> known;
  for (std::size_t id = tree.items.size(); id-- > 0;) {
    const GroupTree::Item& item = tree.items[id];
    std::vector<std::int64_t> looks{
        item.is_leaf() ? item.missing() : -item.minimum,
        item.key ? static_cast<std::int64_t>(*item.key) : -1,
        item.preferred ? static_cast<std::int64_t>(*item.preferred) : -1, item.insists ? 1 : 0};
    if (item.has_unlabelled || !item.pinned_to.empty() || !item.prefers_at.empty())
      looks.push_back(-1 - static_cast<std::int64_t>(id));  // like no other
    looks.insert(looks.end(), item.classes_below.begin(), item.classes_below.end());
    std::vector<std::uint32_t> children;
    for (const std::uint32_t child : item.children) children.push_back(kin_[child]);
    std::ranges::sort(children);
    looks.insert(looks.end(), children.begin(), children.end());
    kin_[id] =
        known.emplace(std::move(looks), static_cast<std::uint32_t>(known.size())).first->second;
  }
}

SearchResult Search::place_minimum(std::uint32_t item, const Domain& within,
                                   std::optional<std::uint32_t> forced) {
  std::ranges::fill(forced_, 0);
  if (forced)
    for (std::uint32_t up = *forced;; up = tree_.items[up].parent) {
      forced_[up] = 1;
      if (up == item || up == 0) break;
    }
  if (group_count(item) > kGroupsMax) return SearchResult::Unresolved;
  // Half of what is left goes to either width; a quick search that comes to its end leaves more.
  const Budget whole = budget_;
  budget_.steps_max =
      budget_.steps + (whole.steps_max - std::min(whole.steps, whole.steps_max)) / 2;
  budget_.work_max = budget_.work + (whole.work_max - std::min(whole.work, whole.work_max)) / 2;
  const bool found = run(item, within, Width::Quick);
  const bool was_spent = budget_.is_spent();
  budget_.steps_max = whole.steps_max;
  budget_.work_max = whole.work_max;
  if (found) return SearchResult::Feasible;
  if (!was_spent && is_exhaustive_ && counts_exactly_) return SearchResult::Infeasible;
  if (tree_.items[item].queued_below > kPodsMaxForEveryWay) return SearchResult::Unresolved;
  if (run(item, within, Width::Full)) return SearchResult::Feasible;
  return budget_.is_spent() || !is_exhaustive_ || !counts_exactly_ ? SearchResult::Unresolved
                                                                   : SearchResult::Infeasible;
}

std::size_t Search::group_count(std::uint32_t item) const {
  std::size_t count = 1;
  for (const std::uint32_t child : tree_.items[item].children) count += group_count(child);
  return count;
}

bool Search::run(std::uint32_t item, const Domain& within, Width width) {
  width_ = width;
  is_exhaustive_ = true;
  moves_before_ = workspace_.draft().moves().size();
  symmetry_.clear_kinds();
  failed_.clear();
  found_.clear();
  const Task task{.item = item, .within = &within};
  return solve(&task);
}

bool Search::solve(const Task* todo) {
  if (todo == nullptr) return true;
  if (budget_.is_spent()) return false;
  // A state that failed will fail again: its future depends on nothing but what it holds. But a
  // twin that has its place limits the other's choice, which the state does not say: such states
  // are neither looked up nor remembered. Nor is a failure of which the budget may be the cause.
  bool is_limited = false;
  std::size_t tasks = 0;
  for (const Task* task = todo; task != nullptr; task = task->next, ++tasks)
    is_limited |= task->twin != nullptr && task->twin->ranked != nullptr;
  budget_.walk(tasks);
  if (is_hopeless(todo)) return false;
  if (is_limited) return place(*todo);
  State state = state_of(*todo);
  if (failed_.contains(state)) return false;
  if (place(*todo)) return true;
  if (!budget_.is_spent()) failed_.insert(std::move(state));
  return false;
}

// Whether the minimums to come, each alone or all together, exceed what is left. Tasks further on
// are those of the parents' siblings, whose domain holds that of every task before them: when the
// domain widens, all that was summed up so far must fit into it together. Demands are lower bounds
// and totals upper ones, so true is a proof.
bool Search::is_hopeless(const Task* todo) {
  std::vector<std::int64_t> sum(workspace_.tracked().size() + 1, 0);
  int bounded = 0;
  for (const Task* task = todo; task != nullptr; task = task->next) {
    if (bounded++ < kTasksBoundedMax && !bounds_.can_meet_minimum(task->item, *task->within))
      return true;
    const std::vector<std::int64_t>& least = bounds_.demand(task->item);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = saturating_add(sum[i], least[i]);
    if (task->next != nullptr && task->next->within == task->within) continue;
    const Workspace::Totals totals = workspace_.totals(*task->within);
    budget_.work += 1 + task->within->cells.size() / 8;
    if (sum.back() > totals.slots) return true;
    for (std::size_t t = 0; t < totals.amounts.size(); ++t)
      if (sum[t] > totals.amounts[t].free) return true;
    if (is_one_class_ && sum.back() > workspace_.cap_sum(0, *task->within)) return true;
  }
  return false;
}

// The tightest first: it leaves the roomy ones to those who need them. Of a preferred key, as few
// domains as possible.
std::vector<Domain> Search::ranked_domains(const Task& task) {
  const std::span<const Domain> domains = bounds_.candidates(task.item, *task.within);
  if (domains.size() < 2) return {domains.begin(), domains.end()};
  std::vector<std::tuple<std::uint32_t, std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < domains.size(); ++i)
    if (bounds_.meets_in(task.item, domains[i]))
      order.emplace_back(domains[i].parts, bounds_.fits_in(task.item, domains[i]), i);
  std::ranges::sort(order);
  std::vector<Domain> ranked;
  ranked.reserve(order.size());
  for (const auto& [parts, at_most, i] : order) ranked.push_back(domains[i]);
  return ranked;
}

bool Search::place(const Task& task) {
  const GroupTree::Item& item = tree_.items[task.item];
  // Twins take their domains in one order, none before the other's: exchanging the places of two
  // groups that differ in name only changes nothing, so one order of them stands for all.
  std::vector<Domain> own;
  if (task.twin == nullptr) own = ranked_domains(task);
  const std::vector<Domain>& ranked = task.twin == nullptr ? own : *task.twin->ranked;
  std::set<Symmetry::Signature> failed;
  const auto signature = [&](const Domain& domain) {
    // A node costs more if there are many classes to ask it about.
    const std::size_t width =
        std::max<std::size_t>(16, 1 + workspace_.tracked().size() + tree_.standings.size());
    budget_.work += 1 + workspace_.topology().node_count(domain) * width / 64;
    return symmetry_.of_domain(domain, *item.confining_key());
  };
  // Domains that overlap cannot be exchanged.
  const bool is_disjoint = item.confining_key() && (!item.preferred || item.insists) &&
                           !workspace_.topology().is_generated(*item.confining_key());
  const bool compares = is_disjoint && counts_exactly_;
  for (std::size_t rank = task.twin == nullptr ? 0 : task.twin->rank; rank < ranked.size();
       ++rank) {
    const Domain& domain = ranked[rank];
    if (!bounds_.meets_in(task.item, domain)) continue;
    // A domain that is as good as one that failed fails too: exchange the two in any plan.
    if (compares && !failed.empty() && failed.contains(signature(domain))) continue;
    if (!budget_.step()) break;
    Draft::Checkpoint undo = workspace_.draft().checkpoint();
    task.ranked = &ranked;
    task.rank = rank;
    if (place_in(task, domain)) {
      found_.emplace_back(task.item, domain);
      undo.keep();
      return true;
    }
    undo.undo();
    if (budget_.is_spent()) break;
    if (compares && rank + 1 < ranked.size())
      if (auto alike = signature(domain); !alike.empty()) failed.insert(std::move(alike));
  }
  task.ranked = nullptr;
  return false;
}

bool Search::place_in(const Task& task, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[task.item];
  if (item.is_leaf()) return needed(task.item) == 0 ? solve(task.next) : pack(task, domain);
  Choice choice{.task = task, .domain = domain};
  const Workspace::Totals totals = workspace_.totals(domain);
  budget_.walk(domain.cells.size() + item.children.size());
  for (const std::uint32_t child : item.children) {
    const Child one{.item = child, .hardness = hardness(child, totals)};
    choice.easiest.push_back(one);
    if (forced_[child]) choice.chosen.push_back(one);
  }
  std::ranges::stable_sort(choice.easiest, [&](const Child& a, const Child& b) {
    return std::pair(a.hardness, kin_[a.item]) < std::pair(b.hardness, kin_[b.item]);
  });
  return choose_children(choice, 0);
}

bool Search::choose_children(Choice& choice, std::size_t from) {
  if (static_cast<std::int64_t>(choice.chosen.size()) >= tree_.items[choice.task.item].minimum)
    return place_children(choice);
  for (std::size_t at = from; at < choice.easiest.size(); ++at) {
    if (budget_.is_spent()) return false;
    const Child child = choice.easiest[at];
    if (forced_[child.item] || !bounds_.can_meet_minimum(child.item, choice.domain)) continue;
    // As good as its twin, which was just left out: every plan with this one is a plan with that.
    if (at > from && are_twins(choice.easiest[at - 1].item, child.item)) continue;
    choice.chosen.push_back(child);
    const bool placed = choose_children(choice, at + 1);
    choice.chosen.pop_back();
    if (placed) return true;
  }
  return false;
}

bool Search::place_children(const Choice& choice) {
  budget_.walk(choice.chosen.size());
  std::vector<Child> hardest = choice.chosen;
  std::ranges::stable_sort(hardest, [&](const Child& a, const Child& b) {
    return std::tuple(-a.hardness, kin_[a.item], a.item) <
           std::tuple(-b.hardness, kin_[b.item], b.item);
  });
  std::vector<Task> tasks(hardest.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i] = {.item = hardest[i].item, .within = &choice.domain};
    tasks[i].next = i + 1 < tasks.size() ? &tasks[i + 1] : choice.task.next;
    if (i > 0 && are_twins(tasks[i - 1].item, tasks[i].item)) tasks[i].twin = &tasks[i - 1];
  }
  return solve(tasks.empty() ? choice.task.next : &tasks.front());
}

bool Search::are_twins(std::uint32_t a, std::uint32_t b) const {
  return kin_[a] == kin_[b] && !forced_[a] && !forced_[b];
}

// How much of a domain's scarcest resource the group's minimum takes. Moves do not change it: it
// depends on what the domain has, not on what is left.
double Search::hardness(std::uint32_t id, const Workspace::Totals& totals) {
  const std::vector<std::int64_t>& least = bounds_.demand(id);
  double hardest = 0;
  for (std::size_t t = 0; t + 1 < least.size(); ++t)
    if (totals.amounts[t].allocatable > 0)
      hardest = std::max(hardest, static_cast<double>(least[t]) /
                                      static_cast<double>(totals.amounts[t].allocatable));
  return hardest;
}

// A quick search that gives up a leaf has not looked everywhere, and can prove nothing by failing.
bool Search::pack(const Task& task, const Domain& domain) {
  Packing packing(
      {.tree = tree_,
       .workspace = workspace_,
       .budget = budget_,
       .symmetry = symmetry_,
       .counts_exactly = counts_exactly_,
       .is_one_class = is_one_class_},
      task.item, needed(task.item), domain,
      task.next == nullptr ? Packing::Rest() : [&] { return solve(task.next); });
  const Packing::Quick quick = packing.quickly();
  if (quick != Packing::Quick::Failed) return quick == Packing::Quick::Placed;
  if (width_ == Width::Full) return !budget_.is_spent() && packing.every_way();
  is_exhaustive_ = false;
  return false;
}

std::int64_t Search::needed(std::uint32_t item) const {
  return std::max<std::int64_t>(tree_.items[item].missing(), forced_[item] ? 1 : 0);
}

}  // namespace muster::scheduler
