#include "scheduler/plugins/default_profile.h"

#include <cstdint>
#include <utility>

#include "scheduler/plugins/plugin_args.h"
#include "scheduler/plugins/plugin_registry.h"

namespace muster::scheduler {

Profile default_profile() {
  Profile profile;
  for (const RegisteredPlugin& plugin : plugin_registry())
    profile.add(plugin.make({}), Points::all(), plugin.weight);
  ProfileSettings settings;
  settings.default_spread_keys = PodTopologySpreadArgs{}.default_keys();
  profile.set(std::move(settings));
  return profile;
}

}  // namespace muster::scheduler
