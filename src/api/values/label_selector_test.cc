#include "api/values/label_selector.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster::api {
namespace {

const StringPairs kWeb = {{"app", "web"}, {"empty", ""}, {"size", "7"}, {"tier", "a"}};

TEST(LabelSelector, MatchesAndPrints) {
  struct Case {
    std::string_view input;
    std::string_view text;
    bool matches_web;
  };
  const Case cases[] = {
      {"", "", true},
      {" ", "", true},
      {"app=web", "app=web", true},
      {"app==web", "app==web", true},
      {"app = db", "app=db", false},
      {"app!=db", "app!=db", true},
      {"absent!=x", "absent!=x", true},
      {"app", "app", true},
      {"!app", "!app", false},
      {"! absent", "!absent", true},
      {"tier in (b,a)", "tier in (a,b)", true},
      {"tier in (b , c)", "tier in (b,c)", false},
      {"tier notin (b)", "tier notin (b)", true},
      {"absent notin (b)", "absent notin (b)", true},
      {"absent in (b)", "absent in (b)", false},
      {"size>6", "size>6", true},
      {"size<7", "size<7", false},
      {"app>6", "app>6", false},
      {"size>7", "size>7", false},
      {"size<8", "size<8", true},
      {"absent>6", "absent>6", false},
      {"absent<6", "absent<6", false},
      {"tier in (a,b,a)", "tier in (a,b)", true},
      {"\tapp\r=\nweb ", "app=web", true},
      {"in", "in", false},
      {"!notin", "!notin", true},
      {"app=in", "app=in", false},
      {"app==notin", "app==notin", false},
      {"app,!absent", "!absent,app", true},
      {"tier=a,tier!=b", "tier=a,tier!=b", true},
      {"tier!=b,tier=a", "tier!=b,tier=a", true},
      {"tier=a,app=web", "app=web,tier=a", true},
      {"tier=a,app=db", "app=db,tier=a", false},
      {"empty=", "empty=", true},
      {"empty=,app", "app,empty=", true},
      {"empty in (,x)", "empty in (,x)", true},
      {"empty in ()", "empty in ()", true},
      {"empty in (,)", "empty in ()", true},
      {"empty notin ()", "empty notin ()", false},
      {"empty in (x,)", "empty in (,x)", true},
      {"empty in (x,,y)", "empty in (,x,y)", true},
      {"in in (in,notin)", "in in (in,notin)", false},
      {"example.com/app=web", "example.com/app=web", false},
  };
  for (const Case& c : cases) {
    const Result<LabelSelector> selector = LabelSelector::parse(c.input);
    ASSERT_TRUE(selector) << c.input << ": " << selector.error().message;
    EXPECT_EQ(selector->text(), c.text) << c.input;
    EXPECT_EQ(selector->matches(kWeb), c.matches_web) << c.input;
  }
}

TEST(LabelSelector, SaysWhatIsWrongAsUpstreamDoes) {
  const std::string name =
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
      "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  const std::string value =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
      "'.', "
      "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
      "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  const std::string prefix = "unable to parse requirement: ";
  struct Case {
    std::string input;
    std::string message;
  };
  const Case cases[] = {
      {"a=b=c", "found '=', expected: ',' or 'end of string'"},
      {"=a", "found '=', expected: !, identifier, or 'end of string'"},
      {"a,", "found '', expected: identifier after ','"},
      {"a,,b", "found ',', expected: identifier after ','"},
      {"!", prefix + "found '', expected: identifier"},
      {"a b", prefix + "found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"a in b", prefix + "found 'b' expected: '('"},
      {"a in (b", prefix + "found '', expected: ',' or ')'"},
      {"a in (b c)", prefix + "found 'c', expected: ',' or ')'"},
      {"a in (b=c)", prefix + "found '=', expected: ',' or ')'"},
      {"a in (,=)", prefix + "found '=', expected: ',', or identifier"},
      {"a in (", prefix + "found '', expected: ',', ')' or identifier"},
      {"a in (b,", prefix + "found '', expected: ',', or identifier"},
      {"a notin b", prefix + "found 'b' expected: '('"},
      {"a!b", prefix + "found '!', expected: in, notin, =, ==, !=, gt, lt"},
      {"a,=b", "found '=', expected: identifier after ','"},
      {"a<1.5", prefix +
                    "values[0]: Invalid value: \"1.5\": for 'Gt', 'Lt' operators, the value must "
                    "be an integer"},
      {"a in (=)", prefix + "found '=', expected: ',', ')' or identifier"},
      {"a>b", prefix +
                  "values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an "
                  "integer"},
      {"a=(", prefix + "found '(', expected: identifier"},
      {"-a=b", prefix + "key: Invalid value: \"-a\": " + name},
      {"a=-b", prefix + "values[0][a]: Invalid value: \"-b\": " + value},
      {"!a=b", "found '=', expected: ',' or 'end of string'"},
  };
  for (const Case& c : cases) {
    const Result<LabelSelector> selector = LabelSelector::parse(c.input);
    ASSERT_FALSE(selector) << c.input;
    EXPECT_EQ(selector.error().message, c.message) << c.input;
    EXPECT_EQ(selector.error().reason, Reason::BadRequest);
  }
}

TEST(LabelRequirement, TakesAsManyValuesAsItsOperator) {
  struct Case {
    LabelOperator op;
    std::vector<std::string> values;
    std::string_view want;  // empty: fine
  };
  constexpr std::string_view kSet =
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty";
  constexpr std::string_view kOne =
      "values: Invalid value: []: exact-match compatibility requires one single value";
  constexpr std::string_view kNone =
      "values: Invalid value: []: values set must be empty for exists and does not exist";
  constexpr std::string_view kBound =
      "values: Invalid value: []: for 'Gt', 'Lt' operators, exactly one value is required";
  const Case cases[] = {
      {LabelOperator::In, {}, kSet},
      {LabelOperator::In, {"a"}, ""},
      {LabelOperator::NotIn, {}, kSet},
      {LabelOperator::NotIn, {"a", "b"}, ""},
      {LabelOperator::Equals, {}, kOne},
      {LabelOperator::Equals, {"a"}, ""},
      {LabelOperator::DoubleEquals, {"a", "b"}, kOne},
      {LabelOperator::DoubleEquals, {"a", "a"}, ""},
      {LabelOperator::NotEquals, {"a", "b"}, kOne},
      {LabelOperator::Exists, {}, ""},
      {LabelOperator::Exists, {"a"}, kNone},
      {LabelOperator::DoesNotExist, {"a"}, kNone},
      {LabelOperator::GreaterThan, {}, kBound},
      {LabelOperator::GreaterThan, {"1", "2"}, kBound},
      {LabelOperator::GreaterThan, {"1"}, ""},
      {LabelOperator::LessThan, {"1", "2"}, kBound},
  };
  for (const Case& c : cases) {
    const Result<LabelRequirement> made = LabelRequirement::make("key", c.op, c.values);
    EXPECT_EQ(made ? "" : made.error().message, c.want)
        << static_cast<int>(c.op) << " with " << c.values.size();
  }
}

TEST(LabelRequirement, SaysEverythingThatIsWrong) {
  const Result<LabelRequirement> made =
      LabelRequirement::make("-k", LabelOperator::Exists, {"fine"});
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().message.starts_with("[key: Invalid value: \"-k\": name part must"))
      << made.error().message;
  EXPECT_TRUE(made.error().message.ends_with(
      ", values: Invalid value: []: values set must be empty for exists and does not exist]"))
      << made.error().message;
  std::vector<std::string> bad;
  for (int i = 0; i < 150; ++i) bad.push_back("-" + std::to_string(i));
  const Result<LabelRequirement> many = LabelRequirement::make("k", LabelOperator::In, bad);
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().message.find("values[99][k]: Invalid value: "), std::string::npos);
  EXPECT_EQ(many.error().message.find("values[100][k]"), std::string::npos) << "a hundred will do";
}

TEST(LabelSelector, NothingMatchesNothing) {
  EXPECT_FALSE(LabelSelector::nothing().matches(kWeb));
  EXPECT_TRUE(LabelSelector::nothing().selects_nothing());
  EXPECT_FALSE(LabelSelector::nothing().selects_everything());
  EXPECT_TRUE(LabelSelector().selects_everything());
  EXPECT_FALSE(LabelSelector().selects_nothing());
  EXPECT_FALSE(LabelSelector::parse("app")->selects_everything());
}

TEST(LabelSelector, KnowsTheNamesOfOperators) {
  EXPECT_EQ(label_operator_named("In"), LabelOperator::In);
  EXPECT_EQ(label_operator_named("NotIn"), LabelOperator::NotIn);
  EXPECT_EQ(label_operator_named("Exists"), LabelOperator::Exists);
  EXPECT_EQ(label_operator_named("DoesNotExist"), LabelOperator::DoesNotExist);
  EXPECT_EQ(label_operator_named("Gt"), LabelOperator::GreaterThan);
  EXPECT_EQ(label_operator_named("Lt"), LabelOperator::LessThan);
  EXPECT_EQ(label_operator_named("Equals"), std::nullopt);
}

RC_GTEST_PROP(LabelSelectorProperty, AnyTextIsReadOrRefused, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::element('a', 'b', '=', '!', '(', ')', ',', '<', '>', ' ', 'i', 'n', '1', '-'));
  const Result<LabelSelector> selector = LabelSelector::parse(text);
  if (!selector) return;
  const Result<LabelSelector> again = LabelSelector::parse(selector->text());
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->text() == selector->text());
}

}  // namespace
}  // namespace muster::api
