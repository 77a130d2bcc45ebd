#include "scheduler/framework/profiles.h"

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

}  // namespace muster::scheduler
