#pragma once

#include <string>
#include <string_view>

#include "api/decode.h"
#include "api/validation/kind_rules.h"
#include "api/validation/validation_testing.h"

// Shorthands for tests of kinds whose rules stand in the table of kind_rules.h.
namespace muster::api {

// Decoded and defaulted, as the server hands documents to the rules.
inline Json prepared(const Kind& kind, std::string_view text) {
  auto decoded = decode(*kind.message, {document(text), {}});
  EXPECT_TRUE(decoded) << text << ": " << (decoded ? "" : decoded.error().message);
  if (!decoded) return {};
  EXPECT_TRUE(decoded->unknown.empty()) << text << ": " << decoded->unknown.front();
  const KindRules* rules = find_kind_rules(kind);
  if (rules->predefault != nullptr) rules->predefault(decoded->document.get_object());
  apply_defaults(*kind.message, decoded->document);
  if (rules->set_defaults != nullptr) rules->set_defaults(decoded->document.get_object());
  return decoded->document;
}

struct RuleCase {
  std::string_view group;
  std::string_view kind;
  std::string text;
  Sentences want;
  std::string old = {};  // empty: create
};

inline void expect(const RuleCase& c) {
  const Kind* kind = find_kind(c.group, c.kind);
  ASSERT_NE(kind, nullptr) << c.kind;
  const KindRules* rules = find_kind_rules(*kind);
  ASSERT_NE(rules, nullptr) << c.kind;
  const Json now = prepared(*kind, c.text);
  const Json old = c.old.empty() ? Json() : prepared(*kind, c.old);
  FieldErrors errors;
  rules->validate(now, c.old.empty() ? nullptr : &old, errors);
  EXPECT_EQ(sentences(errors), c.want) << c.kind << " " << c.text;
}

// A pod template with label app=web; `members` of its pod spec.
inline std::string pod_template(std::string_view members = "") {
  return std::string(
             R"("template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}])")
      .append(members)
      .append("}}");
}
inline std::string replicas(std::string_view members = "") {
  return std::string(
             R"({"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"app":"web"}},)")
      .append(pod_template())
      .append(members)
      .append("}}");
}

}  // namespace muster::api
