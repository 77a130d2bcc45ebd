#pragma once

#include <optional>

#include "server/access/authenticator.h"
#include "server/access/authorizer.h"
#include "server/access/reviews.h"
#include "server/access/token.h"
#include "store/store.h"

namespace muster::server {

// Everything about who may do what; one per server. Any thread.
class Access {
 public:
  // Listens to the store: make it before the first commit. Without a key there are no tokens.
  Access(store::Store& store, std::optional<TokenKey> key)
      : key_(std::move(key)),
        authenticator_(store, key_ ? &*key_ : nullptr),
        authorizer_(store),
        reviews_(store, authorizer_, authenticator_, key_ ? &*key_ : nullptr) {}
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  const Authenticator& authenticator() const { return authenticator_; }
  const Authorizer& authorizer() const { return authorizer_; }
  const Reviews& reviews() const { return reviews_; }
  // Null if there are no tokens.
  const TokenKey* token_key() const { return key_ ? &*key_ : nullptr; }

 private:
  const std::optional<TokenKey> key_;
  const Authenticator authenticator_;
  const Authorizer authorizer_;
  const Reviews reviews_;
};

}  // namespace muster::server
