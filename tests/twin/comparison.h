#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "scheduler/framework/standing.h"
#include "twin/script.h"
#include "twin/seeds.h"

namespace muster::scheduler::twin {

// What is wrong with a script; empty: nothing.
using Property = std::function<std::string(const Script&)>;

// A script that has something wrong is made as simple as it goes before it is shown.
void for_scripts(Seeds seeds, Script (*generate)(std::uint64_t seed), const Property& property);

#define EXPECT_SAME(ours, theirs, ...)                       \
  if (const auto& our_value = (ours); our_value != (theirs)) \
  return fmt::format("{}: product {}, twin {}", fmt::format(__VA_ARGS__), our_value, (theirs))

// What the comparisons have met so far: a rule that never said no, or a score that was always the
// same, has not been compared at all.
struct Met {
  std::map<std::string, std::array<int, 2>> verdicts;    // refused, accepted; by plugin
  std::map<std::string, std::set<std::int64_t>> scores;  // by plugin
  std::set<std::string> reasons;
  int default_spreads = 0;            // that changed a total
  std::map<std::string, int> vetoes;  // nodes refused because they are kept for others; by plugin
};
Met& met();

// Every filter by itself: whole columns, one row, and the twin's word for it.
std::string compare_filters(World& world, const Standing& standing, const api::Object& pod);
std::string compare_scores(World& world, const Standing& standing, const api::Object& pod);
// What all passes say together, node by node, against the twin and against a freshly built
// standing.
std::string compare_nodes(World& world, Standing& standing, Standing* fresh,
                          const api::ObjectPtr& asking);
// All of it, with what is picked and what is said if nothing is.
std::string compare(World& world, const api::ObjectPtr& pod);
// Where nodes are kept for others: who is feasible, why not, how many fit.
std::string compare_feasible(World& world, const api::ObjectPtr& pod);
// Plays a script's history and makes one of these comparisons for each of its pods at every look.
std::string compare_looks(World& world, const Script& script,
                          std::string (*of_pod)(World& world, const api::ObjectPtr& pod));

// Ties go to the first by name.
std::optional<std::pair<std::string, std::int64_t>> best_of(
    const std::map<std::string, std::int64_t>& totals);

// Plays a script's moves on a draft and on the twin, and compares the two after each.
std::string compare_moves(World& world, const Script& script);

}  // namespace muster::scheduler::twin
