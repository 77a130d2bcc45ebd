#include "server/access/authenticator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/kind.h"

namespace muster::server {
namespace {

constexpr std::string_view kBearer = "Bearer ";

tl::unexpected<Error> unauthorized() { return fail(Reason::Unauthorized, "Unauthorized"); }

bool stands(const store::Store& store, std::string_view kind_name, std::string_view name_space,
            std::string_view name, std::string_view uid) {
  const api::Kind* const kind = api::find_kind("", kind_name);
  if (kind == nullptr) return false;
  const api::ObjectPtr object =
      store.get(store::make_key(*kind, kind->namespaced ? name_space : "", name));
  return object != nullptr && object->meta().uid == uid;
}

bool is_for(const TokenClaims& claims, const std::vector<std::string>& audiences) {
  const auto said = [&](std::string_view audience) {
    return std::ranges::find(claims.audiences, audience) != claims.audiences.end();
  };
  return audiences.empty() ? said(kTokenIssuer) : std::ranges::any_of(audiences, said);
}

}  // namespace

Result<api::User> Authenticator::authenticate(const PeerCertificate& certificate,
                                              std::string_view authorization, Time now) const {
  if (certificate.state == PeerCertificate::State::Invalid) return unauthorized();
  if (certificate.state == PeerCertificate::State::Valid) {
    api::User user{.name = certificate.common_name, .groups = certificate.organizations};
    user.groups.emplace_back("system:authenticated");
    return user;
  }
  if (authorization.empty())
    return api::User{.name = "system:anonymous", .groups = {"system:unauthenticated"}};
  if (!authorization.starts_with(kBearer)) return unauthorized();
  return user_of_token(authorization.substr(kBearer.size()), {}, now);
}

Result<api::User> Authenticator::user_of_token(std::string_view token,
                                               const std::vector<std::string>& audiences,
                                               Time now) const {
  if (key_ == nullptr) return unauthorized();
  const TokenClaims claims = TRY(key_->check(token, now));
  if (claims.issuer != kTokenIssuer || !is_for(claims, audiences)) return unauthorized();
  if (!stands(store_, "ServiceAccount", claims.name_space, claims.account, claims.account_uid))
    return unauthorized();
  if (claims.bound &&
      !stands(store_, claims.bound->kind, claims.name_space, claims.bound->name, claims.bound->uid))
    return unauthorized();
  return api::User{
      .name = fmt::format("system:serviceaccount:{}:{}", claims.name_space, claims.account),
      .groups = {"system:serviceaccounts",
                 fmt::format("system:serviceaccounts:{}", claims.name_space),
                 "system:authenticated"}};
}

}  // namespace muster::server
