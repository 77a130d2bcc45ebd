#include "server/access/token.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace muster::server {
namespace {

const Time kNow = parse_time("2026-01-01T00:00:00Z").value();

TokenKey new_key() { return TokenKey::read(TokenKey::make_pem().value()).value(); }

TokenClaims claims() {
  return {.issuer = "https://issuer",
          .audiences = {"api", "other"},
          .name_space = "ns",
          .account = "robot",
          .account_uid = "u-1",
          .bound = BoundObject{.kind = "Pod", .name = "web", .uid = "u-2"},
          .id = "id",
          .issued_at = kNow,
          .expires_at = kNow + std::chrono::hours(1)};
}

TEST(TokenTest, WhatIsSignedIsRead) {
  const TokenKey key = new_key();
  const auto read = key.check(key.sign(claims()), kNow);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->issuer, "https://issuer");
  EXPECT_EQ(read->audiences, (std::vector<std::string>{"api", "other"}));
  EXPECT_EQ(read->name_space + "/" + read->account + "/" + read->account_uid, "ns/robot/u-1");
  ASSERT_TRUE(read->bound.has_value());
  EXPECT_EQ(read->bound->kind + "/" + read->bound->name + "/" + read->bound->uid, "Pod/web/u-2");
  EXPECT_EQ(read->expires_at, kNow + std::chrono::hours(1));
}

TEST(TokenTest, HoldsOnlyInItsTime) {
  const TokenKey key = new_key();
  const std::string token = key.sign(claims());
  EXPECT_FALSE(key.check(token, kNow - std::chrono::seconds(1)).has_value());
  EXPECT_TRUE(key.check(token, kNow + std::chrono::minutes(59)).has_value());
  EXPECT_FALSE(key.check(token, kNow + std::chrono::hours(1)).has_value());
}

TEST(TokenTest, DoesNotHoldBeforeItsTime) {
  const TokenKey key = new_key();
  TokenClaims later = claims();
  later.not_before = kNow + std::chrono::minutes(10);
  const std::string token = key.sign(later);
  EXPECT_FALSE(key.check(token, kNow + std::chrono::minutes(9)).has_value());
  EXPECT_TRUE(key.check(token, kNow + std::chrono::minutes(10)).has_value());
}

TEST(TokenTest, SaysWhoseItIs) {
  const TokenKey key = new_key();
  api::JsonObject account{{"name", "robot"}, {"uid", "u-1"}};
  const api::JsonObject whole{
      {"iss", "https://issuer"},
      {"sub", "system:serviceaccount:ns:robot"},
      {"iat", 1'767'225'600},
      {"nbf", 1'767'225'600},
      {"exp", 1'767'229'200},
      {"kubernetes.io",
       api::JsonObject{{"namespace", "ns"}, {"serviceaccount", std::move(account)}}}};
  const auto holds_without = [&](std::string_view claim) {
    api::JsonObject rest = whole;
    rest.erase(claim);
    return key.check(key.sign(api::Json(std::move(rest))), kNow).has_value();
  };
  EXPECT_TRUE(holds_without(""));
  EXPECT_TRUE(holds_without("nbf")) << "a token need not say from when on it holds";
  for (const std::string_view claim : {"sub", "iat", "exp", "kubernetes.io"})
    EXPECT_FALSE(holds_without(claim)) << claim;
  api::JsonObject others = whole;
  others["sub"] = "system:serviceaccount:ns:other";
  EXPECT_FALSE(key.check(key.sign(api::Json(std::move(others))), kNow).has_value());
}

TEST(TokenTest, AnyChangeOfAByteBreaksIt) {
  const TokenKey key = new_key();
  const std::string token = key.sign(claims());
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string altered = token;
    altered[i] = altered[i] == 'A' ? 'B' : 'A';
    // The last letter of a part carries bits that nobody reads.
    const bool spare = i + 1 == token.size() || token[i + 1] == '.';
    if (!spare) {
      EXPECT_FALSE(key.check(altered, kNow).has_value()) << i;
    }
  }
  for (const std::string_view bad : {"", ".", "..", "a.b", "a.b.c", "eyJ9.e30.AAAA"})
    EXPECT_FALSE(key.check(bad, kNow).has_value()) << bad;
}

TEST(TokenTest, AnotherKeysTokenIsRefused) {
  EXPECT_FALSE(new_key().check(new_key().sign(claims()), kNow).has_value());
}

TEST(TokenTest, TheKeySurvivesItsFile) {
  const std::string pem = TokenKey::make_pem().value();
  const std::string token = TokenKey::read(pem).value().sign(claims());
  EXPECT_TRUE(TokenKey::read(pem).value().check(token, kNow).has_value());
  EXPECT_FALSE(TokenKey::read("no key").has_value());
}

}  // namespace
}  // namespace muster::server
