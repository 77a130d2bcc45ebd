#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "base/result.h"
#include "base/time.h"

typedef struct evp_pkey_st EVP_PKEY;  // NOLINT: OpenSSL's own declaration, without its headers

// ServiceAccount tokens: JSON Web Tokens signed with ES256.
namespace muster::server {

// What a token may be bound to: it ends with that object.
struct BoundObject {
  std::string kind;  // Pod, Secret or Node
  std::string name;
  std::string uid;
};

struct TokenClaims {
  std::string issuer;
  std::vector<std::string> audiences;
  std::string name_space;  // of the ServiceAccount
  std::string account;
  std::string account_uid;
  std::optional<BoundObject> bound;
  std::optional<BoundObject> node = {};  // where the pod it is bound to runs: not checked
  std::string id;
  Time issued_at;
  Time not_before = {};
  Time expires_at;
};

// The key that signs tokens and checks them. Any thread.
class TokenKey {
 public:
  // PEM of a new P-256 private key.
  static Result<std::string> make_pem();
  static Result<TokenKey> read(const std::string& pem);

  // The public half as a JSON Web Key, for others who check tokens.
  api::Json public_jwk() const;

  std::string sign(const TokenClaims& claims) const;
  // A token of any claims, whether check() takes them or not. For tests.
  std::string sign(const api::Json& claims) const;
  // Unauthorized if the text is not our token, was altered, is not yet or no longer valid, or does
  // not say whose it is.
  Result<TokenClaims> check(std::string_view token, Time now) const;

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const;
  };
  using Handle = std::unique_ptr<EVP_PKEY, Free>;
  explicit TokenKey(Handle key);

  Handle key_;
  std::string id_;  // kid: base64url of the SHA-256 of the public key
};

}  // namespace muster::server
