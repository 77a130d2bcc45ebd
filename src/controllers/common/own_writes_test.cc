#include "controllers/common/own_writes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "controllers/common/objects_testing.h"
#include "controllers/common/testing_texts.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

api::ObjectPtr pod(std::string_view uid, std::int64_t revision) {
  return make_object(
      api::kinds::pod(),
      fmt::format(R"({{"metadata":{{"name":"p","namespace":"ns","uid":"{}"}}}})", uid), revision);
}

TEST(OwnWrites, AreWaitedForUntilTheFeedShowsThemOrALaterVersion) {
  OwnWrites writes;
  EXPECT_EQ(writes.wait_until("k", kNow), std::nullopt);
  writes.wrote("k", "a", {5}, kNow);
  writes.wrote("k", "b", {6}, kNow + seconds{1});
  EXPECT_EQ(writes.wait_until("k", kNow), kNow + seconds{1} + OwnWrites::kPatience);
  EXPECT_EQ(writes.wait_until("other", kNow), std::nullopt);
  EXPECT_FALSE(writes.showed("k", *pod("a", 4), {})) << "an older version";
  EXPECT_FALSE(writes.showed("k", *pod("a", 5), {})) << "one is missing still";
  EXPECT_FALSE(writes.showed("k", *pod("stranger", 9), {}));
  EXPECT_FALSE(writes.showed("other", *pod("b", 9), {}));
  EXPECT_TRUE(writes.wait_until("k", kNow));
  EXPECT_TRUE(writes.showed("k", *pod("b", 7), {})) << "the last one";
  EXPECT_EQ(writes.wait_until("k", kNow), std::nullopt);
  EXPECT_FALSE(writes.showed("k", *pod("b", 8), {})) << "once";
}

TEST(OwnWrites, WhatIsGoneIsNotWaitedForWhateverItsVersion) {
  OwnWrites writes;
  writes.wrote("k", "a", {5}, kNow);
  EXPECT_TRUE(writes.showed("k", *pod("a", 1), {.gone = true}));
  EXPECT_EQ(writes.wait_until("k", kNow), std::nullopt);
}

TEST(OwnWrites, WhatWentBeforeTheAnswerIsNotWaitedForInThisLook) {
  OwnWrites writes;
  writes.showed("k", *pod("a", 5), {.gone = true, .under_way = true});
  writes.wrote("k", "a", {5}, kNow);
  EXPECT_EQ(writes.wait_until("k", kNow), std::nullopt);
  writes.begin_look("k");
  writes.wrote("k", "a", {5}, kNow);
  EXPECT_TRUE(writes.wait_until("k", kNow)) << "another look";
  writes.forget("k");
  EXPECT_EQ(writes.wait_until("k", kNow), std::nullopt);
  writes.showed("k", *pod("b", 5), {.gone = true, .under_way = false});
  writes.wrote("k", "b", {5}, kNow);
  EXPECT_TRUE(writes.wait_until("k", kNow)) << "no call was under way";
  writes.forget("k");
  writes.showed("k", *pod("b", 4), {.gone = false, .under_way = true});
  writes.wrote("k", "b", {5}, kNow);
  EXPECT_TRUE(writes.wait_until("k", kNow)) << "it is there";
  writes.showed("k", *pod("c", 5), {.gone = true, .under_way = true});
  writes.forget("k");
  writes.wrote("k", "c", {5}, kNow);
  EXPECT_TRUE(writes.wait_until("k", kNow)) << "all is forgotten";
}

TEST(OwnWrites, PatienceEnds) {
  OwnWrites writes;
  writes.wrote("k", "a", {5}, kNow);
  const Time end = kNow + OwnWrites::kPatience;
  EXPECT_EQ(writes.wait_until("k", end - seconds{1}), end);
  EXPECT_EQ(writes.wait_until("k", end), std::nullopt);
  EXPECT_EQ(writes.wait_until("k", kNow), std::nullopt) << "it was given up";
}

}  // namespace
}  // namespace muster::controllers
