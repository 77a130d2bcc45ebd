#include "api/same_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace muster::api {
namespace {

// Small values over few keys, so that two of them are often the same.
Json any_value(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 5 : 3)) {
    case 0: return nullptr;
    case 1: return *rc::gen::inRange(0, 2);
    case 2: return *rc::gen::element("", "a");
    case 3: {
      JsonArray items;
      for (int left = *rc::gen::inRange(0, 3); left > 0; --left)
        items.push_back(any_value(depth - 1));
      return items;
    }
    default: {
      JsonObject members;
      for (int left = *rc::gen::inRange(0, 3); left > 0; --left)
        members.emplace(*rc::gen::element("a", "b"), any_value(depth - 1));
      return members;
    }
  }
}

RC_GTEST_PROP(SameText, IsWhatTheTextsSay, ()) {
  const Json a = any_value(2);
  const Json b = any_value(2);
  RC_ASSERT(same_text(a, b) == (to_text(a) == to_text(b)));
  RC_ASSERT(same_text(a, Json(a)));
}

TEST(SameText, KeysMatter) {
  const auto parsed = [](std::string_view text) { return parse_json(text).value().value; };
  EXPECT_FALSE(same_text(parsed(R"({"a":1})"), parsed(R"({"b":1})")));
  EXPECT_FALSE(same_text(parsed(R"([{"a":{"x":1}}])"), parsed(R"([{"a":{"y":1}}])")));
}

TEST(SameText, OrderMatters) {
  const Json a = parse_json(R"({"a":1,"b":2})").value().value;
  const Json b = parse_json(R"({"b":2,"a":1})").value().value;
  EXPECT_EQ(a, b);
  EXPECT_FALSE(same_text(a, b));
}

}  // namespace
}  // namespace muster::api
