#include "api/yaml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::api {
namespace {

std::string loaded(std::string_view text) {
  const auto parsed = parse_yaml(text);
  return parsed ? to_text(parsed->value) : "error: " + parsed.error().message;
}

TEST(Yaml, ResolvesScalarsByTheRulesOfYaml11) {
  struct Case {
    std::string_view text;
    std::string_view want;
  };
  for (const Case& c : std::vector<Case>{
           {"a: y", R"({"a":true})"},
           {"a: Off", R"({"a":false})"},
           {"a: 'y'", R"({"a":"y"})"},
           {"a: \"1\"", R"({"a":"1"})"},
           {"a: 12", R"({"a":12})"},
           {"a: -12", R"({"a":-12})"},
           {"a: 0644", R"({"a":420})"},
           {"a: 0x1F", R"({"a":31})"},
           {"a: 0o17", R"({"a":15})"},
           {"a: 1_000", R"({"a":1000})"},
           {"a: 089", R"({"a":89})"},
           {"a: 1.5", R"({"a":1.5})"},
           {"a: 1e3", R"({"a":1000})"},
           {"a: 1.0", R"({"a":1})"},
           {"a: .5", R"({"a":0.5})"},
           {"a: ~", R"({"a":null})"},
           {"a:", R"({"a":null})"},
           {"a: 1Gi", R"({"a":"1Gi"})"},
           {"a: 500m", R"({"a":"500m"})"},
           {"a: 1.2.3", R"({"a":"1.2.3"})"},
           {"a: 2026-01-02", R"({"a":"2026-01-02"})"},
           {"a: 2026-01-02T03:04:05Z", R"({"a":"2026-01-02T03:04:05Z"})"},
           {"a: !!str 12", R"({"a":"12"})"},
           {"a: -", "error: "},
           {"n: 1", R"({"false":1})"},
           {"1: x", R"({"1":"x"})"},
           {"a: 18446744073709551615", R"({"a":18446744073709551615})"},
           {"a: -9223372036854775808", R"({"a":-9223372036854775808})"},
           {"a: |\n  x\n  y\n", R"({"a":"x\ny\n"})"},
           {"a: >-\n  x\n  y\n", R"({"a":"x y"})"},
           {"[a, {b: c}]", R"(["a",{"b":"c"}])"},
           {"", "null"},
           {"# nothing\n", "null"},
       })
    EXPECT_TRUE(loaded(c.text).starts_with(c.want)) << c.text << " became " << loaded(c.text);
}

TEST(Yaml, ReadsJson) {
  EXPECT_EQ(loaded(R"({"a": [1, "y", null]})"), R"({"a":[1,"y",null]})");
  EXPECT_EQ(loaded("{a: y}"), R"({"a":true})");
}

TEST(Yaml, ExpandsAliasesAndMerges) {
  EXPECT_EQ(loaded("a: &x {b: 1}\nc: *x\n"), R"({"a":{"b":1},"c":{"b":1}})");
  EXPECT_EQ(loaded("base: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n"),
            R"({"base":{"b":1,"c":2},"d":{"c":3,"b":1}})");
  EXPECT_EQ(loaded("a: *nobody"),
            "error: error converting YAML to JSON: yaml: unknown anchor 'nobody' referenced");
}

TEST(Yaml, BoundsAliasesAndNesting) {
  std::string laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    laughs += fmt::format("a{0}: &a{0} [", i);
    for (int j = 0; j < 10; ++j) laughs += fmt::format("{}*a{}", j == 0 ? "" : ",", i - 1);
    laughs += "]\n";
  }
  EXPECT_NE(loaded(laughs).find("excessive aliasing"), std::string::npos);
  EXPECT_NE(loaded(std::string(500, '[')).find("max depth"), std::string::npos);
}

TEST(Yaml, BoundsNestingThroughAliases) {
  const auto nested = [](int deep, std::string_view inner) {
    return fmt::format("{0:[>{2}}{1}{0:]>{2}}", "", inner, deep);
  };
  // The list at the root, 60 lists around the alias and 39 in it: all that JSON takes.
  const std::string fits = loaded(fmt::format("[&a {}, {}]", nested(39, "x"), nested(60, "*a")));
  EXPECT_TRUE(parse_json(fits).has_value()) << fits;
  EXPECT_NE(loaded(fmt::format("[&a {}, {}]", nested(40, "x"), nested(60, "*a"))).find("max depth"),
            std::string::npos);
}

TEST(Yaml, ReportsKeysThatStandTwice) {
  const auto parsed = parse_yaml("spec:\n  a: 1\n  a: 2\nlist:\n- {x: 1, x: 2}\n");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->duplicates, (std::vector<std::string>{"spec.a", "list[0].x"}));
  EXPECT_EQ(to_text(parsed->value), R"({"spec":{"a":2},"list":[{"x":2}]})");
}

TEST(Yaml, RefusesSeveralDocumentsAndNonsense) {
  EXPECT_TRUE(loaded("a: 1\n---\nb: 2\n").starts_with("error: a body holds one"));
  EXPECT_TRUE(loaded("a: [1").starts_with("error: error converting YAML to JSON: yaml: line "));
  EXPECT_TRUE(loaded("a: .inf").starts_with("error: "));
  EXPECT_TRUE(loaded("? [a]\n: b\n").starts_with("error: "));
}

TEST(Yaml, SplitsFilesIntoDocuments) {
  using Documents = std::vector<std::string_view>;
  EXPECT_EQ(split_yaml_documents("a: 1\n"), (Documents{"a: 1\n"}));
  EXPECT_EQ(split_yaml_documents("---\na: 1\n---\n# only a comment\n---\nb: |\n  ---\n"),
            (Documents{"\na: 1\n", "\nb: |\n  ---\n"}));
  EXPECT_EQ(split_yaml_documents("a: 1\n--- # next\nb: 2"), (Documents{"a: 1\n", " # next\nb: 2"}));
  EXPECT_EQ(split_yaml_documents(""), Documents{});
  EXPECT_EQ(split_yaml_documents("---\n"), Documents{});
}

// S-C3: aliases were counted in values, so that one long text could be repeated without end.
TEST(Yaml, CountsTheBytesThatAliasesMake) {
  const auto with_aliases = [](std::size_t bytes, int times) {
    std::string text = "a: &a " + std::string(bytes, 'x') + "\nb:\n";
    for (int i = 0; i < times; ++i) text += "- *a\n";
    return parse_yaml(text);
  };
  EXPECT_TRUE(with_aliases(10'000, 500).has_value());
  const auto refused = with_aliases(100'000, 500);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, Reason::BadRequest);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("excessive aliasing"));
}

TEST(Yaml, CountsWhatAnchorsKeep) {
  std::string text;
  for (int i = 0; i < 90; ++i) text += fmt::format("&a{} [", i);
  text += "\"" + std::string(200'000, 'x') + "\"";
  text += std::string(90, ']');
  const auto refused = parse_yaml(text);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("excessive aliasing"));
}

TEST(Yaml, RefusesManyTagDirectives) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += fmt::format("%TAG !t{}! tag:example.com,2026:\n", i);
  EXPECT_FALSE(parse_yaml(text + "---\na: 1\n").has_value());
}

}  // namespace
}  // namespace muster::api
