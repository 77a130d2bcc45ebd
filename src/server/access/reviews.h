#pragma once

#include "api/request.h"
#include "base/entropy.h"
#include "base/result.h"
#include "base/time.h"
#include "server/access/authenticator.h"
#include "server/access/authorizer.h"
#include "server/access/identity.h"
#include "server/access/token.h"
#include "store/store.h"

namespace muster::server {

// The questions about access that clients may ask, and ServiceAccount tokens on
// request. Created like objects, answered at once, never kept. Any thread.
class Reviews {
 public:
  Reviews(const store::Store& store, const Authorizer& authorizer,
          const Authenticator& authenticator, const TokenKey* key)
      : store_(store), authorizer_(authorizer), authenticator_(authenticator), key_(key) {}

  // Whether the request is one of them.
  static bool handles(const api::Request& request);
  // `who` asks; `entropy` names tokens. Moves the document out of the request.
  Result<api::Answer> answer(api::Request& request, const Identity& who, Time now,
                             Entropy& entropy) const;

 private:
  Result<api::Json> review_access(const api::Request& request) const;
  Result<api::Json> review_rules(const api::Request& request) const;
  Result<api::Json> review_token(const api::Request& request, Time now) const;
  Result<BoundObject> bound_object(const api::Request& request, const api::Json& said) const;
  // Also writes what it decided into the spec of the request.
  Result<api::Json> make_token(api::Request& request, Time now, Entropy& entropy) const;

  const store::Store& store_;
  const Authorizer& authorizer_;
  const Authenticator& authenticator_;
  const TokenKey* key_;
};

}  // namespace muster::server
