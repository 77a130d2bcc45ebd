#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "scheduler/framework/binding_plugin.h"
#include "scheduler/framework/cluster_event.h"
#include "scheduler/framework/extension_point.h"
#include "scheduler/framework/placement_plugin.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/profile_settings.h"

namespace muster::scheduler {

// A plugin under every role it has; null where it has none. `points` says where a configuration may
// enable it.
struct Plugin {
  std::string_view name;
  Points points;
  std::shared_ptr<const Gate> gate = {};
  std::shared_ptr<const Filter> filter = {};
  std::shared_ptr<const Score> score = {};
  std::shared_ptr<const Hints> hints = {};
  std::shared_ptr<const Reserve> reserve = {};
  std::shared_ptr<const Permit> permit = {};
  std::shared_ptr<const PreBind> pre_bind = {};
  std::shared_ptr<const PostBind> post_bind = {};
  std::shared_ptr<const PlacementGenerate> placement_generate = {};
  std::shared_ptr<const PlacementFeasible> placement_feasible = {};
  std::shared_ptr<const PlacementScore> placement_score = {};
  std::shared_ptr<const PodGroupPostFilter> group_post_filter = {};
};

// Makes a plugin and finds out what it answers to; decided at compile time.
template <typename P, typename... Args>
Plugin make_plugin(Args&&... args) {
  using Point = ExtensionPoint;
  const auto made = std::make_shared<const P>(std::forward<Args>(args)...);
  Plugin plugin{.name = P::kName, .points = {}};
  const auto answers = [&plugin](std::initializer_list<ExtensionPoint> points) {
    for (const ExtensionPoint point : points) plugin.points.add(point);
  };
  if constexpr (std::derived_from<P, Gate>) {
    plugin.gate = made;
    answers({Point::PreEnqueue});
  }
  if constexpr (std::derived_from<P, Filter>) {
    plugin.filter = made;
    answers({Point::PreFilter, Point::Filter});
  }
  if constexpr (std::derived_from<P, Score>) {
    plugin.score = made;
    answers({Point::PreScore, Point::Score});
  }
  if constexpr (std::derived_from<P, Hints>) plugin.hints = made;
  if constexpr (std::derived_from<P, Reserve>) {
    plugin.reserve = made;
    answers({Point::Reserve});
  }
  if constexpr (std::derived_from<P, Permit>) {
    plugin.permit = made;
    answers({Point::Permit});
  }
  if constexpr (std::derived_from<P, PreBind>) {
    plugin.pre_bind = made;
    answers({Point::PreBind});
  }
  if constexpr (std::derived_from<P, PostBind>) {
    plugin.post_bind = made;
    answers({Point::PostBind});
  }
  if constexpr (std::derived_from<P, PlacementGenerate>) {
    plugin.placement_generate = made;
    answers({Point::PlacementGenerate});
  }
  if constexpr (std::derived_from<P, PlacementFeasible>) {
    plugin.placement_feasible = made;
    answers({Point::PlacementFeasible});
  }
  if constexpr (std::derived_from<P, PlacementScore>) {
    plugin.placement_score = made;
    answers({Point::PlacementScore});
  }
  if constexpr (std::derived_from<P, PodGroupPostFilter>) {
    plugin.group_post_filter = made;
    answers({Point::PodGroupPostFilter});
  }
  return plugin;
}

// The plugins a scheduler runs, filed under the questions they answer, in the order they are asked.
// A value: copies share the plugins, which never change. Its lists are fixed once the first attempt
// ran.
class Profile {
 public:
  // A plugin under one of its roles; `weight` only matters for scores.
  template <typename Role>
  struct Entry {
    std::string_view name;
    std::shared_ptr<const Role> plugin;
    std::int64_t weight = 1;
  };

  Profile();

  // Files a plugin under those of its points that are named. Call it again for the same plugin if
  // another point asks it at another place in the order.
  void add(const Plugin& plugin, const Points& at, std::int64_t weight);
  // The same under every point it has.
  template <typename P, typename... Args>
  void add(std::int64_t weight, Args&&... args) {
    add(make_plugin<P>(std::forward<Args>(args)...), Points::all(), weight);
  }

  // Why the pod may not enter the queue yet, in upstream's words; nullopt if it may. The plugin
  // that gates is the first one asked that says no (gated_by).
  std::optional<std::string> pre_enqueue(const api::Object& pod) const;
  std::optional<std::string_view> gated_by(const api::Object& pod) const;

  // Could this event make a pod schedulable that `plugin` refused? A plugin that is not in the
  // profile, or has no opinion, says yes to everything: waking in vain costs an attempt, sleeping
  // on costs the pod. With the cluster as it is now, also if the event has not helped enough.
  bool could_help(std::string_view plugin, const api::Object& pod, const ClusterEvent& event,
                  const Cluster* now = nullptr) const;
  // The same for any pod; false only if could_help is false for all of them.
  bool listens(std::string_view plugin, Resource resource, Action action) const;

  const std::vector<Entry<Filter>>& filters() const { return filters_; }
  const std::vector<Entry<Score>>& scores() const { return scores_; }
  const std::vector<Entry<Reserve>>& reserves() const { return reserves_; }
  const std::vector<Entry<Permit>>& permits() const { return permits_; }
  const std::vector<Entry<PreBind>>& pre_binds() const { return pre_binds_; }
  const std::vector<Entry<PostBind>>& post_binds() const { return post_binds_; }
  const std::vector<Entry<PlacementGenerate>>& placement_generators() const {
    return placement_generators_;
  }
  // Whether placements come from more than node labels that groups name.
  bool has_generated_placements() const { return has_generated_placements_; }
  const std::vector<Entry<PlacementFeasible>>& placement_feasibles() const {
    return placement_feasibles_;
  }
  const std::vector<Entry<PlacementScore>>& placement_scores() const { return placement_scores_; }
  // Null stands for the engine's own, DefaultPreemption.
  const std::vector<Entry<PodGroupPostFilter>>& group_post_filters() const {
    return group_post_filters_;
  }
  // Whether the plugin is asked at this point. For what is not behind an interface of its own:
  // preemption for lone pods, binding.
  bool runs(std::string_view plugin, ExtensionPoint point) const;
  // Whether it is asked at any.
  bool has(std::string_view plugin) const;

  const ProfileSettings& settings() const { return settings_; }
  void set(ProfileSettings settings) { settings_ = std::move(settings); }

  // Equal for copies of one profile, different for any two made apart; what is derived is cached
  // under it.
  const void* identity() const { return identity_.get(); }

 private:
  struct Running {
    std::string_view name;
    Points points;
  };

  std::vector<Entry<Gate>> gates_;
  std::vector<Entry<Filter>> filters_;
  std::vector<Entry<Score>> scores_;
  std::vector<Entry<Hints>> hints_;
  std::vector<Entry<Reserve>> reserves_;
  std::vector<Entry<Permit>> permits_;
  std::vector<Entry<PreBind>> pre_binds_;
  std::vector<Entry<PostBind>> post_binds_;
  std::vector<Entry<PlacementGenerate>> placement_generators_;
  bool has_generated_placements_ = false;
  std::vector<Entry<PlacementFeasible>> placement_feasibles_;
  std::vector<Entry<PlacementScore>> placement_scores_;
  std::vector<Entry<PodGroupPostFilter>> group_post_filters_;
  std::vector<Running> running_;
  ProfileSettings settings_;
  std::shared_ptr<const int> identity_;
};

}  // namespace muster::scheduler
