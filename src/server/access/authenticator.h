#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "server/access/identity.h"
#include "server/access/token.h"
#include "store/store.h"

namespace muster::server {

// What the TLS handshake says of the client's certificate.
struct PeerCertificate {
  enum class State : std::uint8_t { None, Valid, Invalid };
  State state = State::None;
  std::string common_name;
  std::vector<std::string> organizations;
  std::string uid = {};          // of the subject, if it has one
  std::string fingerprint = {};  // SHA-256 in hex
};

// Who asks: by client certificate, by a ServiceAccount's bearer token, or nobody we know. Any
// thread.
class Authenticator {
 public:
  // `key` may be null: then every bearer token is refused.
  Authenticator(const store::Store& store, const TokenKey* key) : store_(store), key_(key) {}

  // A credential that was presented but does not hold is Unauthorized; none at all is
  // system:anonymous. `authorization` is the header of that name.
  Result<Identity> authenticate(const PeerCertificate& certificate, std::string_view authorization,
                                Time now) const;

  // Whom a token stands for, if it holds now: signed by us, not expired, for one of `audiences`
  // (empty: for the API server), its account and what it is bound to still there.
  struct Known {
    Identity who;
    std::vector<std::string> audiences;  // those asked for that the token is for
  };
  Result<Known> who_has_token(std::string_view token, std::vector<std::string> audiences,
                              Time now) const;
  // Unauthorized once a token that was good has expired, or its account or what it is bound to is
  // gone.
  Result<void> check_holds(const TokenClaims& claims, Time now) const;

 private:
  const store::Store& store_;
  const TokenKey* key_;
};

// Who issues tokens, and whom they are for if nothing else is asked.
inline constexpr std::string_view kTokenIssuer = "https://kubernetes.default.svc.cluster.local";

}  // namespace muster::server
