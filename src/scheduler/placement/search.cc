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

Search::Search(const GroupTree& tree, Workspace& workspace, Bounds& bounds, Budget& budget)
    : tree_(tree),
      workspace_(workspace),
      bounds_(bounds),
      budget_(budget),
      symmetry_(tree, workspace),
      kin_(tree.items.size()),
      forced_(tree.items.size(), 0) {
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
  if (budget_.is_spent() || is_hopeless(todo)) return false;
  // A state that failed will fail again: its future depends on nothing but what it holds. But a
  // twin that has its place limits the other's choice, which the state does not say: such states
  // are neither looked up nor remembered. Nor is a failure of which the budget may be the cause.
  bool is_limited = false;
  for (const Task* task = todo; task != nullptr; task = task->next)
    is_limited |= task->twin != nullptr && task->twin->ranked != nullptr;
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
    budget_.work += 1 + workspace_.topology().node_count(domain) / 4;
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
    if (compares && rank + 1 < ranked.size())
      if (auto alike = signature(domain); !alike.empty()) failed.insert(std::move(alike));
  }
  task.ranked = nullptr;
  return false;
}

bool Search::place_in(const Task& task, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[task.item];
  if (item.is_leaf()) return needed(task.item) == 0 ? solve(task.next) : pack(task, domain);
  std::vector<std::uint32_t> easiest = item.children;
  std::map<std::uint32_t, double> hard;
  for (const std::uint32_t child : item.children) hard[child] = hardness(child, domain);
  std::ranges::stable_sort(easiest, [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(hard[a], kin_[a]) < std::pair(hard[b], kin_[b]);
  });
  std::vector<std::uint32_t> chosen;
  for (const std::uint32_t child : item.children)
    if (forced_[child]) chosen.push_back(child);
  return choose_children(task, domain, easiest, 0, chosen);
}

bool Search::choose_children(const Task& task, const Domain& domain,
                             const std::vector<std::uint32_t>& easiest, std::size_t from,
                             std::vector<std::uint32_t>& chosen) {
  if (static_cast<std::int64_t>(chosen.size()) >= tree_.items[task.item].minimum)
    return place_children(task, domain, chosen);
  for (std::size_t at = from; at < easiest.size(); ++at) {
    if (budget_.is_spent()) return false;
    const std::uint32_t child = easiest[at];
    if (forced_[child] || !bounds_.can_meet_minimum(child, domain)) continue;
    // As good as its twin, which was just left out: every plan with this one is a plan with that.
    if (at > from && are_twins(easiest[at - 1], child)) continue;
    chosen.push_back(child);
    const bool placed = choose_children(task, domain, easiest, at + 1, chosen);
    chosen.pop_back();
    if (placed) return true;
  }
  return false;
}

bool Search::place_children(const Task& task, const Domain& domain,
                            const std::vector<std::uint32_t>& chosen) {
  std::vector<std::pair<double, std::uint32_t>> hardest;
  for (const std::uint32_t child : chosen) hardest.emplace_back(hardness(child, domain), child);
  std::ranges::stable_sort(hardest, [&](const auto& a, const auto& b) {
    return std::tuple(-a.first, kin_[a.second], a.second) <
           std::tuple(-b.first, kin_[b.second], b.second);
  });
  std::vector<Task> tasks(hardest.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i] = {.item = hardest[i].second, .within = &domain};
    tasks[i].next = i + 1 < tasks.size() ? &tasks[i + 1] : task.next;
    if (i > 0 && are_twins(tasks[i - 1].item, tasks[i].item)) tasks[i].twin = &tasks[i - 1];
  }
  return solve(tasks.empty() ? task.next : &tasks.front());
}

bool Search::are_twins(std::uint32_t a, std::uint32_t b) const {
  return kin_[a] == kin_[b] && !forced_[a] && !forced_[b];
}

// How much of the domain's scarcest resource the group's minimum takes.
double Search::hardness(std::uint32_t id, const Domain& domain) {
  const std::vector<std::int64_t>& least = bounds_.demand(id);
  const Workspace::Totals totals = workspace_.totals(domain);
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
  if (width_ == Width::Full) return packing.every_way();
  is_exhaustive_ = false;
  return false;
}

std::int64_t Search::needed(std::uint32_t item) const {
  return std::max<std::int64_t>(tree_.items[item].missing(), forced_[item] ? 1 : 0);
}

// What the future of a state depends on: the tasks with their domains, and what the moves since the
// search began have taken, by node. Nodes of one kind were alike then and are in one cell, so pods
// that are counted by kind may stand on any of them. If all pods of the tree are of one class, only
// how many are in each cell matters. Without exact caps no node is like another, and the node
// itself is the kind. The memory compares whole states, never hashes: it is part of a proof.
Search::State Search::state_of(const Task& todo) const {
  State state;
  for (const Task* task = &todo; task != nullptr; task = task->next) {
    state.push_back(task->item);
    // The domains that a task may be confined to are disjoint, or one begins with the other: the
    // first cell and their number identify one. Domains that plugins generate overlap in any way:
    // each is known by where its list of cells is.
    state.push_back(task->within->cells.empty()
                        ? 0
                        : static_cast<std::uint32_t>(index_of(task->within->cells.front())));
    state.push_back(static_cast<std::uint32_t>(task->within->cells.size()));
    if (!workspace_.topology().has_generated()) continue;
    const auto at = reinterpret_cast<std::uintptr_t>(task->within->cells.data());
    state.push_back(static_cast<std::uint32_t>(at));
    state.push_back(static_cast<std::uint32_t>(at >> 32U));
  }
  state.push_back(static_cast<std::uint32_t>(-1));
  std::map<NodeId, std::map<ClassId, std::uint32_t>> on_node;
  std::map<CellId, std::uint32_t> in_cell;
  const auto moves = workspace_.draft().moves();
  for (std::size_t m = moves_before_; m < moves.size(); ++m) {
    if (is_one_class_)
      ++in_cell[workspace_.topology().cell_of(moves[m].node)];
    else
      ++on_node[moves[m].node][moves[m].pods->id];
  }
  for (const auto& [cell, count] : in_cell) {
    state.push_back(static_cast<std::uint32_t>(index_of(cell)));
    state.push_back(count);
  }
  std::vector<State> nodes;
  for (const auto& [node, counts] : on_node) {
    State& entry = nodes.emplace_back();
    entry.push_back(counts_exactly_ ? symmetry_.known_kind(node)
                                    : static_cast<std::uint32_t>(index_of(node)));
    for (const auto& [pods, count] : counts) {
      entry.push_back(static_cast<std::uint32_t>(index_of(pods)));
      entry.push_back(count);
    }
    entry.push_back(static_cast<std::uint32_t>(-1));
  }
  std::ranges::sort(nodes);
  for (const State& entry : nodes) state.insert(state.end(), entry.begin(), entry.end());
  return state;
}

}  // namespace muster::scheduler
