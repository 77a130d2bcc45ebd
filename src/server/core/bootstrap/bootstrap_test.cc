#include "server/core/bootstrap/bootstrap.h"

#include "server/core/bootstrap/bootstrap_roles.h"
#include "server/core/bootstrap/client_authority.h"
#include "server/core/bootstrap/config_map.h"
#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class BootstrapTest : public CoreTest {
 protected:
  static const api::Kind& kind(std::string_view group, std::string_view name) {
    return *api::find_kind(group, name);
  }
  static const api::Kind& maps() { return kind("", "ConfigMap"); }
};

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

TEST_F(BootstrapTest, OthersLearnWhoseCertificatesToBelieve) {
  const auto read = [&] {
    return get(maps(), "kube-system", "extension-apiserver-authentication");
  };
  EXPECT_FALSE(read().has_value());
  publish_client_authority(registry_, *store_, "PEM", now_);
  EXPECT_EQ(at(read(), "data"), R"({"client-ca-file":"PEM"})");
  const api::Revision written = store_->revision();
  publish_client_authority(registry_, *store_, "PEM", now_);
  EXPECT_EQ(store_->revision(), written) << "nothing to say twice";
  publish_client_authority(registry_, *store_, "OTHER", now_);
  EXPECT_EQ(at(read(), "data"), R"({"client-ca-file":"OTHER"})");

  EXPECT_EQ(at(get(kind(kRbac, "Role"), "kube-system", "extension-apiserver-authentication-reader"),
               "rules"),
            R"([{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["configmaps"],)"
            R"("resourceNames":["extension-apiserver-authentication"]}])");
  EXPECT_EQ(at(get(kind(kRbac, "RoleBinding"), "kube-system",
                   "system::extension-apiserver-authentication-reader"),
               "roleRef.name"),
            "extension-apiserver-authentication-reader");
}

TEST_F(BootstrapTest, UserFacingRolesAreAggregated) {
  const auto role = [&](std::string_view name) {
    return get(kind(kRbac, "ClusterRole"), "", name);
  };
  const auto label = [&](std::string_view name, const std::string& of) {
    const auto parsed = api::parse_json(seen(role(name)));
    const api::Json* labels = api::find_path(parsed->value, "metadata.labels");
    return std::string(api::find_string(*labels, "rbac.authorization.k8s.io/aggregate-to-" + of));
  };
  EXPECT_EQ(at(role("edit"), "aggregationRule"),
            R"({"clusterRoleSelectors":[{"matchLabels":)"
            R"({"rbac.authorization.k8s.io/aggregate-to-edit":"true"}}]})");
  EXPECT_EQ(label("view", "edit"), "true");
  EXPECT_EQ(label("edit", "admin"), "true");
  EXPECT_EQ(label("system:aggregate-to-view", "view"), "true");
  EXPECT_EQ(at(role("view"), "rules"), at(role("system:aggregate-to-view"), "rules"));
  EXPECT_NE(at(role("admin"), "rules").find("rolebindings"), std::string::npos);
  EXPECT_EQ(at(role("edit"), "rules").find("rolebindings"), std::string::npos);
  EXPECT_EQ(at(role("view"), "rules").find("secrets"), std::string::npos);
}

TEST_F(BootstrapTest, WhatARoleHasLostComesBackAtTheNextStart) {
  const api::Kind& roles = kind(kRbac, "ClusterRole");
  const api::Kind& bindings = kind(kRbac, "ClusterRoleBinding");
  const std::string whole = at(get(roles, "", "system:basic-user"), "rules");
  const std::string own = R"({"verbs":["get"],"apiGroups":["x.io"],"resources":["things"]})";
  ASSERT_TRUE(merge(roles, "", "system:basic-user", R"({"rules":[)" + own + R"(]})"));
  ASSERT_TRUE(merge(roles, "", "system:discovery",
                    R"({"metadata":{"annotations":)"
                    R"({"rbac.authorization.kubernetes.io/autoupdate":"false"}},"rules":[]})"));
  ASSERT_TRUE(merge(bindings, "", "system:basic-user", R"({"subjects":null})"));
  bootstrap(registry_, *store_, now_);
  EXPECT_EQ(at(get(roles, "", "system:basic-user"), "rules"), "[" + own + "," + whole.substr(1))
      << "and what was added stays";
  EXPECT_EQ(at(get(roles, "", "system:discovery"), "rules").find("/api"), std::string::npos);
  EXPECT_NE(at(get(bindings, "", "system:basic-user"), "subjects").find("system:authenticated"),
            std::string::npos);
  const api::Revision settled = store_->revision();
  bootstrap(registry_, *store_, now_);
  EXPECT_EQ(store_->revision(), settled);
}

TEST_F(BootstrapTest, AFreshServerHasItsNamespacesAndPriorities) {
  EXPECT_EQ(names(list(namespaces(), "")), "default kube-node-lease kube-public kube-system");
  const api::Kind& classes = api::kinds::priority_class();
  EXPECT_EQ(names(list(classes, "")), "system-cluster-critical system-node-critical");
  const auto cluster = get(classes, "", "system-cluster-critical");
  EXPECT_EQ(at(cluster, "value"), "2000000000");
  EXPECT_EQ(at(cluster, "description"),
            "Used for system critical pods that must run in the cluster, but can be moved to "
            "another node if necessary.");
  const auto node = get(classes, "", "system-node-critical");
  EXPECT_EQ(at(node, "value"), "2000001000");
  EXPECT_EQ(at(node, "description"),
            "Used for system critical pods that must not be moved from their current node.");
}

TEST_F(BootstrapTest, TheServerIsAServiceOfItsOwn) {
  const auto service = get(kind("", "Service"), "default", "kubernetes");
  EXPECT_EQ(at(service, "spec.type"), "ClusterIP") << message(service);
  EXPECT_EQ(at(service, "spec.clusterIP"), "10.96.0.1");
  EXPECT_EQ(at(service, "spec.ports"),
            R"([{"name":"https","protocol":"TCP","port":443,"targetPort":6443}])");
}

TEST_F(BootstrapTest, AConfigMapOfTheServersHasTheEntriesThatAreNotEmpty) {
  const auto publish = [&](const std::map<std::string, std::string>& entries) {
    publish_config_map(registry_, *store_, {.name_space = "kube-public", .name = "m"}, entries,
                       now_);
    return at(get(maps(), "kube-public", "m"), "data");
  };
  EXPECT_EQ(publish({{"a", "1"}, {"b", ""}}), R"({"a":"1"})");
  ASSERT_TRUE(merge(maps(), "kube-public", "m", R"({"data":{"mine":"x","b":"stale"}})"));
  EXPECT_EQ(publish({{"a", "2"}, {"b", ""}, {"c", "3"}}), R"({"a":"2","c":"3","mine":"x"})");
}

// What is lost, as text; "" if nothing is.
std::string lost(std::string_view wanted, std::string_view standing) {
  const auto patch =
      lost_parts(api::parse_json(wanted).value().value, api::parse_json(standing).value().value);
  return patch ? api::to_text(*patch) : "";
}

TEST(LostParts, AreWhatAnOldServerOrSomebodyTookAway) {
  constexpr std::string_view kWanted =
      R"({"metadata":{"labels":{"a":"b","c":"d"},"annotations":{"e":"f"}},"rules":[{"verbs":["get"]}]})";
  EXPECT_EQ(lost(kWanted, kWanted), "");
  EXPECT_EQ(lost(kWanted, R"({"metadata":{"labels":{"a":"mine"},"annotations":{"e":"f"}},)"
                          R"("rules":[{"verbs":["get"]},{"verbs":["list"]}]})"),
            R"({"metadata":{"labels":{"c":"d"}}})")
      << "a value that somebody chose stays";
  EXPECT_EQ(lost(kWanted, "{}"), R"({"metadata":{"labels":{"a":"b","c":"d"},)"
                                 R"("annotations":{"e":"f"}},"rules":[{"verbs":["get"]}]})");
  EXPECT_EQ(lost(R"({"subjects":[{"name":"a"},{"name":"b"}]})", R"({"subjects":[{"name":"b"}]})"),
            R"({"subjects":[{"name":"b"},{"name":"a"}]})");
  constexpr std::string_view kAuto = "rbac.authorization.kubernetes.io/autoupdate";
  EXPECT_EQ(
      lost(kWanted, fmt::format(R"({{"metadata":{{"annotations":{{"{}":"false"}}}}}})", kAuto)),
      "");
  EXPECT_NE(
      lost(kWanted, fmt::format(R"({{"metadata":{{"annotations":{{"{}":"true"}}}}}})", kAuto)), "");
}

TEST(LostParts, OfAnAggregatedRoleAreItsSelectorsNotItsRules) {
  constexpr std::string_view kWanted = R"({"aggregationRule":{"x":1},"rules":[{"verbs":["get"]}]})";
  EXPECT_EQ(lost(kWanted, R"({"rules":[]})"), R"({"aggregationRule":{"x":1}})");
  EXPECT_EQ(lost(kWanted, R"({"aggregationRule":{"y":1}})"), "");
  EXPECT_EQ(lost(R"({"rules":[{"verbs":["get"]}]})", R"({"aggregationRule":{"y":1},"rules":[]})"),
            R"({"rules":[{"verbs":["get"]}]})");
}

TEST_F(BootstrapTest, RolesAreGivenToThoseTheyAreFor) {
  struct Case {
    std::string name;
    std::string subjects;
  };
  const auto subject = [](std::string_view of, std::string_view name) {
    return fmt::format(R"({{"kind":"{}","apiGroup":"rbac.authorization.k8s.io","name":"{}"}})", of,
                       name);
  };
  for (const Case& one : std::vector<Case>{
           {"cluster-admin", subject("Group", "system:masters")},
           {"system:discovery", subject("Group", "system:authenticated")},
           {"system:basic-user", subject("Group", "system:authenticated")},
           {"system:public-info-viewer", subject("Group", "system:authenticated") + "," +
                                             subject("Group", "system:unauthenticated")},
           {"system:monitoring", subject("Group", "system:monitoring")},
           {"system:service-account-issuer-discovery", subject("Group", "system:serviceaccounts")},
           {"system:controller:clusterrole-aggregation-controller",
            R"({"kind":"ServiceAccount","name":"clusterrole-aggregation-controller",)"
            R"("namespace":"kube-system"})"},
           {"system:kube-scheduler", subject("User", "system:kube-scheduler")},
           {"system:kube-controller-manager", subject("User", "system:kube-controller-manager")}}) {
    const auto binding = get(kind(kRbac, "ClusterRoleBinding"), "", one.name);
    EXPECT_EQ(at(binding, "subjects"), "[" + one.subjects + "]") << one.name;
    EXPECT_EQ(at(binding, "roleRef"),
              R"({"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":")" +
                  one.name + "\"}");
    EXPECT_TRUE(get(kind(kRbac, "ClusterRole"), "", one.name)) << one.name;
  }
  const auto readers =
      get(kind(kRbac, "RoleBinding"), "kube-public", "muster:scheduler-settings-reader");
  EXPECT_EQ(at(readers, "subjects"), "[" + subject("Group", "system:authenticated") + "]");
  EXPECT_EQ(
      at(get(kind(kRbac, "Role"), "kube-public", "muster:scheduler-settings-reader"), "rules"),
      R"([{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["configmaps"],)"
      R"("resourceNames":["muster-scheduler"]}])");
  EXPECT_EQ(at(get(kind(kRbac, "RoleBinding"), "kube-system",
                   "system::extension-apiserver-authentication-reader"),
               "subjects"),
            "[" + subject("User", "system:kube-controller-manager") + "," +
                subject("User", "system:kube-scheduler") + "]");
}

TEST_F(BootstrapTest, RulesAreAboutResourcesOrAboutPaths) {
  const auto rules = [&](std::string_view name) {
    return at(get(kind(kRbac, "ClusterRole"), "", name), "rules");
  };
  EXPECT_EQ(rules("cluster-admin"), R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]},)"
                                    R"({"verbs":["*"],"nonResourceURLs":["*"]}])");
  EXPECT_EQ(rules("system:public-info-viewer"),
            R"([{"verbs":["get"],)"
            R"("nonResourceURLs":["/healthz","/livez","/readyz","/version","/version/"]}])");
  EXPECT_EQ(rules("system:basic-user"),
            R"([{"verbs":["create"],"apiGroups":["authorization.k8s.io"],)"
            R"("resources":["selfsubjectaccessreviews","selfsubjectrulesreviews"]},)"
            R"({"verbs":["create"],"apiGroups":["authentication.k8s.io"],)"
            R"("resources":["selfsubjectreviews"]}])");
  EXPECT_EQ(at(get(kind(kRbac, "ClusterRole"), "", "view"), "metadata.annotations"),
            R"({"rbac.authorization.kubernetes.io/autoupdate":"true"})");
  EXPECT_EQ(
      role_aggregator().groups,
      (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:kube-system",
                                "system:authenticated"}));
}

}  // namespace
}  // namespace muster::server
