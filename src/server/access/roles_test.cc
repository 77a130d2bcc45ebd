#include "server/access/roles.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

namespace muster::server {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
const api::User kJane{.name = "jane", .groups = {"dev", "system:authenticated"}};
const api::User kRobot{.name = "system:serviceaccount:ns:robot",
                       .groups = {"system:serviceaccounts"}};

api::ObjectPtr object(std::string_view kind, std::string_view json) {
  return api::Object::make(*api::find_kind(kRbac, kind), api::parse_json(json).value().value);
}

Attributes ask(std::string verb, const std::string& resource, std::string name_space = "ns",
               std::string name = "") {
  const std::size_t slash = resource.find('/');
  Attributes out{.is_resource = true, .verb = std::move(verb)};
  out.resource = resource.substr(0, slash);
  if (slash != std::string::npos) out.subresource = resource.substr(slash + 1);
  out.name_space = std::move(name_space);
  out.name = std::move(name);
  return out;
}
Attributes path(std::string verb, std::string url) {
  return {.is_resource = false, .verb = std::move(verb), .path = std::move(url)};
}

TEST(PolicyRuleTest, Covers) {
  struct Case {
    const char* name;
    PolicyRule rule;
    Attributes asked;
    bool covered;
  };
  const PolicyRule pods{.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}};
  const Case cases[] = {
      {"verb and resource", pods, ask("get", "pods"), true},
      {"another verb", pods, ask("list", "pods"), false},
      {"another resource", pods, ask("get", "nodes"), false},
      {"a subresource is not its resource", pods, ask("get", "pods/status"), false},
      {"a named subresource",
       {.verbs = {"get"}, .api_groups = {""}, .resources = {"pods/status"}},
       ask("get", "pods/status"),
       true},
      {"any resource's subresource",
       {.verbs = {"get"}, .api_groups = {""}, .resources = {"*/scale"}},
       ask("get", "pods/scale"),
       true},
      {"everything",
       {.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}},
       ask("delete", "pods/status"),
       true},
      {"another group",
       {.verbs = {"get"}, .api_groups = {"apps"}, .resources = {"pods"}},
       ask("get", "pods"),
       false},
      {"one object",
       {.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}, .resource_names = {"a"}},
       ask("get", "pods", "ns", "a"),
       true},
      {"another object",
       {.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}, .resource_names = {"a"}},
       ask("get", "pods", "ns", "b"),
       false},
      {"names do not match a list",
       {.verbs = {"list"}, .api_groups = {""}, .resources = {"pods"}, .resource_names = {"a"}},
       ask("list", "pods"),
       false},
      {"a path", {.verbs = {"get"}, .non_resource_urls = {"/livez"}}, path("get", "/livez"), true},
      {"a path's beginning",
       {.verbs = {"get"}, .non_resource_urls = {"/api/*"}},
       path("get", "/api/v1"),
       true},
      {"not another path's",
       {.verbs = {"get"}, .non_resource_urls = {"/api/*"}},
       path("get", "/apis"),
       false},
      {"not what only begins like a path",
       {.verbs = {"get"}, .non_resource_urls = {"/livez"}},
       path("get", "/livez/ping"),
       false},
      {"a rule about resources says nothing of paths", pods, path("get", "/pods"), false},
  };
  for (const Case& c : cases) EXPECT_EQ(covers(c.rule, c.asked), c.covered) << c.name;
}

class RolesTest : public ::testing::Test {
 protected:
  Roles roles() const {
    return Roles({.cluster_roles = cluster_roles_,
                  .roles = roles_,
                  .cluster_role_bindings = cluster_bindings_,
                  .role_bindings = bindings_});
  }

  std::vector<api::ObjectPtr> cluster_roles_ = {
      object("ClusterRole",
             R"({"metadata":{"name":"reader"},"rules":[{"verbs":["get"],"apiGroups":[""],)"
             R"("resources":["pods"]},{"verbs":["get"],"nonResourceURLs":["/metrics"]}]})")};
  std::vector<api::ObjectPtr> roles_ = {object(
      "Role", R"({"metadata":{"name":"writer","namespace":"ns"},"rules":[{"verbs":["create"],)"
              R"("apiGroups":[""],"resources":["pods"]}]})")};
  std::vector<api::ObjectPtr> cluster_bindings_;
  std::vector<api::ObjectPtr> bindings_;
};

TEST_F(RolesTest, NobodyMayAnythingWithoutABinding) {
  EXPECT_FALSE(roles().judge(kJane, ask("get", "pods")).allowed);
}

TEST_F(RolesTest, AClusterBindingHoldsEverywhere) {
  cluster_bindings_ = {
      object("ClusterRoleBinding",
             R"({"metadata":{"name":"devs"},"roleRef":{"kind":"ClusterRole","name":"reader"},)"
             R"("subjects":[{"kind":"Group","name":"dev"}]})")};
  const AccessDecision decision = roles().judge(kJane, ask("get", "pods", "anywhere"));
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.reason,
            R"(RBAC: allowed by ClusterRoleBinding "devs" of ClusterRole "reader" to Group "dev")");
  EXPECT_TRUE(roles().judge(kJane, path("get", "/metrics")).allowed);
  EXPECT_FALSE(roles().judge(kRobot, ask("get", "pods")).allowed);
}

TEST_F(RolesTest, ABindingInANamespaceHoldsThereOnly) {
  bindings_ = {
      object(
          "RoleBinding",
          R"({"metadata":{"name":"a","namespace":"ns"},"roleRef":{"kind":"Role","name":"writer"},)"
          R"("subjects":[{"kind":"User","name":"jane"}]})"),
      object("RoleBinding",
             R"({"metadata":{"name":"b","namespace":"ns"},"roleRef":{"kind":"ClusterRole",)"
             R"("name":"reader"},"subjects":[{"kind":"ServiceAccount","name":"robot",)"
             R"("namespace":"ns"}]})")};
  const Roles all = roles();
  EXPECT_TRUE(all.judge(kJane, ask("create", "pods", "ns")).allowed);
  EXPECT_FALSE(all.judge(kJane, ask("create", "pods", "other")).allowed);
  EXPECT_FALSE(all.judge(kJane, ask("create", "pods", "")).allowed);
  EXPECT_TRUE(all.judge(kRobot, ask("get", "pods", "ns")).allowed);
  EXPECT_FALSE(all.judge(kRobot, ask("get", "pods", "other")).allowed);
  EXPECT_FALSE(all.judge(kRobot, path("get", "/metrics")).allowed);
  EXPECT_EQ(all.held_by(kJane, "ns").rules.size(), 1U);
  EXPECT_EQ(all.held_by(kRobot, "ns").rules.size(), 2U);
  EXPECT_TRUE(all.held_by(kRobot, "other").rules.empty());
}

// A subject's kind says what its name means, and a ServiceAccount without a namespace is one of
// the binding's.
TEST_F(RolesTest, SubjectsAreWhoTheyAreSaidToBe) {
  const auto bind = [&](std::string_view subject) {
    bindings_ = {
        object("RoleBinding", fmt::format(R"({{"metadata":{{"name":"a","namespace":"ns"}},)"
                                          R"("roleRef":{{"kind":"Role","name":"writer"}},)"
                                          R"("subjects":[{}]}})",
                                          subject))};
    return roles();
  };
  const Attributes create = ask("create", "pods", "ns");
  EXPECT_TRUE(bind(R"({"kind":"Group","name":"dev"})").judge(kJane, create).allowed);
  EXPECT_FALSE(bind(R"({"kind":"User","name":"dev"})").judge(kJane, create).allowed);
  EXPECT_FALSE(bind(R"({"kind":"Group","name":"jane"})").judge(kJane, create).allowed);
  EXPECT_TRUE(bind(R"({"kind":"ServiceAccount","name":"robot"})").judge(kRobot, create).allowed);
  EXPECT_FALSE(bind(R"({"kind":"ServiceAccount","name":"robot","namespace":"other"})")
                   .judge(kRobot, create)
                   .allowed);
}

TEST_F(RolesTest, AMissingRoleIsNamed) {
  cluster_bindings_ = {
      object("ClusterRoleBinding",
             R"({"metadata":{"name":"devs"},"roleRef":{"kind":"ClusterRole","name":"gone"},)"
             R"("subjects":[{"kind":"Group","name":"dev"}]})")};
  const AccessDecision decision = roles().judge(kJane, ask("get", "pods"));
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.reason, R"(RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found)");
  EXPECT_EQ(roles().held_by(kJane, "ns").errors,
            R"(clusterrole.rbac.authorization.k8s.io "gone" not found)");
}

TEST_F(RolesTest, MissingRolesAreNamedOnceEach) {
  constexpr std::string_view kBinding =
      R"({{"metadata":{{"name":"{}"}},"roleRef":{{"kind":"ClusterRole","name":"{}"}},)"
      R"("subjects":[{{"kind":"Group","name":"dev"}}]}})";
  for (const auto& [name, role] : {std::pair("a", "gone"), {"b", "gone"}, {"c", "lost"}})
    cluster_bindings_.push_back(
        object("ClusterRoleBinding", fmt::format(fmt::runtime(kBinding), name, role)));
  EXPECT_EQ(roles().judge(kJane, ask("get", "pods")).reason,
            R"(RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, )"
            R"(clusterrole.rbac.authorization.k8s.io "lost" not found])");
}

// Every refusal named every binding that led nowhere, and compared each with all others.
TEST_F(RolesTest, AHundredMissingRolesAreNamed) {
  for (int i = 0; i < 300; ++i)
    bindings_.push_back(object(
        "RoleBinding", fmt::format(R"({{"metadata":{{"name":"b{}","namespace":"ns"}},"roleRef":)"
                                   R"({{"kind":"Role","name":"gone-{}"}},"subjects":)"
                                   R"([{{"kind":"Group","name":"dev"}}]}})",
                                   i, i)));
  const std::string reason = roles().judge(kJane, ask("get", "pods", "ns")).reason;
  std::size_t named = 0;
  for (std::size_t at = 0; (at = reason.find("not found", at)) != std::string::npos; ++at) ++named;
  EXPECT_EQ(named, 100U);
}

// A binding is found by any of its subjects, once, and the first that fits gives the reason.
TEST_F(RolesTest, WhoIsNamedTwiceIsFoundOnce) {
  bindings_ = {
      object("RoleBinding",
             R"({"metadata":{"name":"a","namespace":"ns"},"roleRef":{"kind":"Role",)"
             R"("name":"writer"},"subjects":[{"kind":"User","name":"joe"},{"kind":"Group",)"
             R"("name":"dev"},{"kind":"User","name":"jane"},{"kind":"Group","name":"dev"}]})")};
  const Roles all = roles();
  EXPECT_EQ(all.held_by(kJane, "ns").rules.size(), 1U);
  EXPECT_EQ(all.judge(kJane, ask("create", "pods", "ns")).reason,
            R"(RBAC: allowed by RoleBinding "a/ns" of Role "writer" to Group "dev")");
}

// Older versions stay as they were, however many changes follow.
TEST_F(RolesTest, VersionsShareWhatDidNotChange) {
  const auto binding = [](int number, std::string_view user) {
    return object("RoleBinding",
                  fmt::format(R"({{"metadata":{{"name":"b{}","namespace":"ns"}},"roleRef":)"
                              R"({{"kind":"Role","name":"writer"}},"subjects":)"
                              R"([{{"kind":"User","name":"{}"}}]}})",
                              number, user));
  };
  const Roles before = roles();
  const Attributes create = ask("create", "pods", "ns");
  const Roles given(before, {{"rolebindings/ns/b1", binding(1, "jane")},
                             {"rolebindings/ns/b2", binding(2, "jane")}});
  const Roles moved(given, {{"rolebindings/ns/b1", binding(1, "joe")}});
  const Roles taken(moved, {{"rolebindings/ns/b2", nullptr}});
  const Roles without(given, {{"roles/ns/writer", nullptr}});
  EXPECT_FALSE(before.judge(kJane, create).allowed);
  EXPECT_TRUE(given.judge(kJane, create).allowed);
  EXPECT_TRUE(moved.judge(kJane, create).allowed) << "by the other one";
  EXPECT_FALSE(taken.judge(kJane, create).allowed);
  EXPECT_TRUE(taken.judge({.name = "joe", .groups = {}}, create).allowed);
  EXPECT_FALSE(without.judge(kJane, create).allowed);
}

}  // namespace
}  // namespace muster::server
