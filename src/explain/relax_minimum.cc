#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "explain/edits.h"
#include "explain/relax.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

using scheduler::GroupKind;

constexpr std::size_t kSinglesMax = 8;  // more than this is no advice
constexpr std::size_t kPairsMax = 2;

// One group's minimum, lowered.
struct Lowered {
  const Level* level;
  api::ObjectPtr before;
  std::int64_t minimum = 1;
};

Edits edits_of(const std::vector<Lowered>& lowered) {
  Edits edits;
  for (const Lowered& one : lowered)
    edits.push_back({one.before, with_minimum(*one.before, one.minimum)});
  return edits;
}

// The controller that made the group and keeps its minimum; null: it was written by hand.
const api::OwnerReference* maker_of(const api::Object& group) {
  const auto& owners = group.meta().owners;
  const auto at = std::ranges::find(owners, true, &api::OwnerReference::controller);
  return at == owners.end() ? nullptr : &*at;
}

// What to type. A Job would undo a change of its group, so the Job is changed; of other makers we
// do not know the words.
std::string patch_command(const Lowered& lowered) {
  const scheduler::GroupKey& key = lowered.level->key;
  const bool is_leaf = key.kind == GroupKind::PodGroup;
  if (const api::OwnerReference* maker = maker_of(*lowered.before)) {
    if (maker->kind != "Job") return "";
    return fmt::format(
        R"(kubectl -n {} patch job {} --type merge -p '{{"spec":{{"scheduling":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}}}}}}}')",
        key.name_space, maker->name, lowered.minimum);
  }
  return fmt::format(
      R"(kubectl -n {} patch {} {} --type merge -p '{{"spec":{{"schedulingPolicy":{{"gang":{{"{}":{}}}}}}}}}')",
      key.name_space, is_leaf ? "podgroup" : "compositepodgroup", key.name, minimum_field(key.kind),
      lowered.minimum);
}

std::string words_of(const Lowered& lowered) {
  const Level& level = *lowered.level;
  std::string text = fmt::format("{} of {} from {} to {}", minimum_field(level.key.kind),
                                 name_of(level.key), level.minimum, lowered.minimum);
  if (const api::OwnerReference* maker = maker_of(*lowered.before))
    text += fmt::format(" (in {} {}, which makes the group)", maker->kind, maker->name);
  else if (level.key.kind == GroupKind::CompositePodGroup)
    text += " (needs the gate MutableMinGroupCount, or a new group)";
  return text;
}

// Raises one of the minimums as far as it goes while the others stay. They fit as they are, and the
// present minimum of this one, with the others as they are, is known to fail: for a single group
// that is what fails now, for a pair it is the other one lowered alone.
bool raise(Trial& trial, std::vector<Lowered>& lowered, std::size_t which, std::string& domain) {
  std::int64_t fits = lowered[which].minimum;
  std::int64_t fails = lowered[which].level->minimum;
  while (fails - fits > 1) {
    lowered[which].minimum = fits + (fails - fits) / 2;
    if (std::optional<std::string> there = trial.fits(edits_of(lowered))) {
      fits = lowered[which].minimum;
      domain = *std::move(there);
    } else {
      if (trial.is_spent()) return false;  // "the largest" could not be said
      fails = lowered[which].minimum;
    }
  }
  lowered[which].minimum = fits;
  return true;
}

// The largest minimums below the present ones that fit together; false if none do.
bool lower(Trial& trial, std::vector<Lowered> lowered, std::vector<Relaxation>& out) {
  std::optional<std::string> domain = trial.fits(edits_of(lowered));
  if (!domain) return false;
  for (std::size_t i = 0; i < lowered.size(); ++i)
    if (!raise(trial, lowered, i, *domain)) return false;
  std::vector<std::string> words;
  std::vector<std::string> commands;
  for (const Lowered& one : lowered) {
    words.push_back(words_of(one));
    commands.push_back(patch_command(one));
  }
  const bool all_known = std::ranges::find(commands, "") == commands.end();
  out.push_back({.kind = RelaxationKind::SmallerMinimum,
                 .sentence = fmt::format("lower {}", fmt::join(words, ", and ")),
                 .command = all_known ? fmt::format("{}", fmt::join(commands, " && ")) : "",
                 .amount = lowered.front().minimum,
                 .domain = *std::move(domain),
                 .edits = edits_of(lowered)});
  return true;
}

}  // namespace

// Every group of the tree, above and beside what was asked about too: a sibling that needs less
// leaves room. Two together only if no single one helps.
void lower_minimums(Trial& trial, std::vector<Relaxation>& out) {
  std::vector<Lowered> candidates;
  for (const Level* level : trial.changeable())
    if (const scheduler::GroupSpec* spec = trial.model().forest().find(level->key);
        spec != nullptr && level->gang && level->minimum > 1)
      candidates.push_back({level, spec->object});
  std::size_t found = 0;
  for (const Lowered& one : candidates) {
    if (found == kSinglesMax || trial.is_spent()) return;
    found += lower(trial, {one}, out) ? 1 : 0;
  }
  if (found > 0) return;
  for (std::size_t a = 0; a < candidates.size(); ++a)
    for (std::size_t b = a + 1; b < candidates.size(); ++b) {
      if (found == kPairsMax || trial.is_spent()) return;
      found += lower(trial, {candidates[a], candidates[b]}, out) ? 1 : 0;
    }
}

}  // namespace muster::explain
