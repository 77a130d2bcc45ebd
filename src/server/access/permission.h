#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "server/access/access.h"
#include "server/access/attributes.h"
#include "server/access/identity.h"

namespace muster::server {

// A right that was granted once and is used for long, as by a watch: it is checked again now and
// then, so that it ends when a role, a binding or a token ends. Belongs to one thread.
class Permission {
 public:
  // `judged_as_of`: the authorizer's generation from before the right was granted. What has changed
  // since may have taken it away: then the first check judges it again. `access` outlives it.
  Permission(const Access& access, const Identity& who, Attributes asked, std::int64_t judged_as_of)
      : access_(access),
        user_(who.user),
        token_(who.token),
        asked_(std::move(asked)),
        seen_(judged_as_of) {
    const std::int64_t changed_at = access.authorizer().roles()->changed_at(asked_.name_space);
    // Asked after that: roles newer than the right do not show when it was judged.
    if (access.authorizer().generation() == judged_as_of) judged_at_ = changed_at;
  }

  // Unauthorized or Forbidden once it no longer holds. Cheap while no role changes in its namespace
  // or at the cluster scope.
  Result<void> check(Time now);
  // How often that took a look at roles or bindings.
  std::size_t judgements() const { return judgements_; }

 private:
  const Access& access_;
  const api::User user_;
  const std::shared_ptr<const TokenClaims> token_;
  const Attributes asked_;
  std::int64_t seen_;  // the authorizer's generation
  // When something last changed in the scope it asks about; nullopt if unknown.
  std::optional<std::int64_t> judged_at_;
  std::size_t judgements_ = 0;
};

}  // namespace muster::server
