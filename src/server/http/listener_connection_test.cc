#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "server/http/listener_testing.h"

namespace muster::server {
namespace {

using testing::HttpReply;
using testing::kPods;
using testing::ListenerTest;
using testing::pod_json;
using testing::Site;
using testing::text_at;
using testing::Wire;

TEST_F(ListenerTest, NobodyMayLittle) {
  Wire wire(site_, {});
  ASSERT_TRUE(wire.open());
  EXPECT_EQ(wire.get("/readyz").body, "ok");
  EXPECT_EQ(wire.get("/version").code, 200);
  const HttpReply refused = wire.get(kPods);
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(text_at(refused.body, "message"),
            "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API "
            "group \"\" in the "
            "namespace \"default\"");
  EXPECT_EQ(wire.get("/nowhere").code, 403);
  EXPECT_EQ(wire.ask({.target = "/version", .headers = {"Authorization: Bearer x"}}).code, 401);
}

TEST_F(ListenerTest, ACertificateOfAnotherAuthorityIsUnauthorized) {
  const Time now = site_.core().clock().now();
  const Credential other = make_authority("kubernetes-ca", now).value();
  const Credential forged =
      make_client_certificate(other, {.user = "kubernetes-admin", .groups = {"system:masters"}},
                              now)
          .value();
  Wire wire(site_, {.client = &forged});
  const HttpReply reply = wire.get("/version");
  EXPECT_EQ(reply.code, 401);
  EXPECT_EQ(text_at(reply.body, "reason"), "Unauthorized");
}

TEST_F(ListenerTest, AServingCertificateIsNoClient) {
  const Time now = site_.core().clock().now();
  const Credential serving =
      make_serving_certificate(site_.authority, {.dns = {"localhost"}, .addresses = {}}, now)
          .value();
  Wire wire(site_, {.client = &serving});
  EXPECT_EQ(wire.get("/version").code, 401);
}

TEST_F(ListenerTest, AnExpiredCertificateIsUnauthorized) {
  const Credential old =
      make_client_certificate(site_.authority, {.user = "u", .groups = {"system:masters"}},
                              site_.core().clock().now() - std::chrono::days(800))
          .value();
  Wire wire(site_, {.client = &old});
  EXPECT_EQ(wire.get("/version").code, 401);
}

TEST_F(ListenerTest, TooMuchBodyIsRefusedSoThatTheClientHearsIt) {
  const std::string big(5U << 20U, 'x');
  {
    Wire wire(site_, as_admin());
    const HttpReply reply = wire.ask({.method = "POST",
                                      .target = kPods,
                                      .headers = {"Content-Type: application/json"},
                                      .body = big});
    EXPECT_EQ(reply.code, 413);
    EXPECT_EQ(text_at(reply.body, "message"), "Request entity too large: limit is 3145728");
    EXPECT_EQ(reply.headers.at("connection"), "close");
  }
  {
    Wire wire(site_, as_admin());
    wire.write("POST " + kPods +
               " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n500000\r\n");
    wire.write(big);
    EXPECT_EQ(wire.read_reply().code, 413);
  }
  {
    Wire wire(site_, {});  // nobody is told that they may not, not that it is too much
    EXPECT_EQ(wire.ask({.method = "POST", .target = kPods, .body = big}).code, 403);
  }
}

TEST_F(ListenerTest, WhoMayNotSendIsToldBeforeTheBody) {
  Wire wire(site_, {});
  wire.write("POST " + kPods + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_EQ(wire.read_reply().code, 403);
}

TEST_F(ListenerTest, ContinuesWhenExpected) {
  Wire wire(site_, as_admin());
  const std::string body = pod_json("web");
  wire.write("POST " + kPods + " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_EQ(wire.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  wire.write(body);
  EXPECT_EQ(wire.read_reply().code, 201);
}

TEST_F(ListenerTest, AnswersPipelinedRequestsInOrder) {
  Wire wire(site_, as_admin());
  std::string text;
  const std::string body = pod_json("web");
  text += "POST " + kPods +
          " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
          body;
  text += "GET " + kPods + "/web HTTP/1.1\r\nHost: x\r\n\r\n";
  text += "GET " + kPods + "/nobody HTTP/1.1\r\nHost: x\r\n\r\n";
  for (int i = 0; i < 50; ++i) text += "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
  wire.write(text);
  EXPECT_EQ(wire.read_reply().code, 201);
  EXPECT_EQ(wire.read_reply().code, 200);
  EXPECT_EQ(wire.read_reply().code, 404);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(wire.read_reply().body, "ok") << i;
}

TEST_F(ListenerTest, TakesARequestByteByByte) {
  Wire wire(site_, as_admin());
  const std::string body = pod_json("web");
  const std::string text =
      "POST " + kPods + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  for (const char c : text) ASSERT_TRUE(wire.write(std::string_view(&c, 1)));
  EXPECT_EQ(wire.read_reply().code, 201);
}

TEST_F(ListenerTest, SeveralAcceptHeadersAreOneList) {
  Wire wire(site_, as_admin());
  const HttpReply reply =
      wire.ask({.target = kPods, .headers = {"Accept: text/html", "Accept: application/json"}});
  EXPECT_EQ(reply.code, 200) << reply.body;
}

TEST_F(ListenerTest, SaysGoodbyeWhenAsked) {
  Wire wire(site_, as_admin());
  wire.send({.target = "/livez", .headers = {"Connection: close"}});
  const std::string all = wire.read_all();
  EXPECT_NE(all.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(all.ends_with("\r\n\r\nok"));
  Wire old(site_, as_admin());
  old.write("GET /livez HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.read_all().ends_with("\r\n\r\nok"));
}

TEST_F(ListenerTest, HeadHasNoBody) {
  Wire wire(site_, as_admin());
  wire.write("HEAD " + kPods + " HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(wire.read_head().code, 405);
  EXPECT_EQ(wire.get("/livez").body, "ok");
}

TEST_F(ListenerTest, SurvivesGarbage) {
  const std::string garbage[] = {std::string("\x16\x03\x01\x00\x00", 5), std::string(1000, '\0'),
                                 "\xff\xfe\xfd", "\r\n\r\n"};
  for (const std::string& bytes : garbage) Wire(site_, {.plain = true}).write(bytes);
  Wire plain(site_, {.plain = true});
  plain.write("GET / HTTP/1.1\r\n\r\n");
  EXPECT_NE(plain.read_all().find("Client sent an HTTP request to an HTTPS server."),
            std::string::npos);
  const std::string broken[] = {
      "BREW coffee\r\n\r\n",
      "GET /livez HTTP/9.9\r\n\r\n",
      "GET /livez HTTP/1.1\r\nno colon\r\n\r\n",
      std::string("GET /\0 HTTP/1.1\r\n\r\n", 19),
      "POST " + kPods +
          " HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST " + kPods + " HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
      "POST " + kPods + " HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  };
  for (const std::string& bytes : broken) {
    Wire wire(site_, as_admin());
    wire.write(bytes);
    EXPECT_EQ(wire.read_reply().code, 400) << bytes;
  }
  Wire wire(site_, as_admin());
  wire.write("GET /livez HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(wire.read_reply().code, 431);
  Wire healthy(site_, as_admin());
  EXPECT_EQ(healthy.get("/livez").body, "ok");
}

TEST_F(ListenerTest, ManyConnectionsAtOnce) {
  std::vector<std::thread> clients;
  clients.reserve(8);
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&, i] {
      for (int j = 0; j < 8; ++j) {
        Wire wire(site_, as_admin());
        const std::string name = fmt::format("p{}-{}", i, j);
        if (create_pod(wire, name).code == 201 &&
            wire.get(fmt::format("{}/{}", kPods, name)).code == 200)
          ++good;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good.load(), 64);
}

TEST_F(ListenerTest, StopsWithWatchesOpenAndRequestsOnTheirWay) {
  Wire watcher(site_, as_admin());
  watcher.send({.target = "/api/v1/pods?watch=true"});
  watcher.read_head();
  Wire writer(site_, as_admin());
  for (int i = 0; i < 20; ++i)
    writer.send({.method = "POST", .target = kPods, .body = pod_json("p" + std::to_string(i))});
  site_.stop();
  // Cut off in the middle: whatever came is whole lines, and the last chunk never does, so no
  // client takes the stream for complete.
  const std::string heard = watcher.read_all();
  EXPECT_FALSE(heard.ends_with("\r\n0\r\n\r\n"));
  EXPECT_FALSE(Wire(site_, as_admin()).open()) << "nobody listens any more";
  // What was answered was done, and nothing else was answered but creations.
  const std::string answers = writer.read_all();
  for (std::size_t at = answers.find("HTTP/1.1 "); at != std::string::npos;
       at = answers.find("HTTP/1.1 ", at + 1))
    EXPECT_EQ(answers.substr(at, 12), "HTTP/1.1 201");
}

TEST(Listener, AFullHouseTurnsNewGuestsAway) {
  ListenOptions options;
  options.limits.clients.connections = {.total = 2, .each = 2, .reserved = 0};
  options.limits.clients.connections_per_address = 2;
  const Site site(options);
  Wire first(site, {.client = &site.admin});
  Wire second(site, {.client = &site.admin});
  EXPECT_EQ(first.get("/livez").body, "ok");
  EXPECT_EQ(second.get("/livez").body, "ok");
  EXPECT_FALSE(Wire(site, {.client = &site.admin}).open());
  EXPECT_EQ(second.get("/livez").body, "ok");
}

TEST(Listener, TooManyWritesAtOnceAreAskedToComeBack) {
  ListenOptions options;
  options.limits.clients.writes.total = 0;
  const Site site(options);
  Wire wire(site, {.client = &site.admin});
  const HttpReply reply = wire.ask({.method = "POST", .target = kPods, .body = pod_json("web")});
  EXPECT_EQ(reply.code, 429);
  EXPECT_EQ(reply.headers.at("retry-after"), "1");
  EXPECT_EQ(wire.get("/livez").body, "ok");
}

}  // namespace
}  // namespace muster::server
