#include "scheduler/framework/profile.h"

#include <algorithm>
#include <iterator>

namespace muster::scheduler {

bool IgnoredResources::contains(std::string_view resource) const {
  const std::size_t slash = resource.find('/');
  const bool is_extended = slash != std::string_view::npos &&
                           resource.find("kubernetes.io/") == std::string_view::npos &&
                           !resource.starts_with("requests.");
  if (!is_extended) return false;
  return std::ranges::find(names, resource) != names.end() ||
         std::ranges::find(groups, resource.substr(0, slash)) != groups.end();
}

Profile::Profile() : identity_(std::make_shared<const int>(0)) {}

void Profile::add(const Plugin& plugin, const Points& at, std::int64_t weight) {
  using Point = ExtensionPoint;
  if (plugin.gate != nullptr && at.contains(Point::PreEnqueue))
    gates_.push_back({plugin.name, plugin.gate});
  if (plugin.filter != nullptr && at.contains(Point::Filter))
    filters_.push_back({plugin.name, plugin.filter});
  if (plugin.score != nullptr && at.contains(Point::Score))
    scores_.push_back({plugin.name, plugin.score, weight});
  if (plugin.reserve != nullptr && at.contains(Point::Reserve))
    reserves_.push_back({plugin.name, plugin.reserve});
  if (plugin.permit != nullptr && at.contains(Point::Permit))
    permits_.push_back({plugin.name, plugin.permit});
  if (plugin.pre_bind != nullptr && at.contains(Point::PreBind))
    pre_binds_.push_back({plugin.name, plugin.pre_bind});
  if (plugin.post_bind != nullptr && at.contains(Point::PostBind))
    post_binds_.push_back({plugin.name, plugin.post_bind});
  if (plugin.placement_generate != nullptr && at.contains(Point::PlacementGenerate)) {
    placement_generators_.push_back({plugin.name, plugin.placement_generate});
    has_generated_placements_ |= !plugin.placement_generate->is_label();
  }
  if (plugin.placement_feasible != nullptr && at.contains(Point::PlacementFeasible))
    placement_feasibles_.push_back({plugin.name, plugin.placement_feasible});
  if (plugin.placement_score != nullptr && at.contains(Point::PlacementScore))
    placement_scores_.push_back({plugin.name, plugin.placement_score, weight});
  if (plugin.points.contains(Point::PodGroupPostFilter) && at.contains(Point::PodGroupPostFilter))
    group_post_filters_.push_back({plugin.name, plugin.group_post_filter});
  auto known = std::ranges::find(running_, plugin.name, &Running::name);
  if (known == running_.end()) {
    if (plugin.hints != nullptr) hints_.push_back({plugin.name, plugin.hints});
    running_.push_back({plugin.name, {}});
    known = std::prev(running_.end());
  }
  for (std::size_t i = 0; i < kExtensionPoints; ++i)
    if (const auto point = static_cast<ExtensionPoint>(i);
        at.contains(point) && plugin.points.contains(point))
      known->points.add(point);
}

bool Profile::runs(std::string_view plugin, ExtensionPoint point) const {
  const auto known = std::ranges::find(running_, plugin, &Running::name);
  return known != running_.end() && known->points.contains(point);
}

bool Profile::has(std::string_view plugin) const {
  return std::ranges::find(running_, plugin, &Running::name) != running_.end();
}

std::optional<std::string> Profile::pre_enqueue(const api::Object& pod) const {
  for (const Entry<Gate>& gate : gates_)
    if (auto reason = gate.plugin->holds_back(pod)) return reason;
  return std::nullopt;
}

std::optional<std::string_view> Profile::gated_by(const api::Object& pod) const {
  for (const Entry<Gate>& gate : gates_)
    if (gate.plugin->holds_back(pod)) return gate.name;
  return std::nullopt;
}

bool Profile::listens(std::string_view plugin, Resource resource, Action action) const {
  for (const Entry<Hints>& hints : hints_)
    if (hints.name == plugin) return hints.plugin->listens(resource, action);
  return true;
}

bool Profile::could_help(std::string_view plugin, const api::Object& pod, const ClusterEvent& event,
                         const Cluster* now) const {
  for (const Entry<Hints>& hints : hints_)
    if (hints.name == plugin)
      return hints.plugin->listens(event.resource, event.action) &&
             hints.plugin->could_help(pod, event) &&
             (now == nullptr || hints.plugin->helps_by_now(pod, event, *now));
  return true;
}

}  // namespace muster::scheduler
