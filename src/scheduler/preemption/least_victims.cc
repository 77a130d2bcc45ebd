#include "scheduler/preemption/least_victims.h"

#include <algorithm>
#include <vector>

#include "base/saturating.h"

namespace muster::scheduler {
namespace {

std::int64_t used_by(const UnitTable::Pod& pod, ResourceId resource) {
  for (const PodClass::Want& used : pod.pods->usage)
    if (used.resource == resource) return used.amount;
  return 0;
}

// How many of these amounts, the largest first, make up for what is missing.
std::int64_t count_to(std::vector<std::int64_t>& amounts, std::int64_t missing) {
  if (missing <= 0) return 0;
  std::ranges::sort(amounts, std::greater{});
  std::int64_t count = 0;
  for (; missing > 0 && count < std::ssize(amounts); ++count)
    missing -= amounts[static_cast<std::size_t>(count)];
  return count;
}

class LeastVictims {
 public:
  LeastVictims(const GroupTree& tree, Workspace& workspace, const UnitTable& table, bool all)
      : workspace_(workspace), table_(table), bounds_(tree, workspace, looking_) {
    const GroupTree::Item& root = tree.items.front();
    if (!all) {
      need_ = bounds_.demand(0);
      return;
    }
    need_.assign(workspace.tracked().size() + 1, 0);
    for (std::size_t c = 0; c < tree.standings.size(); ++c) {
      for (std::size_t t = 0; t < workspace.tracked().size(); ++t)
        need_[t] = saturating_add(
            need_[t], saturating_multiply(root.classes_below[c], workspace.wanted(c, t)));
      need_.back() += root.classes_below[c];
    }
    if (tree.standings.size() == 1 && workspace.counts_exactly(0)) pods_ = root.queued_below;
  }

  std::int64_t run() {
    std::int64_t least = INT64_MAX;
    const Domain everywhere = workspace_.topology().everywhere();
    for (const Domain& domain : bounds_.candidates(0, everywhere))
      least = std::min(least, in(domain));
    return std::max<std::int64_t>(1, least == INT64_MAX ? 1 : least);
  }

 private:
  // Of the sums: what is missing to the demand must be freed by somebody.
  std::int64_t in(const Domain& domain) {
    std::vector<const UnitTable::Pod*> pods;
    for (const CellId cell : domain.cells)
      for (const NodeId node : workspace_.topology().nodes(cell))
        for (const std::uint32_t pod : table_.on(node)) pods.push_back(&table_.pods()[pod]);
    const Workspace::Totals totals = workspace_.totals(domain);
    std::vector<std::int64_t> amounts(pods.size(), 1);
    std::int64_t least = count_to(amounts, need_.back() - totals.slots);
    for (std::size_t t = 0; t < workspace_.tracked().size(); ++t) {
      const std::int64_t missing = need_[t] - totals.amounts[t].free;
      if (missing <= 0) continue;
      amounts.clear();
      for (const UnitTable::Pod* pod : pods)
        amounts.push_back(used_by(*pod, workspace_.tracked()[t]));
      least = std::max(least, count_to(amounts, missing));
    }
    return pods_ == 0 ? least : std::max(least, by_nodes(domain));
  }

  // Of single nodes, for pods of one class: so many evictions on a node make room for so many more
  // at most. The steepest parts of the upper hull of each node's curve are taken first, whatever
  // node they are on, and the last one in part: no choice of evictions gains more with fewer.
  struct Part {
    std::int64_t evictions;
    std::int64_t gain;
  };
  std::int64_t by_nodes(const Domain& domain) {
    std::int64_t missing = pods_ - workspace_.cap_sum(0, domain);
    if (missing <= 0) return 0;
    std::vector<Part> parts;
    for (const CellId cell : domain.cells)
      for (const NodeId node : workspace_.topology().nodes(cell)) add_parts(node, parts);
    std::ranges::stable_sort(parts, [](const Part& a, const Part& b) {
      return a.gain * b.evictions > b.gain * a.evictions;
    });
    std::int64_t evictions = 0;
    for (const Part& part : parts) {
      if (missing <= 0) break;
      // Of the last part only so much as is needed, rounded up.
      evictions += part.gain >= missing ? (missing * part.evictions + part.gain - 1) / part.gain
                                        : part.evictions;
      missing -= part.gain;
    }
    return evictions;
  }

  void add_parts(NodeId node, std::vector<Part>& parts) {
    const auto pods = table_.on(node);
    if (pods.empty()) return;
    const auto count = static_cast<std::int64_t>(pods.size());
    const Cluster& cluster = workspace_.cluster();
    std::vector<std::int64_t> most(pods.size() + 1, INT64_MAX);  // pods by number of evictions
    for (std::int64_t k = 0; k <= count; ++k)
      most[static_cast<std::size_t>(k)] = cluster.pod_slots()[node] - cluster.pods_on()[node] + k;
    for (const PodClass::Want& want : workspace_.standing(0).pods().wants) {
      std::vector<std::int64_t> amounts;
      for (const std::uint32_t pod : pods)
        amounts.push_back(used_by(table_.pods()[pod], want.resource));
      std::ranges::sort(amounts, std::greater{});
      const ResourceColumns& column = cluster.resource(want.resource);
      std::int64_t free = column.allocatable[node] - column.requested[node];
      for (std::int64_t k = 0; k <= count; ++k) {
        if (k > 0) free += amounts[static_cast<std::size_t>(k - 1)];
        std::int64_t& at_most = most[static_cast<std::size_t>(k)];
        at_most = std::min(at_most, std::max<std::int64_t>(0, free) / want.amount);
      }
    }
    const std::int64_t before = workspace_.cap(0, node);
    for (std::int64_t from = 0; from < count;) {
      // The next corner of the hull: the steepest way on.
      std::int64_t to = from + 1;
      const auto gain = [&](std::int64_t k) {
        return std::max<std::int64_t>(0, most[static_cast<std::size_t>(k)] - before);
      };
      for (std::int64_t k = from + 2; k <= count; ++k)
        if ((gain(k) - gain(from)) * (to - from) > (gain(to) - gain(from)) * (k - from)) to = k;
      if (gain(to) <= gain(from)) break;
      parts.push_back({to - from, gain(to) - gain(from)});
      from = to;
    }
  }

  Workspace& workspace_;
  const UnitTable& table_;
  Budget looking_;
  Bounds bounds_;
  std::vector<std::int64_t> need_;  // per tracked resource, then slots
  std::int64_t pods_ = 0;           // if all are of one class and counting is exact
};

}  // namespace

std::int64_t least_victims(const GroupTree& tree, Workspace& workspace, const UnitTable& table,
                           bool all) {
  return LeastVictims(tree, workspace, table, all).run();
}

}  // namespace muster::scheduler
