#include "api/conversion.h"

#include <gtest/gtest.h>

#include "api/decode.h"
#include "api/sample.h"
#include "base/entropy.h"

namespace muster::api {
namespace {

const Kind& seen_event() { return *find_kind("events.k8s.io", "Event"); }

TEST(Conversion, OnlyEventsHaveTwoFaces) {
  for (const Kind* kind : all_kinds()) {
    if (kind == &seen_event())
      EXPECT_EQ(&stored_kind(*kind), &kinds::event());
    else
      EXPECT_EQ(&stored_kind(*kind), kind);
  }
  EXPECT_EQ(seen_event().store_prefix, kinds::event().store_prefix);
}

TEST(Conversion, AnEventKeepsItsMembersUnderOtherNames) {
  Json document = parse_json(R"({"metadata":{"name":"e"},"regarding":{"kind":"Pod"},"note":"n",
      "deprecatedCount":2,"reportingController":"c","action":"a"})")
                      ->value;
  to_stored(seen_event(), document);
  EXPECT_EQ(canonical_text(*kinds::event().message, document),
            R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod"},"message":"n","source":{},)"
            R"("firstTimestamp":null,"lastTimestamp":null,"count":2,"eventTime":null,)"
            R"("action":"a","reportingComponent":"c","reportingInstance":""})");
}

TEST(Conversion, ThereAndBackLosesNothing) {
  SeededEntropy entropy(7);
  const schema::Message& message = *seen_event().message;
  for (int i = 0; i < 50; ++i) {
    const Json sample = decode(message, {schema::sample(message, entropy), {}})->document;
    Json document = sample;
    to_stored(seen_event(), document);
    const auto decoded = decode(*kinds::event().message, {document, {}});
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    EXPECT_TRUE(decoded->unknown.empty());
    from_stored(seen_event(), document);
    EXPECT_EQ(canonical_text(message, document), canonical_text(message, sample));
  }
}

TEST(Conversion, AStoredEventIsEncodedForEitherClient) {
  const auto stored = Object::make(
      kinds::event(), parse_json(R"({"metadata":{"name":"e","uid":"u"},"message":"n"})")->value);
  std::string core;
  encode_as(kinds::event(), *stored, Revision{5}, {}, core);
  EXPECT_TRUE(
      core.starts_with(R"({"kind":"Event","apiVersion":"v1","metadata":{"resourceVersion":"5")"));
  EXPECT_NE(core.find(R"("message":"n")"), std::string::npos);
  std::string seen;
  encode_as(seen_event(), *stored, Revision{5}, {.version = "v1", .with_type = true}, seen);
  EXPECT_TRUE(seen.starts_with(
      R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"resourceVersion":"5")"))
      << seen;
  EXPECT_NE(seen.find(R"("note":"n")"), std::string::npos);
}

}  // namespace
}  // namespace muster::api
