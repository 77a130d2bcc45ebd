#pragma once

#include <span>
#include <vector>

#include "api/gates/gates.h"
#include "api/kinds/kind.h"

namespace muster::server {

using Kinds = std::span<const api::Kind* const>;

// The kinds whose gate is on, in discovery order: what routes, discovery and OpenAPI know about.
// The others stay in the store, and in reach of components, until their gate is on again.
std::vector<const api::Kind*> served_kinds(const api::Gates& gates);

}  // namespace muster::server
