#include "client/remote/reflector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class ReflectorTest : public testing::Test {
 protected:
  // The request it makes next, as text: "stream rv=5 initial", "list rv=5 limit", "wait".
  std::string next() {
    const std::optional<api::Request> request = reflector_.next(now_);
    if (!request) return "wait";
    std::string out = request->verb == api::Verb::Watch ? "stream" : "list";
    const api::ListOptions& list = request->list;
    if (!list.resource_version.empty()) out += " rv=" + list.resource_version;
    if (list.send_initial_events) out += " initial";
    if (list.limit > 0) out += " limit";
    if (!list.continue_token.empty()) out += " from=" + list.continue_token;
    return out;
  }
  // The same after the pause that a failure causes.
  std::string next_after_pause() {
    EXPECT_EQ(next(), "wait");
    const std::optional<Time> deadline = reflector_.next_deadline();
    if (!deadline) return "never";
    EXPECT_GE(*deadline - now_, milliseconds{800});
    now_ = *deadline;
    return next();
  }

  static std::string object(std::string_view name, int revision, std::string_view uid) {
    return fmt::format(
        R"({{"kind":"Node","metadata":{{"name":"{}","uid":"{}","resourceVersion":"{}"}}}})", name,
        uid, revision);
  }
  bool line(std::string_view type, const std::string& text) {
    return reflector_.on_bytes(fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, text));
  }
  bool add(std::string_view name, int revision) {
    return line("ADDED", object(name, revision, name));
  }
  bool change(std::string_view name, int revision) {
    return line("MODIFIED", object(name, revision, name));
  }
  bool bookmark(int revision, bool is_end = false) {
    return line(
        "BOOKMARK",
        fmt::format(R"({{"kind":"Node","metadata":{{"resourceVersion":"{}"{}}}}})", revision,
                    is_end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : ""));
  }
  void end(int code = 200, std::string body = "") {
    reflector_.on_end(HttpReply{.code = code, .body = std::move(body)}, now_);
  }
  void end_with(int code, std::string_view reason) {
    end(code, fmt::format(R"({{"kind":"Status","reason":"{}","message":"because","code":{}}})",
                          reason, code));
  }
  void lose_connection() { reflector_.on_end(fail(Reason::ServiceUnavailable, "refused"), now_); }
  // "+a ~b -c" since the last call.
  std::string reported() {
    std::string out;
    for (const Event& event : std::exchange(events_, {})) {
      constexpr std::string_view kSigns = "+~-";
      out += (out.empty() ? "" : " ");
      out += kSigns[static_cast<std::size_t>(event.type)] + event.object->meta().name;
    }
    return out;
  }
  // Through the first listing: a and b exist, at revision 5.
  void sync() {
    ASSERT_EQ(next(), "stream initial");
    ASSERT_TRUE(add("a", 2) && add("b", 3) && bookmark(5, true));
    ASSERT_EQ(reported(), "+a +b");
    ASSERT_TRUE(reflector_.synced());
  }

  Time now_ = Time{} + std::chrono::hours{1};
  SeededEntropy entropy_{1};
  std::vector<Event> events_;
  Reflector reflector_{{&api::kinds::node(), "v1"}, entropy_, [this](Event event) {
                         events_.push_back(std::move(event));
                       }};
};

TEST_F(ReflectorTest, OneStreamTellsWhatExistsAndWhatHappens) {
  EXPECT_EQ(next(), "stream initial");
  EXPECT_EQ(next(), "wait");
  EXPECT_EQ(reflector_.next_deadline(), std::nullopt);
  EXPECT_TRUE(add("a", 2));
  EXPECT_FALSE(reflector_.synced());
  EXPECT_TRUE(bookmark(5, true));
  EXPECT_TRUE(reflector_.synced());
  EXPECT_TRUE(change("a", 7));
  EXPECT_TRUE(line("DELETED", object("a", 8, "a")));
  EXPECT_EQ(reported(), "+a ~a -a");
}

TEST_F(ReflectorTest, LinesMayComeInPieces) {
  next();
  const std::string text =
      fmt::format("{{\"type\":\"ADDED\",\"object\":{}}}\n", object("a", 2, "a"));
  for (const char letter : text + text) ASSERT_TRUE(reflector_.on_bytes({&letter, 1}));
  EXPECT_EQ(reported(), "+a");
}

TEST_F(ReflectorTest, AfterTheEndItWatchesFromWhereItWas) {
  sync();
  change("a", 7);
  now_ += minutes{6};
  end();
  EXPECT_EQ(next(), "stream rv=7");
  bookmark(9);
  now_ += minutes{6};
  end();
  EXPECT_EQ(next(), "stream rv=9");
}

TEST_F(ReflectorTest, AServerThatIsAwayIsAskedAgainFromWhereItWas) {
  sync();
  lose_connection();
  EXPECT_EQ(reflector_.trouble(), "refused");
  EXPECT_EQ(next_after_pause(), "stream rv=5");
  lose_connection();
  EXPECT_EQ(next_after_pause(), "stream rv=5");
  change("b", 6);
  now_ += minutes{6};
  end();
  EXPECT_EQ(reflector_.trouble(), "");
  EXPECT_EQ(reported(), "~b");
}

TEST_F(ReflectorTest, AfterAGapTheDifferencesAreReported) {
  sync();
  EXPECT_FALSE(
      line("ERROR", R"({"kind":"Status","code":410,"reason":"Gone","message":"too old"})"));
  reflector_.on_end(fail(Reason::ServiceUnavailable, "we ended it"), now_);
  EXPECT_EQ(next_after_pause(), "stream initial");
  add("a", 2);
  line("ADDED", object("c", 11, "c"));
  bookmark(12, true);
  EXPECT_EQ(reported(), "+c -b");
}

TEST_F(ReflectorTest, AStreamThatBreaksBeforeItIsCompleteReportsNothingAsGone) {
  sync();
  end_with(410, "Expired");
  EXPECT_EQ(next_after_pause(), "stream initial");
  add("a", 2);
  lose_connection();
  EXPECT_EQ(reported(), "");
  EXPECT_EQ(next_after_pause(), "stream initial");
  add("b", 3);
  bookmark(12, true);
  EXPECT_EQ(reported(), "-a");
}

TEST_F(ReflectorTest, ServersWithoutSuchStreamsAreListedPageByPage) {
  EXPECT_EQ(next(), "stream initial");
  end_with(422, "Invalid");
  EXPECT_EQ(next(), "list limit");
  end(200, fmt::format(R"({{"kind":"NodeList","metadata":{{"resourceVersion":"5","continue":"x"}},)"
                       R"("items":[{}]}})",
                       object("a", 2, "a")));
  EXPECT_FALSE(reflector_.synced());
  EXPECT_EQ(next(), "list limit from=x");
  end(200, fmt::format(R"({{"kind":"NodeList","metadata":{{"resourceVersion":"5"}},"items":[{}]}})",
                       object("b", 3, "b")));
  EXPECT_TRUE(reflector_.synced());
  EXPECT_EQ(reported(), "+a +b");
  EXPECT_EQ(next(), "stream rv=5");
}

TEST_F(ReflectorTest, AListThatExpiresHalfWayIsReadInOnePiece) {
  next();
  end_with(422, "Invalid");
  EXPECT_EQ(next(), "list limit");
  end(200, R"({"kind":"NodeList","metadata":{"resourceVersion":"5","continue":"x"},"items":[]})");
  next();
  end_with(410, "Expired");
  EXPECT_EQ(next_after_pause(), "list");
}

TEST_F(ReflectorTest, WhatIsForbiddenIsAskedForUntilItIsAllowed) {
  next();
  end_with(403, "Forbidden");
  EXPECT_EQ(next(), "list limit");
  end_with(403, "Forbidden");
  EXPECT_EQ(reflector_.trouble(), "because");
  EXPECT_EQ(next_after_pause(), "stream initial");
}

TEST_F(ReflectorTest, AServerYoungerThanWhatWeKnowIsReadFromItsNow) {
  sync();
  end(504, R"({"kind":"Status","reason":"Timeout","message":"later","code":504,
    "details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}})");
  EXPECT_EQ(next_after_pause(), "stream initial");
}

TEST_F(ReflectorTest, WatchesThatEndAtOnceAreNotRepeatedAtOnce) {
  sync();
  now_ += minutes{6};
  end();
  EXPECT_EQ(next(), "stream rv=5");
  end();
  EXPECT_EQ(next_after_pause(), "stream rv=5");
}

TEST_F(ReflectorTest, AnOddObjectIsSkipped) {
  sync();
  EXPECT_TRUE(line("ADDED", R"({"kind":"Node","metadata":{"name":"c","labels":7}})"));
  EXPECT_TRUE(line("ADDED", R"({"kind":"Node"})"));
  EXPECT_TRUE(line("ADDED", R"({"kind":"Node","metadata":{}})"));
  EXPECT_TRUE(line("ADDED", R"({"kind":"Node","metadata":{"name":""}})"));
  EXPECT_TRUE(change("a", 9));
  EXPECT_EQ(reported(), "~a");
}

TEST_F(ReflectorTest, ALineThatIsNoEventEndsTheStream) {
  sync();
  EXPECT_FALSE(reflector_.on_bytes("<html>\n"));
  reflector_.on_end(fail(Reason::ServiceUnavailable, "we ended it"), now_);
  EXPECT_EQ(next_after_pause(), "stream rv=5 initial");
}

TEST_F(ReflectorTest, OneThatWasMadeAgainHasTwoLives) {
  sync();
  EXPECT_TRUE(line("MODIFIED", object("a", 9, "another")));
  EXPECT_EQ(reported(), "-a +a");
}

}  // namespace
}  // namespace muster::client
