// The product against an exact solver on thousands of small random trees. A failure prints its seed
// and the simplest case that still fails; run one seed with MUSTER_WITNESS_SEED=<seed>.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "scheduler/cycle/attempt.h"
#include "scheduler/plugins/default_profile.h"
#include "witness/attempted.h"
#include "witness/exact.h"
#include "witness/upstream.h"

namespace muster::scheduler::witness {
namespace {

// What is wrong with a case; empty: nothing.
using Property = std::function<std::string(const Case&)>;

Case shrunk(Case failing, const Property& property) {
  for (bool found = true; found;) {
    found = false;
    for (Case& simple : simpler(failing))
      if (!property(simple).empty()) {
        failing = std::move(simple);
        found = true;
        break;
      }
  }
  return failing;
}

// Each property has seeds of its own, so that a run sees as many different cases as it can.
struct Seeds {
  std::uint64_t first;
  std::uint64_t count;
};

void for_cases(Seeds seeds, const Property& property) {
  if (std::getenv("MUSTER_TEST_LONG") != nullptr) seeds.count *= 20;
  if (const char* only = std::getenv("MUSTER_WITNESS_SEED"))
    seeds = {.first = std::strtoull(only, nullptr, 10), .count = 1};
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const Case drawn = random_case(seed);
    if (property(drawn).empty()) continue;
    const Case simple = shrunk(drawn, property);
    FAIL() << "MUSTER_WITNESS_SEED=" << seed << "\n" << property(simple) << "\n" << simple.text();
  }
}

std::string text_of(const std::map<std::string, std::string>& placed) {
  std::string text;
  for (const auto& [pod, node] : placed) text += fmt::format(" {}→{}", pod, node);
  return text.empty() ? " nothing" : text;
}

const char* word(SearchResult answer) {
  return answer == SearchResult::Feasible     ? "feasible"
         : answer == SearchResult::Infeasible ? "infeasible"
                                              : "unresolved";
}

Attempted attempt_fresh(const Objects& objects, PlacementOptions options = {},
                        const Look& look = {}, std::uint64_t order = 0) {
  static const Profile profile = default_profile();
  Cluster cluster;
  objects.fill(cluster, order);
  return attempt(objects, cluster, profile, options, look);
}

template <typename Visit>
void for_each_group(const Case::Group& group, Visit&& visit) {
  visit(group);
  for (const Case::Group& child : group.children) for_each_group(child, visit);
}

// --- a plan is valid ---

class PlanChecker {
 public:
  PlanChecker(const Case& from, const Attempted& attempted)
      : from_(from), attempted_(attempted), exact_(from), room_(exact_.room()) {}

  std::string check() {
    if (attempted_.placed.empty()) return "a plan without a pod";
    if (!attempted_.ready.contains(from_.root.name)) return "the root has missed its minimum";
    std::string wrong = check_nodes();
    if (wrong.empty()) wrong = check_group(from_.root, true, exact_.everywhere());
    return wrong;
  }

 private:
  // No node takes more than it has, none takes a pod it refuses.
  std::string check_nodes() {
    std::string wrong;
    std::size_t known = 0;
    for_each_group(from_.root, [&](const Case::Group& group) {
      for (std::size_t i = 0; i < group.pods.size(); ++i) {
        const auto at = attempted_.placed.find(fmt::format("{}-{}", group.name, i));
        if (at == attempted_.placed.end()) continue;
        ++known;
        const std::size_t node = number_of(at->second);
        if (!exact_.fits_on(group.pods[i], node, room_))
          wrong = fmt::format("{} does not fit on {}", at->first, at->second);
        room_.cpu[node] -= group.pods[i].cpu;
        room_.gpu[node] -= group.pods[i].gpu;
        --room_.slots[node];
      }
    });
    if (known != attempted_.placed.size()) return "a pod that nobody asked for";
    return wrong;
  }

  // Minimums, topology, no trace of what failed, and nothing left out that fits.
  std::string check_group(const Case::Group& group, bool parent_ready, const Nodes& within) {
    const auto at = attempted_.ready.find(group.name);
    if (at == attempted_.ready.end()) return check_absent(group, parent_ready, within);
    if (!parent_ready) return group.name + " is ready under a parent that is not";
    const auto domains = exact_.domains(group, within);
    const auto domain = domains.find(at->second);
    if (domain == domains.end())
      return fmt::format("{} may not be in domain \"{}\"", group.name, at->second);
    return group.composite ? check_children(group, domain->second)
                           : check_pods(group, domain->second);
  }

  std::string check_absent(const Case::Group& group, bool parent_ready, const Nodes& within) {
    for (std::size_t i = 0; i < group.pods.size(); ++i)
      if (attempted_.placed.contains(fmt::format("{}-{}", group.name, i)))
        return group.name + " has failed and left a pod";
    for (const Case::Group& child : group.children)
      if (std::string wrong = check_group(child, false, within); !wrong.empty()) return wrong;
    if (parent_ready && !attempted_.unresolved.contains(group.name) &&
        exact_.can_meet_minimum(group, within, room_))
      return group.name + " was left out, but finds a place beside the others";
    return "";
  }

  std::string check_children(const Case::Group& group, const Nodes& domain) {
    std::int64_t ready = 0;
    for (const Case::Group& child : group.children) {
      if (std::string wrong = check_group(child, true, domain); !wrong.empty()) return wrong;
      ready += attempted_.ready.contains(child.name) ? 1 : 0;
    }
    if (ready < (group.gang ? group.minimum : 1))
      return fmt::format("{} has {} children ready", group.name, ready);
    return "";
  }

  std::string check_pods(const Case::Group& group, const Nodes& domain) {
    std::int64_t count = exact_.held(group);
    for (std::size_t i = 0; i < group.pods.size(); ++i) {
      const auto at = attempted_.placed.find(fmt::format("{}-{}", group.name, i));
      if (at == attempted_.placed.end()) {
        for (const std::size_t node : domain)
          if (exact_.fits_on(group.pods[i], node, room_))
            return fmt::format("{}-{} was left out, but fits on {}", group.name, i,
                               from_.nodes[node].name);
        continue;
      }
      ++count;
      if (std::ranges::find(domain, number_of(at->second)) == domain.end())
        return fmt::format("{} is outside its group's domain", at->first);
    }
    if (count < (group.gang ? group.minimum : 1))
      return fmt::format("{} has {} pods", group.name, count);
    return "";
  }

  std::size_t number_of(const std::string& node) const {
    const auto at = std::ranges::find(from_.nodes, node, &Case::Node::name);
    return static_cast<std::size_t>(at - from_.nodes.begin());
  }

  const Case& from_;
  const Attempted& attempted_;
  Exact exact_;
  Room room_;
};

TEST(Witness, ANoIsANoAndWhatFitsIsFound) {
  for_cases({.first = 1, .count = 1500}, [](const Case& drawn) -> std::string {
    const Attempted attempted = attempt_fresh(Objects(drawn));
    const bool fits = Exact(drawn).fits();
    if (fits == (attempted.answer == SearchResult::Feasible)) return "";
    // Where nothing fits, only a search that ran out of its budget may leave it open.
    if (!fits && attempted.answer == SearchResult::Infeasible) return "";
    if (!fits && attempted.answer == SearchResult::Unresolved && attempted.is_budget_spent)
      return "";
    return fmt::format("it {}, the answer is {} after {} steps", fits ? "fits" : "does not fit",
                       word(attempted.answer), attempted.steps);
  });
}

// With twenty times the budget every small case is decided: a search that does not come to an end
// there, or gives up without a proof, has lost its pruning.
TEST(Witness, AProofIsFoundForWhatDoesNotFit) {
  int hopeless = 0;
  int unresolved = 0;
  for_cases({.first = 700'001, .count = 1000}, [&](const Case& drawn) -> std::string {
    if (Exact(drawn).fits()) return "";
    ++hopeless;
    const PlacementOptions defaults;
    if (attempt_fresh(Objects(drawn)).answer != SearchResult::Infeasible) ++unresolved;
    const Attempted patient = attempt_fresh(
        Objects(drawn), {.steps_max = 20 * defaults.steps_max, .work_max = 20 * defaults.work_max});
    if (patient.answer == SearchResult::Infeasible) return "";
    return fmt::format("it does not fit, the answer is {} after {} steps", word(patient.answer),
                       patient.steps);
  });
  EXPECT_GT(hopeless, 100) << "the cases are too easy to tell anything";
  EXPECT_LE(unresolved * 50, hopeless) << "the default budget proves 98 of 100 and more";
}

TEST(Witness, PlansAreValid) {
  for_cases({.first = 100'001, .count = 1000}, [](const Case& drawn) -> std::string {
    const Attempted attempted = attempt_fresh(Objects(drawn));
    if (attempted.answer != SearchResult::Feasible)
      return attempted.placed.empty() ? "" : "a refusal left pods on the draft";
    const std::string wrong = PlanChecker(drawn, attempted).check();
    return wrong.empty() ? "" : wrong + "\nplan:" + text_of(attempted.placed);
  });
}

// Every bound in a proof holds for any plan at all: it is compared with the most that can be
// placed, on the empty draft or around the plan that stands on it.
TEST(Witness, BoundsAreUpperBounds) {
  for_cases({.first = 200'001, .count = 600}, [](const Case& drawn) -> std::string {
    std::string wrong;
    Exact exact(drawn);
    std::map<std::string, const Case::Group*> groups;
    for_each_group(drawn.root, [&](const Case::Group& group) { groups[group.name] = &group; });
    const auto look = [&](const GroupTree& tree, Placer& placer, const Attempted& attempted) {
      const Room room = exact.room_with(attempted.placed);
      const Domain everywhere = tree.topology->everywhere();
      for (std::uint32_t id = 0; id < tree.items.size(); ++id) {
        const Case::Group& group = *groups.at(tree.items[id].group->key.name);
        if (!attempted.placed.empty() && !group.pods.empty()) continue;  // some are placed already
        const auto domains = exact.domains(group, exact.everywhere());
        for (const Domain& domain : placer.bounds().candidates(id, everywhere)) {
          const Nodes& nodes =
              domains.at(tree.items[id].key ? std::string(domain.name) : std::string());
          const DomainBound bound = placer.bounds().bound(id, domain);
          if (attempted.placed.empty())
            if (const std::int64_t most = exact.most_pods(group, nodes, room);
                most > bound.fits_at_most)
              wrong = fmt::format("{} in \"{}\": {} pods fit, the bound is {}", group.name,
                                  domain.name, most, bound.fits_at_most);
          std::int64_t ready = 0;
          for (const Case::Group& child : group.children)
            ready += exact.can_meet_minimum(child, nodes, room) ? 1 : 0;
          if (ready > bound.ready)
            wrong = fmt::format("{} in \"{}\": {} children could be ready, the bound is {}",
                                group.name, domain.name, ready, bound.ready);
        }
      }
    };
    attempt_fresh(Objects(drawn), {}, look);
    return wrong;
  });
}

TEST(Witness, UpstreamsPlanIsThePlanIfItMeetsEveryMinimum) {
  for_cases({.first = 300'001, .count = 700}, [](const Case& drawn) -> std::string {
    const Objects objects(drawn);
    UpstreamOrder upstream(objects);
    const bool succeeds = upstream.run() && !upstream.placed().empty();
    const Attempted order = attempt_fresh(objects, {.mode = PlacementOptions::Mode::UpstreamOrder});
    if (succeeds != (order.answer == SearchResult::Feasible) || order.placed != upstream.placed())
      return fmt::format("upstream's order: {}\nmode upstream: {},{}", text_of(upstream.placed()),
                         word(order.answer), text_of(order.placed));
    if (!succeeds) return "";
    const Attempted attempted = attempt_fresh(objects);
    // A pod that found a place keeps it; groups that upstream leaves out may join.
    for (const auto& [pod, node] : upstream.placed())
      if (const auto at = attempted.placed.find(pod);
          at == attempted.placed.end() || at->second != node)
        return fmt::format("upstream's order: {}\nplan:{}", text_of(upstream.placed()),
                           text_of(attempted.placed));
    std::set<std::string> groups;
    for_each_group(drawn.root, [&](const Case::Group& group) { groups.insert(group.name); });
    if (upstream.ready() == groups && attempted.placed != upstream.placed())
      return "upstream meets every minimum, and yet the plan has more:" + text_of(attempted.placed);
    return "";
  });
}

TEST(Witness, TheOrderInWhichObjectsCameDoesNotMatter) {
  for_cases({.first = 400'001, .count = 500}, [](const Case& drawn) -> std::string {
    const Objects objects(drawn);
    const Attempted first = attempt_fresh(objects);
    for (const std::uint64_t order : {1U, 2U, 3U})
      if (const Attempted other = attempt_fresh(objects, {}, {}, order); !(other == first))
        return fmt::format("plan:{}\nin order {}:{}", text_of(first.placed), order,
                           text_of(other.placed));
    return "";
  });
}

// The attempt says what the placer found, and "unresolvable" only where even an empty cluster would
// not do.
TEST(Witness, AttemptsSayWhatWasFound) {
  static const Profile profile = default_profile();
  for_cases({.first = 500'001, .count = 500}, [](const Case& drawn) -> std::string {
    const Objects objects(drawn);
    const Attempted attempted = attempt_fresh(objects);
    Cluster cluster;
    objects.fill(cluster);
    const Plan plan = attempt_group(objects.root, cluster, profile);
    std::map<std::string, std::string> placed;
    for (const Assignment& assignment : plan.assignments)
      placed[assignment.pod->meta().name] = assignment.node;
    if (placed != attempted.placed) return "the plan is not what the placer found";
    const Outcome outcome = plan.groups.at(0).outcome;
    if ((outcome == Outcome::Placed) != (attempted.answer == SearchResult::Feasible) ||
        (outcome == Outcome::Unresolved && attempted.answer != SearchResult::Unresolved))
      return "the root's outcome is not the placer's answer: " + plan.groups[0].message;
    if (outcome != Outcome::Unresolvable) return "";
    Case empty = drawn;
    std::erase_if(empty.running, [](const Case::Running& pod) { return pod.group.empty(); });
    return Exact(empty).fits() ? "unresolvable, but evictions would help" : "";
  });
}

// Not a test of a rule but of quality: how much each way of searching finds of what there is.
TEST(Witness, SearchFindsMoreThanUpstreamsOrder) {
  struct Way {
    std::string name;
    PlacementOptions options;
    int found = 0;
    int refuted = 0;
    std::uint64_t steps = 0;
  };
  std::vector<Way> ways{{"mode upstream", {.mode = PlacementOptions::Mode::UpstreamOrder}},
                        {"10 steps", {.steps_max = 10}},
                        {"30 steps", {.steps_max = 30}},
                        {"100 steps", {.steps_max = 100}},
                        {"1000 steps", {.steps_max = 1000}},
                        {"default", {}}};
  int fitting = 0;
  int hopeless = 0;
  for_cases({.first = 600'001, .count = 800}, [&](const Case& drawn) -> std::string {
    const Objects objects(drawn);
    (Exact(drawn).fits() ? fitting : hopeless) += 1;
    for (Way& way : ways) {
      const Attempted attempted = attempt_fresh(objects, way.options);
      way.found += attempted.answer == SearchResult::Feasible ? 1 : 0;
      way.refuted += attempted.answer == SearchResult::Infeasible ? 1 : 0;
      way.steps += attempted.steps;
    }
    return "";
  });
  const auto share = [](int part, int whole) { return whole == 0 ? 100.0 : 100.0 * part / whole; };
  std::cout << fmt::format("{:16} {:>18} {:>20} {:>12}\n", "", "found of fitting",
                           "refuted of hopeless", "steps each");
  for (const Way& way : ways)
    std::cout << fmt::format("{:16} {:6}/{:<4} {:5.1f} % {:8}/{:<4} {:5.1f} % {:12.1f}\n", way.name,
                             way.found, fitting, share(way.found, fitting), way.refuted, hopeless,
                             share(way.refuted, hopeless),
                             static_cast<double>(way.steps) / (fitting + hopeless));
  EXPECT_LT(ways.front().found, fitting) << "the cases are too easy to tell anything";
  for (std::size_t i = 1; i < ways.size(); ++i) EXPECT_GE(ways[i].found, ways[i - 1].found);
  EXPECT_EQ(ways.back().found, fitting);
}

}  // namespace
}  // namespace muster::scheduler::witness
