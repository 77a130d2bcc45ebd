#include "server/access/access.h"

#include <gtest/gtest.h>

#include "server/access/impersonation.h"
#include "store/engines/memory.h"

namespace muster::server {
namespace {

const Time kNow = parse_time("2026-01-01T00:00:00Z").value();
const api::User kAdmin{.name = "admin", .groups = {"system:masters", "system:authenticated"}};
const api::User kJane{.name = "jane", .groups = {"system:authenticated"}};

class AccessTest : public ::testing::Test {
 protected:
  void write(std::string_view group, std::string_view kind_name, std::string_view json) {
    const api::Kind& kind = *api::find_kind(group, kind_name);
    auto object = api::Object::make(kind, api::parse_json(json).value().value);
    store::Transaction transaction;
    const std::string key = store::make_key(kind, object->meta().name_space, object->meta().name);
    const api::ObjectPtr old = store_->get(key);
    transaction.writes.push_back({.key = key,
                                  .object = std::move(object),
                                  .expected = old ? old->revision() : api::Revision{}});
    ASSERT_TRUE(store_->commit(std::span(&transaction, 1)).value().front().has_value());
  }
  void remove(std::string_view group, std::string_view kind_name, std::string_view name_space,
              std::string_view name) {
    const std::string key = store::make_key(*api::find_kind(group, kind_name), name_space, name);
    store::Transaction transaction;
    transaction.writes.push_back(
        {.key = key, .object = nullptr, .expected = store_->get(key)->revision()});
    ASSERT_TRUE(store_->commit(std::span(&transaction, 1)).value().front().has_value());
  }

  // Asks for a review or token; the answer's document.
  Result<api::Json> ask(const api::User& user, std::string_view group, std::string_view kind,
                        std::string_view spec, Time now = kNow) {
    api::Request request;
    request.verb = api::Verb::Create;
    request.kind = api::find_kind(group, kind);
    request.version = "v1";
    request.user = user;
    if (kind == "ServiceAccount") {
      request.subresource = "token";
      request.name_space = "ns";
      request.name = "robot";
    }
    request.body = api::JsonObject{{"spec", api::parse_json(spec).value().value}};
    EXPECT_TRUE(Reviews::handles(request));
    const auto answer = access_.reviews().answer(request, now, entropy_);
    if (!answer) return fail(answer.error());
    return std::get<api::DocumentAnswer>(answer->what).document;
  }
  static std::string at(const Result<api::Json>& document, std::string_view path) {
    if (!document) return document.error().message;
    const api::Json* const found = api::find_path(*document, path);
    if (found == nullptr) return "";
    return found->is_string() ? std::string(found->get_string()) : api::to_text(*found);
  }

  std::unique_ptr<store::Store> store_ = store::Store::open(store::make_memory_engine()).value();
  SeededEntropy entropy_{1};
  Access access_{*store_, TokenKey::read(TokenKey::make_pem().value()).value()};
};

TEST_F(AccessTest, ACertificateSaysWhoAsks) {
  const auto user = access_.authenticator().authenticate({.state = PeerCertificate::State::Valid,
                                                          .common_name = "jane",
                                                          .organizations = {"ops", "dev"}},
                                                         "", kNow);
  ASSERT_TRUE(user.has_value());
  EXPECT_EQ(user->name, "jane");
  EXPECT_EQ(user->groups, (std::vector<std::string>{"ops", "dev", "system:authenticated"}));
}

TEST_F(AccessTest, NobodyIsAnonymousButAWrongCredentialIsNot) {
  const Authenticator& who = access_.authenticator();
  EXPECT_EQ(who.authenticate({}, "", kNow)->name, "system:anonymous");
  const auto invalid = who.authenticate(
      {.state = PeerCertificate::State::Invalid, .common_name = "", .organizations = {}}, "", kNow);
  ASSERT_FALSE(invalid.has_value());
  EXPECT_EQ(invalid.error().reason, Reason::Unauthorized);
  for (const char* header : {"Bearer abc", "Bearer ", "Basic YTpi", "x"})
    EXPECT_FALSE(who.authenticate({}, header, kNow).has_value()) << header;
}

TEST_F(AccessTest, ATokenStandsForItsAccountWhileThatStands) {
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1"}})");
  const auto made = ask(kAdmin, "", "ServiceAccount", R"({"expirationSeconds":600})");
  EXPECT_EQ(at(made, "kind"), "TokenRequest");
  EXPECT_EQ(at(made, "status.expirationTimestamp"), "2026-01-01T00:10:00Z");
  EXPECT_EQ(at(made, "spec.expirationSeconds"), "600");
  EXPECT_EQ(at(ask(kAdmin, "", "ServiceAccount", "{}"), "spec.expirationSeconds"), "3600");
  EXPECT_EQ(at(made, "spec.audiences"), fmt::format(R"(["{}"])", kTokenIssuer));
  const std::string bearer = "Bearer " + at(made, "status.token");
  const auto user = access_.authenticator().authenticate({}, bearer, kNow);
  ASSERT_TRUE(user.has_value());
  EXPECT_EQ(user->name, "system:serviceaccount:ns:robot");
  EXPECT_EQ(user->groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:ns",
                                      "system:authenticated"}));
  EXPECT_FALSE(access_.authenticator()
                   .authenticate({}, bearer, kNow + std::chrono::minutes(10))
                   .has_value());
  // A namesake is somebody else.
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u2"}})");
  EXPECT_FALSE(access_.authenticator().authenticate({}, bearer, kNow).has_value());
}

TEST_F(AccessTest, ABoundTokenEndsWithItsPod) {
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1"}})");
  write("", "Pod", R"({"metadata":{"name":"web","namespace":"ns","uid":"p1"}})");
  const auto made =
      ask(kAdmin, "", "ServiceAccount", R"({"boundObjectRef":{"kind":"Pod","name":"web"}})");
  const std::string bearer = "Bearer " + at(made, "status.token");
  EXPECT_TRUE(access_.authenticator().authenticate({}, bearer, kNow).has_value());
  remove("", "Pod", "ns", "web");
  EXPECT_FALSE(access_.authenticator().authenticate({}, bearer, kNow).has_value());
}

TEST_F(AccessTest, TokensForOthersAreNotForUs) {
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1"}})");
  const auto made = ask(kAdmin, "", "ServiceAccount", R"({"audiences":["vault"]})");
  const std::string token = at(made, "status.token");
  EXPECT_FALSE(access_.authenticator().authenticate({}, "Bearer " + token, kNow).has_value());
  const auto review = ask(kAdmin, "authentication.k8s.io", "TokenReview",
                          R"({"audiences":["vault"],"token":")" + token + R"("})");
  EXPECT_EQ(at(review, "status.authenticated"), "true");
  EXPECT_EQ(at(review, "status.user.username"), "system:serviceaccount:ns:robot");
}

TEST_F(AccessTest, TokensAreNotMadeForNobodyNorForAMoment) {
  EXPECT_EQ(at(ask(kAdmin, "", "ServiceAccount", "{}"), "x"),
            R"(serviceaccounts "robot" not found)");
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1"}})");
  EXPECT_NE(at(ask(kAdmin, "", "ServiceAccount", R"({"expirationSeconds":5})"), "x")
                .find("may not specify a duration less than 10 minutes"),
            std::string::npos);
}

TEST_F(AccessTest, ReviewsTellWhatIsAllowed) {
  constexpr std::string_view kQuestion =
      R"({"resourceAttributes":{"verb":"get","resource":"pods","namespace":"ns"}})";
  const auto can_i = [&](const api::User& user) {
    return at(ask(user, "authorization.k8s.io", "SelfSubjectAccessReview", kQuestion),
              "status.allowed");
  };
  EXPECT_EQ(can_i(kAdmin), "true");
  EXPECT_EQ(can_i(kJane), "false");
  write("rbac.authorization.k8s.io", "Role",
        R"({"metadata":{"name":"r","namespace":"ns"},"rules":[{"verbs":["get"],)"
        R"("apiGroups":[""],"resources":["pods"]}]})");
  write("rbac.authorization.k8s.io", "RoleBinding",
        R"({"metadata":{"name":"b","namespace":"ns"},"roleRef":{"kind":"Role","name":"r"},)"
        R"("subjects":[{"kind":"User","name":"jane"}]})");
  EXPECT_EQ(can_i(kJane), "true") << "a new binding counts at once";
  const auto rules =
      ask(kJane, "authorization.k8s.io", "SelfSubjectRulesReview", R"({"namespace":"ns"})");
  EXPECT_EQ(at(rules, "status.resourceRules"),
            R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])");
  EXPECT_EQ(at(ask(kAdmin, "authorization.k8s.io", "SubjectAccessReview",
                   R"({"user":"jane","resourceAttributes":{"verb":"get","resource":"pods",)"
                   R"("namespace":"ns"}})"),
               "status.allowed"),
            "true");
  EXPECT_EQ(at(ask(kJane, "authentication.k8s.io", "SelfSubjectReview", "{}"),
               "status.userInfo.username"),
            "jane");
}

TEST_F(AccessTest, ReviewsMustAskOneThing) {
  EXPECT_NE(at(ask(kJane, "authorization.k8s.io", "SelfSubjectAccessReview", "{}"), "x")
                .find("exactly one of nonResourceAttributes or resourceAttributes"),
            std::string::npos);
}

TEST_F(AccessTest, RefusalsNameTheResourceAsUpstreamDoes) {
  const auto refusal = [&](const Attributes& asked) {
    const auto allowed = access_.authorizer().authorize(kJane, asked);
    return allowed ? "" : allowed.error().message;
  };
  EXPECT_EQ(
      refusal({.is_resource = true,
               .verb = "patch",
               .group = "batch",
               .resource = "jobs",
               .subresource = "status",
               .name_space = "ns",
               .name = "x"}),
      R"(jobs.batch "x" is forbidden: User "jane" cannot patch resource "jobs/status" in API )"
      R"(group "batch" in the namespace "ns")");
  EXPECT_EQ(
      refusal({.is_resource = true, .verb = "list", .resource = "nodes"}),
      R"(nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the )"
      "cluster scope");
  EXPECT_EQ(refusal({.is_resource = false, .verb = "get", .path = "/metrics"}),
            R"(forbidden: User "jane" cannot get path "/metrics")");
}

TEST_F(AccessTest, WhoMayImpersonateActsAsAnother) {
  const std::string robot = "system:serviceaccount:ns:robot";
  const auto acted = impersonate(access_.authorizer(), kAdmin, robot, {});
  ASSERT_TRUE(acted.has_value());
  EXPECT_EQ(acted->name, robot);
  EXPECT_EQ(acted->groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:ns",
                                      "system:authenticated"}));
  EXPECT_EQ(impersonate(access_.authorizer(), kAdmin, "bob", {"ops"})->groups,
            (std::vector<std::string>{"ops", "system:authenticated"}));
  const auto refused = impersonate(access_.authorizer(), kJane, "admin", {"system:masters"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            R"(users "admin" is forbidden: User "jane" cannot impersonate resource "users" in API )"
            R"(group "" at the cluster scope)");
  EXPECT_FALSE(impersonate(access_.authorizer(), kAdmin, "", {"ops"}).has_value());
}

TEST_F(AccessTest, BindingAGroupNeedsTheRightToBindItsPods) {
  const auto rights = needed_rights({.is_resource = true,
                                     .verb = "create",
                                     .group = "scheduling.muster.dev",
                                     .resource = "groupbindings",
                                     .name_space = "lab"});
  ASSERT_EQ(rights.size(), 2U);
  EXPECT_EQ(rights[1].resource + "/" + rights[1].subresource, "pods/binding");
  EXPECT_EQ(rights[1].group, "");
}

}  // namespace
}  // namespace muster::server
