#include "client/remote/reflector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/remote/reflector_testing.h"

namespace muster::client {
namespace {

using std::chrono::minutes;

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

// As after an upgrade that ended a version: what is known stays, and unknown_since() says so.
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

// Another server behind the same address may be behind.
TEST_P(ReflectorTest, AListAfterTheFirstIsNeverOlderThanWhatIsKnown) {
  const auto list = [this] {
    end_with(422, "Invalid");
    return reflector_.next(now_)->list;
  };
  next();
  EXPECT_EQ(list().resource_version_match, "") << "nothing is known";
  end(200, R"({"kind":"NodeList","metadata":{"resourceVersion":"5"},"items":[]})");
  EXPECT_EQ(next(), "stream rv=5");
  end_with(404, "NotFound");
  EXPECT_EQ(next_after_pause(), "stream rv=5 initial");
  const api::ListOptions later = list();
  EXPECT_EQ(later.resource_version, "5");
  EXPECT_EQ(later.resource_version_match, "NotOlderThan");
  EXPECT_EQ(later.limit, 0) << "such lists have no pages";
}

TEST_P(ReflectorTest, AWatchAsksForBookmarksAndEndsSomeTime) {
  const api::Request first = *reflector_.next(now_);
  EXPECT_EQ(first.kind, &api::kinds::node());
  EXPECT_EQ(first.version, "v1");
  EXPECT_EQ(first.list.resource_version_match, "NotOlderThan");
  EXPECT_TRUE(first.list.allow_bookmarks);
  bookmark(5, true);
  now_ += minutes{6};
  end();
  const api::Request second = *reflector_.next(now_);
  EXPECT_EQ(second.list.resource_version_match, "");
  EXPECT_TRUE(second.list.allow_bookmarks);
  for (const api::Request* watch : {&first, &second}) {
    EXPECT_GE(*watch->list.timeout_s, 300);
    EXPECT_LT(*watch->list.timeout_s, 600);
  }
  EXPECT_NE(first.list.timeout_s, second.list.timeout_s) << "watches do not all end together";
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
  std::string node = message_of("core/v1", "Node", parsed(object("c", 9, "c")));
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
      enveloped("Node", message_of("core/v1", "Node", parsed(object("c", 9, "c"))));
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
