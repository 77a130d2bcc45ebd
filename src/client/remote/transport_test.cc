#include "client/remote/transport.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>

#include "client/https/site_testing.h"
#include "server/http/certificates.h"
#include "server/http/status_listener.h"
#include "server/http/testing.h"

namespace muster::client {
namespace {

// A server that speaks nothing but HTTP/1.1.
TEST(TransportTest, AServerWithoutHttp2IsAskedAllTheSame) {
  const SystemClock clock;
  const server::Credential authority = server::make_authority("test", clock.now()).value();
  const server::Credential serving =
      server::make_serving_certificate(authority, {.dns = {}, .addresses = {"127.0.0.1"}},
                                       clock.now())
          .value();
  const auto listener = server::StatusListener::start(
                            {.certificate = serving},
                            [](const server::StatusListener::Question& question,
                               const server::StatusListener::Reply& reply) {
                              reply({.code = 200, .text = "you asked for " + question.path});
                            })
                            .value();
  Kubeconfig config;
  config.server = fmt::format("https://127.0.0.1:{}", listener->port());
  config.certificate_authority = authority.certificate;
  const auto transport =
      Transport::start(std::move(config), {}, clock, [] { return std::nullopt; }).value();
  // Two are asked before it is known what the server speaks, the third after.
  std::promise<std::string> answers[3];
  const auto ask = [&](std::size_t i, const std::string& target) {
    transport->post([&, i, target] {
      transport->perform({.method = "GET", .target = target, .content_type = {}, .body = {}}, {},
                         [&, i](const Result<HttpReply>& reply) {
                           answers[i].set_value(reply ? reply->body : reply.error().message);
                         });
    });
  };
  ask(0, "/a");
  ask(1, "/b");
  EXPECT_EQ(answers[0].get_future().get(), "you asked for /a");
  EXPECT_EQ(answers[1].get_future().get(), "you asked for /b");
  ask(2, "/c");
  EXPECT_EQ(answers[2].get_future().get(), "you asked for /c");
}

TEST(TransportTest, UnderLoadALookServesManyRequests) {
  constexpr int kRequests = 3000;
  constexpr int kAtOnce = 20;
  const SystemClock clock;
  const server::testing::Site site;
  std::atomic<int> looks = 0;
  std::promise<void> all_answered;
  const auto transport = Transport::start(config_for(site), {}, clock, [&] {
                           ++looks;
                           return std::nullopt;
                         }).value();
  int asked = 0;  // by the transport's thread, as the next
  int answered = 0;
  const std::function<void()> ask = [&] {
    ++asked;
    transport->perform({.method = "GET", .target = "/version", .content_type = {}, .body = {}}, {},
                       [&](const Result<HttpReply>& reply) {
                         EXPECT_TRUE(reply) << reply.error().message;
                         if (asked < kRequests) ask();
                         if (++answered == kRequests) all_answered.set_value();
                       });
  };
  const Time start = clock.now();
  transport->post([&] {
    for (int i = 0; i < kAtOnce; ++i) ask();
  });
  all_answered.get_future().get();
  // Some are free, and the last request is alone; the rest come one in ten milliseconds.
  const std::chrono::duration<double> took = clock.now() - start;
  EXPECT_LT(looks.load(), 125 + 100 * took.count());
}

}  // namespace
}  // namespace muster::client
