#include "client/remote/http2_session.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/check.h"

namespace muster::client {
namespace {

using std::chrono::seconds;

// The server's end: what it was asked, and the means to answer.
class Peer {
 public:
  struct Request {
    std::map<std::string, std::string> headers;
    std::string body;
    bool reset = false;
  };

  Peer() {
    nghttp2_session_callbacks* made = nullptr;
    CHECK(nghttp2_session_callbacks_new(&made) == 0);
    nghttp2_session_callbacks_set_on_header_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                 std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                 std::uint8_t, void* user) {
          static_cast<Peer*>(user)->asked[frame->hd.stream_id].headers.emplace(
              std::string(reinterpret_cast<const char*>(name), name_size),
              std::string(reinterpret_cast<const char*>(value), value_size));
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        made, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                 std::size_t size, void* user) {
          static_cast<Peer*>(user)->asked[id].body.append(reinterpret_cast<const char*>(bytes),
                                                          size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          if (frame->hd.type == NGHTTP2_RST_STREAM)
            static_cast<Peer*>(user)->asked[frame->hd.stream_id].reset = true;
          return 0;
        });
    CHECK(nghttp2_session_server_new(&session, made, this) == 0);
    nghttp2_session_callbacks_del(made);
    CHECK(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0) == 0);
  }
  ~Peer() { nghttp2_session_del(session); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Without `ends` the answer stays open, and more() adds to it.
  void answer(std::int32_t id, std::string code, const std::string& body, bool ends = true) {
    std::string name = ":status";
    std::string warned = "warning";
    std::string warning = R"(299 - "mind the gap")";
    const auto bytes = [](std::string& text) {
      return reinterpret_cast<std::uint8_t*>(text.data());
    };
    const nghttp2_nv headers[]{
        {bytes(name), bytes(code), name.size(), code.size(), NGHTTP2_NV_FLAG_NONE},
        {bytes(warned), bytes(warning), warned.size(), warning.size(), NGHTTP2_NV_FLAG_NONE}};
    answers_[id] = {body, ends};
    const nghttp2_data_provider provider{.source = {.ptr = this}, .read_callback = read};
    CHECK(nghttp2_submit_response(session, id, headers, 2, &provider) == 0);
  }
  void more(std::int32_t id, const std::string& body) {
    answers_[id].first += body;
    nghttp2_session_resume_data(session, id);
  }

  nghttp2_session* session = nullptr;
  std::map<std::int32_t, Request> asked;

 private:
  static ssize_t read(nghttp2_session*, std::int32_t id, std::uint8_t* out, std::size_t size,
                      std::uint32_t* flags, nghttp2_data_source* source, void*) {
    auto& [body, ends] = static_cast<Peer*>(source->ptr)->answers_[id];
    const std::size_t count = std::min(size, body.size());
    std::copy_n(body.data(), count, out);
    body.erase(0, count);
    if (body.empty() && ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (count == 0 && !ends) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(count);
  }
  std::map<std::int32_t, std::pair<std::string, bool>> answers_;
};

Kubeconfig config() {
  Kubeconfig config;
  config.context = "test";
  config.server = "https://api.example.com:6443/clusters/one";
  config.token = "secret";
  config.impersonate = "jane";
  config.impersonate_uid = "u-1";
  config.impersonate_groups = {"ops"};
  return config;
}

class Http2SessionTest : public testing::Test {
 protected:
  static Asked get(std::string target) {
    return {.call = {.method = "GET", .target = std::move(target), .content_type = {}, .body = {}}};
  }
  static Asked post(std::string body) {
    return {.call = {.method = "POST",
                     .target = "/api/v1/pods",
                     .content_type = "application/json",
                     .body = std::move(body)}};
  }
  // Carries bytes to and fro until neither side has any.
  void carry() {
    while (true) {
      std::string out;
      ASSERT_TRUE(session_.write(out));
      const bool sent = !out.empty();
      ASSERT_EQ(nghttp2_session_mem_recv(
                    peer_.session, reinterpret_cast<const std::uint8_t*>(out.data()), out.size()),
                static_cast<ssize_t>(out.size()));
      const std::uint8_t* bytes = nullptr;
      bool received = false;
      for (ssize_t size = 0; (size = nghttp2_session_mem_send(peer_.session, &bytes)) > 0;) {
        received = true;
        ASSERT_TRUE(session_.on_bytes(
            {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)}));
      }
      if (!sent && !received) return;
    }
  }
  // "200 body" of those that ended since, "again" of those to be asked elsewhere, or the error.
  std::vector<std::string> ends() {
    std::vector<std::string> out;
    for (const Http2Session::Ended& ended : session_.take_ended()) {
      if (!ended.reply)
        out.emplace_back("again");
      else if (*ended.reply)
        out.push_back(std::to_string((*ended.reply)->code) + " " + (*ended.reply)->body);
      else
        out.emplace_back(reason_name(ended.reply->error().reason));
    }
    return out;
  }

  Endpoint endpoint_{config(), {}};
  Http2Session session_{endpoint_};
  Peer peer_;
};

using Texts = std::vector<std::string>;

TEST_F(Http2SessionTest, SaysWhoAsksForWhatAndHandsOverTheAnswer) {
  session_.ask(post("{}"));
  carry();
  const Peer::Request& asked = peer_.asked.at(1);
  EXPECT_EQ(asked.headers.at(":path"), "/clusters/one/api/v1/pods");
  EXPECT_EQ(asked.headers.at(":authority"), "api.example.com:6443");
  EXPECT_EQ(asked.headers.at("authorization"), "Bearer secret");
  EXPECT_EQ(asked.headers.at("impersonate-user"), "jane");
  EXPECT_EQ(asked.headers.at("impersonate-uid"), "u-1");
  EXPECT_EQ(asked.headers.at("impersonate-group"), "ops");
  EXPECT_EQ(asked.headers.at("content-type"), "application/json");
  EXPECT_EQ(asked.body, "{}");
  peer_.answer(1, "201", "made");
  carry();
  std::vector<Http2Session::Ended> ended = session_.take_ended();
  ASSERT_EQ(ended.size(), 1U);
  ASSERT_TRUE(ended.front().reply && *ended.front().reply);
  EXPECT_EQ((*ended.front().reply)->code, 201);
  EXPECT_EQ((*ended.front().reply)->body, "made");
  EXPECT_EQ((*ended.front().reply)->warnings, Texts{"mind the gap"});
}

TEST_F(Http2SessionTest, ABodyThatIsLargerThanTheServersWindowComesWhole) {
  const std::string body(300'000, 'x');
  session_.ask(post(body));
  carry();
  EXPECT_EQ(peer_.asked.at(1).body, body);
}

TEST_F(Http2SessionTest, WhatHasNotBeenSentYetIsAskedInItsOrder) {
  session_.ask(get("/a"));
  session_.ask(get("/b"));
  std::vector<Asked> open = session_.take_open();
  ASSERT_EQ(open.size(), 2U);
  EXPECT_EQ(open[0].call.target, "/a");
  EXPECT_EQ(open[1].call.target, "/b");
  EXPECT_EQ(session_.open(), 0U);
}

TEST_F(Http2SessionTest, AStreamIsHeardPartByPartAndEndsWhenItsReaderWantsNoMore) {
  std::string heard;
  Asked watch = get("/watch");
  watch.sink = [&](std::string_view bytes) {
    heard += bytes;
    return heard.size() < 6;
  };
  session_.ask(std::move(watch));
  carry();
  EXPECT_EQ(session_.watches(), 1U);
  peer_.answer(1, "200", "one", false);
  carry();
  EXPECT_EQ(heard, "one");
  EXPECT_EQ(ends(), Texts{});
  peer_.more(1, "two");
  carry();
  EXPECT_EQ(heard, "onetwo");
  EXPECT_EQ(ends(), Texts{"ServiceUnavailable"});
  EXPECT_TRUE(peer_.asked.at(1).reset);
  EXPECT_EQ(session_.watches(), 0U);
}

TEST_F(Http2SessionTest, ARefusedStreamsBodyIsNotHeardAsEvents) {
  std::string heard;
  Asked watch = get("/watch");
  watch.sink = [&](std::string_view bytes) {
    heard += bytes;
    return true;
  };
  session_.ask(std::move(watch));
  carry();
  peer_.answer(1, "410", "gone");
  carry();
  EXPECT_EQ(heard, "");
  EXPECT_EQ(ends(), Texts{"410 gone"});
}

TEST_F(Http2SessionTest, WhatTheServerHasNotLookedAtMayBeAskedAgain) {
  session_.ask(get("/a"));
  session_.ask(get("/b"));
  carry();
  nghttp2_submit_rst_stream(peer_.session, NGHTTP2_FLAG_NONE, 1, NGHTTP2_REFUSED_STREAM);
  nghttp2_submit_rst_stream(peer_.session, NGHTTP2_FLAG_NONE, 3, NGHTTP2_INTERNAL_ERROR);
  carry();
  EXPECT_EQ(ends(), (Texts{"again", "ServiceUnavailable"}));
  EXPECT_TRUE(session_.takes_more());
}

TEST_F(Http2SessionTest, AServerThatLeavesStillAnswersWhatItHasSeen) {
  session_.ask(get("/a"));
  session_.ask(get("/b"));
  carry();
  nghttp2_submit_goaway(peer_.session, NGHTTP2_FLAG_NONE, 1, NGHTTP2_NO_ERROR, nullptr, 0);
  carry();
  EXPECT_FALSE(session_.takes_more());
  EXPECT_EQ(ends(), Texts{"again"});
  peer_.answer(1, "200", "still");
  carry();
  EXPECT_EQ(ends(), Texts{"200 still"});
}

TEST_F(Http2SessionTest, WhatTakesTooLongIsGivenUp) {
  const Time start;
  Asked slow = get("/slow");
  slow.deadline = start + seconds{60};
  Asked quick = get("/quick");
  quick.deadline = start + seconds{60};
  session_.ask(std::move(quick));
  session_.ask(std::move(slow));
  carry();
  peer_.answer(1, "200", "");
  carry();
  ASSERT_TRUE(session_.expire(start + seconds{59}));
  EXPECT_EQ(ends(), Texts{"200 "});
  EXPECT_EQ(session_.next_deadline(), start + seconds{60});
  ASSERT_TRUE(session_.expire(start + seconds{60}));
  carry();
  EXPECT_EQ(ends(), Texts{"Timeout"});
  EXPECT_TRUE(peer_.asked.at(3).reset);
  EXPECT_EQ(session_.next_deadline(), std::nullopt);
  peer_.answer(3, "200", "late");
  carry();
  EXPECT_EQ(ends(), Texts{});
}

TEST_F(Http2SessionTest, AStreamHasATimeOfItsOwn) {
  const Time start;
  Asked watch = get("/watch");
  watch.sink = [](std::string_view) { return true; };
  watch.deadline = start + seconds{20};
  Asked later = get("/later");
  later.deadline = start + seconds{10};
  session_.ask(std::move(watch));
  session_.ask(std::move(later));
  carry();
  peer_.answer(1, "200", "event", false);
  peer_.answer(3, "200", "");
  carry();
  ASSERT_TRUE(session_.expire(start));
  EXPECT_EQ(ends(), Texts{"200 "});
  EXPECT_EQ(session_.next_deadline(), start + seconds{20});
  ASSERT_TRUE(session_.expire(start + seconds{20}));
  EXPECT_EQ(ends(), Texts{"Timeout"});
  EXPECT_EQ(session_.watches(), 0U);
  EXPECT_EQ(session_.next_deadline(), std::nullopt);
}

TEST_F(Http2SessionTest, AStreamThatBeginsSaysSoBeforeItsFirstByte) {
  std::vector<std::string> parts;
  Asked watch = get("/watch");
  watch.sink = [&](std::string_view bytes) {
    parts.emplace_back(bytes);
    return true;
  };
  session_.ask(std::move(watch));
  carry();
  EXPECT_EQ(parts, Texts{});
  peer_.answer(1, "200", "", false);
  carry();
  EXPECT_EQ(parts, Texts{""});
}

// A server that hangs, or one behind something that keeps the connection up.
TEST_F(Http2SessionTest, ASilentConnectionIsAskedWhetherItLivesAndGivenUp) {
  const Time start;
  Asked watch = get("/watch");
  watch.sink = [](std::string_view) { return true; };
  session_.ask(std::move(watch));
  carry();
  peer_.answer(1, "200", "event", false);
  carry();
  ASSERT_TRUE(session_.expire(start));
  EXPECT_EQ(session_.next_deadline(), start + seconds{30});
  ASSERT_TRUE(session_.expire(start + seconds{30}));
  EXPECT_EQ(session_.next_deadline(), start + seconds{45});
  carry();  // the server answers
  ASSERT_TRUE(session_.expire(start + seconds{44}));
  EXPECT_EQ(session_.next_deadline(), start + seconds{74}) << "heard at 44";
  ASSERT_TRUE(session_.expire(start + seconds{74}));
  ASSERT_TRUE(session_.expire(start + seconds{88}));
  EXPECT_FALSE(session_.expire(start + seconds{89})) << "this one was not answered";
}

TEST_F(Http2SessionTest, AnIdleConnectionIsNotAsked) {
  const Time start;
  session_.ask(get("/a"));
  carry();
  peer_.answer(1, "200", "");
  carry();
  EXPECT_TRUE(session_.expire(start));
  EXPECT_EQ(session_.next_deadline(), std::nullopt);
  EXPECT_TRUE(session_.expire(start + seconds{1000}));
  std::string out;
  EXPECT_TRUE(session_.write(out));
  EXPECT_EQ(out, "");
}

// A lease is renewed with five seconds for each try: the second must not go the same way.
TEST_F(Http2SessionTest, AConnectionThatSaidNothingUntilATimeRanOutTakesNoMore) {
  const Time start;
  const auto ask = [&](Time since) {
    Asked asked = get("/lease");
    asked.since = since;
    asked.deadline = since + seconds{5};
    session_.ask(std::move(asked));
    carry();
  };
  ask(start);
  peer_.answer(1, "200", "");
  carry();
  ASSERT_TRUE(session_.expire(start));
  ask(start + seconds{10});
  ASSERT_TRUE(session_.expire(start + seconds{15}));
  EXPECT_FALSE(session_.takes_more());
}

TEST_F(Http2SessionTest, ASlowAnswerAmongOthersIsNotTheConnectionsFault) {
  const Time start;
  Asked slow = get("/slow");
  slow.since = start;
  slow.deadline = start + seconds{5};
  session_.ask(std::move(slow));
  session_.ask(get("/other"));
  carry();
  peer_.answer(3, "200", "");
  carry();
  ASSERT_TRUE(session_.expire(start + seconds{3}));
  ASSERT_TRUE(session_.expire(start + seconds{5}));
  EXPECT_EQ(ends(), (Texts{"200 ", "Timeout"}));
  EXPECT_TRUE(session_.takes_more());
}

TEST_F(Http2SessionTest, BytesThatAreNotHttp2EndTheConnection) {
  static_cast<void>(session_.on_bytes("HTTP/1.1 400 Bad Request\r\n\r\n"));
  std::string out;
  EXPECT_FALSE(session_.write(out));
}

TEST_F(Http2SessionTest, WhoHasNoTokenSendsNone) {
  Kubeconfig plain;
  plain.server = "https://x";
  Endpoint endpoint(plain, {.user_agent = "muster/1"});
  Http2Session session(endpoint);
  session.ask(get("/a"));
  Asked special = get("/b");
  special.call.accept = "text/plain";
  session.ask(std::move(special));
  std::string out;
  ASSERT_TRUE(session.write(out));
  ASSERT_GT(nghttp2_session_mem_recv(peer_.session,
                                     reinterpret_cast<const std::uint8_t*>(out.data()), out.size()),
            0);
  using Headers = std::map<std::string, std::string>;
  EXPECT_EQ(peer_.asked.at(1).headers, (Headers{{":method", "GET"},
                                                {":scheme", "https"},
                                                {":authority", "x"},
                                                {":path", "/a"},
                                                {"accept", "application/json"},
                                                {"user-agent", "muster/1"}}));
  EXPECT_EQ(peer_.asked.at(3).headers.at("accept"), "text/plain");
}

TEST_F(Http2SessionTest, AStreamWhoseReaderWantsNothingEndsAtItsHead) {
  Asked watch = get("/watch");
  watch.sink = [](std::string_view) { return false; };
  session_.ask(std::move(watch));
  carry();
  peer_.answer(1, "200", "", false);
  carry();
  EXPECT_EQ(ends(), Texts{"ServiceUnavailable"});
  EXPECT_TRUE(peer_.asked.at(1).reset);
}

TEST_F(Http2SessionTest, AConnectionThatNeverSaysAnythingIsGivenUp) {
  const Time start = Time{} + seconds{1000};
  session_.ask(get("/a"));
  ASSERT_TRUE(session_.expire(start));
  EXPECT_EQ(session_.next_deadline(), start + seconds{30});
  ASSERT_TRUE(session_.expire(start + seconds{29}));
  EXPECT_EQ(session_.next_deadline(), start + seconds{30});
  ASSERT_TRUE(session_.expire(start + seconds{30}));
  EXPECT_EQ(session_.next_deadline(), start + seconds{45});
  ASSERT_TRUE(session_.expire(start + seconds{44}));
  const Result<void> silent = session_.expire(start + seconds{45});
  ASSERT_FALSE(silent);
  EXPECT_NE(silent.error().message.find("the connection has fallen silent"), std::string::npos);
}

TEST_F(Http2SessionTest, WhatIsTakenBackIsNotWatchedAnyMore) {
  Asked watch = get("/watch");
  watch.sink = [](std::string_view) { return true; };
  watch.deadline = Time{} + seconds{5};
  session_.ask(std::move(watch));
  EXPECT_EQ(session_.open(), 1U);
  EXPECT_EQ(session_.watches(), 1U);
  EXPECT_EQ(session_.take_open().size(), 1U);
  EXPECT_EQ(session_.watches(), 0U);
  EXPECT_TRUE(session_.expire(Time{} + seconds{10}));
  EXPECT_EQ(ends(), Texts{});
}

TEST_F(Http2SessionTest, TheEarlierOfTwoTimesIsTheNext) {
  const Time start;
  Asked watch = get("/watch");
  watch.sink = [](std::string_view) { return true; };
  watch.deadline = start + seconds{20};
  Asked call = get("/call");
  call.deadline = start + seconds{10};
  session_.ask(std::move(watch));
  session_.ask(std::move(call));
  EXPECT_EQ(session_.next_deadline(), start + seconds{10});
  carry();
  ASSERT_TRUE(session_.expire(start + seconds{10}));
  EXPECT_EQ(ends(), Texts{"Timeout"});
  EXPECT_EQ(session_.next_deadline(), start + seconds{20});
}

}  // namespace
}  // namespace muster::client
