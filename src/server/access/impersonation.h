#pragma once

#include "api/request.h"
#include "base/result.h"
#include "server/access/authorizer.h"
#include "server/access/identity.h"

namespace muster::server {

// The user a request wants to act as, from its Impersonate-User, -Group, -Uid and -Extra-KEY
// headers
// (`kubectl --as`, `--as-group`, `--as-uid`, `--as-user-extra`). Forbidden unless `real` may
// impersonate that user and each group, uid and value. BadRequest if it names no user.
Result<Identity> impersonate(const Authorizer& authorizer, const api::User& real,
                             const Identity& wanted);

}  // namespace muster::server
