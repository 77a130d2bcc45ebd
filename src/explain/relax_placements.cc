// What would help a tree that must go into one of the sets of nodes that plugins name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "explain/edits.h"
#include "explain/group_domains.h"
#include "explain/relax.h"
#include "explain/words.h"
#include "scheduler/framework/placement_labels.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;
using scheduler::PlacementLabels;

constexpr std::size_t kPlacementsMax = 4;
constexpr std::size_t kNodesMax = 128;  // more than this is no advice
constexpr std::size_t kNamesMax = 5;

// A node that would join, with the labels that it takes.
struct Joining {
  ObjectPtr node;
  PlacementLabels::Labels labels;
  bool is_elsewhere = false;  // it is in another placement
};

std::string text_of(const PlacementLabels::Labels& labels) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : labels) texts.push_back(fmt::format("{}={}", key, value));
  return fmt::format("{}", fmt::join(texts, " "));
}

// Those that are in no placement yet come last: what comes first is left out first if it is not
// needed.
std::vector<Joining> who_could_join(Trial& trial, const GroupDomains& domains,
                                    const PlacementLabels& plugin, const std::string& placement) {
  std::vector<Joining> joining;
  for (const ObjectPtr& node : trial.model().nodes()) {
    const std::vector<std::string> here = domains.of(*node);
    if (std::ranges::find(here, placement) != here.end()) continue;
    std::optional<PlacementLabels::Labels> labels = plugin.labels_to_join(placement, *node);
    if (labels) joining.push_back({node, std::move(*labels), !here.empty()});
  }
  std::ranges::stable_sort(joining, {}, &Joining::is_elsewhere);
  if (joining.size() > kNodesMax) joining.resize(kNodesMax);
  std::ranges::reverse(joining);
  return joining;
}

std::string names_of(const std::vector<std::string>& names) {
  if (names.size() <= kNamesMax) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kNamesMax, ", "),
                     names.size() - kNamesMax);
}

Relaxation labelled(const std::string& placement, const std::vector<const Joining*>& joined) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> by_labels;
  Relaxation out;
  out.kind = RelaxationKind::LabelNodes;
  for (const Joining* one : joined) {
    names.push_back(one->node->meta().name);
    by_labels[text_of(one->labels)].push_back(names.back());
    out.edits.push_back({one->node, with_labels(*one->node, one->labels)});
  }
  std::vector<std::string> labels;
  std::vector<std::string> commands;
  for (const auto& [text, nodes] : by_labels) {
    labels.push_back(text);
    commands.push_back(
        fmt::format("kubectl label --overwrite node {} {}", fmt::join(nodes, " "), text));
  }
  out.sentence = fmt::format("put {} into placement {} (label {})", names_of(names), placement,
                             fmt::join(labels, "; "));
  out.command = fmt::format("{}", fmt::join(commands, " && "));
  out.amount = static_cast<std::int64_t>(names.size());
  return out;
}

// The fewest nodes that would have to join this placement; nullopt if no number of them helps.
std::optional<Relaxation> join(Trial& trial, const std::string& placement,
                               const std::vector<Joining>& joining) {
  std::vector<Edits> parts;
  for (const Joining& one : joining)
    parts.push_back({{one.node, with_labels(*one.node, one.labels)}});
  if (parts.empty() || !trial.fits_in_room(joined(parts))) return std::nullopt;
  parts = trial.essential(std::move(parts));
  std::vector<const Joining*> needed;
  for (const Edits& part : parts)
    needed.push_back(&*std::ranges::find(joining, part.front().before, &Joining::node));
  std::ranges::sort(needed, {}, [](const Joining* one) { return one->node->meta().name; });
  Relaxation relaxation = labelled(placement, needed);
  std::optional<std::string> domain = trial.fits_in_room(relaxation.edits);
  if (!domain) return std::nullopt;
  relaxation.domain = *std::move(domain);
  return relaxation;
}

// Of two plugins at once, nobody says what their common placements take.
void label_nodes(Trial& trial, const Level& level, std::vector<Relaxation>& out) {
  const scheduler::GroupSpec* group = trial.model().forest().find(level.key);
  const std::vector<Generator> generators = generators_of(trial.model(), *group);
  if (generators.size() != 1) return;
  const auto* plugin = dynamic_cast<const PlacementLabels*>(generators.front().plugin.get());
  if (plugin == nullptr) return;
  const GroupDomains domains(trial.model(), *group);
  std::optional<Relaxation> best;
  std::size_t tried = 0;
  for (const Closeness& close : level.closest) {
    if (++tried > kPlacementsMax || trial.is_spent()) break;
    std::optional<Relaxation> found =
        join(trial, close.domain, who_could_join(trial, domains, *plugin, close.domain));
    if (found && (!best || found->amount < best->amount)) best = std::move(found);
  }
  if (best) out.push_back(*std::move(best));
}

}  // namespace

void widen_placements(Trial& trial, std::vector<Relaxation>& out) {
  for (const Level* level : trial.changeable()) {
    if (level->generators.empty() || level->state == State::Scheduled) continue;
    label_nodes(trial, *level, out);
    if (trial.is_spent()) return;
    if (std::optional<std::string> domain = trial.fits_without_placements())
      out.push_back({.kind = RelaxationKind::NoPlacements,
                     .sentence = fmt::format(
                         "let {} use several placements (switch {} off in the configuration of "
                         "scheduler {})",
                         name_of(level->key), fmt::join(level->generators, " and "),
                         trial.model().scheduler_name_of(level->key)),
                     .command = "",
                     .amount = 0,
                     .domain = *std::move(domain),
                     .edits = {}});
    return;  // the root's are those of the whole tree
  }
}

}  // namespace muster::explain
