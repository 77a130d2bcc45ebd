#include "api/json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "api/json_bounds.h"

namespace muster::api {
namespace {

std::string error_of(std::string_view text) {
  const Result<ParsedJson> parsed = parse_json(text);
  if (parsed) return "parsed";
  EXPECT_EQ(parsed.error().reason, Reason::BadRequest);
  return parsed.error().message;
}

TEST(Json, SaysWhatIsWrongInTheWordsOfGo) {
  struct Case {
    std::string_view text;
    std::string_view want;
  };
  for (const Case& c : std::vector<Case>{
           {"", "unexpected end of JSON input"},
           {"   ", "unexpected end of JSON input"},
           {"{", "unexpected end of JSON input"},
           {R"({"a":1)", "unexpected end of JSON input"},
           {R"("abc)", "unexpected end of JSON input"},
           {"x", "invalid character 'x' looking for beginning of value"},
           {"[1,]", "invalid character ']' looking for beginning of value"},
           {"[1 2]", "invalid character '2' after array element"},
           {R"({"a" 1})", "invalid character '1' after object key"},
           {R"({"a":1 "b":2})", "invalid character '\"' after object key:value pair"},
           {R"({"a":1,})", "invalid character '}' looking for beginning of object key string"},
           {"{a:1}", "invalid character 'a' looking for beginning of object key string"},
           {"{} {}", "invalid character '{' after top-level value"},
           {"tru", "unexpected end of JSON input"},
           {"trux", "invalid character 'x' in literal true (expecting 'e')"},
           {"1.x", "invalid character 'x' after decimal point in numeric literal"},
           {"-x", "invalid character 'x' in numeric literal"},
           {"01", "invalid character '1' after top-level value"},
           {"\"a\nb\"", "invalid character '\\n' in string literal"},
           {R"("\x")", "invalid character 'x' in string escape code"},
           {R"("\u12g4")", "invalid character 'g' in \\u hexadecimal character escape"},
           {"'a'", "invalid character '\\'' looking for beginning of value"},
           {"\"\xff\"", "invalid UTF-8 in JSON text"},
           {"100000000000000000000", "a number is out of range"},
           {R"("\ud800")", "invalid surrogate pair in string literal"},
       })
    EXPECT_EQ(error_of(c.text), c.want) << c.text;
}

TEST(Json, RefusesDeepNestingAndAcceptsReasonableNesting) {
  EXPECT_EQ(error_of(std::string(5000, '[') + std::string(5000, ']')), "exceeded max depth");
  EXPECT_EQ(error_of(std::string(90, '[') + std::string(90, ']')), "parsed");
}

TEST(Json, KeepsIntegersExact) {
  const std::string text = "[9223372036854775807,-9223372036854775808,18446744073709551615,0]";
  EXPECT_EQ(to_text(parse_json(text)->value), text);
}

TEST(Json, WritesDoublesThatReadBackAsTheSameDouble) {
  EXPECT_EQ(to_text(Json(1000.0)), "1000.0");
  EXPECT_EQ(to_text(Json(0.5)), "0.5");
  EXPECT_EQ(to_text(Json(1e300)), "1e+300");
  EXPECT_EQ(to_text(Json(std::numeric_limits<double>::infinity())), "null");
}

RC_GTEST_PROP(Json, EveryFiniteDoubleSurvives, (double value)) {
  RC_PRE(std::isfinite(value));
  const Json back = parse_json(to_text(Json(value)))->value;
  RC_ASSERT(back.is_double());
  RC_ASSERT(back.get_double() == value);
}

TEST(Json, ReportsKeysThatStandTwiceAndKeepsTheLast) {
  const auto parsed = parse_json(
      R"({"spec":{"containers":[{"name":"a"},{"name":"b","name":"c"}],"x":{"y":1}},"spec2":1,"spec2":2})");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->duplicates, (std::vector<std::string>{"spec.containers[1].name", "spec2"}));
  EXPECT_EQ(find_path(parsed->value, "spec2")->get_int64(), 2);
  EXPECT_EQ(find_string(find_path(parsed->value, "spec.containers")->get_array()[1], "name"), "c");
}

TEST(Json, EscapesWhatMustBeEscaped) {
  EXPECT_EQ(to_text(Json("a\"b\\c\n\r\t\x01/<é")), "\"a\\\"b\\\\c\\n\\r\\t\\u0001/<é\"");
}

TEST(Json, FindsWhatToEscapeAtEveryPlace) {
  // Texts are looked through in words of eight: each character stands once at each place of them.
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t place = 0; place < 17; ++place) {
      std::string text(17, 'x');
      text[place] = static_cast<char>(byte);
      std::string written;
      write_string(text, written);
      const bool half_a_character = byte >= 0x80;
      const bool changed = byte < 0x20 || byte == '"' || byte == '\\' || half_a_character;
      EXPECT_EQ(written.size() > text.size() + 2, changed) << byte << " at " << place;
      const auto read = parse_json(written);
      ASSERT_TRUE(read.has_value()) << written;
      if (half_a_character) text.replace(place, 1, "\uFFFD");
      EXPECT_EQ(read->value.as_string(), text);
    }
  }
}

TEST(Json, WritesReplacementsForBytesThatAreNoText) {
  struct Case {
    std::string_view bytes, want;
  };
  const Case cases[] = {
      {"é€😀", "é€😀"},
      {"\xff", "\uFFFD"},
      {"a\xc3", "a\uFFFD"},                                // cut short
      {"\xc3(", "\uFFFD("},                                // not continued
      {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},              // half a surrogate pair
      {"\xc0\xaf", "\uFFFD\uFFFD"},                        // longer than need be
      {"\xf4\x90\x80\x80é", "\uFFFD\uFFFD\uFFFD\uFFFDé"},  // beyond the last character
  };
  for (const Case& c : cases) {
    EXPECT_EQ(valid_utf8(c.bytes), c.want);
    EXPECT_EQ(to_text(Json(c.bytes)), "\"" + std::string(c.want) + "\"");
  }
}

TEST(Json, CountsHowDeepAValueNests) {
  EXPECT_EQ(depth_of(Json(1)), 0U);
  EXPECT_EQ(depth_of(parse_json(R"({"a":[],"b":[[{}],1]})")->value), 4U);
  // The parser takes what fits, whatever is innermost.
  const auto nested = [](std::size_t depth) {
    return parse_json(std::string(depth, '[') + "1" + std::string(depth, ']'));
  };
  EXPECT_EQ(depth_of(nested(kJsonDepthMax)->value), kJsonDepthMax);
  EXPECT_FALSE(nested(kJsonDepthMax + 1).has_value());
}

TEST(Json, FindsMembersWithoutThrowing) {
  const Json value = parse_json(R"({"a":{"b":[1]},"s":"text","n":1})")->value;
  EXPECT_NE(find_object(value, "a"), nullptr);
  EXPECT_EQ(find_object(value, "s"), nullptr);
  EXPECT_EQ(find_string(value, "s"), "text");
  EXPECT_EQ(find_string(value, "n"), "");
  EXPECT_NE(find_path(value, "a.b"), nullptr);
  EXPECT_EQ(find_path(value, "a.b.c"), nullptr);
  EXPECT_EQ(find(Json(1), "a"), nullptr);
}

TEST(Json, EnsuresContainersInPlaceOfOtherTypes) {
  Json value = parse_json(R"({"a":1})")->value;
  ensure_object(value.as_object(), "a")["x"] = 1;
  ensure_array(ensure_object(value.as_object(), "b"), "list").push_back("y");
  EXPECT_EQ(to_text(value), R"({"a":{"x":1},"b":{"list":["y"]}})");
}

// S-C2: each duplicate key copied the whole path to it; 125 kB of them took 1 GB.
TEST(Json, ReportsAHundredDuplicatesAndCountsTheRest) {
  constexpr std::size_t kTimes = 5'000;
  std::string text = R"({")" + std::string(50'000, 'k') + R"(":{"a":0)";
  for (std::size_t i = 0; i < kTimes; ++i) text += R"(,"a":1)";
  text += "}}";
  const auto parsed = parse_json(text);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->duplicates.size(), kLimits.reports);
  EXPECT_EQ(parsed->duplicates_left_out, kTimes - kLimits.reports);
  for (const std::string& path : parsed->duplicates) {
    EXPECT_TRUE(path.starts_with("kkk"));
    EXPECT_LE(path.size(), kLimits.path_bytes + 8);
  }
}

TEST(Json, RefusesMoreValuesThanADocumentMayHold) {
  std::string text = "[0";
  for (std::size_t i = 2; i < kLimits.values; ++i) text += ",0";
  EXPECT_TRUE(parse_json(text + "]").has_value());
  const auto parsed = parse_json(text + ",0]");
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().reason, Reason::RequestEntityTooLarge);
  // Answers of other servers are lists of any length.
  EXPECT_TRUE(parse_json(text + ",0]", Limits::of_answers()).has_value());
}

TEST(Json, WritesTheBeginningOfALongText) {
  const Json value = parse_json(R"({"a":["x",1,true],"b":"long enough"})")->value;
  EXPECT_EQ(beginning_of_text(value, 100), to_text(value));
  for (std::size_t bytes = 0; bytes < to_text(value).size(); ++bytes) {
    const std::string text = beginning_of_text(value, bytes);
    EXPECT_GT(text.size(), bytes);
    EXPECT_LE(text.size(), bytes + 16);
  }
}

}  // namespace
}  // namespace muster::api
