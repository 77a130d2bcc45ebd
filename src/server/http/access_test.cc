#include "server/http/access.h"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

const api::User kAnonymous{.name = "system:anonymous", .groups = {"system:unauthenticated"}};
const api::User kAdmin{.name = "admin", .groups = {"system:masters", "system:authenticated"}};
const api::User kJane{.name = "jane", .groups = {"system:authenticated"}};

Attributes asked(Method method, const std::string& method_name, const std::string& target) {
  HttpRequest request;
  request.method = method;
  request.method_name = method_name;
  request.target = target;
  return route(request).value().attributes;
}
Attributes get(const std::string& target) { return asked(Method::Get, "GET", target); }

// "" if allowed, else the message.
std::string refusal(const api::User& user, const Attributes& attributes) {
  const auto allowed = authorize(user, attributes);
  return allowed ? "" : allowed.error().message;
}

TEST(Access, ACertificateSaysWhoAsks) {
  const auto user = authenticate({.state = PeerCertificate::State::Valid,
                                  .common_name = "jane",
                                  .organizations = {"ops", "dev"}},
                                 {});
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "jane");
  EXPECT_EQ(user->groups, (std::vector<std::string>{"ops", "dev", "system:authenticated"}));
}

TEST(Access, NobodyIsAnonymousButAWrongCredentialIsNot) {
  EXPECT_EQ(authenticate({}, {})->name, "system:anonymous");
  const auto invalid = authenticate(
      {.state = PeerCertificate::State::Invalid, .common_name = "", .organizations = {}}, {});
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().reason, Reason::Unauthorized);
  EXPECT_EQ(invalid.error().message, "Unauthorized");
  HttpRequest with_token;
  with_token.authorization = "Bearer abc";
  EXPECT_FALSE(authenticate({}, with_token));
}

TEST(Access, EverybodyMayReadHealthAndVersionOnly) {
  for (const char* path : {"/healthz", "/livez", "/readyz", "/version"})
    EXPECT_EQ(refusal(kAnonymous, get(path)), "") << path;
  for (const char* path : {"/", "/api", "/apis", "/readyz/ping", "/metrics", "/x"})
    EXPECT_EQ(refusal(kAnonymous, get(path)),
              fmt::format("forbidden: User \"system:anonymous\" cannot get path \"{}\"", path));
}

TEST(Access, AnyKnownUserMayDiscover) {
  for (const char* path :
       {"/api", "/apis", "/api/v1", "/apis/scheduling.k8s.io/v1", "/openapi/v3/api/v1", "/version"})
    EXPECT_EQ(refusal(kJane, get(path)), "") << path;
  EXPECT_EQ(refusal(kJane, get("/metrics")),
            "forbidden: User \"jane\" cannot get path \"/metrics\"");
  EXPECT_EQ(refusal(kJane, get("/apisx")), "forbidden: User \"jane\" cannot get path \"/apisx\"");
}

TEST(Access, RefusalsNameTheResourceAsUpstreamDoes) {
  EXPECT_EQ(
      refusal(kJane, get("/api/v1/namespaces/ns/pods/x")),
      R"(pods "x" is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace "ns")");
  EXPECT_EQ(
      refusal(kJane, get("/api/v1/nodes")),
      R"(nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope)");
  EXPECT_EQ(
      refusal(kJane, asked(Method::Patch, "PATCH", "/apis/batch/v1/namespaces/ns/jobs/x/status")),
      R"(jobs.batch "x" is forbidden: User "jane" cannot patch resource "jobs/status" in API group "batch" in the namespace "ns")");
  const auto denied = authorize(kJane, get("/apis/batch/v1/namespaces/ns/jobs/x"));
  EXPECT_EQ(denied.error().reason, Reason::Forbidden);
  EXPECT_EQ(denied.error().name, "x");
  EXPECT_EQ(denied.error().kind, "jobs");
  EXPECT_EQ(denied.error().group, "batch");
}

TEST(Access, BindingAGroupNeedsTheRightToBindItsPods) {
  const auto rights = needed_rights(asked(
      Method::Post, "POST", "/apis/scheduling.muster.dev/v1alpha1/namespaces/lab/groupbindings"));
  ASSERT_EQ(rights.size(), 2U);
  EXPECT_EQ(rights[0].resource, "groupbindings");
  EXPECT_EQ(
      refusal(kJane, rights[1]),
      R"(pods is forbidden: User "jane" cannot create resource "pods/binding" in API group "" in the namespace "lab")");
  EXPECT_EQ(needed_rights(get("/api/v1/namespaces/lab/pods")).size(), 1U);
}

TEST(Access, MastersMayEverything) {
  EXPECT_EQ(refusal(kAdmin, get("/metrics")), "");
  EXPECT_EQ(refusal(kAdmin, asked(Method::Delete, "DELETE", "/api/v1/namespaces/a/pods/b")), "");
}

}  // namespace
}  // namespace muster::server
