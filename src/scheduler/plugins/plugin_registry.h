#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "scheduler/framework/profile.h"
#include "scheduler/plugins/plugin_args.h"

namespace muster::scheduler {

// A plugin that a profile may name.
struct RegisteredPlugin {
  std::string_view name;
  std::int64_t weight = 1;    // of its score, unless the profile says otherwise
  bool is_permanent = false;  // no profile can do without it
  Plugin (*make)(const PluginArgs& args) = nullptr;
};

// Every plugin there is, in the order the default profile asks them. A new plugin is a line in
// plugin_registry.cc.
std::span<const RegisteredPlugin> plugin_registry();
// Null if there is no such plugin.
const RegisteredPlugin* find_plugin(std::string_view name);

}  // namespace muster::scheduler
