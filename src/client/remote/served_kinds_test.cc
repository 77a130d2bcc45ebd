#include "client/remote/served_kinds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "server/http/certificates.h"
#include "server/http/status_listener.h"

namespace muster::client {
namespace {

using Question = server::StatusListener::Question;

// A server that is asked what it serves: nodes everywhere else than where the test says otherwise.
class ServedKindsTest : public ::testing::Test {
 protected:
  Result<ServedKinds> discover() {
    const Time now = SystemClock{}.now();
    const server::Credential authority = server::make_authority("test-ca", now).value();
    const auto listener =
        server::StatusListener::start(
            {.address = "127.0.0.1",
             .port = 0,
             .certificate = server::make_serving_certificate(
                                authority, {.dns = {}, .addresses = {"127.0.0.1"}}, now)
                                .value()},
            [this](const Question& question, const server::StatusListener::Reply& reply) {
              if (const auto code = codes_.find(question.path); code != codes_.end())
                return reply({.code = code->second, .text = "wait"});
              reply({.code = 200,
                     .text = R"({"resources":[{"name":"nodes"},{"name":"podgroups"}]})"});
            })
            .value();
    Kubeconfig config;
    config.context = "test";
    config.server = fmt::format("https://127.0.0.1:{}", listener->port());
    config.certificate_authority = authority.certificate;
    HttpsClient client = HttpsClient::open(config, {}).value();
    return ServedKinds::discover(client);
  }

  std::map<std::string, int> codes_;  // of paths that are answered otherwise
};

constexpr const char* kGroups = "/apis/scheduling.k8s.io/v1beta1";

TEST_F(ServedKindsTest, AVersionThatIsNotThereIsPassedOver) {
  codes_[kGroups] = 404;
  const Result<ServedKinds> served = discover();
  ASSERT_TRUE(served) << served.error().message;
  ASSERT_NE(served->version_of(api::kinds::pod_group()), nullptr);
  EXPECT_EQ(*served->version_of(api::kinds::pod_group()), "v1alpha3");
  EXPECT_NE(served->version_of(api::kinds::node()), nullptr);
  EXPECT_EQ(served->version_of(api::kinds::workload()), nullptr);
}

// Otherwise a server that starts, or is busy, would switch gangs off for as long as we run.
TEST_F(ServedKindsTest, AServerThatCannotSayIsNotTakenForOneThatServesLess) {
  for (const int code : {401, 403, 429, 500, 503}) {
    codes_[kGroups] = code;
    EXPECT_FALSE(discover()) << code;
  }
}

}  // namespace
}  // namespace muster::client
