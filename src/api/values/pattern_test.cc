#include "api/values/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::api {
namespace {

bool finds(std::string_view pattern, std::string_view text) {
  const Result<Pattern> parsed = Pattern::parse(pattern);
  EXPECT_TRUE(parsed) << pattern << ": " << (parsed ? "" : parsed.error().message);
  return parsed && parsed->found_in(text);
}

TEST(Pattern, FindsWhatGoWouldFind) {
  struct Case {
    const char* pattern;
    const char* text;
    bool want;
  };
  const Case cases[] = {
      {"", "anything", true},
      {"limit", "reached the backoff limit", true},
      {"^limit", "reached the backoff limit", false},
      {"limit$", "reached the backoff limit", true},
      {"exit code 1(3|4)\\b", "failed with exit code 14", true},
      {"exit code 1(3|4)\\b", "failed with exit code 141", false},
      {"Container .* for pod .*/worker-\\d+-0 failed", "Container c for pod ns/worker-12-0 failed",
       true},
      {"a{2,3}b", "ab", false},
      {"a{2,3}b", "aaaaab", true},
      {"^a{2,3}b", "aaaab", false},
      {"a{,3}", "a{,3}", true},
      {"[^a-c]x", "bx", false},
      {"[^a-c]x", "dx", true},
      {"[]a]", "]", true},
      {"[[:digit:]-]+$", "a1-", true},
      {"(?i)OOMKilled", "oomkilled", true},
      {"OOMKilled", "oomkilled", false},
      {"a.b", "a\nb", false},
      {"(?s)a.b", "a\nb", true},
      {"(?m)^b$", "a\nb\nc", true},
      {"(?P<name>x)+?y", "xxy", true},
      {"(?:ab)*c", "ababc", true},
      {"\\.", "a", false},
      {"x|", "", true},
      {"(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false},
      {"\\Bb", "ab", true},
  };
  for (const Case& each : cases)
    EXPECT_EQ(finds(each.pattern, each.text), each.want) << each.pattern << " in " << each.text;
}

TEST(Pattern, SaysWhatIsWrong) {
  const auto error = [](std::string_view pattern) {
    const Result<Pattern> parsed = Pattern::parse(pattern);
    return parsed ? std::string("fine") : parsed.error().message;
  };
  EXPECT_EQ(error("a(b"), "error parsing regexp: missing ): a(b: `a(b`");
  EXPECT_EQ(error("[z-a]"), "error parsing regexp: invalid character class range: z-a: `[z-a]`");
  EXPECT_NE(error("a{1001}"), "fine");
  EXPECT_NE(error("((a{100}){100}){100}"), "fine") << "too large";
}

}  // namespace
}  // namespace muster::api
