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

// Labels that every kubelet gives its node, where they are missing.
void add_node_labels(api::JsonObject& labels, std::string_view name);
// Whether add_node_labels would add any.
bool lacks_node_labels(const api::Object& node);

// Puts into a status what a healthy kubelet says: conditions, addresses, versions; capacity and
// allocatable where the other is missing, and what a node has by default where both are.
void fill_node_status(api::JsonObject& status, std::string_view name, std::string_view address,
                      Time now);

// The status that the kubelet of a pretend node writes now, to be merged; none if there is nothing
// new to say. Readiness that somebody else has denied, other than for its silence, stays denied.
std::optional<api::Json> node_report(const api::Object& node, std::string_view address, Time now);

// "" if it has none.
std::string internal_address(const api::Object& node);

}  // namespace muster::sim
