#include <gtest/gtest.h>

#include <set>

#include "client/remote/reflector_testing.h"

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class ReflectorFailureTest : public ReflectorFixture, public testing::WithParamInterface<Form> {
 protected:
  ReflectorFailureTest() : ReflectorFixture(GetParam()) {}

  // To the first list, of a server without streams of what exists.
  void begin_to_list() {
    ASSERT_EQ(next(), "stream initial");
    end_with(422, "Invalid");
    ASSERT_EQ(next(), "list limit");
  }
  void page(std::string_view name, int revision, std::string_view rest = "") {
    end(200, fmt::format(R"({{"kind":"NodeList","metadata":{{"resourceVersion":"{}",)"
                         R"("continue":"{}"}},"items":[{}]}})",
                         revision, rest, object(name, revision, name)));
  }
  Duration pause() { return *reflector_.next_deadline() - now_; }
};
INSTANTIATE_TEST_SUITE_P(Forms, ReflectorFailureTest, testing::Values(Form::Json, Form::Protobuf),
                         [](const auto& form) {
                           return form.param == Form::Json ? "Json" : "Protobuf";
                         });

// None of these says anything about what is known.
TEST_P(ReflectorFailureTest, ABusyServerIsAskedAgainFromWhereItWas) {
  sync();
  const std::vector<std::pair<int, std::string_view>> answers{
      {429, "TooManyRequests"}, {503, "ServiceUnavailable"}, {504, "Timeout"}};
  for (const auto& [code, reason] : answers) {
    end_with(code, reason);
    EXPECT_EQ(reflector_.trouble(), "because");
    EXPECT_EQ(next_after_pause(), "stream rv=5") << reason;
  }
  end_with(500, "InternalError");
  EXPECT_EQ(next_after_pause(), "stream rv=5 initial");
}

TEST_P(ReflectorFailureTest, AServerThatIsBusyAtTheStartIsAskedForTheSameStreamAgain) {
  next();
  end_with(429, "TooManyRequests");
  EXPECT_FALSE(reflector_.synced());
  EXPECT_EQ(next_after_pause(), "stream initial");
}

TEST_P(ReflectorFailureTest, AListThatBreaksOffBeginsAgainWithItsFirstPage) {
  begin_to_list();
  page("a", 5, "x");
  EXPECT_EQ(next(), "list limit from=x");
  lose_connection();
  EXPECT_EQ(next_after_pause(), "list limit");
  page("b", 6);
  EXPECT_TRUE(reflector_.synced());
  EXPECT_EQ(reported(), "+a +b -a");
  EXPECT_EQ(next(), "stream rv=6");
}

TEST_P(ReflectorFailureTest, AListThatWasReadIsNoTroubleAnyMore) {
  next();
  end_with(404, "NotFound");
  EXPECT_EQ(next(), "list limit");
  EXPECT_EQ(reflector_.trouble(), "because");
  EXPECT_NE(reflector_.unknown_since(), std::nullopt);
  page("a", 5);
  EXPECT_EQ(reflector_.trouble(), "");
  EXPECT_EQ(reflector_.unknown_since(), std::nullopt);
}

TEST_P(ReflectorFailureTest, AStreamThatBeginsShowsThatTheKindIsKnown) {
  next();
  end_with(404, "NotFound");
  next();
  end_with(404, "NotFound");
  EXPECT_NE(reflector_.unknown_since(), std::nullopt);
  EXPECT_EQ(next_after_pause(), "stream initial");
  EXPECT_TRUE(reflector_.on_bytes(""));
  EXPECT_EQ(reflector_.unknown_since(), std::nullopt);
  EXPECT_EQ(reflector_.trouble(), "because") << "what exists is not complete yet";
}

TEST_P(ReflectorFailureTest, AStreamThatEndsTooEarlyIsFollowedByAList) {
  next();
  add("a", 2);
  end();
  EXPECT_EQ(reflector_.trouble(), "the stream of what exists ended before it was complete");
  EXPECT_EQ(next(), "list limit");
}

TEST_P(ReflectorFailureTest, AWatchThatEndsAsItShouldIsNoTrouble) {
  sync();
  lose_connection();
  EXPECT_EQ(next_after_pause(), "stream rv=5");
  end();
  EXPECT_EQ(reflector_.trouble(), "");
}

TEST_P(ReflectorFailureTest, OnlyWatchesWithoutEventsThatEndWithinASecondArePaused) {
  sync();
  now_ += minutes{6};
  end();
  EXPECT_EQ(next(), "stream rv=5");
  now_ += seconds{1};
  end();
  EXPECT_EQ(next(), "stream rv=5") << "it lasted a second";
  change("a", 7);
  end();
  EXPECT_EQ(next(), "stream rv=7") << "it had an event";
  now_ += milliseconds{999};
  end();
  EXPECT_EQ(next_after_pause(), "stream rv=7");
}

TEST_P(ReflectorFailureTest, AListThatIsSomethingElseIsToldSo) {
  begin_to_list();
  const std::string something =
      R"({"kind":"NodeList","metadata":{"resourceVersion":"5x"},"items":[]})";
  end(200, something);
  EXPECT_EQ(reflector_.trouble(), "the server answered a list of nodes with something else");
  EXPECT_FALSE(reflector_.synced());
  EXPECT_EQ(next_after_pause(), "stream initial");
}

// Pauses that grow are for servers in need; this one has only forgotten where we were.
TEST_P(ReflectorFailureTest, AServerThatForgotWhereWeWereIsAskedSoonEveryTime) {
  std::set<Duration> pauses;
  sync();
  for (int i = 0; i < 8; ++i) {
    end_with(410, "Expired");
    EXPECT_GE(pause(), milliseconds{800});
    EXPECT_LT(pause(), milliseconds{1800});
    pauses.insert(pause());
    EXPECT_EQ(next_after_pause(), "stream initial");
    bookmark(5, true);
  }
  EXPECT_GT(pauses.size(), 4U) << "kinds do not come back all at once";
  EXPECT_EQ(reported(), "-a -b");
}

TEST_P(ReflectorFailureTest, ListsThatExpireRestLongerEachTime) {
  begin_to_list();
  for (const Duration least : {milliseconds{1600}, milliseconds{3200}, milliseconds{6400}}) {
    end_with(410, "Expired");
    EXPECT_GE(pause(), least);
    EXPECT_EQ(next_after_pause(), "list");
  }
  page("a", 9);
  EXPECT_EQ(next(), "stream rv=9");
  end_with(410, "Expired");
  EXPECT_EQ(next_after_pause(), "stream initial");
  end_with(422, "Invalid");
  EXPECT_EQ(next(), "list limit") << "in pages again";
}

TEST_P(ReflectorFailureTest, AServerThatIsBackIsNeverAskedLaterThanWithoutThatNews) {
  sync();
  std::set<Duration> pauses;
  for (int i = 0; i < 20; ++i) {
    lose_connection();
    const Duration before = pause();
    reflector_.on_reachable(now_);
    EXPECT_LE(pause(), std::min<Duration>(before, milliseconds{999}));
    EXPECT_GE(pause(), Duration{0});
    pauses.insert(pause());
    const Time soon = *reflector_.next_deadline();
    reflector_.on_reachable(now_);
    EXPECT_EQ(reflector_.next_deadline(), soon) << "it knows already";
    now_ = soon + minutes{3};  // the failure is forgotten
    EXPECT_EQ(next(), "stream rv=5");
  }
  EXPECT_GT(pauses.size(), 10U) << "kinds do not come back all at once";
}

TEST_P(ReflectorFailureTest, NewsOfAnEarlierFailureDoNotCutTheNextPause) {
  sync();
  lose_connection();
  EXPECT_EQ(next_after_pause(), "stream rv=5");
  end_with(503, "ServiceUnavailable");
  const std::optional<Time> later = reflector_.next_deadline();
  reflector_.on_reachable(now_);
  EXPECT_EQ(reflector_.next_deadline(), later);
}

TEST_P(ReflectorFailureTest, ARevisionThatIsNoNumberIsNotResumedFrom) {
  sync();
  EXPECT_TRUE(line("BOOKMARK", R"({"kind":"Node","metadata":{"resourceVersion":"9x"}})"));
  EXPECT_TRUE(line("BOOKMARK", R"({"kind":"Node","metadata":{"resourceVersion":"x"}})"));
  EXPECT_TRUE(line("BOOKMARK", R"({"kind":"Node"})"));
  now_ += minutes{6};
  end();
  EXPECT_EQ(next(), "stream rv=5");
}

TEST_P(ReflectorFailureTest, ABookmarkWithoutThatMarkDoesNotEndWhatExists) {
  next();
  EXPECT_TRUE(line("BOOKMARK", R"({"kind":"Node","metadata":{"resourceVersion":"9",)"
                               R"("annotations":{"k8s.io/initial-events-end":"false"}}})"));
  EXPECT_TRUE(line("BOOKMARK", R"({"kind":"Node"})"));
  EXPECT_FALSE(reflector_.synced());
}

TEST_P(ReflectorFailureTest, NothingIsHeardOfAStreamThatCannotBeRead) {
  sync();
  EXPECT_FALSE(line("ERROR", R"({"kind":"Status","code":500,"reason":"InternalError",)"
                             R"("message":"the cache is gone"})"));
  EXPECT_FALSE(change("a", 9)) << "what follows is not read";
  EXPECT_EQ(reported(), "");
  end();
  EXPECT_EQ(reflector_.trouble(), "the cache is gone") << "not how the stream ended";
  EXPECT_EQ(next_after_pause(), "stream rv=5 initial");
  EXPECT_TRUE(change("a", 9)) << "the next stream is another one";
}

class ProtobufReflectorFailureTest : public ReflectorFixture {
 protected:
  ProtobufReflectorFailureTest() : ReflectorFixture(Form::Protobuf) {}
};

TEST_F(ProtobufReflectorFailureTest, AListThatCannotBeReadIsAskedForInJson) {
  next();
  end_with(422, "Invalid");
  EXPECT_EQ(next(), "list limit");
  reflector_.on_end(HttpReply{.code = 200, .body = std::string("k8s\0garbage", 11)}, now_);
  EXPECT_EQ(reflector_.accept(), "");
  EXPECT_EQ(next_after_pause(), "stream initial");
}

TEST_F(ProtobufReflectorFailureTest, ALineThatCannotBeReadSpeaksForProtobuf) {
  next();
  EXPECT_FALSE(reflector_.on_bytes("<html>\n"));
  lose_connection();
  EXPECT_NE(reflector_.accept(), "");
}

TEST_F(ProtobufReflectorFailureTest, AnswersThatAreNoListsAreRefused) {
  next();
  for (const char* body : {"{}", "7", R"({"kind":"NodeList","metadata":{},"items":[]})"}) {
    end_with(422, "Invalid");
    EXPECT_EQ(next(), "list limit") << body;
    reflector_.on_end(HttpReply{.code = 200, .body = body}, now_);
    EXPECT_EQ(reflector_.trouble(), "the server answered a list of nodes with something else");
    EXPECT_EQ(next_after_pause(), "stream initial");
  }
}

}  // namespace
}  // namespace muster::client
