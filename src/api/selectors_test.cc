#include "api/selectors.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

Json document(std::string_view text) { return parse_json(text)->value; }

TEST(LabelSelectors, AMissingOneSelectsNothingAnEmptyOneEverything) {
  EXPECT_TRUE(read_label_selector(nullptr)->selects_nothing());
  const Json empty = document("{}");
  EXPECT_TRUE(read_label_selector(&empty)->selects_everything());
}

TEST(LabelSelectors, AllPartsMustHold) {
  const Json selector = document(R"({"matchLabels":{"app":"web"},"matchExpressions":[
      {"key":"tier","operator":"In","values":["a","b"]},{"key":"old","operator":"DoesNotExist"}]})");
  const auto parsed = read_label_selector(&selector);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->text(), "app=web,!old,tier in (a,b)");
  const auto matches = [&](std::string_view metadata) {
    const Json labelled = document(metadata);
    return parsed->matches(read_labels(&labelled));
  };
  EXPECT_TRUE(matches(R"({"labels":{"tier":"a","app":"web"}})"));
  EXPECT_FALSE(matches(R"({"labels":{"tier":"a","app":"web","old":""}})"));
  EXPECT_FALSE(matches(R"({"labels":{"app":"web"}})"));
}

TEST(LabelSelectors, WhatIsMalformedIsSaid) {
  const Json selector = document(R"({"matchExpressions":[{"key":"a","operator":"Near"}]})");
  EXPECT_EQ(read_label_selector(&selector).error().message,
            "\"Near\" is not a valid label selector operator");
}

}  // namespace
}  // namespace muster::api
