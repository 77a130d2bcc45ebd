#include "server/access/escalation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "server/access/access.h"
#include "server/access/rule_cover.h"
#include "store/engines/memory.h"

namespace muster::server {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
const api::User kAdmin{.name = "admin", .groups = {"system:masters", "system:authenticated"}};
const api::User kJane{.name = "jane", .groups = {"dev", "system:authenticated"}};

std::vector<const PolicyRule*> pointers(const std::vector<PolicyRule>& rules) {
  std::vector<const PolicyRule*> out;
  for (const PolicyRule& rule : rules) out.push_back(&rule);
  return out;
}

api::Json json(std::string_view text) { return api::parse_json(text).value().value; }

TEST(RightsMissingTest, EveryVerbGroupResourceAndNameCounts) {
  const std::vector<PolicyRule> reads_pods = {
      {.verbs = {"get", "list"}, .api_groups = {""}, .resources = {"pods"}}};
  struct Case {
    const char* name;
    std::vector<PolicyRule> held;
    std::vector<PolicyRule> granted;
    std::size_t missing;
  };
  const Case cases[] = {
      {"nothing granted", {}, {}, 0},
      {"held by two rules",
       {{.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}},
        {.verbs = {"list"}, .api_groups = {""}, .resources = {"pods"}}},
       reads_pods,
       0},
      {"one verb too many",
       {{.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}}},
       reads_pods,
       1},
      {"everything covers", all_rights(), reads_pods, 0},
      {"nobody's something covers everything", reads_pods, all_rights(), 2},
      {"a name of all",
       reads_pods,
       {{.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}, .resource_names = {"x"}}},
       0},
      {"all by one name",
       {{.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}, .resource_names = {"x"}}},
       {{.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}}},
       1},
      {"another name",
       {{.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}, .resource_names = {"x"}}},
       {{.verbs = {"get"},
         .api_groups = {""},
         .resources = {"pods"},
         .resource_names = {"x", "y"}}},
       1},
      {"a resource does not cover its subresource",
       reads_pods,
       {{.verbs = {"get"}, .api_groups = {""}, .resources = {"pods/status"}}},
       1},
      {"any resource's subresource",
       {{.verbs = {"get"}, .api_groups = {""}, .resources = {"*/status"}}},
       {{.verbs = {"get"}, .api_groups = {""}, .resources = {"pods/status"}}},
       0},
      {"another group",
       reads_pods,
       {{.verbs = {"get"}, .api_groups = {"", "apps"}, .resources = {"pods"}}},
       1},
      {"a path below",
       {{.verbs = {"get"}, .non_resource_urls = {"/api/*"}}},
       {{.verbs = {"get"}, .non_resource_urls = {"/api/v1"}}},
       0},
      {"a path beside",
       {{.verbs = {"get"}, .non_resource_urls = {"/api/*"}}},
       {{.verbs = {"get"}, .non_resource_urls = {"/apis"}}},
       1},
      {"a resource is no path",
       {{.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}}},
       {{.verbs = {"get"}, .non_resource_urls = {"/metrics"}}},
       1},
  };
  for (const Case& each : cases)
    EXPECT_EQ(find_missing(pointers(each.held), each.granted).rights.size(), each.missing)
        << each.name;
}

class EscalationTest : public ::testing::Test {
 protected:
  void write(std::string_view kind_name, std::string_view text) {
    const api::Kind& kind = *api::find_kind(kRbac, kind_name);
    auto object = api::Object::make(kind, json(text));
    const std::string key = store::make_key(kind, object->meta().name_space, object->meta().name);
    store::Transaction transaction;
    transaction.writes.push_back({.key = key, .object = std::move(object), .expected = {}});
    ASSERT_TRUE(store_->commit(std::span(&transaction, 1)).value().front().has_value());
  }
  // Jane is given the rules in namespace `ns`, or everywhere.
  void give_jane(std::string_view rules, std::string_view name_space = "ns") {
    const std::string name = "given" + std::to_string(given_++);
    write("ClusterRole", fmt::format(R"({{"metadata":{{"name":"{}"}},"rules":{}}})", name, rules));
    write(name_space.empty() ? "ClusterRoleBinding" : "RoleBinding",
          fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"{1}"}},"roleRef":{{)"
                      R"("kind":"ClusterRole","name":"{0}"}},"subjects":[{{"kind":"User",)"
                      R"("name":"jane"}}]}})",
                      name, name_space));
  }
  // Empty if `user` may write the document; the refusal otherwise.
  std::string refusal(const api::User& user, std::string_view kind, std::string_view document,
                      std::string_view old = "", std::string name = "") {
    api::Request request;
    request.verb = old.empty() ? api::Verb::Create : api::Verb::Update;
    request.kind = api::find_kind(kRbac, kind);
    request.version = "v1";
    request.name_space = request.kind->namespaced ? "ns" : "";
    request.name = std::move(name);
    request.user = user;
    const api::Json before = old.empty() ? api::Json(nullptr) : json(old);
    const auto allowed = check_escalation(access_.authorizer(), request, json(document),
                                          old.empty() ? nullptr : &before);
    return allowed ? "" : allowed.error().message;
  }

  std::unique_ptr<store::Store> store_ = store::Store::open(store::make_memory_engine()).value();
  Access access_{*store_, std::nullopt};
  int given_ = 0;
};

constexpr std::string_view kRole =
    R"({"metadata":{"name":"x","namespace":"ns"},"rules":[{"apiGroups":[""],)"
    R"("resources":["pods","secrets"],"verbs":["get","list"]}]})";

TEST_F(EscalationTest, ARoleMustNotGrantWhatItsWriterDoesNotHold) {
  EXPECT_EQ(refusal(kAdmin, "Role", kRole), "");
  EXPECT_EQ(refusal(kJane, "Role", kRole),
            R"(roles.rbac.authorization.k8s.io "x" is forbidden: user "jane" (groups=["dev" )"
            R"("system:authenticated"]) is attempting to grant RBAC permissions not currently )"
            "held:\n"
            R"({APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]})"
            "\n"
            R"({APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]})");
  give_jane(R"([{"apiGroups":[""],"resources":["pods"],"verbs":["*"]}])");
  EXPECT_EQ(refusal(kJane, "Role", kRole),
            R"(roles.rbac.authorization.k8s.io "x" is forbidden: user "jane" (groups=["dev" )"
            R"("system:authenticated"]) is attempting to grant RBAC permissions not currently )"
            "held:\n"
            R"({APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]})");
  give_jane(R"([{"apiGroups":[""],"resources":["secrets"],"verbs":["get","list"]}])");
  EXPECT_EQ(refusal(kJane, "Role", kRole), "");
}

TEST_F(EscalationTest, RightsInANamespaceAreNoneAtTheClusterScope) {
  give_jane(R"([{"apiGroups":[""],"resources":["pods","secrets"],"verbs":["*"]}])");
  EXPECT_EQ(refusal(kJane, "Role", kRole), "");
  EXPECT_NE(refusal(kJane, "ClusterRole", kRole), "");
}

TEST_F(EscalationTest, EscalateIsTheRightToWriteAnyRole) {
  give_jane(R"([{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],)"
            R"("verbs":["escalate"],"resourceNames":["x"]}])");
  EXPECT_NE(refusal(kJane, "Role", kRole), "") << "no name is known of what is created";
  EXPECT_EQ(refusal(kJane, "Role", kRole, R"({"metadata":{"name":"x"}})", "x"), "");
  give_jane(R"([{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],)"
            R"("verbs":["escalate"]}])");
  EXPECT_EQ(refusal(kJane, "Role", kRole), "");
}

TEST_F(EscalationTest, AnUpdateThatGrantsNothingIsNotJudged) {
  EXPECT_EQ(refusal(kJane, "Role",
                    R"({"metadata":{"name":"x","ownerReferences":[]},"rules":[{"verbs":["get"],)"
                    R"("apiGroups":[""],"resources":["pods"]}]})",
                    R"({"metadata":{"name":"x","uid":"u","finalizers":["a"]},"rules":[{"verbs":)"
                    R"(["get"],"apiGroups":[""],"resources":["pods"]}]})",
                    "x"),
            "");
  EXPECT_NE(refusal(kJane, "Role",
                    R"({"metadata":{"name":"x","labels":{"a":"b"}},"rules":[{"verbs":["get"],)"
                    R"("apiGroups":[""],"resources":["pods"]}]})",
                    R"({"metadata":{"name":"x"},"rules":[{"verbs":["get"],"apiGroups":[""],)"
                    R"("resources":["pods"]}]})",
                    "x"),
            "");
}

TEST_F(EscalationTest, OnlyWhoHoldsEverythingMayAggregate) {
  constexpr std::string_view kAggregated =
      R"({"metadata":{"name":"x"},"aggregationRule":{"clusterRoleSelectors":[]}})";
  constexpr std::string_view kPlain = R"({"metadata":{"name":"x"}})";
  const std::string refused =
      R"(clusterroles.rbac.authorization.k8s.io "x" is forbidden: must have cluster-admin )"
      "privileges to use the aggregationRule";
  EXPECT_EQ(refusal(kJane, "ClusterRole", kAggregated), refused);
  EXPECT_EQ(refusal(kJane, "ClusterRole", kPlain, kAggregated, "x"), refused);
  EXPECT_EQ(refusal(kJane, "ClusterRole", kPlain), "");
  give_jane(R"([{"apiGroups":["*"],"resources":["*"],"verbs":["*"]},)"
            R"({"nonResourceURLs":["*"],"verbs":["*"]}])",
            "");
  EXPECT_EQ(refusal(kJane, "ClusterRole", kAggregated), "");
}

TEST_F(EscalationTest, ABindingMustNotGiveWhatItsWriterDoesNotHold) {
  constexpr std::string_view kBinding =
      R"({"metadata":{"name":"b","namespace":"ns"},"roleRef":{"kind":"Role","name":"x",)"
      R"("apiGroup":"rbac.authorization.k8s.io"},"subjects":[{"kind":"User","name":"jane"}]})";
  EXPECT_EQ(refusal(kAdmin, "RoleBinding", kBinding), "");
  EXPECT_EQ(refusal(kJane, "RoleBinding", kBinding),
            R"(role.rbac.authorization.k8s.io "x" not found)");
  write("Role", kRole);
  EXPECT_EQ(
      refusal(kJane, "RoleBinding", kBinding),
      R"(rolebindings.rbac.authorization.k8s.io "b" is forbidden: user "jane" (groups=["dev" )"
      R"("system:authenticated"]) is attempting to grant RBAC permissions not currently )"
      "held:\n"
      R"({APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]})"
      "\n"
      R"({APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]})");
  give_jane(R"([{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],)"
            R"("verbs":["bind"],"resourceNames":["x"]}])");
  EXPECT_EQ(refusal(kJane, "RoleBinding", kBinding), "");
}

TEST_F(EscalationTest, TheRefusalTellsOfBindingsThatLeadNowhere) {
  write("ClusterRoleBinding",
        R"({"metadata":{"name":"lost"},"roleRef":{"kind":"ClusterRole","name":"gone"},)"
        R"("subjects":[{"kind":"User","name":"jane"}]})");
  EXPECT_TRUE(refusal(kJane, "Role", kRole)
                  .ends_with("; resolution errors: [clusterrole.rbac.authorization.k8s.io \"gone\" "
                             "not found]"));
}

}  // namespace
}  // namespace muster::server
