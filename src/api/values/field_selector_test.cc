#include "api/values/field_selector.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster::api {
namespace {

TEST(FieldSelector, ReadsTermsAndEscapes) {
  struct Case {
    std::string_view input;
    std::vector<FieldTerm> want;
    std::string_view text;
  };
  const Case cases[] = {
      {"", {}, ""},
      {",", {}, ""},
      {"metadata.name=a", {{"metadata.name", "a", true}}, "metadata.name=a"},
      {"metadata.name==a", {{"metadata.name", "a", true}}, "metadata.name=a"},
      {"status.phase!=Failed", {{"status.phase", "Failed", false}}, "status.phase!=Failed"},
      {"spec.nodeName=", {{"spec.nodeName", "", true}}, "spec.nodeName="},
      {"a=,,b=", {{"a", "", true}, {"b", "", true}}, "a=,b="},
      {"=a", {{"", "a", true}}, "=a"},
      {"a!=!b", {{"a", "!b", false}}, "a!=!b"},
      {"a!=x,a=y", {{"a", "x", false}, {"a", "y", true}}, "a!=x,a=y"},
      {"b=1,a=2", {{"a", "2", true}, {"b", "1", true}}, "a=2,b=1"},
      {R"(a=x\,y\=z\\)", {{"a", R"(x,y=z\)", true}}, R"(a=x\,y\=z\\)"},
  };
  for (const Case& c : cases) {
    const Result<FieldSelector> selector = FieldSelector::parse(c.input);
    ASSERT_TRUE(selector) << c.input;
    EXPECT_EQ(selector->terms(), c.want) << c.input;
    EXPECT_EQ(selector->text(), c.text) << c.input;
  }
}

TEST(FieldSelector, SaysWhatIsWrongAsUpstreamDoes) {
  struct Case {
    std::string_view input;
    std::string_view message;
  };
  const Case cases[] = {
      {"a", "invalid selector: 'a'; can't understand 'a'"},
      {"a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"},
      {R"(a=\x)", R"(invalid field selector: invalid escape sequence: \x)"},
      {R"(a=b\)", R"(invalid field selector: invalid escape sequence: \)"},
      {"a=b=c", "invalid field selector: unescaped character in value: 61"},
  };
  for (const Case& c : cases) {
    const Result<FieldSelector> selector = FieldSelector::parse(c.input);
    ASSERT_FALSE(selector) << c.input;
    EXPECT_EQ(selector.error().message, c.message);
    EXPECT_EQ(selector.error().reason, Reason::BadRequest);
  }
}

TEST(FieldSelector, MatchesOnTheTextOfFields) {
  const auto text_of = [](std::string_view field) -> std::string {
    return field == "status.phase" ? "Running" : "";
  };
  EXPECT_TRUE(FieldSelector::parse("status.phase=Running,spec.nodeName=")->matches(text_of));
  EXPECT_FALSE(FieldSelector::parse("status.phase!=Running")->matches(text_of));
  EXPECT_FALSE(FieldSelector::parse("spec.nodeName!=")->matches(text_of));
  EXPECT_TRUE(FieldSelector::parse("status.phase!=Failed")->matches(text_of));
  EXPECT_FALSE(FieldSelector::parse("spec.nodeName=,status.phase=Failed")->matches(text_of));
  EXPECT_FALSE(
      FieldSelector::parse("status.phase!=Failed,status.phase!=Running")->matches(text_of));
  EXPECT_TRUE(FieldSelector().matches(text_of));
}

TEST(FieldSelector, KnowsTheNameItInsistsOn) {
  const FieldSelector selector = *FieldSelector::parse("metadata.name=a,spec.nodeName!=b");
  ASSERT_NE(selector.required_value("metadata.name"), nullptr);
  EXPECT_EQ(*selector.required_value("metadata.name"), "a");
  EXPECT_EQ(selector.required_value("spec.nodeName"), nullptr);
  EXPECT_EQ(selector.required_value("status.phase"), nullptr);
}

RC_GTEST_PROP(FieldSelectorProperty, ValuesSurviveTheirEscapes, ()) {
  const auto value = *rc::gen::container<std::string>(rc::gen::element('a', ',', '=', '\\', '!'));
  std::string text = "f=";
  for (const char c : value) {
    if (c == ',' || c == '=' || c == '\\') text += '\\';
    text += c;
  }
  const Result<FieldSelector> selector = FieldSelector::parse(text);
  RC_ASSERT(selector.has_value());
  RC_ASSERT(*selector->required_value("f") == value);
  RC_ASSERT(selector->text() == text);
}

// Looking a field up may mean to read a megabyte.
TEST(FieldSelector, LooksEachFieldUpOnceOrTwice) {
  std::string text = "a.b=x";
  for (int i = 0; i < 100; ++i) text += ",a!=" + std::to_string(i) + ",type!=" + std::to_string(i);
  const auto selector = FieldSelector::parse(text + ",a=y");
  ASSERT_TRUE(selector);
  int looks = 0;
  EXPECT_TRUE(selector->matches([&](std::string_view field) {
    ++looks;
    return std::string(field == "a.b" ? "x" : field == "a" ? "y" : "z");
  }));
  EXPECT_LE(looks, 4);
}

}  // namespace
}  // namespace muster::api
