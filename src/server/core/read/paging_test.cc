#include "server/core/read/paging.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace muster::server {
namespace {

TEST(ContinueToken, SurvivesTheWay) {
  // All remainders of its encoding, and bytes that no name has.
  for (const std::string_view start : {"a", "ab", "abc", "abcd", "d/web~\xc3\xbf\xc3\xbe>?"}) {
    const ContinueToken token{.revision = {123'456'789}, .start = std::string(start) + '\0'};
    const std::string text = token.text();
    EXPECT_EQ(text.find_first_of("+/="), std::string::npos) << "it stands in URLs: " << text;
    const auto parsed = ContinueToken::parse(text);
    ASSERT_TRUE(parsed) << start;
    EXPECT_EQ(parsed->revision.value, 123'456'789);
    EXPECT_EQ(parsed->start, token.start);
  }
}

TEST(ContinueToken, IsWhatKubernetesWouldWrite) {
  // {"v":"meta.k8s.io/v1","rv":5,"start":"a"}
  EXPECT_EQ((ContinueToken{.revision = {5}, .start = "a"}.text()),
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhIn0");
  const auto parsed =
      ContinueToken::parse("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhIn0");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->start, "a");
}

TEST(ContinueToken, OfAnotherMakeIsRefused) {
  for (const std::string_view text : {
           "", "!", "abc",
           "eyJ2IjoibWV0YS5rOHMuaW8vdjIiLCJydiI6NSwic3RhcnQiOiJhIn0",     // of version v2
           "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6IjUiLCJzdGFydCI6ImEifQ",  // "rv":"5"
           "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJzdGFydCI6ImEifQ",              // no rv
           "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NX0",                     // no start
           "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOjF9",        // "start":1
       }) {
    const auto parsed = ContinueToken::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().reason, Reason::BadRequest);
    EXPECT_EQ(parsed.error().message, "invalid continue token: it was not issued by this server");
    EXPECT_EQ(renewed_token(text), "");
  }
}

TEST(ContinueToken, ARenewedOneIsTheSamePlaceInTheNewestState) {
  const auto renewed =
      ContinueToken::parse(renewed_token(ContinueToken{.revision = {5}, .start = "a"}.text()));
  ASSERT_TRUE(renewed);
  EXPECT_EQ(renewed->revision.value, -1);
  EXPECT_EQ(renewed->start, "a");
}

PinnedListings::Listing listing(std::int64_t revision, std::size_t objects = 1) {
  store::Store::Listing out;
  out.revision = {revision};
  out.objects.resize(objects);
  return std::make_shared<store::Store::Listing>(std::move(out));
}

TEST(PinnedListings, AreFoundByPlaceAndRevision) {
  PinnedListings pins;
  const PinnedListings::Listing pods = listing(5);
  pins.pin("pods/", pods);
  pins.pin("nodes/", listing(5));
  pins.pin("pods/", listing(6));
  EXPECT_EQ(pins.find("pods/", {5}), pods);
  EXPECT_EQ(pins.find("pods/", {7}), nullptr);
  EXPECT_EQ(pins.find("pods/d/", {5}), nullptr);
}

// "1 2 4": the revisions of those that are kept.
std::string kept(PinnedListings& pins, std::int64_t last) {
  std::string out;
  for (std::int64_t i = 1; i <= last; ++i)
    if (pins.find("pods/", {i})) out += (out.empty() ? "" : " ") + std::to_string(i);
  return out;
}

TEST(PinnedListings, TheLeastRecentlyUsedGoFirst) {
  PinnedListings pins({.listings = 3, .objects = 100});
  for (const std::int64_t revision : {1, 2, 3}) pins.pin("pods/", listing(revision));
  EXPECT_EQ(kept(pins, 3), "1 2 3");
  EXPECT_NE(pins.find("pods/", {1}), nullptr);
  pins.pin("pods/", listing(4));
  EXPECT_EQ(kept(pins, 4), "1 3 4");
}

TEST(PinnedListings, AreBoundedByAllTheirObjects) {
  PinnedListings pins({.listings = 10, .objects = 10});
  pins.pin("pods/", listing(1, 4));
  pins.pin("pods/", listing(2, 6));
  EXPECT_EQ(kept(pins, 2), "1 2");
  pins.pin("pods/", listing(3, 1));
  EXPECT_EQ(kept(pins, 3), "2 3");
  pins.pin("pods/", listing(4, 3));
  EXPECT_EQ(kept(pins, 4), "2 3 4") << "what went makes room";
  pins.pin("pods/", listing(5, 11));
  EXPECT_EQ(kept(pins, 5), "5") << "one that is too large by itself is kept alone";
}

TEST(PinnedListings, OneThatIsTooOldMakesRoom) {
  PinnedListings pins({.listings = 10, .objects = 10});
  pins.pin("pods/", listing(1, 4));
  pins.pin("pods/d/", listing(2, 4));
  watch::Window window;
  window.start({1});
  pins.end_outdated(window);
  EXPECT_NE(pins.find("pods/", {1}), nullptr) << "all that came after it is known";
  watch::Window later;
  later.start({2});
  pins.end_outdated(later);
  EXPECT_EQ(pins.find("pods/", {1}), nullptr);
  EXPECT_NE(pins.find("pods/d/", {2}), nullptr);
  pins.pin("pods/", listing(3, 6));
  EXPECT_NE(pins.find("pods/d/", {2}), nullptr);
  EXPECT_NE(pins.find("pods/", {3}), nullptr);
}

}  // namespace
}  // namespace muster::server
