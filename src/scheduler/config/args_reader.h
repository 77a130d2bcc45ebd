#pragma once

#include <string_view>

#include "api/json.h"
#include "scheduler/config/config_errors.h"
#include "scheduler/plugins/plugin_args.h"

namespace muster::scheduler {

// Reads the arguments of one plugin, the member `args` at `path`, into `into`; what is wrong goes
// to `errors`.
void read_plugin_args(std::string_view plugin, const api::Json& args, const api::FieldPath& path,
                      PluginArgs& into, ConfigErrors& errors);

}  // namespace muster::scheduler
