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

}  // namespace
}  // namespace muster::server
