#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/time.h"
#include "server/access/access.h"
#include "server/access/attributes.h"
#include "server/access/identity.h"

namespace muster::server {

// A right that was granted once and is used for long, as a watch does: it is looked at again now
// and then, so that it ends when a role, a binding or a token ends. Belongs to one thread.
class Permission {
 public:
  // `access` outlives it.
  Permission(const Access& access, const Identity& who, Attributes asked)
      : access_(access),
        user_(who.user),
        token_(who.token),
        asked_(std::move(asked)),
        judged_at_(access.authorizer().generation()) {}

  // Unauthorized or Forbidden once it does not hold any more. Cheap while no role changes.
  Result<void> check(Time now);

 private:
  const Access& access_;
  const api::User user_;
  const std::shared_ptr<const TokenClaims> token_;
  const Attributes asked_;
  std::int64_t judged_at_;  // the authorizer's generation
};

}  // namespace muster::server
