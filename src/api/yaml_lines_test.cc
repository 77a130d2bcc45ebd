#include "api/yaml_lines.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

constexpr std::string_view kText = R"(# a comment
apiVersion: v1
profiles:
- schedulerName: a
  plugins:
    score:
      enabled:
      - name: X
        weight: 2
      - {name: Y, weight: 3}
- schedulerName: b
)";

TEST(YamlLines, FindsMembersAndItems) {
  EXPECT_EQ(yaml_line_of(kText, "apiVersion"), 2U);
  EXPECT_EQ(yaml_line_of(kText, "profiles"), 3U);
  EXPECT_EQ(yaml_line_of(kText, "profiles[0]"), 4U);
  EXPECT_EQ(yaml_line_of(kText, "profiles[0].plugins.score.enabled[0].weight"), 9U);
  EXPECT_EQ(yaml_line_of(kText, "profiles[0].plugins.score.enabled[1].name"), 10U);
  EXPECT_EQ(yaml_line_of(kText, "profiles[1].schedulerName"), 11U);
}

TEST(YamlLines, WhatIsMissingIsAtItsParent) {
  EXPECT_EQ(yaml_line_of(kText, "profiles[1].plugins.filter"), 11U);
  EXPECT_EQ(yaml_line_of(kText, "profiles[0].plugins.score.enabled[7]"), 7U);
  EXPECT_EQ(yaml_line_of(kText, "api"), 2U) << "a longer name is no parent: the document itself";
}

TEST(YamlLines, ReadsJson) {
  EXPECT_EQ(yaml_line_of("{\n  \"a\": [\n    {\"b\": 1},\n    {\"b\": 2}\n  ]\n}", "a[1].b"), 4U);
}

TEST(YamlLines, ATextThatBreaksOffHasTheLinesBefore) {
  EXPECT_EQ(yaml_line_of("a: 1\nb: [", "a"), 1U);
  EXPECT_EQ(yaml_line_of("]", "a"), std::nullopt);
}

}  // namespace
}  // namespace muster::api
