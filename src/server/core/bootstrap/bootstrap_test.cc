#include "server/core/bootstrap/bootstrap.h"

#include "server/core/bootstrap/client_authority.h"
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

}  // namespace
}  // namespace muster::server
