#include "client/remote/reflector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/remote/watch_testing.h"

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

enum class Form { Json, Protobuf };

api::Json json(std::string_view text) { return api::parse_json(text).value().value; }

class ReflectorFixture : public testing::Test {
 protected:
  explicit ReflectorFixture(Form form) : form_(form) {}

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
  std::string event(std::string_view type, const std::string& text) const {
    if (form_ == Form::Protobuf) return framed(type, to_protobuf(json(text)));
    return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, text);
  }
  bool line(std::string_view type, const std::string& text) {
    return reflector_.on_bytes(event(type, text));
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
    if (form_ == Form::Protobuf && !body.empty()) body = to_protobuf(json(body));
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

  const Form form_;
  Time now_ = Time{} + std::chrono::hours{1};
  SeededEntropy entropy_{1};
  std::vector<Event> events_;
  Reflector reflector_{{&api::kinds::node(), "v1"}, entropy_, [this](Event event) {
                         events_.push_back(std::move(event));
                       }};
};

class ReflectorTest : public ReflectorFixture, public testing::WithParamInterface<Form> {
 protected:
  ReflectorTest() : ReflectorFixture(GetParam()) {}
};
INSTANTIATE_TEST_SUITE_P(Forms, ReflectorTest, testing::Values(Form::Json, Form::Protobuf),
                         [](const auto& form) {
                           return form.param == Form::Json ? "Json" : "Protobuf";
                         });

TEST_P(ReflectorTest, OneStreamTellsWhatExistsAndWhatHappens) {
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

TEST_P(ReflectorTest, ABookmarkOnTheWayIsNotTheEndOfWhatExists) {
  EXPECT_EQ(next(), "stream initial");
  EXPECT_TRUE(add("a", 2));
  EXPECT_TRUE(bookmark(4));
  EXPECT_FALSE(reflector_.synced());
  EXPECT_TRUE(add("b", 3));
  EXPECT_TRUE(bookmark(5, true));
  EXPECT_TRUE(reflector_.synced());
  EXPECT_EQ(reported(), "+a +b");
}

TEST_P(ReflectorTest, EventsMayComeInPieces) {
  next();
  const std::string text = event("ADDED", object("a", 2, "a"));
  for (const char letter : text + text) ASSERT_TRUE(reflector_.on_bytes({&letter, 1}));
  EXPECT_EQ(reported(), "+a");
}

TEST_P(ReflectorTest, AfterTheEndItWatchesFromWhereItWas) {
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

TEST_P(ReflectorTest, AServerThatIsAwayIsAskedAgainFromWhereItWas) {
  sync();
  lose_connection();
  EXPECT_EQ(reflector_.trouble(), "refused");
  EXPECT_EQ(next_after_pause(), "stream rv=5");
  lose_connection();
  EXPECT_EQ(next_after_pause(), "stream rv=5");
  EXPECT_EQ(reflector_.trouble(), "refused");
  EXPECT_TRUE(reflector_.on_bytes("")) << "the server has begun to answer";
  EXPECT_EQ(reflector_.trouble(), "") << "whatever it has to say, and when";
  change("b", 6);
  now_ += minutes{6};
  end();
  EXPECT_EQ(reflector_.trouble(), "");
  EXPECT_EQ(reported(), "~b");
}

TEST_P(ReflectorTest, AServerThatAnswersOthersIsAskedSoon) {
  sync();
  for (int i = 0; i < 6; ++i) {
    lose_connection();
    EXPECT_EQ(next_after_pause(), "stream rv=5");
  }
  lose_connection();
  EXPECT_GT(*reflector_.next_deadline(), now_ + std::chrono::seconds{10});
  reflector_.on_reachable(now_);
  EXPECT_LE(*reflector_.next_deadline(), now_ + std::chrono::seconds{1});
  now_ = *reflector_.next_deadline();
  EXPECT_EQ(next(), "stream rv=5");
  end_with(503, "ServiceUnavailable");
  const std::optional<Time> later = reflector_.next_deadline();
  reflector_.on_reachable(now_);
  EXPECT_EQ(reflector_.next_deadline(), later) << "it has answered: that it is busy";
}

// As after an upgrade that ended a version: what is known stays, and whoever asks hears of it.
TEST_P(ReflectorTest, AKindThatTheServerDoesNotKnowAnyMoreIsNoted) {
  sync();
  end();
  EXPECT_EQ(reflector_.unknown_since(), std::nullopt);
  next();
  end_with(404, "NotFound");
  const Time since = now_;
  EXPECT_EQ(reflector_.unknown_since(), since);
  EXPECT_EQ(next_after_pause(), "stream rv=5 initial");
  end_with(404, "NotFound");
  EXPECT_EQ(next(), "list rv=5");
  end_with(404, "NotFound");
  EXPECT_EQ(reflector_.unknown_since(), since);
  next_after_pause();
  lose_connection();
  EXPECT_EQ(reflector_.unknown_since(), std::nullopt) << "a server that is away says nothing";
  EXPECT_EQ(reported(), "");
}

TEST_P(ReflectorTest, AfterAGapTheDifferencesAreReported) {
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

TEST_P(ReflectorTest, AStreamThatBreaksBeforeItIsCompleteReportsNothingAsGone) {
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

TEST_P(ReflectorTest, ServersWithoutSuchStreamsAreListedPageByPage) {
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

TEST_P(ReflectorTest, AListThatExpiresHalfWayIsReadInOnePiece) {
  next();
  end_with(422, "Invalid");
  EXPECT_EQ(next(), "list limit");
  end(200, R"({"kind":"NodeList","metadata":{"resourceVersion":"5","continue":"x"},"items":[]})");
  next();
  end_with(410, "Expired");
  EXPECT_EQ(next_after_pause(), "list");
}

TEST_P(ReflectorTest, WhatIsForbiddenIsAskedForUntilItIsAllowed) {
  next();
  end_with(403, "Forbidden");
  EXPECT_EQ(next(), "list limit");
  end_with(403, "Forbidden");
  EXPECT_EQ(reflector_.trouble(), "because");
  EXPECT_EQ(next_after_pause(), "stream initial");
}

TEST_P(ReflectorTest, AServerYoungerThanWhatWeKnowIsReadFromItsNow) {
  sync();
  end(504, R"({"kind":"Status","reason":"Timeout","message":"later","code":504,
    "details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}})");
  EXPECT_EQ(next_after_pause(), "stream initial");
}

TEST_P(ReflectorTest, WatchesThatEndAtOnceAreNotRepeatedAtOnce) {
  sync();
  now_ += minutes{6};
  end();
  EXPECT_EQ(next(), "stream rv=5");
  end();
  EXPECT_EQ(next_after_pause(), "stream rv=5");
}

TEST_P(ReflectorTest, AQuietWatchThatEndsInItsTimeIsRepeatedAtOnce) {
  sync();
  for (int i = 0; i < 2; ++i) {
    now_ += minutes{6};
    end();
    EXPECT_EQ(next(), "stream rv=5");
  }
}

TEST_P(ReflectorTest, OneThatWasMadeAgainHasTwoLives) {
  sync();
  EXPECT_TRUE(line("MODIFIED", object("a", 9, "another")));
  EXPECT_EQ(reported(), "-a +a");
}

class JsonReflectorTest : public ReflectorFixture {
 protected:
  JsonReflectorTest() : ReflectorFixture(Form::Json) {}
};

TEST_F(JsonReflectorTest, AnOddObjectIsSkipped) {
  sync();
  EXPECT_TRUE(line("ADDED", R"({"kind":"Node","metadata":{"name":"c","labels":7}})"));
  EXPECT_TRUE(line("ADDED", R"({"kind":"Node"})"));
  EXPECT_TRUE(line("ADDED", R"({"kind":"Node","metadata":{}})"));
  EXPECT_TRUE(line("ADDED", R"({"kind":"Node","metadata":{"name":""}})"));
  EXPECT_TRUE(change("a", 9));
  EXPECT_EQ(reported(), "~a");
}

TEST_F(JsonReflectorTest, ALineThatIsNoEventEndsTheStream) {
  sync();
  EXPECT_FALSE(reflector_.on_bytes("<html>\n"));
  reflector_.on_end(fail(Reason::ServiceUnavailable, "we ended it"), now_);
  EXPECT_EQ(next_after_pause(), "stream rv=5 initial");
}

class ProtobufReflectorTest : public ReflectorFixture {
 protected:
  ProtobufReflectorTest() : ReflectorFixture(Form::Protobuf) {}
};

TEST_F(ProtobufReflectorTest, StableKindsOfKubernetesAreAskedForInProtobuf) {
  EXPECT_EQ(reflector_.accept(), "application/vnd.kubernetes.protobuf,application/json");
  const auto accept = [this](const api::Kind& kind, std::string version) {
    const Reflector other({&kind, std::move(version)}, entropy_, [](const Event& /*event*/) {});
    return std::string(other.accept());
  };
  EXPECT_NE(accept(*api::find_kind("apps", "ReplicaSet"), "v1"), "");
  EXPECT_NE(accept(*api::find_kind("storage.k8s.io", "CSINode"), "v1"), "");
  EXPECT_EQ(accept(api::kinds::pod_group(), "v1alpha2"), "");
  EXPECT_EQ(accept(*api::find_kind("jobset.x-k8s.io", "JobSet"), "v1alpha2"), "");
}

TEST_F(ProtobufReflectorTest, WhatTheSchemaDoesNotKnowIsLeftOut) {
  sync();
  std::string node = message_of("core/v1", "Node", json(object("c", 9, "c")));
  api::ProtobufWriter::bytes(77, "of the future", node);
  ASSERT_TRUE(reflector_.on_bytes(framed("ADDED", enveloped("Node", node))));
  EXPECT_EQ(reported(), "+c");
  EXPECT_EQ(reflector_.trouble(), "");
}

TEST_F(ProtobufReflectorTest, AnObjectWithoutANameIsSkipped) {
  sync();
  EXPECT_TRUE(line("ADDED", R"({"kind":"Node","metadata":{}})"));
  EXPECT_TRUE(change("a", 9));
  EXPECT_EQ(reported(), "~a");
}

TEST_F(ProtobufReflectorTest, AFrameThatIsCutOffIsNeverTakenForAnEvent) {
  const std::string node =
      enveloped("Node", message_of("core/v1", "Node", json(object("c", 9, "c"))));
  for (std::size_t size = 0; size < node.size(); ++size) {
    std::vector<Event> events;
    Reflector reflector({&api::kinds::node(), "v1"}, entropy_,
                        [&](Event event) { events.push_back(std::move(event)); });
    reflector.next(now_);
    reflector.on_bytes(framed("ADDED", std::string_view(node).substr(0, size)));
    EXPECT_TRUE(events.empty()) << size;
  }
}

TEST_F(ProtobufReflectorTest, AfterWhatItCannotReadItAsksForJson) {
  sync();
  EXPECT_FALSE(reflector_.on_bytes(framed("ADDED", "this is no object")));
  reflector_.on_end(fail(Reason::ServiceUnavailable, "we ended it"), now_);
  EXPECT_EQ(reflector_.accept(), "");
  EXPECT_EQ(next_after_pause(), "stream rv=5 initial");
  ASSERT_TRUE(reflector_.on_bytes(
      fmt::format("{{\"type\":\"ADDED\",\"object\":{}}}\n", object("c", 9, "c"))));
  EXPECT_EQ(reported(), "+c");
}

TEST_F(ProtobufReflectorTest, AServerMayAnswerWithJson) {
  next();
  ASSERT_TRUE(reflector_.on_bytes(
      fmt::format("{{\"type\":\"ADDED\",\"object\":{}}}\n", object("c", 9, "c"))));
  EXPECT_EQ(reported(), "+c");
}

TEST_F(ProtobufReflectorTest, AFrameThatIsTooLongEndsTheStream) {
  sync();
  EXPECT_FALSE(reflector_.on_bytes(std::string("\x04\x00\x00\x01", 4)));
  EXPECT_FALSE(reflector_.on_bytes("more"));
}

}  // namespace
}  // namespace muster::client
