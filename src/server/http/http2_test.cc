#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <map>
#include <string>
#include <vector>

#include "server/http/testing.h"

namespace muster::server {
namespace {

using testing::HttpReply;
using testing::Site;
using testing::Wire;

const std::string kPods = "/api/v1/namespaces/default/pods";

std::string pod_json(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"("},"spec":{"containers":[{"name":"c","image":"i"}]}})";
}

// A blocking HTTP/2 client: many streams, one thread.
class Http2Wire {
 public:
  explicit Http2Wire(const Site& site)
      : wire_(site, {.client = &site.admin, .plain = false, .http2 = true}) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
          HttpReply& reply = self(user).replies[frame->hd.stream_id];
          const std::string key(reinterpret_cast<const char*>(name), name_size);
          const std::string text(reinterpret_cast<const char*>(value), value_size);
          if (key == ":status") reply.code = std::stoi(text);
          reply.headers[key] = text;
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                      std::size_t size, void* user) {
          self(user).replies[id].body.append(reinterpret_cast<const char*>(bytes), size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
          self(user).closed[id] = code;
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          if (frame->hd.type == NGHTTP2_GOAWAY) self(user).sent_away = true;
          return 0;
        });
    nghttp2_session_client_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~Http2Wire() { nghttp2_session_del(session_); }
  Http2Wire(const Http2Wire&) = delete;
  Http2Wire& operator=(const Http2Wire&) = delete;

  bool open() const { return wire_.open(); }

  std::int32_t ask(const std::string& method, const std::string& target, std::string body = {}) {
    std::vector<std::pair<std::string, std::string>> texts = {{":method", method},
                                                              {":scheme", "https"},
                                                              {":authority", "localhost"},
                                                              {":path", target},
                                                              {"content-type", "application/json"}};
    std::vector<nghttp2_nv> pairs;
    for (auto& [name, value] : texts)
      pairs.push_back({.name = reinterpret_cast<std::uint8_t*>(name.data()),
                       .value = reinterpret_cast<std::uint8_t*>(value.data()),
                       .namelen = name.size(),
                       .valuelen = value.size(),
                       .flags = NGHTTP2_NV_FLAG_NONE});
    nghttp2_data_provider provider{};
    provider.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t* into,
                                std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                                void* user) -> ssize_t {
      std::string& rest = self(user).bodies_[id];
      const std::size_t given = std::min(size, rest.size());
      std::copy_n(rest.data(), given, into);
      rest.erase(0, given);
      if (rest.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(given);
    };
    const bool has_body = !body.empty();
    const std::int32_t id = nghttp2_submit_request(session_, nullptr, pairs.data(), pairs.size(),
                                                   has_body ? &provider : nullptr, nullptr);
    bodies_[id] = std::move(body);
    return id;
  }

  // Sends what is to be sent and takes in what comes, once. False at the end.
  bool turn() {
    send();
    const std::string bytes = wire_.take_some();
    if (bytes.empty()) return false;
    return nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                    bytes.size()) >= 0;
  }
  void send() {
    const std::uint8_t* frames = nullptr;
    while (true) {
      const ssize_t size = nghttp2_session_mem_send(session_, &frames);
      if (size <= 0) break;
      wire_.write({reinterpret_cast<const char*>(frames), static_cast<std::size_t>(size)});
    }
  }
  HttpReply wait_for(std::int32_t id) {
    while (!closed.contains(id) && turn()) {
    }
    return replies[id];
  }
  void reset(std::int32_t id) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  }
  void ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }

  std::map<std::int32_t, HttpReply> replies;
  std::map<std::int32_t, std::uint32_t> closed;
  bool sent_away = false;

 private:
  static Http2Wire& self(void* user) { return *static_cast<Http2Wire*>(user); }

  Wire wire_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, std::string> bodies_;
};

class Http2Test : public ::testing::Test {
 protected:
  Site site_;
};

TEST_F(Http2Test, APodLivesAndDies) {
  Http2Wire wire(site_);
  ASSERT_TRUE(wire.open());
  const HttpReply created = wire.wait_for(wire.ask("POST", kPods, pod_json("web")));
  EXPECT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.headers.at("content-type"), "application/json");
  EXPECT_EQ(created.headers.at("audit-id").size(), 36U);
  EXPECT_EQ(created.headers.at("content-length"), std::to_string(created.body.size()));
  EXPECT_EQ(wire.wait_for(wire.ask("GET", kPods + "/web")).body, created.body);
  EXPECT_EQ(wire.wait_for(wire.ask("DELETE", kPods + "/web?gracePeriodSeconds=0")).code, 200);
  EXPECT_EQ(wire.wait_for(wire.ask("GET", kPods + "/web")).code, 404);
}

TEST_F(Http2Test, ManyStreamsShareTheConnection) {
  Http2Wire wire(site_);
  std::vector<std::int32_t> asked;
  for (int i = 0; i < 90; ++i)
    asked.push_back(wire.ask("POST", kPods, pod_json("p" + std::to_string(i))));
  for (const std::int32_t id : asked) EXPECT_EQ(wire.wait_for(id).code, 201);
  const HttpReply list = wire.wait_for(wire.ask("GET", kPods));
  EXPECT_EQ(list.code, 200);
  EXPECT_NE(list.body.find("\"p89\""), std::string::npos);
}

TEST_F(Http2Test, AWatchTellsEventsWhileOthersAsk) {
  Http2Wire wire(site_);
  const std::int32_t watch = wire.ask("GET", kPods + "?watch=true&resourceVersion=0");
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(wire.wait_for(wire.ask("POST", kPods, pod_json("p" + std::to_string(i)))).code, 201);
  const auto told = [&] {
    std::size_t events = 0;
    for (const char c : wire.replies[watch].body) events += c == '\n' ? 1 : 0;
    return events;
  };
  while (told() < 20 && wire.turn()) {
  }
  EXPECT_EQ(told(), 20U);
  EXPECT_EQ(wire.replies[watch].headers.at("content-type"), "application/json");
  EXPECT_FALSE(wire.closed.contains(watch));
  EXPECT_FALSE(wire.replies[watch].headers.contains("content-length"));
}

TEST_F(Http2Test, AWatchEndsAtItsTimeout) {
  Http2Wire wire(site_);
  const std::int32_t watch = wire.ask("GET", kPods + "?watch=true&timeoutSeconds=1");
  EXPECT_EQ(wire.wait_for(watch).code, 200);
  EXPECT_EQ(wire.closed.at(watch), std::uint32_t{NGHTTP2_NO_ERROR});
}

TEST_F(Http2Test, AWatchThatIsCancelledIsForgotten) {
  Http2Wire wire(site_);
  const std::int32_t watch = wire.ask("GET", kPods + "?watch=true");
  while (wire.replies[watch].code == 0 && wire.turn()) {
  }
  wire.reset(watch);
  wire.send();
  EXPECT_EQ(wire.wait_for(wire.ask("POST", kPods, pod_json("after"))).code, 201);
  EXPECT_EQ(wire.replies[watch].body, "");
}

TEST_F(Http2Test, LargeAnswersPassThroughSmallWindows) {
  Http2Wire wire(site_);
  const std::string filler(20'000, 'x');
  for (int i = 0; i < 20; ++i) {
    std::string pod = pod_json("p" + std::to_string(i));
    pod.insert(pod.find("\"name\""), R"("annotations":{"a":")" + filler + R"("},)");
    EXPECT_EQ(wire.wait_for(wire.ask("POST", kPods, pod)).code, 201);
  }
  const HttpReply list = wire.wait_for(wire.ask("GET", kPods));
  EXPECT_GT(list.body.size(), 400'000U);
  EXPECT_EQ(list.headers.at("content-length"), std::to_string(list.body.size()));
}

TEST_F(Http2Test, BodiesAreBounded) {
  Http2Wire wire(site_);
  const std::int32_t id = wire.ask("POST", kPods, std::string(std::size_t{4} << 20U, ' '));
  EXPECT_EQ(wire.wait_for(id).code, 413);
  EXPECT_EQ(wire.wait_for(wire.ask("GET", "/version")).code, 200);
}

TEST_F(Http2Test, OversizedHeadersEndTheirStreamOnly) {
  Http2Wire wire(site_);
  const std::int32_t id = wire.ask("GET", "/version?" + std::string(70'000, 'x'));
  wire.wait_for(id);
  EXPECT_NE(wire.closed[id], std::uint32_t{NGHTTP2_NO_ERROR});
}

TEST_F(Http2Test, AFloodOfResetsEndsTheConnection) {
  Http2Wire wire(site_);
  ASSERT_EQ(wire.wait_for(wire.ask("GET", "/version")).code, 200);
  for (int i = 0; i < 3'000 && !wire.sent_away; ++i) {
    const std::int32_t id = wire.ask("GET", kPods);
    wire.send();
    wire.reset(id);
    wire.send();
  }
  while (!wire.sent_away && wire.turn()) {
  }
  EXPECT_TRUE(wire.sent_away);
}

TEST_F(Http2Test, ServerStopsWithOpenWatches) {
  Http2Wire wire(site_);
  const std::int32_t watch = wire.ask("GET", kPods + "?watch=true");
  while (wire.replies[watch].code == 0 && wire.turn()) {
  }
  site_.stop();
  while (wire.turn()) {
  }
  SUCCEED();
}

ListenOptions waiting(std::chrono::milliseconds unreached_max) {
  ListenOptions options;
  options.unreached_max = unreached_max;
  return options;
}

TEST(Http2, AReadAheadOfTheStoreWaitsForItBesideTheOthers) {
  const Site site(waiting(std::chrono::minutes(10)));
  Http2Wire wire(site);
  const std::string next = std::to_string(site.core().server().revision().value + 1);
  const std::int32_t read = wire.ask("GET", kPods + "?resourceVersion=" + next);
  EXPECT_EQ(wire.wait_for(wire.ask("POST", kPods, pod_json("web"))).code, 201);
  const HttpReply list = wire.wait_for(read);
  EXPECT_EQ(list.code, 200);
  EXPECT_NE(list.body.find(R"("name":"web")"), std::string::npos) << list.body;
}

TEST(Http2, AReadThatWaitsInVainIsToldSo) {
  const Site site(waiting(std::chrono::milliseconds(1)));
  Http2Wire wire(site);
  const HttpReply late = wire.wait_for(wire.ask("GET", kPods + "?resourceVersion=999999"));
  EXPECT_EQ(late.code, 504);
  EXPECT_NE(late.body.find("ResourceVersionTooLarge"), std::string::npos) << late.body;
  EXPECT_EQ(wire.wait_for(wire.ask("GET", "/livez")).body, "ok");
}

}  // namespace
}  // namespace muster::server
