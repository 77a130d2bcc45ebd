#include "server/access/access.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "server/access/impersonation.h"
#include "server/access/permission.h"
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
  // The role "r" of the namespace "ns".
  void let_watch_pods() {
    write("rbac.authorization.k8s.io", "Role",
          R"({"metadata":{"name":"r","namespace":"ns"},"rules":[{"apiGroups":[""],)"
          R"("resources":["pods"],"verbs":["watch"]}]})");
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
    const auto answer = access_.reviews().answer(request, Identity{.user = user}, now, entropy_);
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
                                                          .organizations = {"ops", "dev"},
                                                          .uid = "u7",
                                                          .fingerprint = "00ff"},
                                                         "", kNow);
  ASSERT_TRUE(user.has_value());
  EXPECT_EQ(user->user.name, "jane");
  EXPECT_EQ(user->user.groups, (std::vector<std::string>{"ops", "dev", "system:authenticated"}));
  EXPECT_EQ(user->uid, "u7");
  EXPECT_EQ(user->extra.at("authentication.kubernetes.io/credential-id"),
            std::vector<std::string>{"X509SHA256=00ff"});
}

TEST_F(AccessTest, NobodyIsAnonymousButAWrongCredentialIsNot) {
  const Authenticator& who = access_.authenticator();
  EXPECT_EQ(who.authenticate({}, "", kNow)->user.name, "system:anonymous");
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
  EXPECT_EQ(user->user.name, "system:serviceaccount:ns:robot");
  EXPECT_EQ(user->uid, "u1");
  EXPECT_TRUE(
      user->extra.at("authentication.kubernetes.io/credential-id").front().starts_with("JTI="));
  EXPECT_EQ(user->user.groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:ns",
                                      "system:authenticated"}));
  EXPECT_FALSE(access_.authenticator()
                   .authenticate({}, bearer, kNow + std::chrono::minutes(10))
                   .has_value());
  // A namesake is somebody else.
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u2"}})");
  EXPECT_FALSE(access_.authenticator().authenticate({}, bearer, kNow).has_value());
}

TEST_F(AccessTest, ABoundTokenEndsWithWhatItIsBoundTo) {
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1"}})");
  for (const char* kind : {"Pod", "Secret", "Node"}) {
    const std::string home = kind == std::string("Node") ? "" : "ns";
    const auto stand = [&](std::string_view uid) {
      write(
          "", kind,
          fmt::format(R"({{"metadata":{{"name":"web","namespace":"{}","uid":"{}"}}}})", home, uid));
    };
    stand("p1");
    const auto made =
        ask(kAdmin, "", "ServiceAccount",
            fmt::format(R"({{"boundObjectRef":{{"kind":"{}","name":"web"}}}})", kind));
    const std::string bearer = "Bearer " + at(made, "status.token");
    const auto holds = [&] {
      return access_.authenticator().authenticate({}, bearer, kNow).has_value();
    };
    EXPECT_TRUE(holds()) << kind;
    remove("", kind, home, "web");
    EXPECT_FALSE(holds()) << kind;
    stand("p2");
    EXPECT_FALSE(holds()) << "a namesake is another " << kind;
  }
}

TEST_F(AccessTest, ATokenEndsAMinuteAfterItsPodOrAccountShouldHaveGone) {
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1"}})");
  write("", "Pod", R"({"metadata":{"name":"web","namespace":"ns","uid":"p1"}})");
  const auto made =
      ask(kAdmin, "", "ServiceAccount", R"({"boundObjectRef":{"kind":"Pod","name":"web"}})");
  const std::string bearer = "Bearer " + at(made, "status.token");
  const auto holds = [&](int seconds) {
    return access_.authenticator()
        .authenticate({}, bearer, kNow + std::chrono::seconds(seconds))
        .has_value();
  };
  write("", "Pod",
        R"({"metadata":{"name":"web","namespace":"ns","uid":"p1",)"
        R"("deletionTimestamp":"2026-01-01T00:00:30Z"}})");
  EXPECT_TRUE(holds(90));
  EXPECT_FALSE(holds(91));
  write("", "ServiceAccount",
        R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1",)"
        R"("deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a/b"]}})");
  EXPECT_TRUE(holds(60));
  EXPECT_FALSE(holds(61));
}

TEST_F(AccessTest, ATokenIsNotBoundToAnotherAccountsPod) {
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1"}})");
  write("", "Pod",
        R"({"metadata":{"name":"web","namespace":"ns","uid":"p1"},)"
        R"("spec":{"serviceAccountName":"other"}})");
  EXPECT_EQ(
      at(ask(kAdmin, "", "ServiceAccount", R"({"boundObjectRef":{"kind":"Pod","name":"web"}})"),
         "x"),
      R"(cannot bind token for serviceaccount "robot" to pod running with different )"
      "serviceaccount name.");
}

TEST_F(AccessTest, ATokenTellsItsPodAndNode) {
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1"}})");
  write("", "Node", R"({"metadata":{"name":"n1","uid":"n-uid"}})");
  write("", "Pod",
        R"({"metadata":{"name":"web","namespace":"ns","uid":"p1"},"spec":{"nodeName":"n1"}})");
  const auto made =
      ask(kAdmin, "", "ServiceAccount", R"({"boundObjectRef":{"kind":"Pod","name":"web"}})");
  const auto review = ask(kAdmin, "authentication.k8s.io", "TokenReview",
                          R"({"token":")" + at(made, "status.token") + R"("})");
  const auto parsed = [&](std::string_view key) {
    const api::Json* extra = api::find_path(*review, "status.user.extra");
    const api::Json* list =
        extra == nullptr ? nullptr
                         : api::find(*extra, fmt::format("authentication.kubernetes.io/{}", key));
    return list == nullptr ? "" : api::to_text(*list);
  };
  EXPECT_EQ(parsed("pod-name"), R"(["web"])");
  EXPECT_EQ(parsed("pod-uid"), R"(["p1"])");
  EXPECT_EQ(parsed("node-name"), R"(["n1"])");
  EXPECT_EQ(parsed("node-uid"), R"(["n-uid"])");
  EXPECT_EQ(at(review, "status.user.uid"), "u1");
  // The node may go; the pod is what counts.
  remove("", "Node", "", "n1");
  EXPECT_TRUE(access_.authenticator().authenticate({}, "Bearer " + at(made, "status.token"), kNow));
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

TEST_F(AccessTest, ATokenReviewTellsWhichAudiencesItHolds) {
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1"}})");
  const std::string token =
      at(ask(kAdmin, "", "ServiceAccount", R"({"audiences":["vault","mail"]})"), "status.token");
  const auto review = [&](const std::string& audiences) {
    return ask(kAdmin, "authentication.k8s.io", "TokenReview",
               R"({"token":")" + token + R"(","audiences":)" + audiences + "}");
  };
  EXPECT_EQ(at(review(R"(["mail","bank"])"), "status.audiences"), R"(["mail"])");
  EXPECT_EQ(at(review(R"(["bank"])"), "status"), R"({"user":{},"error":"invalid bearer token"})");
  EXPECT_EQ(at(review("[]"), "status.authenticated"), "") << "it is not for the API server";
  const std::string own = at(ask(kAdmin, "", "ServiceAccount", "{}"), "status.token");
  EXPECT_EQ(at(ask(kAdmin, "authentication.k8s.io", "TokenReview", R"({"token":")" + own + "\"}"),
               "status.audiences"),
            R"(["https://kubernetes.default.svc.cluster.local"])");
  EXPECT_EQ(at(ask(kAdmin, "authentication.k8s.io", "TokenReview", "{}"), "x"),
            "token is required for TokenReview in authentication");
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

Identity called(std::string name, std::vector<std::string> groups = {}) {
  return {.user = {.name = std::move(name), .groups = std::move(groups)}};
}

TEST_F(AccessTest, WhoMayImpersonateActsAsAnother) {
  const std::string robot = "system:serviceaccount:ns:robot";
  const auto acted = impersonate(access_.authorizer(), kAdmin, called(robot));
  ASSERT_TRUE(acted.has_value());
  EXPECT_EQ(acted->user.name, robot);
  EXPECT_EQ(acted->user.groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:ns",
                                      "system:authenticated"}));
  const auto groups = [&](const Identity& wanted) {
    return impersonate(access_.authorizer(), kAdmin, wanted)->user.groups;
  };
  EXPECT_EQ(groups(called("bob", {"ops"})),
            (std::vector<std::string>{"ops", "system:authenticated"}));
  EXPECT_EQ(groups(called("bob", {"system:unauthenticated"})),
            (std::vector<std::string>{"system:unauthenticated"}));
  EXPECT_EQ(groups(called("system:anonymous")),
            (std::vector<std::string>{"system:unauthenticated"}));
  const auto refused =
      impersonate(access_.authorizer(), kJane, called("admin", {"system:masters"}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            R"(users "admin" is forbidden: User "jane" cannot impersonate resource "users" in API )"
            R"(group "" at the cluster scope)");
  EXPECT_FALSE(impersonate(access_.authorizer(), kAdmin, called("", {"ops"})).has_value());
}

TEST_F(AccessTest, UidAndExtraValuesAreImpersonatedByRight) {
  Identity wanted = called("bob");
  wanted.uid = "u9";
  wanted.extra["dev/scope"] = {"read", "write"};
  const auto acted = impersonate(access_.authorizer(), kAdmin, wanted);
  ASSERT_TRUE(acted.has_value());
  EXPECT_EQ(acted->uid, "u9");
  EXPECT_EQ(acted->extra, wanted.extra);

  const auto refusal = [&] {
    const auto result = impersonate(access_.authorizer(), kJane, wanted);
    return result ? std::string() : result.error().message;
  };
  const auto let_jane = [&](const char* name, std::string_view rule) {
    write("rbac.authorization.k8s.io", "ClusterRole",
          fmt::format(R"({{"metadata":{{"name":"{}"}},"rules":[{}]}})", name, rule));
    write("rbac.authorization.k8s.io", "ClusterRoleBinding",
          fmt::format(R"({{"metadata":{{"name":"{0}"}},"roleRef":{{"kind":"ClusterRole",)"
                      R"("name":"{0}"}},"subjects":[{{"kind":"User","name":"jane"}}]}})",
                      name));
  };
  let_jane("users", R"({"verbs":["impersonate"],"apiGroups":[""],"resources":["users"]})");
  EXPECT_EQ(refusal(),
            R"(uids.authentication.k8s.io "u9" is forbidden: User "jane" cannot impersonate )"
            R"(resource "uids" in API group "authentication.k8s.io" at the cluster scope)");
  let_jane("uids", R"({"verbs":["impersonate"],"apiGroups":["authentication.k8s.io"],)"
                   R"("resources":["uids"],"resourceNames":["u9"]})");
  EXPECT_EQ(refusal(),
            R"(userextras.authentication.k8s.io "read" is forbidden: User "jane" cannot )"
            R"(impersonate resource "userextras/dev/scope" in API group "authentication.k8s.io" )"
            "at the cluster scope");
  let_jane("scopes", R"({"verbs":["impersonate"],"apiGroups":["authentication.k8s.io"],)"
                     R"("resources":["userextras/dev/scope"],"resourceNames":["read"]})");
  EXPECT_NE(refusal().find(R"("write" is forbidden)"), std::string::npos);
}

// T3b: both rights are asked for, each by itself.
TEST_F(AccessTest, BindingAGroupNeedsTheRightToBindItsPods) {
  const Attributes binds{.is_resource = true,
                         .verb = "create",
                         .group = "scheduling.muster.dev",
                         .version = "v1alpha1",
                         .resource = "groupbindings",
                         .name_space = "lab"};
  const auto grant = [&](std::string_view rules) {
    write(
        "rbac.authorization.k8s.io", "Role",
        fmt::format(R"({{"metadata":{{"name":"binder","namespace":"lab"}},"rules":[{}]}})", rules));
  };
  const std::string groups =
      R"({"apiGroups":["scheduling.muster.dev"],"resources":["groupbindings"],"verbs":["create"]})";
  const std::string pods = R"({"apiGroups":[""],"resources":["pods/binding"],"verbs":["create"]})";
  write(
      "rbac.authorization.k8s.io", "RoleBinding",
      R"({"metadata":{"name":"binder","namespace":"lab"},"roleRef":{"kind":"Role","name":"binder"},)"
      R"("subjects":[{"kind":"User","name":"jane"}]})");

  grant(groups);
  const auto half = access_.authorizer().authorize(kJane, binds);
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().reason, Reason::Forbidden);
  EXPECT_NE(half.error().message.find(R"(cannot create resource "pods/binding")"),
            std::string::npos)
      << half.error().message;
  grant(pods);
  const auto other_half = access_.authorizer().authorize(kJane, binds);
  ASSERT_FALSE(other_half);
  EXPECT_NE(other_half.error().message.find(R"(resource "groupbindings")"), std::string::npos);
  grant(groups + "," + pods);
  EXPECT_TRUE(access_.authorizer().authorize(kJane, binds));
}

TEST_F(AccessTest, RolesFollowEveryChange) {
  const Attributes gets{
      .is_resource = true, .verb = "get", .version = "v1", .resource = "pods", .name_space = "ns"};
  const auto may = [&] { return access_.authorizer().authorize(kJane, gets).has_value(); };
  constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
  const auto bind = [&](std::string_view name, std::string_view user) {
    write(kRbac, "RoleBinding",
          fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns"}},"roleRef":{{"kind":"Role",)"
                      R"("name":"r"}},"subjects":[{{"kind":"User","name":"{}"}}]}})",
                      name, user));
  };
  const auto role = [&](std::string_view verb) {
    write(kRbac, "Role",
          fmt::format(R"({{"metadata":{{"name":"r","namespace":"ns"}},"rules":[{{"apiGroups":[""],)"
                      R"("resources":["pods"],"verbs":["{}"]}}]}})",
                      verb));
  };
  EXPECT_FALSE(may());
  bind("one", "jane");
  EXPECT_FALSE(may());
  const std::int64_t before = access_.authorizer().generation();
  role("get");
  EXPECT_GT(access_.authorizer().generation(), before);
  EXPECT_TRUE(may());
  role("list");
  EXPECT_FALSE(may());
  role("get");
  bind("two", "jane");
  remove(kRbac, "RoleBinding", "ns", "one");
  EXPECT_TRUE(may());
  bind("two", "joe");
  EXPECT_FALSE(may());
  bind("two", "jane");
  EXPECT_TRUE(may());
  remove(kRbac, "Role", "ns", "r");
  EXPECT_FALSE(may());
  // What did not change is shared, not read again.
  const std::shared_ptr<const Roles> old = access_.authorizer().roles();
  const auto* const rules = old->find_role("ClusterRole", "", "none");
  EXPECT_EQ(rules, nullptr);
  role("get");
  const auto first = access_.authorizer().roles();
  bind("three", "joe");
  const auto second = access_.authorizer().roles();
  EXPECT_NE(first, second);
  EXPECT_EQ(first->find_role("Role", "ns", "r"), second->find_role("Role", "ns", "r"));
}

const Attributes kWatchesPods{
    .is_resource = true, .verb = "watch", .version = "v1", .resource = "pods", .name_space = "ns"};

// Watches outlive the request that opened them; their right must not.
TEST_F(AccessTest, APermissionEndsWithTheRoleOrTheToken) {
  let_watch_pods();
  write(
      "rbac.authorization.k8s.io", "RoleBinding",
      R"({"metadata":{"name":"b","namespace":"ns"},"roleRef":{"kind":"Role","name":"r"},)"
      R"("subjects":[{"kind":"User","name":"jane"},{"kind":"ServiceAccount","name":"robot","namespace":"ns"}]})");
  write("", "ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u-1"}})");
  const std::string token = at(ask(kAdmin, "", "ServiceAccount", "{}"), "status.token");
  const Identity robot = access_.authenticator().authenticate({}, "Bearer " + token, kNow).value();
  ASSERT_NE(robot.token, nullptr);

  const std::int64_t now = access_.authorizer().generation();
  Permission janes(access_, Identity{.user = kJane}, kWatchesPods, now);
  Permission robots(access_, robot, kWatchesPods, now);
  EXPECT_TRUE(janes.check(kNow));
  EXPECT_TRUE(robots.check(kNow));
  EXPECT_FALSE(robots.check(kNow + std::chrono::hours(24 * 365))) << "expired";
  remove("", "ServiceAccount", "ns", "robot");
  EXPECT_EQ(robots.check(kNow).error().reason, Reason::Unauthorized);
  remove("rbac.authorization.k8s.io", "RoleBinding", "ns", "b");
  EXPECT_EQ(janes.check(kNow).error().reason, Reason::Forbidden);
}

// Between the judgement of a request and the watch that it opens.
TEST_F(AccessTest, ARightThatEndsWhileItsWatchIsOpenedEndsWithTheFirstCheck) {
  let_watch_pods();
  write("rbac.authorization.k8s.io", "RoleBinding",
        R"({"metadata":{"name":"b","namespace":"ns"},"roleRef":{"kind":"Role","name":"r"},)"
        R"("subjects":[{"kind":"User","name":"jane"}]})");
  const std::int64_t before = access_.authorizer().generation();
  ASSERT_TRUE(access_.authorizer().authorize(kJane, kWatchesPods));
  remove("rbac.authorization.k8s.io", "RoleBinding", "ns", "b");
  Permission janes(access_, Identity{.user = kJane}, kWatchesPods, before);
  EXPECT_FALSE(janes.check(kNow));
  EXPECT_EQ(janes.judgements(), 1U);
}

}  // namespace
}  // namespace muster::server
