#include "scheduler/framework/profiles.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::scheduler {

void Profiles::add(std::string scheduler_name, Profile profile) {
  const auto at = std::ranges::find(all_, scheduler_name, &Named::scheduler_name);
  if (at != all_.end())
    at->profile = std::move(profile);
  else
    all_.push_back({std::move(scheduler_name), std::move(profile)});
}

const Profile* Profiles::find(std::string_view scheduler_name) const {
  const auto at = std::ranges::find(all_, scheduler_name, &Named::scheduler_name);
  return at == all_.end() ? nullptr : &at->profile;
}

bool Profiles::listens(std::string_view plugin, Resource resource, Action action) const {
  bool is_known = false;
  for (const Named& named : all_) {
    if (!named.profile.has(plugin)) continue;
    is_known = true;
    if (named.profile.listens(plugin, resource, action)) return true;
  }
  return !is_known;
}

std::string Profiles::placements_of(const GroupSpec& group) const {
  std::string all;
  for (const Named& named : all_) {
    if (!named.profile.has_generated_placements()) continue;
    for (const auto& entry : named.profile.placement_generators())
      if (!entry.plugin->is_label())
        if (const std::string placements = entry.plugin->placements_of(group); !placements.empty())
          all += fmt::format("{}: {}: {}\n", named.scheduler_name, entry.name, placements);
  }
  return all;
}

}  // namespace muster::scheduler
