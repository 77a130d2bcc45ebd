#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/time.h"
#include "server/core/write/registry.h"
#include "store/store.h"

namespace muster::server {

// Writes a config map of the server's own, or repairs the existing one: afterwards these entries
// are as given; empty entries are removed. After bootstrap, on the registry's thread.
struct ConfigMapName {
  std::string_view name_space;
  std::string_view name;
};
void publish_config_map(Registry& registry, const store::Store& store, ConfigMapName name,
                        const std::map<std::string, std::string>& entries, Time now);

}  // namespace muster::server
