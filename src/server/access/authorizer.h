#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "api/request.h"
#include "base/result.h"
#include "server/access/roles.h"
#include "store/store.h"

namespace muster::server {

// Judges requests by the roles and bindings in the store, as they are now. Any thread; roles change
// rarely, so they are read again only after a change of one of them.
class Authorizer {
 public:
  // Listens to the store: make it before the first commit. The store outlives it.
  explicit Authorizer(store::Store& store);

  // Members of system:masters may everything.
  Verdict judge(const api::User& user, const Attributes& asked) const;
  // Forbidden, in upstream's words, if `user` may not.
  Result<void> authorize(const api::User& user, const Attributes& asked) const;

  std::shared_ptr<const Roles> roles() const;

 private:
  const store::Store& store_;
  std::shared_ptr<std::atomic<std::int64_t>> changes_;  // of roles and bindings so far

  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Roles> roles_;  // guarded by mutex_
  mutable std::int64_t roles_as_of_ = -1;       // guarded by mutex_
};

bool is_master(const api::User& user);

// Everything a user must be allowed for one request: the request itself and, as a GroupBinding
// binds pods, the right to create pods/binding there.
std::vector<Attributes> needed_rights(const Attributes& asked);

}  // namespace muster::server
