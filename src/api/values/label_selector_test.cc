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

TEST(LabelSelector, NothingMatchesNothing) {
  EXPECT_FALSE(LabelSelector::nothing().matches(kWeb));
  EXPECT_TRUE(LabelSelector::nothing().selects_nothing());
  EXPECT_FALSE(LabelSelector::nothing().selects_everything());
  EXPECT_TRUE(LabelSelector().selects_everything());
}

TEST(LabelSelector, KnowsTheNamesOfOperators) {
  EXPECT_EQ(label_operator_named("In"), LabelOperator::In);
  EXPECT_EQ(label_operator_named("Gt"), LabelOperator::GreaterThan);
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
