#include "server/access/impersonation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "server/access/access.h"
#include "store/engines/memory.h"
#include "store/store.h"

namespace muster::server {
namespace {

const api::User kJane{.name = "jane", .groups = {"system:authenticated"}};

class ImpersonationTest : public ::testing::Test {
 protected:
  void write(std::string_view kind_name, std::string_view text) {
    const api::Kind& kind = *api::find_kind("rbac.authorization.k8s.io", kind_name);
    auto object = api::Object::make(kind, api::parse_json(text).value().value);
    const std::string key = store::make_key(kind, object->meta().name_space, object->meta().name);
    store::Transaction transaction;
    transaction.writes.push_back({.key = key, .object = std::move(object), .expected = {}});
    ASSERT_TRUE(store_->commit(std::span(&transaction, 1)).value().front().has_value());
  }
  // Jane may impersonate them, in the namespace or everywhere.
  void let_jane(std::string_view resource, std::string_view more_of_rule = "",
                std::string_view name_space = "") {
    write("ClusterRole",
          fmt::format(R"({{"metadata":{{"name":"{0}"}},"rules":[{{"verbs":["impersonate"],)"
                      R"("apiGroups":[""],"resources":["{0}"]{1}}}]}})",
                      resource, more_of_rule));
    write(name_space.empty() ? "ClusterRoleBinding" : "RoleBinding",
          fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"{1}"}},"roleRef":{{)"
                      R"("kind":"ClusterRole","name":"{0}"}},"subjects":[{{"kind":"User",)"
                      R"("name":"jane"}}]}})",
                      resource, name_space));
  }
  // Empty if Jane may act as them.
  std::string refusal(std::string name, std::vector<std::string> groups = {}) {
    const auto acted =
        impersonate(access_.authorizer(), kJane,
                    {.user = {.name = std::move(name), .groups = std::move(groups)}});
    return acted ? "" : acted.error().message;
  }

  std::unique_ptr<store::Store> store_ = store::Store::open(store::make_memory_engine()).value();
  Access access_{*store_, std::nullopt};
};

TEST_F(ImpersonationTest, GroupsAndServiceAccountsNeedRightsOfTheirOwn) {
  let_jane("users");
  EXPECT_EQ(refusal("bob"), "");
  EXPECT_EQ(refusal("bob", {"ops", "dev"}),
            R"(groups "ops" is forbidden: User "jane" cannot impersonate resource "groups" in API )"
            R"(group "" at the cluster scope)");
  let_jane("groups", R"(,"resourceNames":["ops"])");
  EXPECT_EQ(refusal("bob", {"ops"}), "");
  EXPECT_EQ(refusal("bob", {"ops", "dev"}),
            R"(groups "dev" is forbidden: User "jane" cannot impersonate resource "groups" in API )"
            R"(group "" at the cluster scope)");

  EXPECT_EQ(refusal("system:serviceaccount:ns:robot"),
            R"(serviceaccounts "robot" is forbidden: User "jane" cannot impersonate resource )"
            R"("serviceaccounts" in API group "" in the namespace "ns")");
  let_jane("serviceaccounts", "", "ns");
  EXPECT_EQ(refusal("system:serviceaccount:ns:robot"), "");
  EXPECT_NE(refusal("system:serviceaccount:other:robot"), "");
}

}  // namespace
}  // namespace muster::server
