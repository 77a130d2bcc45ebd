#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api/object.h"
#include "api/views/node_view.h"

// Objects as they would be after a change a user can make.
namespace muster::explain {

// A group with another minimum (of pods or child groups).
api::ObjectPtr with_minimum(const api::Object& group, std::int64_t minimum);
// A group with another topology key; empty: with none.
api::ObjectPtr with_topology(const api::Object& group, std::string_view key);
// A group with another annotation.
api::ObjectPtr with_annotation(const api::Object& group, std::string_view key,
                               std::string_view value);
// A node with these labels added, replacing its own of the same keys.
api::ObjectPtr with_labels(const api::Object& node,
                           const std::map<std::string, std::string>& labels);
// Another node like this one: same labels, capacity and taints, schedulable, under another name.
api::ObjectPtr node_like(const api::Object& node, const std::string& name);
// The node after `kubectl uncordon`.
api::ObjectPtr uncordoned(const api::Object& node);
// The node without one taint.
api::ObjectPtr untainted(const api::Object& node, const api::Taint& taint);

}  // namespace muster::explain
