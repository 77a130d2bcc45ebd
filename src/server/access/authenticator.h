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

// What the TLS handshake says about the client's certificate.
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

  // A credential that was presented but is not valid is Unauthorized; none at all is
  // system:anonymous. `authorization` is the header of that name.
  Result<Identity> authenticate(const PeerCertificate& certificate, std::string_view authorization,
                                Time now) const;

  // The user a token stands for, if it is valid now: signed by us, not expired, for one of
  // `audiences` (empty: for the API server), and its account and the object it is bound to still
  // exist.
  struct Known {
    Identity who;
    std::vector<std::string> audiences;  // those asked for that the token is for
  };
  Result<Known> who_has_token(std::string_view token, std::vector<std::string> audiences,
                              Time now) const;
  // Unauthorized once a valid token has expired, or its account or the object it is bound to is
  // gone.
  Result<void> check_holds(const TokenClaims& claims, Time now) const;

 private:
  const store::Store& store_;
  const TokenKey* key_;
};

// The issuer of tokens, and their audience unless another is asked for.
inline constexpr std::string_view kTokenIssuer = "https://kubernetes.default.svc.cluster.local";

}  // namespace muster::server
