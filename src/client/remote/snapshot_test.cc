#include "client/remote/snapshot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/views/projection.h"
#include "client/client.h"
#include "client/https/site_testing.h"
#include "server/http/testing.h"

namespace muster::client {
namespace {

using api::kinds::node;
using server::testing::Site;

api::Json json(std::string_view text) { return api::parse_json(text).value().value; }

HttpsClient open(Kubeconfig config) { return HttpsClient::open(std::move(config), {}).value(); }

void create(HttpsClient& client, const api::Kind& kind, const std::string& text) {
  const Result<api::Answer> made = client.call(create_request(kind, "", json(text)));
  ASSERT_TRUE(made) << made.error().message;
}

Kubeconfig config_of(const Site& site, const std::string& user) {
  const server::Credential credential =
      server::make_client_certificate(site.authority, {.user = user, .groups = {}},
                                      site.core().clock().now())
          .value();
  Kubeconfig config = config_for(site);
  config.client_certificate = credential.certificate;
  config.client_key = credential.private_key;
  return config;
}

std::string names(const Result<std::vector<api::ObjectPtr>>& read) {
  if (!read) return std::string(reason_name(read.error().reason));
  std::string out;
  for (const api::ObjectPtr& object : *read) out += object->meta().name + " ";
  return out;
}

TEST(ReadOnce, HasWhatExistsAndOfItOnlyWhatIsKept) {
  const Site site;
  HttpsClient client = open(config_for(site));
  EXPECT_EQ(names(read_once(client, node(), api::kept_by_scheduler)), "");
  create(client, node(), R"({"metadata":{"name":"b"},"spec":{"podCIDR":"10.0.0.0/24"}})");
  create(client, node(), R"({"metadata":{"name":"a"},"spec":{"unschedulable":true}})");
  const auto read = read_once(client, node(), api::kept_by_scheduler);
  EXPECT_EQ(names(read), "a b ");
  const api::Json kept = read->front()->document();
  EXPECT_NE(api::find(*api::find(kept, "spec"), "unschedulable"), nullptr);
  EXPECT_EQ(api::to_text(read->back()->document()).find("podCIDR"), std::string::npos);
  create(client, node(), R"({"metadata":{"name":"c"}})");
  EXPECT_EQ(names(read_once(client, node(), api::kept_by_scheduler)), "a b c ")
      << "the connection serves what comes after a stream";
}

// Whom nobody allowed to watch needs no more than the right to list.
TEST(ReadOnce, WhoMayListButNotWatchReadsPageByPage) {
  const Site site;
  HttpsClient admin = open(config_for(site));
  constexpr int kNodes = 1100;  // three pages
  for (int i = 0; i < kNodes; ++i)
    create(admin, node(), fmt::format(R"({{"metadata":{{"name":"n{:04}"}}}})", i));
  HttpsClient client = open(config_of(site, "reader"));
  EXPECT_EQ(names(read_once(client, node(), {})), "Forbidden");
  create(admin, *api::find_kind("rbac.authorization.k8s.io", "ClusterRole"),
         R"({"metadata":{"name":"lister"},)"
         R"("rules":[{"apiGroups":[""],"resources":["nodes"],"verbs":["list"]}]})");
  create(admin, *api::find_kind("rbac.authorization.k8s.io", "ClusterRoleBinding"),
         R"({"metadata":{"name":"lister"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
         R"("kind":"ClusterRole","name":"lister"},"subjects":[{"kind":"User","name":"reader",)"
         R"("apiGroup":"rbac.authorization.k8s.io"}]})");
  const auto read = read_once(client, node(), {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->size(), kNodes);
}

TEST(ReadOnce, AKindThatIsNotServedIsNotFound) {
  const Site site;
  HttpsClient client = open(config_for(site));
  api::Kind future = node();
  future.versions = {"v3"};
  EXPECT_EQ(names(read_once(client, future, {})), "NotFound");
}

TEST(ReadOnce, AnOlderVersionIsReadIfTheServerHasNoNewer) {
  const Site site;
  HttpsClient client = open(config_for(site));
  create(client, node(), R"({"metadata":{"name":"a"}})");
  api::Kind future = node();
  future.versions = {"v3", "v1"};
  EXPECT_EQ(names(read_once(client, future, {})), "a ");
}

TEST(ReadOnce, AServerThatIsAwayIsNotWaitedFor) {
  Site site;
  HttpsClient client = open(config_for(site));
  site.stop();
  EXPECT_EQ(names(read_once(client, node(), {})), "ServiceUnavailable");
}

}  // namespace
}  // namespace muster::client
