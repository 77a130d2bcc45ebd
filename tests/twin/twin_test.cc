// The product against its naive twin, on random clusters, random pods and random histories. A
// failure prints its seed and the simplest script that still fails; run one seed with
// MUSTER_TWIN_SEED=<seed>.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "scheduler/cycle/attempt.h"
#include "scheduler/framework/standings.h"
#include "scheduler/placement/group_tree.h"
#include "scheduler/placement/placer.h"
#include "scheduler/placement/workspace.h"
#include "twin/script.h"
#include "twin/seeds.h"

namespace muster::scheduler::twin {
namespace {

// What is wrong with a script; empty: nothing.
using Property = std::string (*)(const Script&);

void for_scripts(Seeds seeds, Property property) {
  for_seeds(seeds, [&](std::uint64_t seed) {
    Script script = random_script(seed);
    if (property(script).empty()) return;
    for (bool found = true; found;) {
      found = false;
      for (Script& simple : simpler(script))
        if (!property(simple).empty()) {
          script = std::move(simple);
          found = true;
          break;
        }
    }
    FAIL() << property(script) << "\n" << script.text();
  });
}

#define EXPECT_SAME(ours, theirs, ...)                       \
  if (const auto& our_value = (ours); our_value != (theirs)) \
  return fmt::format("{}: product {}, twin {}", fmt::format(__VA_ARGS__), our_value, (theirs))

// --- one class of pods, pass by pass ---

// Every filter by itself: whole columns, one row, and the twin's word for it.
std::string compare_filters(World& world, const Standing& standing, const api::Object& pod) {
  std::map<std::string, std::vector<NaiveScheduler::Verdict>> wanted;
  for (const auto& [name, object] : world.naive.nodes)
    wanted[name] = world.naive.filters(pod, name);
  for (const Standing::NamedFilter& filter : standing.filters()) {
    NodeSet kept = world.cluster.nodes();
    filter.pass->narrow(kept);
    CapColumn caps;
    caps.resize(world.cluster.rows());
    caps.fill(kNoCap);
    filter.pass->cap(caps);
    for (const auto& [name, verdicts] : wanted) {
      NodeId node{};
      if (!world.cluster.find_node(name, node)) return "no node " + name;
      const auto want =
          std::ranges::find(verdicts, std::string(filter.name), &NaiveScheduler::Verdict::plugin);
      const bool accepts = want == verdicts.end() || want->reasons.empty();
      EXPECT_SAME(filter.pass->admits(node), accepts, "{} admits {}", filter.name, name);
      EXPECT_SAME(kept.contains(node), accepts, "{} keeps {}", filter.name, name);
      EXPECT_SAME(filter.pass->ask(node).accepted(), accepts, "{} asked of {}", filter.name, name);
      const std::int32_t cap = filter.pass->cap_at(node);
      // What a filter that follows moves refuses now, it may accept after others.
      const bool may_change = filter.pass->follows_moves() && !accepts;
      EXPECT_SAME(may_change || (cap > 0) == accepts, true, "{} cap at {}", filter.name, name);
      EXPECT_SAME(
          filter.pass->admits_row(node) && filter.pass->admits_place(filter.pass->place(node)),
          accepts, "{} by row and place of {}", filter.name, name);
      if (accepts) EXPECT_SAME(caps[node], cap, "{} caps, column and row of {}", filter.name, name);
    }
  }
  return "";
}

std::string compare_scores(World& world, const Standing& standing, const api::Object& pod) {
  std::map<std::string, std::map<std::string, std::int64_t>> wanted;
  for (const auto& [name, object] : world.naive.nodes)
    if (world.naive.filter(pod, name).reasons.empty()) wanted[name] = world.naive.scores(pod, name);
  for (const Standing::NamedScore& score : standing.scores()) {
    Column<std::int32_t> totals;
    totals.resize(world.cluster.rows());
    totals.fill(0);
    score.pass->add_local(1, totals);
    for (auto& [name, scores] : wanted) {
      NodeId node{};
      world.cluster.find_node(name, node);
      const std::int64_t want = scores[std::string(score.name)];
      // Raw scores of passes that follow moves mean something only once they are normalized:
      // totals are compared.
      if (score.pass->follows_moves()) continue;
      if (score.pass->form() == ScorePass::Form::Raw) {
        EXPECT_SAME(score.pass->raw(node), want, "{} of {}", score.name, name);
        continue;
      }
      EXPECT_SAME(score.pass->local(node), want, "{} of {}", score.name, name);
      EXPECT_SAME(std::int64_t{totals[node]}, want, "{} of {}, by column", score.name, name);
    }
  }
  return "";
}

// Ties go to the first by name.
std::optional<std::pair<std::string, std::int64_t>> best_of(
    const std::map<std::string, std::int64_t>& totals) {
  std::optional<std::pair<std::string, std::int64_t>> best;
  for (const auto& [name, total] : totals)
    if (!best || total > best->second) best = {name, total};
  return best;
}

// What all passes say together, node by node, against the twin and against a freshly built
// standing.
std::string compare_nodes(World& world, Standing& standing, Standing* fresh,
                          const api::ObjectPtr& asking) {
  const api::Object& pod = *asking;
  for (const auto& [name, object] : world.naive.nodes) {
    NodeId node{};
    world.cluster.find_node(name, node);
    const NaiveScheduler::Verdict want = world.naive.filter(pod, name);
    const Standing::Answer got = standing.ask(node);
    const std::vector<std::string> reasons(got.verdict.reasons().begin(),
                                           got.verdict.reasons().end());
    EXPECT_SAME(reasons, want.reasons, "reasons of {}", name);
    EXPECT_SAME(std::string(got.plugin), want.plugin, "who refuses {}", name);
    if (!want.reasons.empty())
      EXPECT_SAME(got.verdict.remedy() == Remedy::None, want.unresolvable, "remedy of {}", name);
    EXPECT_SAME(standing.is_feasible_now(node), want.reasons.empty(), "feasible is {}", name);
    const std::int64_t cap = standing.cap_now(node);
    const std::int64_t copies = world.naive.cap(asking, name);
    const bool is_exact = standing.cap_exactness() == Exactness::PerNode;
    EXPECT_SAME(is_exact ? cap == copies : cap >= copies, true, "cap of {} is {}, fits {}", name,
                cap, copies);
    if (fresh == nullptr) continue;
    EXPECT_SAME(standing.key_now(node), fresh->key_kept(node), "key of {}, and rebuilt", name);
    EXPECT_SAME(standing.cap_now(node), fresh->caps()[node], "cap of {}, and rebuilt", name);
  }
  return "";
}

std::string compare(World& world, const api::ObjectPtr& pod) {
  Standing& standing = Standings::of(world.cluster, world.profile).of_pod(pod);
  Standing fresh(world.cluster.class_of(pod), world.profile, world.cluster);
  fresh.catch_up();
  if (std::string wrong = compare_filters(world, standing, *pod); !wrong.empty()) return wrong;
  if (std::string wrong = compare_scores(world, standing, *pod); !wrong.empty()) return wrong;
  const bool everywhere = standing.refused_everywhere().has_value();
  if (!everywhere)
    if (std::string wrong = compare_nodes(world, standing, &fresh, pod); !wrong.empty())
      return wrong;
  // What was caught up row by row is what is true now.
  for (const auto& [name, object] : world.naive.nodes) {
    NodeId node{};
    world.cluster.find_node(name, node);
    EXPECT_SAME(standing.key_kept(node), standing.key_now(node), "kept key of {}", name);
    EXPECT_SAME(standing.caps()[node], standing.cap_now(node), "kept cap of {}", name);
  }
  const auto want = best_of(world.naive.totals(*pod));
  const auto got = standing.pick();
  EXPECT_SAME(got.has_value(), want.has_value(), "some node is picked");
  if (got) {
    EXPECT_SAME(world.cluster.node_name(got->node), want->first, "pick");
    EXPECT_SAME(got->total, want->second, "total of {}", want->first);
    EXPECT_SAME(fresh.pick()->node == got->node, true, "pick rebuilt");
  } else if (!world.naive.nodes.empty() && standing.narrowing().empty() && !everywhere) {
    const Plan plan = attempt_pod({pod, 0, {}}, world.cluster, world.profile);
    EXPECT_SAME(plan.refusals.at(0).message, world.naive.fit_error(*pod), "fit error");
  }
  return "";
}

TEST(Twin, LonePodsAreDecidedAsTheReferenceSays) {
  for_scripts({.first = 1, .count = 250}, [](const Script& script) -> std::string {
    World world;
    std::vector<api::ObjectPtr> pods;
    for (const PodSample& pod : script.pods) pods.push_back(pod.make());
    for (const Change& change : script.history) {
      world.apply(change);
      if (change.kind == Change::Kind::Look)
        for (const api::ObjectPtr& pod : pods)
          if (std::string wrong = compare(world, pod); !wrong.empty())
            return pod->meta().name + ": " + wrong;
    }
    return "";
  });
}

TEST(Twin, TheClusterEqualsAFreshRebuild) {
  for_scripts({.first = 100'001, .count = 300}, [](const Script& script) -> std::string {
    World world;
    world.apply_all(script);
    Cluster rebuilt;
    for (const auto& [name, node] : world.naive.nodes) rebuilt.set_node(node);
    for (const auto& [uid, record] : world.naive.pods) rebuilt.assume(record.first, record.second);
    EXPECT_SAME(world.cluster.node_count(), rebuilt.node_count(), "nodes");
    for (std::uint32_t rank = 0; rank < rebuilt.node_count(); ++rank) {
      const NodeId a = world.cluster.node_at(rank);
      const NodeId b = rebuilt.node_at(rank);
      const std::string& name = rebuilt.node_name(b);
      EXPECT_SAME(world.cluster.node_name(a), name, "node {}", rank);
      for (std::size_t r = 0; r < rebuilt.resource_count(); ++r) {
        const ResourceColumns& theirs = rebuilt.resource(static_cast<ResourceId>(r));
        ResourceId mine{};
        if (!world.cluster.find_resource(theirs.name, mine)) return "no column " + theirs.name;
        const ResourceColumns& ours = world.cluster.resource(mine);
        EXPECT_SAME(ours.requested[a], theirs.requested[b], "{} of {}", theirs.name, name);
        EXPECT_SAME(ours.allocatable[a], theirs.allocatable[b], "{} of {}", theirs.name, name);
      }
      EXPECT_SAME(world.cluster.pods_on()[a], rebuilt.pods_on()[b], "pods on {}", name);
      EXPECT_SAME(world.cluster.nonzero_cpu()[a], rebuilt.nonzero_cpu()[b], "cpu of {}", name);
      EXPECT_SAME(world.cluster.nonzero_memory()[a], rebuilt.nonzero_memory()[b], "memory of {}",
                  name);
      EXPECT_SAME(world.cluster.ports_on(a).size(), rebuilt.ports_on(b).size(), "ports of {}",
                  name);
    }
    return "";
  });
}

// --- a draft ---

// Plays a script's moves on a draft and on the twin, and compares the two after each.
class Play {
 public:
  explicit Play(const Script& script) : script_(script) {
    world_.apply_all(script);
    group_.key = {GroupKind::PodGroup, "default", "g"};
    group_.topology_key = "zone";
    for (const PodSample& pod : script.pods) group_.pods.push_back({pod.make(), 0, {}});
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
    EXPECT_SAME(world_.cluster.node_name(*got), want->first, "pick for {} in \"{}\"",
                pod->meta().name, move.zone);
    for (const NodeId node : arena.nodes())
      EXPECT_SAME(arena.is_feasible(class_index, node),
                  tree.standings[class_index]->is_feasible_now(node), "{} feasible in the arena",
                  world_.cluster.node_name(node));
    workspace.place(class_index, *got, static_cast<std::uint32_t>(placed_.size()));
    // The twin counts copies under names of their own.
    placed_.push_back(fmt::format("copy-{}", placed_.size()));
    world_.naive.pods[placed_.back()] = {pod, want->first};
    return "";
  }

  void forget_undone(const Workspace& workspace) {
    while (placed_.size() > workspace.draft().moves().size()) {
      world_.naive.pods.erase(placed_.back());
      placed_.pop_back();
    }
  }

  std::string compare_all(const GroupTree& tree, Workspace& workspace) {
    for (Standing* each : tree.standings) {
      Standing& standing = *each;
      if (standing.refused_everywhere()) continue;
      const api::Object& pod = *standing.pods().sample;
      Standing fresh(standing.pods(), world_.profile, world_.cluster);
      fresh.catch_up();
      // What is made in the middle of a draft does not know the pods of its moves.
      Standing* rebuilt = standing.follows_moves() ? nullptr : &fresh;
      if (std::string wrong = compare_nodes(world_, standing, rebuilt, standing.pods().sample);
          !wrong.empty())
        return pod.meta().name + ": " + wrong;
      if (std::string wrong = compare_filters(world_, standing, pod); !wrong.empty())
        return pod.meta().name + ": " + wrong;
      if (std::string wrong = compare_scores(world_, standing, pod); !wrong.empty())
        return pod.meta().name + ": " + wrong;
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
          caps[s] += tree.standings[s]->cap_now(node);
          EXPECT_SAME(workspace.cap(s, node), tree.standings[s]->cap_now(node), "cap of {}",
                      cluster.node_name(node));
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
  World world_;
  Group group_;
  std::vector<std::string> placed_;
};

TEST(Twin, PlacingAndUndoingLeavesNoTrace) {
  for_scripts({.first = 200'001, .count = 100},
              [](const Script& script) -> std::string { return Play(script).run(); });
}

}  // namespace
}  // namespace muster::scheduler::twin
