#pragma once

#include <vector>

#include "api/json.h"
#include "api/kind.h"
#include "api/request.h"

namespace muster::server {

// The ClusterRoles and ClusterRoleBindings every cluster starts with, under upstream's names. They
// are written if missing; what an administrator has changed stays.
struct BootstrapObject {
  const api::Kind* kind;
  api::Json document;
};
std::vector<BootstrapObject> bootstrap_roles();

// As whom the controller of aggregated roles asks: one of those roles lets it write what it does
// not hold.
api::User role_aggregator();

}  // namespace muster::server
