#include "client/https/https_client.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "client/client.h"
#include "client/https/exchange.h"
#include "client/https/site_testing.h"
#include "server/http/testing.h"

namespace muster::client {
namespace {

using api::kinds::node;
using server::testing::Site;

HttpsClient open(Kubeconfig config) { return HttpsClient::open(std::move(config), {}).value(); }

api::Json json(std::string_view text) { return api::parse_json(text).value().value; }

Result<api::Answer> create_node(HttpsClient& client, const std::string& name) {
  return client.call(
      create_request(node(), "", json(fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name))));
}

api::Request get_node(std::string_view name) {
  api::Request get;
  get.kind = &node();
  get.version = "v1";
  get.name = name;
  return get;
}

TEST(HttpsClientTest, CreatesGetsAndPatches) {
  const Site site;
  HttpsClient client = open(config_for(site));
  const Result<api::Answer> created = create_node(client, "a");
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_TRUE(std::get<api::ObjectAnswer>(created->what).created);
  const Result<api::Answer> patched =
      client.call(patch_request(node(), "", "a", "", api::PatchType::Merge,
                                json(R"({"metadata":{"labels":{"rack":"r1"}}})")));
  ASSERT_TRUE(patched) << patched.error().message;
  const Result<api::Answer> got = client.call(get_node("a"));
  ASSERT_TRUE(got) << got.error().message;
  const api::ObjectPtr& object = std::get<api::ObjectAnswer>(got->what).object;
  EXPECT_EQ(object->meta().labels, (api::StringPairs{{"rack", "r1"}}));
  EXPECT_GT(object->revision().value, 0);
}

TEST(HttpsClientTest, ListsPageByPage) {
  const Site site;
  HttpsClient client = open(config_for(site));
  constexpr int kNodes = 620;  // more than a page
  for (int i = 0; i < kNodes; ++i) ASSERT_TRUE(create_node(client, fmt::format("n{:04}", i)));
  const Result<api::ListAnswer> listed = client.list(node(), "");
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->items.size(), kNodes);
  EXPECT_EQ(listed->items.front()->meta().name, "n0000");
  EXPECT_EQ(listed->items.back()->meta().name, "n0619");
}

TEST(HttpsClientTest, TellsWhatTheServerSays) {
  const Site site;
  HttpsClient client = open(config_for(site));
  const Result<api::Answer> got = client.call(get_node("b"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, Reason::NotFound);
  EXPECT_EQ(got.error().message, "nodes \"b\" not found");
}

TEST(HttpsClientTest, AnUnknownVersionOfAKindLeadsToTheNext) {
  const Site site;
  HttpsClient client = open(config_for(site));
  api::Kind future = node();
  future.versions = {"v3", "v1"};
  EXPECT_TRUE(client.list(future, ""));
  future.versions = {"v3"};
  const Result<api::ListAnswer> none = client.list(future, "");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reason, Reason::NotFound);
}

TEST(HttpsClientTest, AnonymousUsersAreToldWhatTheyMayNot) {
  const Site site;
  Kubeconfig config = config_for(site);
  config.client_certificate.clear();
  config.client_key.clear();
  HttpsClient client = open(std::move(config));
  const Result<api::ListAnswer> listed = client.list(node(), "");
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().reason, Reason::Forbidden);
}

TEST(HttpsClientTest, ATlsServerNameIsAskedForAtTheAddressOfTheServer) {
  const Site site;
  Kubeconfig config = config_for(site);
  config.tls_server_name = "localhost";
  EXPECT_TRUE(open(config).list(node(), ""));
  config.tls_server_name = "example.com";
  const Result<api::ListAnswer> listed = open(config).list(node(), "");
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().message.find("the certificate of https://127.0.0.1:"), 0U)
      << listed.error().message;
}

TEST(HttpsClientTest, TrustsOnlyTheAuthorityItWasGiven) {
  const Site site;
  Kubeconfig config = config_for(site);
  config.certificate_authority =
      server::make_authority("another", site.core().clock().now()).value().certificate;
  const Result<api::ListAnswer> listed = open(config).list(node(), "");
  ASSERT_FALSE(listed);
  EXPECT_NE(listed.error().message.find("is not trusted: "), std::string::npos)
      << listed.error().message;
  config.certificate_authority.clear();
  config.insecure_skip_tls_verify = true;
  EXPECT_TRUE(open(config).list(node(), ""));
}

TEST(HttpsClientTest, SaysThatNobodyListens) {
  Site site;
  const Kubeconfig config = config_for(site);
  site.stop();
  const Result<api::ListAnswer> listed = open(config).list(node(), "");
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().reason, Reason::ServiceUnavailable);
  EXPECT_EQ(listed.error().message.find("cannot reach the API server https://127.0.0.1:"), 0U)
      << listed.error().message;
}

// Certificates of kubelets and operators are short-lived and replaced in their files.
TEST(HttpsClientTest, AClientCertificateThatIsReplacedInItsFilesIsUsed) {
  const Site site;
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / fmt::format("muster_https_{}", getpid());
  std::filesystem::create_directories(folder);
  const auto put = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  const server::Credential nobody =
      server::make_client_certificate(site.authority, {.user = "nobody", .groups = {}},
                                      site.core().clock().now())
          .value();
  put("cert", nobody.certificate);
  put("key", nobody.private_key);
  Kubeconfig config = config_for(site);
  config.client_certificate = nobody.certificate;
  config.client_key = nobody.private_key;
  config.client_certificate_file = folder / "cert";
  config.client_key_file = folder / "key";
  HttpsClient client =
      HttpsClient::open(std::move(config), {.reread_after = std::chrono::milliseconds{0}}).value();
  const auto outcome = [&] {
    const Result<api::Answer> made = create_node(client, "a");
    return made ? "made" : std::string(reason_name(made.error().reason));
  };
  EXPECT_EQ(outcome(), "Forbidden");
  put("cert", site.admin.certificate);
  EXPECT_EQ(outcome(), "Forbidden") << "the old pair is used while only half of it is new";
  put("key", site.admin.private_key);
  EXPECT_EQ(outcome(), "made");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(outcome(), "AlreadyExists") << "without files the last pair is used";
}

// A process keeps its configuration for weeks, and opens clients by it whose files have changed.
TEST(HttpsClientTest, FilesThatAreNewerThanTheConfigurationAreUsedByTheFirstCall) {
  const Site site;
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / fmt::format("muster_newer_{}", getpid());
  std::filesystem::create_directories(folder);
  const auto put = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  };
  Kubeconfig config = config_for(site);
  const server::Credential nobody =
      server::make_client_certificate(site.authority, {.user = "nobody", .groups = {}},
                                      site.core().clock().now())
          .value();
  config.client_certificate = nobody.certificate;
  config.client_key = nobody.private_key;
  config.client_certificate_file = put("cert", site.admin.certificate);
  config.client_key_file = put("key", site.admin.private_key);
  config.certificate_authority =
      server::make_authority("another", site.core().clock().now()).value().certificate;
  config.certificate_authority_file = put("ca", site.authority.certificate);
  HttpsClient client = open(std::move(config));
  const Result<api::Answer> made = create_node(client, "a");
  EXPECT_TRUE(made) << made.error().message;
  std::filesystem::remove_all(folder);
}

TEST(HttpsClientTest, ATokenIsReadFromItsFileFirstAndThenNowAndAgain) {
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) / fmt::format("muster_token_{}", getpid());
  const auto put = [&](const std::string& text) { std::ofstream(file) << text; };
  Kubeconfig config;
  config.server = "https://127.0.0.1:1";
  config.token = "of the start";
  config.token_file = file;
  Endpoint patient(config, {.reread_after = std::chrono::hours{1}});
  Endpoint eager(config, {.reread_after = std::chrono::milliseconds{0}});
  Endpoint too_early(config, {.reread_after = std::chrono::milliseconds{0}});
  EXPECT_EQ(too_early.token(), "of the start") << "what cannot be read changes nothing";
  put("first\n");
  EXPECT_EQ(patient.token(), "first");
  EXPECT_EQ(eager.token(), "first");
  put("second");
  EXPECT_EQ(patient.token(), "first");
  EXPECT_EQ(eager.token(), "second");
  EXPECT_EQ(too_early.token(), "second");
  std::filesystem::remove(file);
  EXPECT_EQ(eager.token(), "second");
}

// A cluster whose authority is replaced puts the new one into the file beforehand.
TEST(HttpsClientTest, AnAuthorityThatIsReplacedInItsFileIsTrusted) {
  const Site site;
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) / fmt::format("muster_ca_{}", getpid());
  const auto put = [&](const std::string& text) { std::ofstream(file) << text; };
  Kubeconfig config = config_for(site);
  config.certificate_authority =
      server::make_authority("another", site.core().clock().now()).value().certificate;
  config.certificate_authority_file = file;
  put(config.certificate_authority);
  const auto lists = [](HttpsClient& client) { return client.list(node(), "").has_value(); };
  HttpsClient client =
      HttpsClient::open(std::move(config), {.reread_after = std::chrono::milliseconds{0}}).value();
  EXPECT_FALSE(lists(client));
  put(site.authority.certificate);
  EXPECT_TRUE(lists(client));
  put("-----BEGIN CERTIFICATE-----\nhalf");
  EXPECT_TRUE(lists(client)) << "what holds no certificate leaves the last one in use";
  put(server::make_authority("yet another", site.core().clock().now()).value().certificate);
  EXPECT_FALSE(lists(client)) << "a connection of the old authority is not used";
  std::filesystem::remove(file);
  EXPECT_FALSE(lists(client));
}

}  // namespace
}  // namespace muster::client
