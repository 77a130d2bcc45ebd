#include "scheduler/placement/placer.h"

#include <algorithm>
#include <optional>

#include "api/views/pod_view.h"

namespace muster::scheduler {
namespace {

// While upstream's way compares domains, it may put each pod on a node so many times, beyond the
// steps that a search may take.
constexpr std::uint64_t kTriesPerPod = 16;

}  // namespace

SearchResult Placer::run() {
  simulations_.allow(options_.steps_max + kTriesPerPod * tree_.members.size(), options_.work_max);
  const Domain everywhere = workspace_.topology().everywhere();
  if (!bounds_.can_meet_minimum(0, everywhere)) return SearchResult::Infeasible;  // a proof
  {
    Draft::Checkpoint undo = workspace_.draft().checkpoint();
    if (evaluate(0, everywhere) && undo.moves_since() > 0) {
      undo.keep();
      if (options_.mode == PlacementOptions::Mode::Search &&
          std::ranges::any_of(results_, [](GroupResult result) { return !result.placed; })) {
        budget_.allow(options_.steps_max, options_.work_max);
        Search search(tree_, workspace_, bounds_, budget_, options_.remembered_bytes_max);
        for (const std::uint32_t item : add_left_out(search)) place_extras(item);
      }
      return SearchResult::Feasible;
    }
  }
  return options_.mode == PlacementOptions::Mode::Search ? search(everywhere)
                                                         : SearchResult::Unresolved;
}

// --- upstream's way ---

bool Placer::evaluate(std::uint32_t id, const Domain& within) {
  clear_results(id);
  const GroupTree::Item& item = tree_.items[id];
  const std::span<const Domain> domains = bounds_.candidates(id, within);
  if (item.is_leaf()) counts_.generated += domains.size();
  std::chrono::nanoseconds since = start_judging(id);
  if (domains.size() == 1)
    return count(id, bounds_.meets_in(id, domains[0]) && simulate(id, domains[0]), since);
  if (const Domain* kept = promised(id, domains)) {
    if (count(id, bounds_.meets_in(id, *kept) && simulate(id, *kept), since)) return true;
    since = start_judging(id);
  }
  std::vector<Outlook> outlooks;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    if (!item.is_leaf() && !bounds_.meets_in(id, domains[i])) continue;
    const std::int64_t at_most = bounds_.fits_in(id, domains[i]);
    if (item.is_leaf() && !bounds_.meets_with(id, at_most)) continue;
    outlooks.push_back({i, domains[i].parts, at_most, at_most == item.queued_below,
                        has_room_to_grow(id, domains[i])});
  }
  count_refused(id, domains.size() - outlooks.size(), domains.size(), since);
  if (outlooks.empty()) return false;
  if (outlooks.size() > 1) return choose(id, domains, outlooks);
  since = start_judging(id);
  return count(id, simulate(id, domains[outlooks.front().candidate]), since);
}

bool Placer::simulate(std::uint32_t id, const Domain& domain) {
  const bool placed =
      tree_.items[id].is_leaf() ? simulate_leaf(id, domain) : simulate_composite(id, domain);
  if (placed) {
    domains_[id] = domain;
    results_[id].placed = true;
  } else {
    clear_results(id);
  }
  return placed;
}

bool Placer::simulate_leaf(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  if (item.members.empty()) return item.held >= item.minimum;
  Draft::Checkpoint undo = workspace_.draft().checkpoint();
  Arena arena(workspace_, domain);
  simulations_.work += arena.work();
  std::int64_t placed = 0;
  auto remaining = static_cast<std::int64_t>(item.members.size());
  std::vector<char> is_full(tree_.standings.size(), 0);
  for (const std::uint32_t member : item.members) {
    ++simulations_.steps;
    --remaining;
    const std::uint32_t class_index = tree_.members[member].class_index;
    if (!is_full[class_index]) {
      if (const std::optional<NodeId> node = node_for(member, arena)) {
        workspace_.place(class_index, *node, member);
        ++placed;
      } else {
        is_full[class_index] = workspace_.counts_exactly(class_index);
      }
    }
    if (item.held + placed + remaining < item.minimum) return false;
  }
  if (item.held + placed < item.minimum) return false;
  undo.keep();
  return true;
}

// The node that was nominated for the pod, if it is feasible; else the best one.
std::optional<NodeId> Placer::node_for(std::uint32_t member, Arena& arena) {
  const GroupTree::Member& pod = tree_.members[member];
  const std::string& nominated = pod.pending->nominated;
  NodeId node{};
  if (!nominated.empty() && workspace_.cluster().find_node(nominated, node) &&
      arena.is_feasible(pod.class_index, node))
    return node;
  return arena.pick(pod.class_index);
}

bool Placer::simulate_composite(std::uint32_t id, const Domain& domain) {
  const GroupTree::Item& item = tree_.items[id];
  Draft::Checkpoint undo = workspace_.draft().checkpoint();
  std::int64_t ready = 0;
  auto remaining = static_cast<std::int64_t>(item.children.size());
  for (const std::uint32_t child : item.children) {
    if (evaluate(child, domain)) ++ready;
    if (ready + --remaining < item.minimum) return false;
  }
  if (ready < item.minimum) return false;
  undo.keep();
  return true;
}

void Placer::clear_results(std::uint32_t id) {
  results_[id] = {};
  for (const std::uint32_t child : tree_.items[id].children) clear_results(child);
}

// --- where upstream's way fails ---

// Minimums first, everywhere; extras only when every minimum that can has its place (L1-L3).
SearchResult Placer::search(const Domain& everywhere) {
  clear_results(0);
  budget_.allow(options_.steps_max, options_.work_max);
  Search search(tree_, workspace_, bounds_, budget_, options_.remembered_bytes_max);
  Draft::Checkpoint undo = workspace_.draft().checkpoint();
  SearchResult answer = search.place_minimum(0, everywhere);
  if (answer == SearchResult::Feasible && undo.moves_since() == 0)
    answer = search_for_new_pod(search, everywhere);
  if (answer != SearchResult::Feasible) return answer;
  adopt(search);
  add_left_out(search);
  for (std::uint32_t id = 0; id < tree_.items.size(); ++id)
    if (results_[id].placed) place_extras(id);
  undo.keep();
  return answer;
}

// Every minimum is met as things stand, but an attempt succeeds only by a new pod: each leaf in
// turn must get one.
SearchResult Placer::search_for_new_pod(Search& search, const Domain& everywhere) {
  SearchResult answer = SearchResult::Infeasible;
  for (std::uint32_t id = 0; id < tree_.items.size(); ++id) {
    if (tree_.items[id].members.empty() || bounds_.fits_at_most(id, everywhere) == 0) continue;
    const SearchResult here = search.place_minimum(0, everywhere, id);
    if (here == SearchResult::Feasible) return here;
    if (here == SearchResult::Unresolved) answer = here;
    if (budget_.is_spent()) return SearchResult::Unresolved;
  }
  return answer;
}

void Placer::adopt(const Search& search) {
  for (const auto& [id, domain] : search.found()) {
    domains_[id] = domain;
    results_[id] = {.placed = true};
  }
}

// Groups that nobody needed, or that upstream's order failed to place, in the order of the tree.
// Returns those that were placed now.
std::vector<std::uint32_t> Placer::add_left_out(Search& search) {
  std::vector<std::uint32_t> added;
  std::optional<std::uint32_t> failed;  // the last that found no place, and nothing came after it
  for (std::uint32_t id = 1; id < tree_.items.size(); ++id) {
    const std::uint32_t parent = tree_.items[id].parent;
    if (results_[id].placed || !results_[parent].placed) continue;
    if (!bounds_.can_meet_minimum(id, domains_[parent])) continue;
    // Nothing was placed since one like it failed in the same domain: it fails the same way.
    if (failed && tree_.items[*failed].parent == parent && search.are_alike(*failed, id)) {
      results_[id].unresolved = results_[*failed].unresolved;
      continue;
    }
    const SearchResult answer = search.place_minimum(id, domains_[parent]);
    results_[id].unresolved = answer == SearchResult::Unresolved;
    if (answer != SearchResult::Feasible) {
      failed = id;
      continue;
    }
    failed.reset();
    adopt(search);
    for (const auto& [found, domain] : search.found()) added.push_back(found);
  }
  std::ranges::sort(added);
  return added;
}

// With every minimum in its place: the other pods of a leaf, in upstream's order.
void Placer::place_extras(std::uint32_t id) {
  const GroupTree::Item& item = tree_.items[id];
  if (item.members.empty()) return;
  std::vector<char> is_placed(item.members.size(), 0);
  const std::uint32_t first = item.members.front();  // a leaf's members are numbered in a row
  for (const Draft::Move& move : workspace_.draft().moves())
    if (move.tag >= first && move.tag < first + item.members.size())
      is_placed[move.tag - first] = 1;
  if (std::ranges::find(is_placed, 0) == is_placed.end()) return;
  Arena arena(workspace_, domains_[id]);
  for (const std::uint32_t member : item.members) {
    if (is_placed[member - first]) continue;
    const std::uint32_t class_index = tree_.members[member].class_index;
    if (const auto node = arena.pick(class_index)) workspace_.place(class_index, *node, member);
  }
}

// --- what is counted ---

std::chrono::nanoseconds Placer::start_judging(std::uint32_t id) const {
  const bool is_measured = options_.timer != nullptr && tree_.items[id].is_leaf();
  return is_measured ? options_.timer->stopwatch() : std::chrono::nanoseconds{};
}

bool Placer::count(std::uint32_t id, bool is_feasible, std::chrono::nanoseconds since) {
  if (!tree_.items[id].is_leaf()) return is_feasible;
  ++(is_feasible ? counts_.feasible : counts_.infeasible);
  if (options_.timer != nullptr)
    options_.timer->judged(is_feasible, 1, options_.timer->stopwatch() - since);
  return is_feasible;
}

// Of those that were counted through together: so many hold too few.
void Placer::count_refused(std::uint32_t id, std::size_t refused, std::size_t judged,
                           std::chrono::nanoseconds since) {
  if (!tree_.items[id].is_leaf() || refused == 0) return;
  counts_.infeasible += refused;
  if (options_.timer != nullptr)
    options_.timer->judged(
        false, refused, (options_.timer->stopwatch() - since) / static_cast<std::int64_t>(judged));
}

}  // namespace muster::scheduler
