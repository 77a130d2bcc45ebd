#include "twin/comparison.h"

#include <gtest/gtest.h>

#include "scheduler/cycle/attempt.h"
#include "scheduler/framework/standings.h"

namespace muster::scheduler::twin {

void for_scripts(Seeds seeds, Script (*generate)(std::uint64_t seed), const Property& property) {
  for_seeds(seeds, [&](std::uint64_t seed) {
    Script script = generate(seed);
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

// --- one class of pods, pass by pass ---

Met& met() {
  static Met all;
  return all;
}

namespace {

// The plugins that refuse a node only because of pods that it is kept for.
void count_vetoes(const NaiveScheduler& naive, const api::Object& pod) {
  NaiveScheduler without(naive);
  without.nominated.clear();
  for (const auto& [name, pods] : naive.nominated) {
    if (!naive.nodes.contains(name) || !without.filter(pod, name).reasons.empty()) continue;
    const NaiveVerdict verdict = naive.filter(pod, name);
    if (!verdict.reasons.empty()) ++met().vetoes[verdict.plugin];
  }
}

}  // namespace

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
      ++met().verdicts[std::string(filter.name)][accepts ? 1 : 0];
      if (!accepts) met().reasons.insert(want->reasons.begin(), want->reasons.end());
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
      met().scores[std::string(score.name)].insert(want);
      EXPECT_SAME(std::int64_t{totals[node]}, want, "{} of {}, by column", score.name, name);
    }
  }
  return "";
}

std::optional<std::pair<std::string, std::int64_t>> best_of(
    const std::map<std::string, std::int64_t>& totals) {
  std::optional<std::pair<std::string, std::int64_t>> best;
  for (const auto& [name, total] : totals)
    if (!best || total > best->second) best = {name, total};
  return best;
}

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

// What counts on a node that is kept for somebody also makes it look fuller, and each filter by
// itself knows only one side of it: here only what all filters decide together is compared.
std::string compare_feasible(World& world, const api::ObjectPtr& pod) {
  Standing& standing = Standings::of(world.cluster, world.profile).of_pod(pod);
  Standing fresh(world.cluster.class_of(pod), world.profile, world.cluster);
  fresh.catch_up();
  if (standing.refused_everywhere()) return "";
  if (std::string wrong = compare_nodes(world, standing, &fresh, pod); !wrong.empty()) return wrong;
  for (const auto& [name, object] : world.naive.nodes) {
    NodeId node{};
    world.cluster.find_node(name, node);
    EXPECT_SAME(standing.key_kept(node), standing.key_now(node), "kept key of {}", name);
    EXPECT_SAME(standing.caps()[node], standing.cap_now(node), "kept cap of {}", name);
  }
  const auto got = standing.pick();
  EXPECT_SAME(got.has_value(), !world.naive.totals(*pod).empty(), "some node is picked");
  if (got)
    EXPECT_SAME(world.naive.filter(*pod, world.cluster.node_name(got->node)).reasons.empty(), true,
                "{} is picked and accepted", world.cluster.node_name(got->node));
  count_vetoes(world.naive, *pod);
  return "";
}

std::string compare_looks(World& world, const Script& script,
                          std::string (*of_pod)(World& world, const api::ObjectPtr& pod)) {
  const std::vector<api::ObjectPtr> pods = script.asking();
  world.ask(pods);
  for (const Change& change : script.history) {
    world.apply(change);
    if (change.kind != Change::Kind::Look) continue;
    for (const api::ObjectPtr& pod : pods)
      if (std::string wrong = of_pod(world, pod); !wrong.empty())
        return pod->meta().name + ": " + wrong;
  }
  return "";
}

std::string compare(World& world, const api::ObjectPtr& pod) {
  Standing& standing = Standings::of(world.cluster, world.profile).of_pod(pod);
  Standing fresh(world.cluster.class_of(pod), world.profile, world.cluster);
  fresh.catch_up();
  const auto& refused = standing.refused_everywhere();
  if (const auto want = world.naive.refuses_everywhere(*pod)) {
    EXPECT_SAME(refused ? refused->reason : "", want->reasons.at(0), "refused everywhere");
    EXPECT_SAME(refused ? refused->plugin : "", want->plugin, "who refuses everywhere");
    met().reasons.insert(want->reasons.at(0));
    return "";
  }
  const bool everywhere = refused.has_value();
  if (everywhere) EXPECT_SAME(refused->plugin.starts_with("Volume"), false, "refused everywhere");
  if (std::string wrong = compare_filters(world, standing, *pod); !wrong.empty()) return wrong;
  if (std::string wrong = compare_scores(world, standing, *pod); !wrong.empty()) return wrong;
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
  const auto totals = world.naive.totals(*pod);
  NaiveScheduler without_defaults(world.naive);
  without_defaults.default_spread.clear();
  if (without_defaults.totals(*pod) != totals) ++met().default_spreads;
  const auto want = best_of(totals);
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

}  // namespace muster::scheduler::twin
