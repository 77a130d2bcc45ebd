#include "server/access/authenticator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "api/kinds/kind.h"

namespace muster::server {
namespace {

constexpr std::string_view kBearer = "Bearer ";

tl::unexpected<Error> unauthorized() { return fail(Reason::Unauthorized, "Unauthorized"); }

// How long a token outlives the deletion of what it is bound to, if that waits for a finalizer: as
// upstream, so that a pod can still report its end.
constexpr std::chrono::seconds kGraceAfterDeletion{60};

// Whether the very object exists and is not long being deleted.
bool exists(const store::Store& store, std::string_view kind_name, std::string_view name_space,
            std::string_view name, std::string_view uid, Time now) {
  const api::Kind* const kind = api::find_kind("", kind_name);
  if (kind == nullptr) return false;
  const api::ObjectPtr object =
      store.get(store::make_key(*kind, kind->namespaced ? name_space : "", name));
  if (object == nullptr || object->meta().uid != uid) return false;
  const std::optional<Time> going = object->meta().deletion_time;
  return !going || now <= *going + kGraceAfterDeletion;
}

constexpr std::string_view kExtra = "authentication.kubernetes.io/";

Identity identity_of(const TokenClaims& claims) {
  Identity out{.user = {.name = fmt::format("system:serviceaccount:{}:{}", claims.name_space,
                                            claims.account),
                        .groups = {"system:serviceaccounts",
                                   fmt::format("system:serviceaccounts:{}", claims.name_space),
                                   "system:authenticated"}},
               .uid = claims.account_uid};
  const auto add = [&](std::string_view what, std::string value) {
    out.extra[fmt::format("{}{}", kExtra, what)] = {std::move(value)};
  };
  if (!claims.id.empty()) add("credential-id", fmt::format("JTI={}", claims.id));
  for (const std::optional<BoundObject>& object : {claims.bound, claims.node}) {
    if (!object || object->kind == "Secret") continue;
    const std::string_view what = object->kind == "Pod" ? "pod" : "node";
    add(fmt::format("{}-name", what), object->name);
    if (!object->uid.empty()) add(fmt::format("{}-uid", what), object->uid);
  }
  return out;
}

}  // namespace

Result<Identity> Authenticator::authenticate(const PeerCertificate& certificate,
                                             std::string_view authorization, Time now) const {
  if (certificate.state == PeerCertificate::State::Invalid) return unauthorized();
  if (certificate.state == PeerCertificate::State::Valid) {
    Identity who{.user = {.name = certificate.common_name, .groups = certificate.organizations},
                 .uid = certificate.uid};
    who.user.groups.emplace_back("system:authenticated");
    if (!certificate.fingerprint.empty())
      who.extra[fmt::format("{}credential-id", kExtra)] = {
          fmt::format("X509SHA256={}", certificate.fingerprint)};
    return who;
  }
  if (authorization.empty())
    return Identity{
        .user = {.name = std::string(kAnonymous), .groups = {"system:unauthenticated"}}};
  if (!authorization.starts_with(kBearer)) return unauthorized();
  return TRY(who_has_token(authorization.substr(kBearer.size()), {}, now)).who;
}

Result<Authenticator::Known> Authenticator::who_has_token(std::string_view token,
                                                          std::vector<std::string> audiences,
                                                          Time now) const {
  if (key_ == nullptr) return unauthorized();
  TokenClaims claims = TRY(key_->check(token, now));
  if (audiences.empty()) audiences = {std::string(kTokenIssuer)};
  std::erase_if(audiences, [&](const std::string& audience) {
    return std::ranges::find(claims.audiences, audience) == claims.audiences.end();
  });
  if (claims.issuer != kTokenIssuer || audiences.empty()) return unauthorized();
  TRY(check_holds(claims, now));
  Identity who = identity_of(claims);
  who.token = std::make_shared<const TokenClaims>(std::move(claims));
  return Known{.who = std::move(who), .audiences = std::move(audiences)};
}

Result<void> Authenticator::check_holds(const TokenClaims& claims, Time now) const {
  if (now >= claims.expires_at ||
      !exists(store_, "ServiceAccount", claims.name_space, claims.account, claims.account_uid, now))
    return unauthorized();
  if (claims.bound && !exists(store_, claims.bound->kind, claims.name_space, claims.bound->name,
                              claims.bound->uid, now))
    return unauthorized();
  return {};
}

}  // namespace muster::server
