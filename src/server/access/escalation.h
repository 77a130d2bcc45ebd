#pragma once

#include <span>
#include <vector>

#include "api/json.h"
#include "api/request.h"
#include "base/result.h"
#include "server/access/authorizer.h"
#include "server/access/roles.h"

// Nobody may grant what they do not hold: roles and bindings are written only by users whose own
// rights cover what is granted, or who were given the verbs `escalate` and `bind`.
namespace muster::server {

// All rights, as two rules.
std::vector<PolicyRule> all_rights();

// Judges the write of a Role, ClusterRole, RoleBinding or ClusterRoleBinding by the request's user;
// `document` is what would be stored, `old` what is stored, null on create. Forbidden in upstream's
// words. Any other kind passes.
Result<void> check_escalation(const Authorizer& authorizer, const api::Request& request,
                              const api::Json& document, const api::Json* old);

}  // namespace muster::server
