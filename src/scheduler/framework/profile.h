#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "scheduler/framework/cluster_event.h"
#include "scheduler/framework/plugin.h"

namespace muster::scheduler {

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

  // Files a plugin under every extension point it implements; decided at compile time.
  template <typename P, typename... Args>
  void add(std::int64_t weight, Args&&... args) {
    const auto plugin = std::make_shared<const P>(std::forward<Args>(args)...);
    if constexpr (std::derived_from<P, Gate>) gates_.push_back({P::kName, plugin});
    if constexpr (std::derived_from<P, Filter>) filters_.push_back({P::kName, plugin});
    if constexpr (std::derived_from<P, Score>) scores_.push_back({P::kName, plugin, weight});
    if constexpr (std::derived_from<P, Hints>) hints_.push_back({P::kName, plugin});
  }

  // Why the pod may not enter the queue yet, in upstream's words; nullopt if it may. The plugin
  // that gates is the first one asked that says no (gated_by).
  std::optional<std::string> pre_enqueue(const api::Object& pod) const;
  std::optional<std::string_view> gated_by(const api::Object& pod) const;

  // Could this event make a pod schedulable that `plugin` refused? A plugin that is not in the
  // profile, or has no opinion, says yes to everything: waking in vain costs an attempt, sleeping
  // on costs the pod.
  bool could_help(std::string_view plugin, const api::Object& pod, const ClusterEvent& event) const;

  const std::vector<Entry<Filter>>& filters() const { return filters_; }
  const std::vector<Entry<Score>>& scores() const { return scores_; }

  // Equal for copies of one profile, different for any two made apart; what is derived is cached
  // under it.
  const void* identity() const { return identity_.get(); }

 private:
  std::vector<Entry<Gate>> gates_;
  std::vector<Entry<Filter>> filters_;
  std::vector<Entry<Score>> scores_;
  std::vector<Entry<Hints>> hints_;
  std::shared_ptr<const int> identity_;
};

// Upstream's default plugins with their default arguments and weights; defined in
// plugins/default_profile.cc.
Profile default_profile();

}  // namespace muster::scheduler
