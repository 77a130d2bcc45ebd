#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/views/node_view.h"
#include "explain/edits.h"
#include "explain/relax.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

using api::NodeView;
using api::ObjectPtr;

constexpr std::size_t kPlacesMax = 4;
constexpr std::size_t kShapesMax = 2;    // per place
constexpr std::int64_t kNodesMax = 128;  // more than this is no advice
constexpr std::size_t kTaintsMax = 8;
constexpr std::size_t kNamesMax = 5;
constexpr std::string_view kLifecycle = "node.kubernetes.io/";

// Nodes that a scheduler cannot tell apart but for names and places: one of each, the most frequent
// first.
std::vector<ObjectPtr> shapes_of(const std::vector<ObjectPtr>& nodes) {
  struct Shape {
    ObjectPtr sample;
    std::size_t count = 0;
  };
  std::vector<Shape> shapes;
  for (const ObjectPtr& node : nodes) {
    const auto alike = std::ranges::find_if(shapes, [&](const Shape& shape) {
      const auto& a = shape.sample->view<NodeView>();
      const auto& b = node->view<NodeView>();
      return a.allocatable == b.allocatable && a.allocatable_pods == b.allocatable_pods &&
             a.taints == b.taints && a.unschedulable == b.unschedulable;
    });
    if (alike == shapes.end())
      shapes.push_back({node, 1});
    else
      ++alike->count;
  }
  std::ranges::stable_sort(shapes, std::greater<>{}, &Shape::count);
  std::vector<ObjectPtr> samples;
  for (const Shape& shape : shapes)
    if (samples.size() < kShapesMax) samples.push_back(shape.sample);
  return samples;
}

Edits more_like(const api::Object& node, std::int64_t count) {
  Edits edits;
  for (std::int64_t i = 1; i <= count; ++i)
    edits.push_back({nullptr, node_like(node, fmt::format("{}-more-{}", node.meta().name, i))});
  return edits;
}

// How many pods have no place yet: with a pod per node, as many nodes would do.
std::int64_t pods_to_place(Trial& trial) {
  std::int64_t pods = 0;
  for (const Level* level : trial.obstacles())
    if (level->key.kind == scheduler::GroupKind::PodGroup)
      pods += std::max<std::int64_t>(0, level->minimum - level->scheduled);
  return std::clamp<std::int64_t>(pods, 1, kNodesMax);
}

// The fewest further nodes like this one, below `fewer_than`; 0 if none will do.
std::int64_t nodes_needed(Trial& trial, const api::Object& node, std::int64_t most) {
  if (!trial.fits_in_room(more_like(node, most))) return 0;
  std::int64_t fails = 0;
  std::int64_t fits = most;
  while (fits - fails > 1) {
    const std::int64_t middle = fails + (fits - fails) / 2;
    (trial.fits_in_room(more_like(node, middle)) ? fits : fails) = middle;
    if (trial.is_spent()) break;
  }
  return fits;
}

std::string capacity_of(const ObjectPtr& node) {
  api::PodNeeds needs;
  needs.requests = node->view<NodeView>().allocatable;
  needs.requests.ephemeral_storage = 0;  // says little, and is long
  return asks_for(needs);
}

std::string names_of(const std::vector<std::string>& names) {
  if (names.size() <= kNamesMax) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kNamesMax, ", "),
                     names.size() - kNamesMax);
}

std::string text_of(const api::Taint& taint) {
  return fmt::format("{}{}:{}", taint.key, taint.value.empty() ? "" : "=" + taint.value,
                     api::effect_name(taint.effect));
}

void uncordon_nodes(Trial& trial, std::vector<Relaxation>& out) {
  std::vector<Edits> parts;
  for (const ObjectPtr& node : trial.model().nodes())
    if (node->view<NodeView>().unschedulable) parts.push_back({{node, uncordoned(*node)}});
  if (parts.empty() || !trial.fits_in_room(joined(parts))) return;
  parts = trial.essential(std::move(parts));
  std::vector<std::string> names;
  for (const Edits& part : parts) names.push_back(part.front().before->meta().name);
  Edits edits = joined(parts);
  const std::optional<std::string> domain = trial.fits_in_room(edits);
  if (!domain) return;
  out.push_back({.kind = RelaxationKind::Uncordon,
                 .sentence = fmt::format("uncordon {}", names_of(names)),
                 .command = fmt::format("kubectl uncordon {}", fmt::join(names, " ")),
                 .amount = static_cast<std::int64_t>(names.size()),
                 .domain = *domain,
                 .edits = std::move(edits)});
}

void untaint_nodes(Trial& trial, const api::Taint& taint, std::vector<Relaxation>& out) {
  Edits edits;
  std::vector<std::string> names;
  for (const ObjectPtr& node : trial.model().nodes()) {
    const std::vector<api::Taint>& taints = node->view<NodeView>().taints;
    if (std::ranges::find(taints, taint) == taints.end()) continue;
    edits.push_back({node, untainted(*node, taint)});
    names.push_back(node->meta().name);
  }
  const std::optional<std::string> domain = trial.fits_in_room(edits);
  if (!domain) return;
  const bool is_lifecycle = taint.key.starts_with(kLifecycle);
  out.push_back(
      {.kind = RelaxationKind::Untaint,
       .sentence = is_lifecycle
                       ? fmt::format("wait until {} have lost the taint {}", names_of(names),
                                     text_of(taint))
                       : fmt::format("let the pods tolerate the taint {} of {}, or remove it",
                                     text_of(taint), names_of(names)),
       .command = "",
       .amount = static_cast<std::int64_t>(names.size()),
       .domain = *domain,
       .edits = std::move(edits)});
}

}  // namespace

void add_nodes(Trial& trial, std::vector<Relaxation>& out) {
  std::int64_t most = pods_to_place(trial);
  std::optional<Relaxation> best;
  for (const Trial::Place& place : trial.places(kPlacesMax))
    for (const ObjectPtr& node : shapes_of(place.nodes)) {
      const std::int64_t count = nodes_needed(trial, *node, most);
      if (count == 0 || (best && count >= best->amount)) continue;
      Edits edits = more_like(*node, count);
      const std::optional<std::string> domain = trial.fits_in_room(edits);
      if (!domain) continue;
      best = Relaxation{.kind = RelaxationKind::MoreNodes,
                        .sentence = fmt::format("add {} like {} ({}){}", count_of(count, "node"),
                                                node->meta().name, capacity_of(node),
                                                place.domain.empty() ? "" : " to " + place.domain),
                        .command = "",
                        .amount = count,
                        .domain = *domain,
                        .edits = std::move(edits)};
      if (count == 1) break;
      most = count;
    }
  if (best) out.push_back(std::move(*best));
}

void open_nodes(Trial& trial, std::vector<Relaxation>& out) {
  uncordon_nodes(trial, out);
  std::set<api::Taint> taints;
  for (const ObjectPtr& node : trial.model().nodes())
    for (const api::Taint& taint : node->view<NodeView>().taints)
      if ((taint.effect == api::TaintEffect::NoSchedule ||
           taint.effect == api::TaintEffect::NoExecute) &&
          taint.key != "node.kubernetes.io/unschedulable" && taints.size() < kTaintsMax)
        taints.insert(taint);
  for (const api::Taint& taint : taints) untaint_nodes(trial, taint, out);
}

}  // namespace muster::explain
