#pragma once

#include <string>
#include <vector>

#include "api/request.h"
#include "base/result.h"
#include "server/access/authorizer.h"

namespace muster::server {

// The user a request wants to act as, from its Impersonate-User and Impersonate-Group headers
// (`kubectl --as`, `--as-group`). Forbidden unless `real` may impersonate that user and each group.
Result<api::User> impersonate(const Authorizer& authorizer, const api::User& real,
                              const std::string& user, const std::vector<std::string>& groups);

}  // namespace muster::server
