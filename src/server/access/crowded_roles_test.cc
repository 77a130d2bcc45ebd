#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/entropy.h"
#include "server/access/distinct_rules.h"
#include "server/access/permission.h"
#include "server/access/roles.h"
#include "store/engines/memory.h"

// Roles and bindings in numbers that only somebody hostile would write.
namespace muster::server {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
const api::User kJane{.name = "jane", .groups = {"dev", "system:authenticated"}};

using ObjectMade = std::shared_ptr<api::Object>;

ObjectMade object(std::string_view kind, std::string_view json) {
  return api::Object::make(*api::find_kind(kRbac, kind), api::parse_json(json).value().value);
}

ObjectMade role(std::string_view name, std::string_view rules, std::string_view labels = "{}") {
  return object("Role", fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns","labels":{}}},)"
                                    R"("rules":[{}]}})",
                                    name, labels, rules));
}

ObjectMade binding(std::string_view name, std::string_view role_name, std::string_view user,
                   std::string_view name_space = "ns") {
  return object("RoleBinding",
                fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}"}},"roleRef":)"
                            R"({{"kind":"Role","name":"{}"}},"subjects":)"
                            R"([{{"kind":"User","name":"{}"}}]}})",
                            name, name_space, role_name, user));
}

std::string rule(std::string_view verb, std::string_view resource, std::string_view name) {
  return fmt::format(
      R"({{"verbs":["{}"],"apiGroups":[""],"resources":["{}"],"resourceNames":["{}"]}})", verb,
      resource, name);
}

Attributes ask(std::string verb, std::string resource, std::string name) {
  return {.is_resource = true,
          .verb = std::move(verb),
          .resource = std::move(resource),
          .name_space = "ns",
          .name = std::move(name)};
}

Roles make_roles(const std::vector<api::ObjectPtr>& roles,
                 const std::vector<api::ObjectPtr>& bindings) {
  return Roles({.cluster_roles = {},
                .roles = roles,
                .cluster_role_bindings = {},
                .role_bindings = bindings});
}

// --- What it costs ---

class ManyBindingsTest : public ::testing::Test {
 protected:
  static constexpr int kBindings = 3'000;
  static constexpr std::size_t kCheap = 1'500;

  ManyBindingsTest() {
    for (int i = 0; i < kBindings; ++i) {
      roles_.push_back(role(fmt::format("r{}", i), rule("get", "pods", fmt::format("p{}", i))));
      bindings_.push_back(binding(fmt::format("b{:04}", i), fmt::format("r{}", i), "jane"));
    }
  }
  static std::size_t work(const Roles& roles, const Attributes& asked, bool allowed = false) {
    const AccessDecision decision = roles.judge(kJane, asked);
    EXPECT_EQ(decision.allowed, allowed) << asked.verb << ' ' << asked.name;
    return decision.work;
  }

  std::vector<api::ObjectPtr> roles_;
  std::vector<api::ObjectPtr> bindings_;
};

// Every request looked at every binding, sorted them and looked for the role of each.
TEST_F(ManyBindingsTest, AreLookedAtOnce) {
  const Roles all = make_roles(roles_, bindings_);
  EXPECT_GT(work(all, ask("delete", "pods", "p1")), std::size_t{kBindings});
  EXPECT_LT(work(all, ask("delete", "pods", "p1")), kCheap);
  EXPECT_LT(work(all, ask("get", "nodes", "p1")), kCheap);
  EXPECT_LT(work(all, ask("get", "pods", "x")), kCheap);
  EXPECT_LT(work(all, ask("get", "pods", "")), kCheap);
  EXPECT_LT(work(all, ask("get", "pods", "p2999"), true), kCheap);
  EXPECT_EQ(all.judge(kJane, ask("get", "pods", "p2999")).reason,
            R"(RBAC: allowed by RoleBinding "b2999/ns" of Role "r2999" to User "jane")");
}

TEST_F(ManyBindingsTest, AreLookedAtAgainOnlyIfSomethingChangedThere) {
  const Attributes asked = ask("delete", "pods", "p1");
  const Roles first = make_roles(roles_, bindings_);
  work(first, asked);
  const Roles elsewhere(first,
                        {{"rolebindings/other/b", binding("b", "r1", "jane", "other")},
                         {"roles/ns/r7", role("r7", rule("get", "pods", "p7"), R"({"a":"b"})")}});
  EXPECT_EQ(first.changed_at("ns"), elsewhere.changed_at("ns"));
  EXPECT_NE(first.changed_at("other"), elsewhere.changed_at("other"));
  EXPECT_LT(work(elsewhere, asked), kCheap);

  const Roles given(elsewhere, {{"roles/ns/r7", role("r7", rule("delete", "pods", "p1"))}});
  EXPECT_NE(given.changed_at("ns"), elsewhere.changed_at("ns"));
  EXPECT_GT(work(given, asked, true), std::size_t{kBindings});
  EXPECT_LT(work(given, asked, true), kCheap);
  // Two versions that came from the same one do not answer for each other.
  const Roles without(elsewhere, {{"rolebindings/ns/b0001", nullptr}});
  work(without, ask("get", "pods", "p1"), false);
  work(given, ask("get", "pods", "p1"), true);
  work(without, asked, false);
  const Roles ruled(given,
                    {{"clusterroles/c", object("ClusterRole", R"({"metadata":{"name":"c"}})")}});
  EXPECT_NE(ruled.changed_at("ns"), given.changed_at("ns")) << "bindings there may name it";
}

TEST_F(ManyBindingsTest, ThatLeadNowhereAreLookedAtOnce) {
  const Roles all = make_roles({}, bindings_);
  const std::string reason = all.judge(kJane, ask("get", "pods", "x")).reason;
  const AccessDecision again = all.judge(kJane, ask("get", "pods", "y"));
  EXPECT_LT(again.work, kCheap);
  EXPECT_EQ(again.reason, reason);
  EXPECT_TRUE(reason.starts_with(R"(RBAC: [role.rbac.authorization.k8s.io "r0" not found, )"));
  EXPECT_TRUE(reason.ends_with(R"(role.rbac.authorization.k8s.io "r99" not found])")) << reason;
}

TEST(ManyRulesTest, OfOneRoleAreLookedAtOnce) {
  std::string rules;
  for (int i = 0; i < 3'000; ++i)
    rules += (i == 0 ? "" : ",") + rule("get", "pods", fmt::format("p{}", i));
  const Roles all = make_roles({role("r", rules)}, {binding("b", "r", "jane")});
  EXPECT_GT(all.judge(kJane, ask("get", "pods", "x")).work, 3'000U);
  EXPECT_LT(all.judge(kJane, ask("get", "pods", "y")).work, 1'500U);
  EXPECT_TRUE(all.judge(kJane, ask("get", "pods", "p2999")).allowed);
}

// Its rules were listed once for each binding: a role of megabytes, thousands of times.
TEST(ManyRulesTest, OfARoleThatIsBoundOftenAreHeldOnce) {
  std::vector<api::ObjectPtr> bindings;
  for (int i = 0; i < 100; ++i) bindings.push_back(binding(fmt::format("b{}", i), "r", "jane"));
  const Roles all =
      make_roles({role("r", rule("get", "pods", "a") + "," + rule("get", "pods", "b"))}, bindings);
  EXPECT_EQ(all.held_by(kJane, "ns").rules.size(), 2U);
}

// Each was compared with all before it.
TEST(DistinctRulesTest, AreFoundWithoutComparingEachWithAll) {
  std::vector<PolicyRule> rules;
  for (int i = 0; i < 4'000; ++i)
    rules.push_back({.verbs = {"get"},
                     .api_groups = {""},
                     .resources = {"pods"},
                     .resource_names = {fmt::format("p{}", i % 2'000)}});
  std::vector<const PolicyRule*> all;
  for (const PolicyRule& each : rules) all.push_back(&each);
  const DistinctRules found = distinct_rules(all, 2'000);
  ASSERT_EQ(found.rules.size(), 2'000U);
  EXPECT_FALSE(found.more);
  EXPECT_TRUE(std::ranges::equal(found.rules, std::span(all).first(2'000)));
  EXPECT_LT(found.comparisons, std::size_t{4'000} * 40);
  const DistinctRules fewer = distinct_rules(all, 1'999);
  EXPECT_EQ(fewer.rules.size(), 1'999U);
  EXPECT_TRUE(fewer.more);
}

TEST(DistinctRulesTest, ARuleAboutPathsIsWhatItSaysOfPaths) {
  const PolicyRule rules[] = {
      {.verbs = {"get"}, .non_resource_urls = {"/a"}},
      {.verbs = {"get"}, .resources = {"pods"}},
      {.verbs = {"get"}, .resources = {"pods"}, .non_resource_urls = {"/a"}},
      {.verbs = {"get"}, .resources = {"pods"}, .resource_names = {"x"}},
      {.verbs = {"get"}, .resources = {"pods"}},
  };
  std::vector<const PolicyRule*> all;
  for (const PolicyRule& each : rules) all.push_back(&each);
  EXPECT_EQ(distinct_rules(all, 10).rules,
            (std::vector<const PolicyRule*>{&rules[0], &rules[1], &rules[3]}));
}

// --- With a store ---

class CrowdedAccessTest : public ::testing::Test {
 protected:
  void write(const ObjectMade& written) {
    const std::string key =
        store::make_key(written->kind(), written->meta().name_space, written->meta().name);
    const api::ObjectPtr old = store_->get(key);
    store::Transaction transaction;
    transaction.writes.push_back(
        {.key = key, .object = written, .expected = old ? old->revision() : api::Revision{}});
    ASSERT_TRUE(store_->commit(std::span(&transaction, 1)).value().front().has_value());
  }
  api::Json review_rules(const api::User& user) {
    api::Request request;
    request.verb = api::Verb::Create;
    request.kind = api::find_kind("authorization.k8s.io", "SelfSubjectRulesReview");
    request.version = "v1";
    request.user = user;
    request.body = api::parse_json(R"({"spec":{"namespace":"ns"}})").value().value;
    const auto answer = access_.reviews().answer(request, Identity{.user = user}, {}, entropy_);
    return std::get<api::DocumentAnswer>(answer.value().what).document.at("status");
  }

  std::unique_ptr<store::Store> store_ = store::Store::open(store::make_memory_engine()).value();
  SeededEntropy entropy_{1};
  Access access_{*store_, std::nullopt};
};

TEST_F(CrowdedAccessTest, AReviewListsSoManyRules) {
  const auto write_rules = [&](int count) {
    std::string rules;
    for (int i = 0; i < count; ++i)
      rules += (i == 0 ? "" : ",") + rule("get", "pods", fmt::format("p{}", i));
    write(role("r", rules));
  };
  write(binding("b", "r", "jane"));
  write_rules(4'096);
  const api::Json whole = review_rules(kJane);
  EXPECT_EQ(whole.at("resourceRules").as_array().size(), 4'096U);
  EXPECT_FALSE(whole.at("incomplete").as_bool());
  EXPECT_EQ(api::find(whole, "evaluationError"), nullptr);

  write_rules(4'097);
  const api::Json part = review_rules(kJane);
  EXPECT_EQ(part.at("resourceRules"), whole.at("resourceRules"));
  EXPECT_TRUE(part.at("incomplete").as_bool());
  EXPECT_EQ(part.at("evaluationError").as_string(), "only the first 4096 rules are listed");
  write(binding("c", "gone", "jane"));
  EXPECT_EQ(review_rules(kJane).at("evaluationError").as_string(),
            R"(role.rbac.authorization.k8s.io "gone" not found; only the first 4096 rules are )"
            "listed");
}

// Every watch was judged again after any change of any role.
TEST_F(CrowdedAccessTest, APermissionIsJudgedAgainOnlyIfSomethingChangedWhereItAsks) {
  write(role("r", rule("watch", "pods", "p")));
  write(binding("b", "r", "jane"));
  Permission watches(access_, Identity{.user = kJane}, ask("watch", "pods", "p"),
                     access_.authorizer().generation());
  write(binding("b", "r", "jane", "other"));
  write(role("r", rule("watch", "pods", "p"), R"({"a":"b"})"));
  EXPECT_TRUE(watches.check({}));
  EXPECT_EQ(watches.judgements(), 0U);
  write(role("s", rule("watch", "pods", "p")));
  EXPECT_TRUE(watches.check({}));
  EXPECT_TRUE(watches.check({}));
  EXPECT_EQ(watches.judgements(), 1U);
  write(object("ClusterRole", R"({"metadata":{"name":"c"}})"));
  EXPECT_TRUE(watches.check({}));
  EXPECT_EQ(watches.judgements(), 2U);
  write(role("r", rule("watch", "pods", "q")));
  EXPECT_FALSE(watches.check({}));
  EXPECT_FALSE(watches.check({})) << "still";
}

}  // namespace
}  // namespace muster::server
