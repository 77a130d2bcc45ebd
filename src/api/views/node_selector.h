#pragma once

#include <string>
#include <string_view>

#include "api/values/string_pairs.h"
#include "api/views/pod_view.h"

// Upstream's node selectors, for one node at a time.
namespace muster::api {

bool matches(const NodeRequirement& requirement, const std::string* value);
bool matches(const NodeSelectorTerm& term, std::string_view name, const StringPairs& labels);
// A requirement on metadata.name.
bool matches_field(const NodeRequirement& requirement, std::string_view name);
// False if the term matches no node at all: it has no requirements, or an invalid one.
bool can_match(const NodeSelectorTerm& term);
// nodeSelector and required affinity together.
bool matches_selection(const PodNeeds& needs, std::string_view name, const StringPairs& labels);

}  // namespace muster::api
