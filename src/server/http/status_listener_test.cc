#include "server/http/status_listener.h"

#include <gtest/gtest.h>

#include <future>

#include "server/http/testing_wire.h"

namespace muster::server {
namespace {

using Question = StatusListener::Question;
using StatusReply = StatusListener::Reply;

const StatusListener::Handler kOk = [](const Question&, const StatusReply& reply) { reply({}); };

// A free port of the loopback interface, with a certificate by an authority that clients of
// `server` trust.
StatusListener::Options serve_as(testing::Endpoint& server) {
  const Time now = SystemClock{}.now();
  server.authority = make_authority("status", now).value();
  return {.address = "127.0.0.1",
          .port = 0,
          .certificate = make_serving_certificate(server.authority,
                                                  {.dns = {}, .addresses = {"127.0.0.1"}}, now)
                             .value()};
}

TEST(StatusListenerTest, AnswersExactPathsOneAfterTheOther) {
  testing::Endpoint server;
  const StatusListener::Options options = serve_as(server);
  const auto listener =
      StatusListener::start(options, [](const Question& question, const StatusReply& reply) {
        if (question.path == "/livez") return reply({.code = 200, .text = "ok"});
        reply({.code = 404, .text = question.path});
      });
  ASSERT_TRUE(listener) << listener.error().message;
  server.port = (*listener)->port();
  testing::Wire wire(server, {});
  EXPECT_EQ(wire.get("/livez?verbose").body, "ok");
  const testing::HttpReply other = wire.get("/other");
  EXPECT_EQ(other.code, 404);
  EXPECT_EQ(other.body, "/other");
  EXPECT_EQ(wire.ask({.method = "POST", .target = "/livez", .headers = {}, .body = "x"}).code, 405);
}

// What has to be asked elsewhere first keeps nobody else waiting.
TEST(StatusListenerTest, AReplyMayComeLaterFromAnotherThread) {
  testing::Endpoint server;
  const StatusListener::Options options = serve_as(server);
  std::promise<StatusReply> asked;
  auto listener =
      StatusListener::start(options, [&asked](const Question& question, const StatusReply& reply) {
        if (question.path == "/livez") return reply({.code = 200, .text = "ok"});
        if (question.bearer == "later") return asked.set_value(reply);
        reply({.code = 401, .text = question.bearer});
      });
  ASSERT_TRUE(listener) << listener.error().message;
  server.port = (*listener)->port();
  const auto metrics = [&server](const std::string& authorization) {
    testing::Wire wire(server, {});
    return wire
        .ask({.method = "GET",
              .target = "/metrics",
              .headers = {"Authorization: " + authorization},
              .body = {}})
        .body;
  };
  std::future<std::string> waits =
      std::async(std::launch::async, [&metrics] { return metrics("bearer  later"); });
  StatusReply reply = asked.get_future().get();
  EXPECT_EQ(testing::Wire(server, {}).get("/livez").body, "ok");
  EXPECT_EQ(metrics("Basic abc"), "");
  EXPECT_EQ(metrics("Bearer abc"), "abc");
  reply({.code = 200, .text = "numbers"});
  EXPECT_EQ(waits.get(), "numbers");
  listener->reset();
  reply({.code = 200, .text = "too late"});
}

TEST(StatusListenerTest, TooManyConnectionsAtOnceAreClosed) {
  testing::Endpoint server;
  const Time now = SystemClock{}.now();
  server.authority = make_authority("status", now).value();
  const auto listener = StatusListener::start(
      {.address = "127.0.0.1", .port = 0, .certificate = server.authority}, kOk);
  ASSERT_TRUE(listener) << listener.error().message;
  server.port = (*listener)->port();
  std::vector<std::unique_ptr<testing::Wire>> idle;
  for (int i = 0; i < StatusListener::kConnectionsMax; ++i)
    idle.push_back(std::make_unique<testing::Wire>(server, testing::Wire::Options{.plain = true}));
  testing::Wire one_more(server, {.plain = true});
  EXPECT_EQ(one_more.get("/livez").code, 0);
}

TEST(StatusListenerTest, AnUnusableAddressOrCertificateIsRefused) {
  const Credential authority = make_authority("status", SystemClock{}.now()).value();
  const auto refused = [&](const StatusListener::Options& options) {
    const auto started = StatusListener::start(options, kOk);
    return started ? std::string("started") : started.error().message;
  };
  EXPECT_EQ(refused({.address = "here", .port = 0, .certificate = authority}),
            "here is no address to serve on; write e.g. 0.0.0.0");
  EXPECT_EQ(refused({.address = "127.0.0.1", .port = 0, .certificate = {"x", "y"}})
                .find("the serving certificate cannot be used: "),
            0U);
}

}  // namespace
}  // namespace muster::server
