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

// Judges requests by the roles and bindings in the store, as they are now. Any thread. When one
// role or binding changes, only that one is read again, however large the others are.
class Authorizer {
 public:
  // Listens to the store: make it before the first commit. The store outlives it.
  explicit Authorizer(store::Store& store);

  // Members of system:masters may do everything.
  AccessDecision judge(const api::User& user, const Attributes& asked) const;
  // Forbidden, in upstream's words, if `user` may not.
  Result<void> authorize(const api::User& user, const Attributes& asked) const;

  std::shared_ptr<const Roles> roles() const;
  // Grows with every change of roles or bindings: while it stays the same, so do all verdicts.
  std::int64_t generation() const { return news_->generation.load(); }

 private:
  // What has changed in the store and is not yet in roles_. Shared with the store's listener.
  struct News {
    std::atomic<std::int64_t> generation{0};
    std::mutex mutex;
    Roles::Changes changes;  // under mutex
  };
  Roles::Changes pop_changes() const;

  const store::Store& store_;
  const std::shared_ptr<News> news_;

  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Roles> roles_;  // under mutex_, as is the next
  mutable std::int64_t roles_as_of_ = -1;
};

bool is_master(const api::User& user);

// Everything a user must be allowed for one request: the request itself and, as a GroupBinding
// binds pods, the right to create pods/binding there.
std::vector<Attributes> needed_rights(const Attributes& asked);

}  // namespace muster::server
