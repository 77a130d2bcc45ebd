#pragma once

#include <optional>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/request.h"

namespace muster::server {

// The roles and bindings every cluster starts with, under upstream's names.
struct BootstrapObject {
  const api::Kind* kind;
  api::Json document;
};
std::vector<BootstrapObject> bootstrap_roles();

// What an existing one has lost: labels, rules or subjects, as a merge patch. What an administrator
// has added stays; nullopt if nothing is missing, or if the annotation
// rbac.authorization.kubernetes.io/autoupdate says "false".
std::optional<api::Json> lost_parts(const api::Json& wanted, const api::Json& standing);

// The user of the controller of aggregated roles: one of those roles lets it write what it does not
// hold.
api::User role_aggregator();

}  // namespace muster::server
