#include "client/remote/transport.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>

#include "server/http/certificates.h"
#include "server/http/status_listener.h"

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
  const auto ask = [&](std::size_t i, std::string target) {
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

}  // namespace
}  // namespace muster::client
