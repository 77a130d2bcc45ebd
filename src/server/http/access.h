#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/request.h"
#include "base/result.h"
#include "server/http/message.h"
#include "server/http/router.h"

// Who asks, and whether they may (wire.md 6.2 and 6.3).
namespace muster::server {

// What the TLS handshake told of the client's certificate.
struct PeerCertificate {
  enum class State : std::uint8_t { None, Valid, Invalid };
  State state = State::None;
  std::string common_name;
  std::vector<std::string> organizations;
};

// A credential that was presented but does not hold is Unauthorized; none at all is
// system:anonymous. There are no bearer tokens yet: any is Unauthorized.
Result<api::User> authenticate(const PeerCertificate& certificate, const HttpRequest& request);

// Everything a user must be allowed for one request: the request itself and, as a GroupBinding
// binds pods, the right to create pods/binding there.
std::vector<Attributes> needed_rights(const Attributes& asked);

// Forbidden, in upstream's words, if `user` may not. For now: system:masters may everything, other
// authenticated users may read discovery, anybody may read health and version.
Result<void> authorize(const api::User& user, const Attributes& asked);

}  // namespace muster::server
