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

TEST(TokenTest, TellsAllThatItIsBoundTo) {
  const TokenKey key = new_key();
  TokenClaims of_pod = claims();
  of_pod.node = BoundObject{.kind = "Node", .name = "n1", .uid = ""};
  const auto read = key.check(key.sign(of_pod), kNow);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->id, "id");
  EXPECT_EQ(read->issued_at, kNow);
  EXPECT_EQ(read->not_before, kNow);
  ASSERT_TRUE(read->bound.has_value());
  ASSERT_TRUE(read->node.has_value());
  EXPECT_EQ(read->bound->kind + "/" + read->bound->name, "Pod/web");
  EXPECT_EQ(read->node->kind + "/" + read->node->name + "/" + read->node->uid, "Node/n1/");

  TokenClaims of_none = claims();
  of_none.bound.reset();
  EXPECT_FALSE(key.check(key.sign(of_none), kNow)->bound.has_value());
  for (const char* kind : {"Secret", "Node"}) {
    TokenClaims of_one = claims();
    of_one.bound = BoundObject{.kind = kind, .name = "x", .uid = "u"};
    const auto one = key.check(key.sign(of_one), kNow);
    ASSERT_TRUE(one.has_value() && one->bound.has_value()) << kind;
    EXPECT_EQ(one->bound->kind, kind);
    EXPECT_FALSE(one->node.has_value()) << kind;
  }
}

// Whoever sends a larger one wants to make us work.
TEST(TokenTest, HasAtMostSixteenKilobytes) {
  const TokenKey key = new_key();
  const auto sign = [&](std::size_t bytes) {
    TokenClaims large = claims();
    large.id = std::string(bytes, 'x');
    return key.sign(large);
  };
  constexpr std::size_t kMost = 16'384;
  std::size_t bytes = 11'000;
  while (sign(bytes).size() < kMost) ++bytes;
  ASSERT_EQ(sign(bytes).size(), kMost);
  EXPECT_TRUE(key.check(sign(bytes), kNow).has_value());
  while (sign(bytes).size() == kMost) ++bytes;
  EXPECT_FALSE(key.check(sign(bytes), kNow).has_value());
}

TEST(TokenTest, TimesMustBeTimes) {
  const TokenKey key = new_key();
  const auto holds = [&](std::string_view claim, const api::Json& value) {
    api::JsonObject all{
        {"iss", "https://issuer"},
        {"sub", "system:serviceaccount:ns:robot"},
        {"iat", 0},
        {"nbf", 0},
        {"exp", 1'767'229'200},
        {"kubernetes.io",
         api::JsonObject{{"namespace", "ns"},
                         {"serviceaccount", api::JsonObject{{"name", "robot"}, {"uid", "u"}}}}}};
    all[claim] = value;
    return key.check(key.sign(api::Json(std::move(all))), kNow).has_value();
  };
  EXPECT_TRUE(holds("iat", 0));
  EXPECT_FALSE(holds("iat", -1));
  EXPECT_FALSE(holds("nbf", "soon"));
  EXPECT_TRUE(holds("exp", 253'402'300'799)) << "the end of the year 9999";
  EXPECT_FALSE(holds("exp", 253'402'300'800));
}

TEST(TokenTest, OthersMayCheckItByThePublicKey) {
  const TokenKey key = new_key();
  const api::Json jwk = key.public_jwk();
  for (const auto& [member, value] : {std::pair("use", "sig"), std::pair("kty", "EC"),
                                      std::pair("crv", "P-256"), std::pair("alg", "ES256")})
    EXPECT_EQ(api::find_string(jwk, member), value) << member;
  EXPECT_EQ(api::find_string(jwk, "kid").size(), 43U);
  for (const char* number : {"x", "y"}) {
    const std::string_view text = api::find_string(jwk, number);
    EXPECT_EQ(text.size(), 43U) << number;
    EXPECT_EQ(text.find_first_of("+/="), std::string_view::npos) << text;
  }
  EXPECT_NE(api::find_string(jwk, "x"), api::find_string(jwk, "y"));
}

TEST(TokenTest, ADamagedKeySaysWhatToDo) {
  const auto read = TokenKey::read("no key");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().message,
            "the key for ServiceAccount tokens is damaged: put it back from a backup, or delete "
            "the folder pki to get new keys (certificates, kubeconfigs and tokens made with the "
            "old ones end)");
}

}  // namespace
}  // namespace muster::server
