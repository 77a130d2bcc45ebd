#include "server/http/status_listener.h"

#include <gtest/gtest.h>

#include "server/http/testing_wire.h"

namespace muster::server {
namespace {

TEST(StatusListenerTest, AnswersExactPathsOneAfterTheOther) {
  testing::Endpoint server;
  const Time now = SystemClock{}.now();
  server.authority = make_authority("status", now).value();
  const Credential serving =
      make_serving_certificate(server.authority, {.dns = {}, .addresses = {"127.0.0.1"}}, now)
          .value();
  const auto listener = StatusListener::start(
      {.address = "127.0.0.1", .port = 0, .certificate = serving}, [](std::string_view path) {
        if (path == "/livez") return StatusListener::Answer{.code = 200, .text = "ok"};
        return StatusListener::Answer{.code = 404, .text = std::string(path)};
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

TEST(StatusListenerTest, TooManyConnectionsAtOnceAreClosed) {
  testing::Endpoint server;
  const Time now = SystemClock{}.now();
  server.authority = make_authority("status", now).value();
  const auto listener =
      StatusListener::start({.address = "127.0.0.1", .port = 0, .certificate = server.authority},
                            [](std::string_view) { return StatusListener::Answer{}; });
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
  const auto handler = [](std::string_view) { return StatusListener::Answer{}; };
  const auto refused = [&](const StatusListener::Options& options) {
    const auto started = StatusListener::start(options, handler);
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
