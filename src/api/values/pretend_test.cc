#include "api/values/pretend.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

TEST(Pretend, NodesAreMarkedByTheirAnnotation) {
  EXPECT_TRUE(is_pretend({{"muster.dev/node", "pretend"}}));
  EXPECT_FALSE(is_pretend({{"muster.dev/node", "real"}}));
  EXPECT_FALSE(is_pretend({{"muster.dev/other", "pretend"}}));
  EXPECT_FALSE(is_pretend({}));
}

TEST(Pretend, NodesFailAsTheirAnnotationSays) {
  const auto health = [](const char* value) {
    return pretend_health({{"muster.dev/fail", value}});
  };
  EXPECT_EQ(pretend_health({}), PretendHealth::Healthy);
  EXPECT_EQ(health(""), PretendHealth::Healthy);
  EXPECT_EQ(health("false"), PretendHealth::Healthy);
  EXPECT_EQ(health("not-ready"), PretendHealth::NotReady);
  EXPECT_EQ(health("true"), PretendHealth::Silent);
  EXPECT_EQ(health("power"), PretendHealth::Silent);
}

TEST(StringPairs, AreFoundByTheirWholeKey) {
  const StringPairs pairs{{"a", "1"}, {"ab", "2"}, {"b", ""}};
  EXPECT_EQ(*lookup(pairs, "ab"), "2");
  EXPECT_EQ(*lookup(pairs, "b"), "");
  EXPECT_EQ(lookup(pairs, "aa"), nullptr);
  EXPECT_EQ(lookup(pairs, "c"), nullptr);
  EXPECT_EQ(lookup({}, "a"), nullptr);
}

}  // namespace
}  // namespace muster::api
