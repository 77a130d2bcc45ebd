// Moves on a draft, as a search for a group's nodes makes and undoes them.
#include "scheduler/framework/standings.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/placer.h"
#include "scheduler/placement/workspace.h"
#include "twin/comparison.h"

namespace muster::scheduler::twin {
namespace {

class Play {
 public:
  Play(World& world, const Script& script) : script_(script), world_(world) {
    group_.key = {GroupKind::PodGroup, "default", "g"};
    group_.topology_key = "zone";
    for (const PodSample& pod : script.pods) group_.pods.push_back({pod.make(), 0, {}});
    before_.push_back(world_.naive);
  }

  std::string run() {
    if (world_.naive.nodes.empty() || script_.pods.empty()) return "";
    const GroupTree tree(group_, world_.cluster, Standings::of(world_.cluster, world_.profile));
    Workspace workspace(world_.cluster, *tree.topology, tree.standings);
    std::vector<std::unique_ptr<Draft::Checkpoint>> marks;
    std::string wrong = compare_all(tree, workspace);
    for (const Move& move : script_.moves) {
      if (!wrong.empty()) break;
      if (move.kind == Move::Kind::Mark)
        marks.push_back(std::make_unique<Draft::Checkpoint>(workspace.draft()));
      else if (move.kind == Move::Kind::Undo && !marks.empty())
        marks.pop_back();
      else if (move.kind == Move::Kind::Place)
        wrong = place(move, tree, workspace);
      forget_undone(workspace);
      if (wrong.empty()) wrong = compare_all(tree, workspace);
    }
    while (!marks.empty()) marks.pop_back();
    return wrong;
  }

 private:
  // The best node of the zone by the product must be the twin's.
  std::string place(const Move& move, const GroupTree& tree, Workspace& workspace) {
    const std::size_t member = move.shape % tree.members.size();
    const std::uint32_t class_index = tree.members[member].class_index;
    const api::ObjectPtr& pod = tree.members[member].pending->pod;
    Domain domain = tree.topology->everywhere();
    if (!move.zone.empty()) {
      Domain chosen;
      for (const Domain& candidate : tree.topology->split(domain, 0))
        if (candidate.name == move.zone) chosen = candidate;
      domain = chosen;
    }
    const auto is_inside = [&](const api::Object& node) {
      const std::string* value = api::lookup(node.meta().labels, "zone");
      return move.zone.empty() || (value != nullptr && *value == move.zone);
    };
    const auto want = best_of(world_.naive.totals(*pod, is_inside));
    Arena arena(workspace, domain);
    const std::optional<NodeId> got = arena.pick(class_index);
    EXPECT_SAME(got.has_value(), want.has_value(), "{} finds a node in \"{}\"", pod->meta().name,
                move.zone);
    if (!got) return "";
    const std::string& chosen = world_.cluster.node_name(*got);
    if (world_.naive.nominated.empty())
      EXPECT_SAME(chosen, want->first, "pick for {} in \"{}\"", pod->meta().name, move.zone);
    EXPECT_SAME(world_.naive.filter(*pod, chosen).reasons.empty(), true, "{} accepts {}", chosen,
                pod->meta().name);
    for (const NodeId node : arena.nodes())
      EXPECT_SAME(arena.is_feasible(class_index, node),
                  tree.standings[class_index]->is_feasible_now(node), "{} feasible in the arena",
                  world_.cluster.node_name(node));
    workspace.place(class_index, *got, static_cast<std::uint32_t>(before_.size() - 1));
    // The twin counts copies under names of their own.
    world_.naive.place_copy(pod, fmt::format("copy-{}", before_.size()), chosen);
    before_.push_back(world_.naive);
    return "";
  }

  void forget_undone(const Workspace& workspace) {
    if (before_.size() == workspace.draft().moves().size() + 1) return;
    before_.resize(workspace.draft().moves().size() + 1);
    world_.naive = before_.back();
  }

  std::string compare_all(const GroupTree& tree, Workspace& workspace) {
    for (const GroupTree::Member& member : tree.members) {
      Standing& standing = *tree.standings[member.class_index];
      if (standing.refused_everywhere()) continue;
      const api::ObjectPtr& pod = member.pending->pod;
      Standing fresh(standing.pods(), world_.profile, world_.cluster);
      fresh.catch_up();
      // What is made in the middle of a draft does not know the pods of its moves.
      Standing* rebuilt = standing.follows_moves() ? nullptr : &fresh;
      std::string wrong = compare_nodes(world_, standing, rebuilt, pod);
      if (!world_.naive.nominated.empty()) {
        if (wrong.empty()) continue;
        return pod->meta().name + ": " + wrong;
      }
      if (wrong.empty()) wrong = compare_filters(world_, standing, *pod);
      if (wrong.empty()) wrong = compare_scores(world_, standing, *pod);
      if (!wrong.empty()) return pod->meta().name + ": " + wrong;
    }
    Domain everywhere = tree.topology->everywhere();
    if (std::string wrong = compare_sums(everywhere, tree, workspace); !wrong.empty()) return wrong;
    for (const Domain& zone : tree.topology->split(everywhere, 0))
      if (std::string wrong = compare_sums(zone, tree, workspace); !wrong.empty()) return wrong;
    return "";
  }

  // What the workspace keeps per cell is the sum over its nodes.
  std::string compare_sums(const Domain& domain, const GroupTree& tree, Workspace& workspace) {
    const Cluster& cluster = world_.cluster;
    const Workspace::Totals totals = workspace.totals(domain);
    std::int64_t slots = 0;
    std::vector<Workspace::Amount> amounts(workspace.tracked().size());
    std::vector<std::int64_t> caps(tree.standings.size(), 0);
    std::vector<const PodClass*> coming;
    for (const Standing* standing : tree.standings) coming.push_back(&standing->pods());
    for (const CellId cell : domain.cells)
      for (const NodeId node : tree.topology->nodes(cell)) {
        slots += std::max<std::int64_t>(0, cluster.pod_slots()[node] - cluster.pods_on()[node]);
        for (std::size_t t = 0; t < amounts.size(); ++t) {
          const ResourceColumns& columns = cluster.resource(workspace.tracked()[t]);
          amounts[t].free +=
              std::max<std::int64_t>(0, columns.allocatable[node] - columns.requested[node]);
          amounts[t].allocatable += columns.allocatable[node];
          amounts[t].used += t == 0   ? cluster.nonzero_cpu()[node]
                             : t == 1 ? cluster.nonzero_memory()[node]
                                      : columns.requested[node];
        }
        for (std::size_t s = 0; s < caps.size(); ++s) {
          // Pods that want somebody near them who neither runs nor comes fit nowhere, whatever room
          // there is.
          const Standing& standing = *tree.standings[s];
          const std::int32_t cap = standing.may_fit(coming) ? standing.cap_now(node) : 0;
          caps[s] += cap;
          EXPECT_SAME(workspace.cap(s, node), cap, "cap of {}", cluster.node_name(node));
          EXPECT_SAME(standing.may_fit(coming) || !standing.is_feasible_now(node), true,
                      "{} takes nobody who waits for others in vain", cluster.node_name(node));
        }
      }
    EXPECT_SAME(totals.slots, slots, "slots of \"{}\"", domain.name);
    for (std::size_t t = 0; t < amounts.size(); ++t) {
      EXPECT_SAME(totals.amounts[t].free, amounts[t].free, "free in \"{}\"", domain.name);
      EXPECT_SAME(totals.amounts[t].used, amounts[t].used, "used in \"{}\"", domain.name);
      EXPECT_SAME(totals.amounts[t].allocatable, amounts[t].allocatable, "all of \"{}\"",
                  domain.name);
    }
    for (std::size_t s = 0; s < caps.size(); ++s) {
      // Limits of several nodes together make a domain take less than its nodes do one by one.
      const std::int64_t sum = workspace.cap_sum(s, domain);
      const bool is_limited = tree.standings[s]->has_domain_caps();
      EXPECT_SAME(is_limited ? sum <= caps[s] : sum == caps[s], true,
                  "caps of \"{}\" are {}, of its nodes {}", domain.name, sum, caps[s]);
    }
    return "";
  }

  const Script& script_;
  World& world_;
  Group group_;
  std::vector<NaiveScheduler> before_;  // the twin after each move that is not undone
};

}  // namespace

std::string compare_moves(World& world, const Script& script) { return Play(world, script).run(); }

}  // namespace muster::scheduler::twin
