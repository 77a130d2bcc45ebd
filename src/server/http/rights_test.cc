#include <gtest/gtest.h>

#include "api/json.h"
#include "server/http/testing.h"

// What RBAC lets users of a whole server do: over TLS, as kubectl --as would ask.
namespace muster::server {
namespace {

using testing::HttpReply;
using testing::Site;
using testing::Wire;

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1";
const std::string kRoles = kRbac + "/namespaces/default/roles";
const std::string kBindings = kRbac + "/namespaces/default/rolebindings";

std::string text_at(const std::string& json, std::string_view path) {
  const auto parsed = api::parse_json(json);
  const api::Json* at = parsed ? api::find_path(parsed->value, path) : nullptr;
  if (at == nullptr) return "";
  return at->is_string() ? std::string(at->get_string()) : api::to_text(*at);
}

class RightsTest : public ::testing::Test {
 protected:
  HttpReply send(const std::string& method, const std::string& target, const std::string& body,
                 std::vector<std::string> headers = {}) {
    if (method == "PATCH" && headers.empty())
      headers.emplace_back("Content-Type: application/merge-patch+json");
    if (!jane_)
      return admin_.ask({.method = method, .target = target, .headers = headers, .body = body});
    headers.emplace_back("Impersonate-User: jane");
    return admin_.ask({.method = method, .target = target, .headers = headers, .body = body});
  }
  void as_jane() { jane_ = true; }
  void as_admin() { jane_ = false; }
  // Binds a cluster role to jane in the namespace "default".
  void give_jane(const std::string& role) {
    const bool was_jane = std::exchange(jane_, false);
    EXPECT_EQ(send("POST", kBindings,
                   R"({"metadata":{"name":"jane-)" + role +
                       R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":)"
                       R"("ClusterRole","name":")" +
                       role + R"("},"subjects":[{"kind":"User","name":"jane"}]})")
                  .code,
              201);
    jane_ = was_jane;
  }

  Site site_;
  Wire admin_{site_, {.client = &site_.admin}};
  bool jane_ = false;
};

TEST_F(RightsTest, AnAdminOfANamespaceGivesNoMoreThanTheyHave) {
  give_jane("admin");
  as_jane();
  const std::string pods =
      R"({"metadata":{"name":"x"},"rules":[{"apiGroups":[""],"resources":["pods"],)"
      R"("verbs":["get"]}]})";
  EXPECT_EQ(send("POST", kRoles, pods).code, 201);
  const std::string refused =
      R"(roles.rbac.authorization.k8s.io "x" is forbidden: user "jane" )"
      R"((groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently )"
      "held:\n"
      R"({APIGroups:[""], Resources:["nodes"], Verbs:["get"]})";
  const std::string nodes =
      R"({"metadata":{"name":"x"},"rules":[{"apiGroups":[""],"resources":["nodes"],)"
      R"("verbs":["get"]}]})";
  const HttpReply put = send("PUT", kRoles + "/x", nodes);
  EXPECT_EQ(put.code, 403);
  EXPECT_EQ(text_at(put.body, "message"), refused);
  EXPECT_EQ(text_at(put.body, "details"),
            R"({"name":"x","group":"rbac.authorization.k8s.io","kind":"roles"})");
  EXPECT_EQ(text_at(send("PATCH", kRoles + "/x", nodes).body, "message"), refused);
  EXPECT_EQ(text_at(send("PATCH", kRoles + "/x?fieldManager=m&force=true",
                         R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role",)" +
                             nodes.substr(1),
                         {"Content-Type: application/apply-patch+yaml"})
                        .body,
                    "message"),
            refused);
  EXPECT_EQ(send("PATCH", kRoles + "/x", R"({"metadata":{"labels":{"a":"b"}}})").code, 200);
  as_admin();
  EXPECT_EQ(send("PUT", kRoles + "/x", nodes).code, 200);
}

TEST_F(RightsTest, AnAdminOfANamespaceBindsOnlyRolesTheyCover) {
  give_jane("admin");
  as_jane();
  const auto bind = [&](const std::string& role) {
    return send("POST", kBindings,
                R"({"metadata":{"name":"b-)" + role +
                    R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)"
                    R"("name":")" +
                    role + R"("},"subjects":[{"kind":"User","name":"bob"}]})");
  };
  EXPECT_EQ(bind("view").code, 201);
  EXPECT_EQ(bind("admin").code, 201);
  const HttpReply all = bind("cluster-admin");
  EXPECT_EQ(all.code, 403);
  EXPECT_EQ(text_at(all.body, "message"),
            R"(rolebindings.rbac.authorization.k8s.io "b-cluster-admin" is forbidden: user "jane" )"
            R"((groups=["system:authenticated"]) is attempting to grant RBAC permissions not )"
            "currently held:\n"
            R"({APIGroups:["*"], Resources:["*"], Verbs:["*"]})"
            "\n"
            R"({NonResourceURLs:["*"], Verbs:["*"]})");
  const HttpReply none = bind("nothing");
  EXPECT_EQ(none.code, 404);
  EXPECT_EQ(text_at(none.body, "message"),
            R"(clusterrole.rbac.authorization.k8s.io "nothing" not found)");
}

TEST_F(RightsTest, ARefusalNamesTheRoleThatIsMissing) {
  give_jane("gone");
  as_jane();
  const HttpReply refused = send("GET", "/api/v1/namespaces/default/pods", "");
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(text_at(refused.body, "message"),
            R"(pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the )"
            R"(namespace "default": RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found)");
}

TEST_F(RightsTest, OneMayActAsAnotherWithUidAndExtraValues) {
  const HttpReply who = admin_.ask(
      {.method = "POST",
       .target = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
       .headers = {"Impersonate-User: bob", "Impersonate-Uid: u9", "Impersonate-Group: ops",
                   "Impersonate-Extra-Dev%2FScope: read", "impersonate-extra-dev%2fscope: write"},
       .body = "{}"});
  EXPECT_EQ(who.code, 201) << who.body;
  EXPECT_EQ(text_at(who.body, "status.userInfo"),
            R"({"username":"bob","uid":"u9","groups":["ops","system:authenticated"],)"
            R"("extra":{"dev/scope":["read","write"]}})");
  const HttpReply self = send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}");
  EXPECT_EQ(text_at(self.body, "status.userInfo.username"), "kubernetes-admin");
  const std::string extra = text_at(self.body, "status.userInfo.extra");
  constexpr std::string_view kBegin =
      R"({"authentication.kubernetes.io/credential-id":["X509SHA256=)";
  EXPECT_TRUE(extra.starts_with(kBegin)) << extra;
  EXPECT_EQ(extra.size(), kBegin.size() + 64 + 3);
}

TEST_F(RightsTest, OthersCanCheckOurTokens) {
  const HttpReply told = admin_.get("/.well-known/openid-configuration");
  EXPECT_EQ(told.code, 200);
  EXPECT_EQ(told.headers.at("content-type"), "application/json");
  EXPECT_EQ(told.headers.at("cache-control"), "public, max-age=3600");
  EXPECT_EQ(text_at(told.body, "issuer"), "https://kubernetes.default.svc.cluster.local");
  EXPECT_EQ(text_at(told.body, "jwks_uri"), "https://localhost/openid/v1/jwks");
  EXPECT_EQ(text_at(told.body, "id_token_signing_alg_values_supported"), R"(["ES256"])");
  const HttpReply keys = admin_.get("/openid/v1/jwks");
  EXPECT_EQ(keys.code, 200);
  EXPECT_EQ(keys.headers.at("content-type"), "application/jwk-set+json");
  const auto parsed = api::parse_json(keys.body);
  ASSERT_TRUE(parsed);
  const api::Json& key = api::find_array(parsed->value, "keys")->at(0);
  EXPECT_EQ(api::find_string(key, "kty"), "EC");
  EXPECT_EQ(api::find_string(key, "crv"), "P-256");
  EXPECT_EQ(api::find_string(key, "alg"), "ES256");
  EXPECT_EQ(api::find_string(key, "kid").size(), 43U);
  EXPECT_EQ(api::find_string(key, "x").size(), 43U);

  as_jane();
  EXPECT_EQ(send("GET", "/openid/v1/jwks", "").code, 403);
  as_admin();
  EXPECT_EQ(admin_
                .ask({.method = "GET",
                      .target = "/openid/v1/jwks",
                      .headers = {"Impersonate-User: system:serviceaccount:default:robot"},
                      .body = ""})
                .code,
            200)
      << "any service account may";
}

TEST_F(RightsTest, AViewerOfANamespaceMayGetIt) {
  give_jane("view");
  as_jane();
  EXPECT_EQ(send("GET", "/api/v1/namespaces/default", "").code, 200);
  EXPECT_EQ(send("GET", "/api/v1/namespaces/kube-system", "").code, 403);
  EXPECT_EQ(send("GET", "/api/v1/namespaces", "").code, 403);
  EXPECT_EQ(send("DELETE", "/api/v1/namespaces/default", "").code, 403);
}

// S-H5: two kilobytes that stand for 1.7 million rights are refused at once, in few words.
TEST_F(RightsTest, AHugeRoleIsRefusedInFewWords) {
  give_jane("admin");
  const auto list = [](const std::string& word) {
    std::string out;
    for (int i = 0; i < 120; ++i)
      out += (out.empty() ? "\"" : ",\"") + word + std::to_string(i) + "\"";
    return "[" + out + "]";
  };
  const std::string role = R"({"metadata":{"name":"huge"},"rules":[{"verbs":)" + list("v") +
                           R"(,"apiGroups":)" + list("g") + R"(,"resources":)" + list("r") + "}]}";
  as_jane();
  const HttpReply refused = send("POST", kRoles, role);
  EXPECT_EQ(refused.code, 403);
  EXPECT_NE(refused.body.find("and others"), std::string::npos);
  EXPECT_LT(refused.body.size(), 200'000U);
  as_admin();
  EXPECT_EQ(send("POST", kRoles, role).code, 201);
}

TEST_F(RightsTest, WhatAUserMayIsToldAsAList) {
  give_jane("view");
  as_jane();
  const HttpReply rules = send("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                               R"({"spec":{"namespace":"default"}})");
  EXPECT_EQ(rules.code, 201);
  const std::string resources = text_at(rules.body, "status.resourceRules");
  EXPECT_NE(resources.find("selfsubjectaccessreviews"), std::string::npos);
  EXPECT_NE(resources.find("replicationcontrollers"), std::string::npos);
  EXPECT_EQ(resources.find("secrets"), std::string::npos);
  EXPECT_NE(text_at(rules.body, "status.nonResourceRules").find("/version"), std::string::npos);
  EXPECT_EQ(text_at(rules.body, "status.incomplete"), "false");
  as_admin();
  const HttpReply all = send("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                             R"({"spec":{"namespace":"default"}})");
  EXPECT_TRUE(text_at(all.body, "status.resourceRules")
                  .starts_with(R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]},)"));
}

}  // namespace
}  // namespace muster::server
