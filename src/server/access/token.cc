#include "server/access/token.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/base64.h"
#include "api/json.h"
#include "base/check.h"
#include "base/free_with.h"

namespace muster::server {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::size_t kNumberBytes = 32;  // r and s of a P-256 signature
constexpr std::size_t kTokenBytesMax = 16U << 10U;
constexpr std::string_view kAlgorithm = "ES256";
constexpr std::string_view kPrivateClaims = "kubernetes.io";

using Bio = std::unique_ptr<BIO, FreeWith<BIO_free_all>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreeWith<EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, FreeWith<ECDSA_SIG_free>>;

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// base64 for URLs, without padding.
std::string to_url64(std::string_view text) {
  std::string out = api::base64_encode(text);
  std::ranges::replace(out, '+', '-');
  std::ranges::replace(out, '/', '_');
  out.erase(std::min(out.find('='), out.size()));
  return out;
}

std::optional<std::string> from_url64(std::string_view text) {
  if (text.find_first_of("+/=\n\r") != std::string_view::npos) return std::nullopt;
  std::string padded(text);
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.append((4 - padded.size() % 4) % 4, '=');
  return api::base64_decode(padded);
}

// JWS wants the two numbers of a signature side by side; OpenSSL speaks DER.
std::string to_raw(std::string_view der) {
  const unsigned char* at = bytes(der);
  const Signature signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  CHECK(signature != nullptr);
  std::string out(2 * kNumberBytes, '\0');
  BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), bytes(out), kNumberBytes);
  BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), bytes(out) + kNumberBytes, kNumberBytes);
  return out;
}

std::string to_der(std::string_view raw) {
  const Signature signature(ECDSA_SIG_new());
  CHECK(signature != nullptr);
  BIGNUM* const r = BN_bin2bn(bytes(raw), kNumberBytes, nullptr);
  BIGNUM* const s = BN_bin2bn(bytes(raw) + kNumberBytes, kNumberBytes, nullptr);
  ECDSA_SIG_set0(signature.get(), r, s);
  std::string out(static_cast<std::size_t>(i2d_ECDSA_SIG(signature.get(), nullptr)), '\0');
  unsigned char* at = bytes(out);
  i2d_ECDSA_SIG(signature.get(), &at);
  return out;
}

std::int64_t seconds(Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

// The user that a token speaks for, as its claim `sub` names it.
std::string subject_of(const TokenClaims& claims) {
  return fmt::format("system:serviceaccount:{}:{}", claims.name_space, claims.account);
}

Json to_json(const TokenClaims& claims) {
  JsonObject account{{"name", claims.account}, {"uid", claims.account_uid}};
  JsonObject own{{"namespace", claims.name_space}, {"serviceaccount", std::move(account)}};
  for (const std::optional<BoundObject>& object : {claims.bound, claims.node}) {
    if (!object) continue;
    std::string member = object->kind;
    std::ranges::transform(member, member.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    JsonObject entry{{"name", object->name}};
    if (!object->uid.empty()) entry.emplace("uid", object->uid);
    own.emplace(member, std::move(entry));
  }
  JsonArray audiences;
  for (const std::string& audience : claims.audiences) audiences.emplace_back(audience);
  return JsonObject{{"aud", std::move(audiences)},
                    {"exp", seconds(claims.expires_at)},
                    {"iat", seconds(claims.issued_at)},
                    {"iss", claims.issuer},
                    {"jti", claims.id},
                    {kPrivateClaims, std::move(own)},
                    {"nbf", seconds(std::max(claims.issued_at, claims.not_before))},
                    {"sub", subject_of(claims)}};
}

std::optional<Time> time_of(const Json& claims, std::string_view member) {
  const Json* const value = api::find(claims, member);
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  // The year 9999 is forever, and must not overflow.
  constexpr std::int64_t kSecondsMax = 253'402'300'799;
  const std::int64_t since = value->get_int64();
  if (since < 0 || since > kSecondsMax) return std::nullopt;
  return Time(std::chrono::seconds(since));
}

// The objects a token names: the first is what it is bound to, a pod's node comes after it.
std::vector<BoundObject> named_objects(const Json& own) {
  std::vector<BoundObject> out;
  for (const auto& [member, kind] :
       {std::pair("pod", "Pod"), std::pair("secret", "Secret"), std::pair("node", "Node")})
    if (const Json* object = api::find(own, member))
      out.push_back({.kind = kind,
                     .name = std::string(api::find_string(*object, "name")),
                     .uid = std::string(api::find_string(*object, "uid"))});
  return out;
}

std::optional<TokenClaims> read_claims(const Json& said) {
  const Json* const own = api::find(said, kPrivateClaims);
  const auto issued = time_of(said, "iat");
  const auto expires = time_of(said, "exp");
  // Optional, but if it is there it must be a time.
  const bool limited = api::find(said, "nbf") != nullptr;
  const auto not_before = limited ? time_of(said, "nbf") : issued;
  if (own == nullptr || !issued || !expires || !not_before) return std::nullopt;
  const Json* const account = api::find(*own, "serviceaccount");
  if (account == nullptr) return std::nullopt;
  TokenClaims out{.issuer = std::string(api::find_string(said, "iss")),
                  .audiences = {},
                  .name_space = std::string(api::find_string(*own, "namespace")),
                  .account = std::string(api::find_string(*account, "name")),
                  .account_uid = std::string(api::find_string(*account, "uid")),
                  .bound = std::nullopt,
                  .node = std::nullopt,
                  .id = std::string(api::find_string(said, "jti")),
                  .issued_at = *issued,
                  .not_before = *not_before,
                  .expires_at = *expires};
  if (api::find_string(said, "sub") != subject_of(out)) return std::nullopt;
  std::vector<BoundObject> named = named_objects(*own);
  if (!named.empty()) out.bound = std::move(named.front());
  if (named.size() > 1) out.node = std::move(named.back());
  if (const JsonArray* audiences = api::find_array(said, "aud"))
    for (const Json& audience : *audiences)
      if (audience.is_string()) out.audiences.emplace_back(std::string_view(audience.get_string()));
  return out;
}

tl::unexpected<Error> unauthorized() { return fail(Reason::Unauthorized, "Unauthorized"); }

}  // namespace

void TokenKey::Free::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

TokenKey::TokenKey(Handle key) : key_(std::move(key)) {
  std::string der(static_cast<std::size_t>(i2d_PUBKEY(key_.get(), nullptr)), '\0');
  unsigned char* at = bytes(der);
  i2d_PUBKEY(key_.get(), &at);
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(bytes(std::as_const(der)), der.size(), bytes(digest));
  id_ = to_url64(digest);
}

Result<std::string> TokenKey::make_pem() {
  const Handle key(EVP_EC_gen("P-256"));
  const Bio out(BIO_new(BIO_s_mem()));
  if (key == nullptr || out == nullptr ||
      PEM_write_bio_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return fail(Reason::InternalError, "cannot make a key for ServiceAccount tokens");
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

Result<TokenKey> TokenKey::read(const std::string& pem) {
  const Bio in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Handle key(PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr));
  if (key == nullptr || EVP_PKEY_get_id(key.get()) != EVP_PKEY_EC)
    return fail(
        Reason::InternalError,
        "the key for ServiceAccount tokens is damaged: put it back from a backup, or delete the "
        "folder pki to get new keys (certificates, kubeconfigs and tokens made with the old "
        "ones end)");
  return TokenKey(std::move(key));
}

Json TokenKey::public_jwk() const {
  // An uncompressed point: 4, x, y.
  std::string point(1 + 2 * kNumberBytes, '\0');
  std::size_t size = 0;
  CHECK(EVP_PKEY_get_octet_string_param(key_.get(), OSSL_PKEY_PARAM_PUB_KEY, bytes(point),
                                        point.size(), &size) == 1);
  CHECK(size == point.size() && point.front() == 4);
  return JsonObject{{"use", "sig"},
                    {"kty", "EC"},
                    {"kid", id_},
                    {"crv", "P-256"},
                    {"alg", kAlgorithm},
                    {"x", to_url64(point.substr(1, kNumberBytes))},
                    {"y", to_url64(point.substr(1 + kNumberBytes))}};
}

std::string TokenKey::sign(const TokenClaims& claims) const { return sign(to_json(claims)); }

std::string TokenKey::sign(const Json& claims) const {
  const Json header = JsonObject{{"alg", kAlgorithm}, {"kid", id_}};
  std::string token = to_url64(api::to_text(header)) + "." + to_url64(api::to_text(claims));
  const DigestContext context(EVP_MD_CTX_new());
  CHECK(context != nullptr);
  CHECK(EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1);
  std::size_t size = 0;
  CHECK(EVP_DigestSign(context.get(), nullptr, &size, bytes(std::as_const(token)), token.size()) ==
        1);
  std::string der(size, '\0');
  CHECK(EVP_DigestSign(context.get(), bytes(der), &size, bytes(std::as_const(token)),
                       token.size()) == 1);
  der.resize(size);
  return token + "." + to_url64(to_raw(der));
}

Result<TokenClaims> TokenKey::check(std::string_view token, Time now) const {
  if (token.size() > kTokenBytesMax) return unauthorized();
  const std::size_t first = token.find('.');
  const std::size_t last = token.rfind('.');
  if (first == std::string_view::npos || first == last) return unauthorized();
  const auto header_text = from_url64(token.substr(0, first));
  const auto claims_text = from_url64(token.substr(first + 1, last - first - 1));
  const auto signature = from_url64(token.substr(last + 1));
  if (!header_text || !claims_text || !signature || signature->size() != 2 * kNumberBytes)
    return unauthorized();
  const auto header = api::parse_json(*header_text);
  if (!header || api::find_string(header->value, "alg") != kAlgorithm ||
      api::find_string(header->value, "kid") != id_)
    return unauthorized();

  const std::string der = to_der(*signature);
  const std::string_view signed_part = token.substr(0, last);
  const DigestContext context(EVP_MD_CTX_new());
  CHECK(context != nullptr);
  if (EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) != 1 ||
      EVP_DigestVerify(context.get(), bytes(der), der.size(), bytes(signed_part),
                       signed_part.size()) != 1)
    return unauthorized();

  const auto said = api::parse_json(*claims_text);
  if (!said) return unauthorized();
  auto claims = read_claims(said->value);
  if (!claims || now < claims->issued_at || now < claims->not_before || now >= claims->expires_at)
    return unauthorized();
  return *std::move(claims);
}

}  // namespace muster::server
