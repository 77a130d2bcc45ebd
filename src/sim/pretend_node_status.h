#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/object.h"
#include "api/values/pretend.h"
#include "base/time.h"

// What a kubelet would report about its node.
namespace muster::sim {

// Fills a status like a healthy kubelet: conditions, addresses, versions; capacity from allocatable
// or the other way round if one is missing, defaults if both are.
void fill_node_status(api::JsonObject& status, std::string_view name, std::string_view address,
                      Time now);

// The status that the kubelet of a pretend node writes now, to be merged; none if there is nothing
// new to say. If somebody else set it not ready, for another reason than silence, that stays.
std::optional<api::Json> node_report(const api::Object& node, std::string_view address, Time now);

// "" if it has none.
std::string internal_address(const api::Object& node);

}  // namespace muster::sim
