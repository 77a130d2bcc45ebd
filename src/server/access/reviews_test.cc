#include "server/access/reviews.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/request.h"
#include "base/entropy.h"
#include "base/time.h"
#include "server/access/access.h"
#include "store/engines/memory.h"
#include "store/store.h"

namespace muster::server {
namespace {

class ReviewsTest : public ::testing::Test {
 protected:
  void write(std::string_view kind_name, std::string_view text) {
    const api::Kind& kind = *api::find_kind("rbac.authorization.k8s.io", kind_name);
    auto object = api::Object::make(kind, api::parse_json(text).value().value);
    const std::string key = store::make_key(kind, object->meta().name_space, object->meta().name);
    store::Transaction transaction;
    transaction.writes.push_back({.key = key, .object = std::move(object), .expected = {}});
    ASSERT_TRUE(store_->commit(std::span(&transaction, 1)).value().front().has_value());
  }
  // "true" or "false", or why the question cannot be answered.
  std::string allowed(std::string_view spec) {
    api::Request request;
    request.verb = api::Verb::Create;
    request.kind = api::find_kind("authorization.k8s.io", "SubjectAccessReview");
    request.version = "v1";
    request.user = {.name = "prometheus", .groups = {}};
    request.body = api::JsonObject{{"spec", api::parse_json(spec).value().value}};
    const auto answer =
        access_.reviews().answer(request, Identity{.user = request.user}, now_, entropy_);
    if (!answer) return answer.error().message;
    const api::Json* const said =
        api::find_path(std::get<api::DocumentAnswer>(answer->what).document, "status.allowed");
    return said == nullptr ? "" : api::to_text(*said);
  }

  const Time now_ = parse_time("2026-01-01T00:00:00Z").value();
  SeededEntropy entropy_{1};
  std::unique_ptr<store::Store> store_ = store::Store::open(store::make_memory_engine()).value();
  Access access_{*store_, std::nullopt};
};

// What those who serve metrics ask about their callers.
TEST_F(ReviewsTest, TheGroupsOfAnotherMayReadAPath) {
  write("ClusterRole", R"({"metadata":{"name":"metrics"},"rules":[{"verbs":["get"],)"
                       R"("nonResourceURLs":["/metrics"]}]})");
  write("ClusterRoleBinding",
        R"({"metadata":{"name":"metrics"},"roleRef":{"kind":"ClusterRole","name":"metrics"},)"
        R"("subjects":[{"kind":"Group","name":"monitors"}]})");
  const auto reads = [&](std::string_view who, std::string_view path) {
    return allowed(std::string("{")
                       .append(who)
                       .append(R"("nonResourceAttributes":{"verb":"get","path":")")
                       .append(path)
                       .append("\"}}"));
  };
  EXPECT_EQ(reads(R"("user":"bob","groups":["dev","monitors"],)", "/metrics"), "true");
  EXPECT_EQ(reads(R"("groups":["monitors"],)", "/metrics"), "true");
  EXPECT_EQ(reads(R"("user":"bob","groups":["dev"],)", "/metrics"), "false");
  EXPECT_EQ(reads(R"("user":"monitors",)", "/metrics"), "false");
  EXPECT_EQ(reads(R"("groups":["monitors"],)", "/livez"), "false");
  EXPECT_EQ(reads("", "/metrics"),
            R"(SubjectAccessReview.authorization.k8s.io "" is invalid: spec.user: Invalid value: )"
            R"("": at least one of user or group must be specified)");
}

constexpr std::string_view kAuthentication = "authentication.k8s.io";
constexpr std::string_view kAuthorization = "authorization.k8s.io";

// Reviews and tokens as clients ask for them.
class AnswersTest : public ReviewsTest {
 protected:
  struct Asked {
    std::string_view group;
    std::string_view kind;
    std::string spec = "{}";
    std::string name_space = "";
    std::vector<std::string> groups = {};
  };
  Result<api::Json> ask(const Asked& asked) {
    api::Request request;
    request.verb = api::Verb::Create;
    request.kind = api::find_kind(asked.group, asked.kind);
    request.version = "v1";
    request.name_space = asked.name_space;
    if (asked.kind == "ServiceAccount") {
      request.subresource = "token";
      request.name = "robot";
    }
    request.user = {.name = "jane", .groups = asked.groups};
    request.body = api::JsonObject{{"spec", api::parse_json(asked.spec).value().value}};
    Identity who{.user = request.user, .uid = "u7"};
    who.extra["dev/scope"] = {"read", "write"};
    const auto answer = signing_.reviews().answer(request, who, now_, entropy_);
    if (!answer) {
      error_ = answer.error();
      return fail(answer.error());
    }
    const auto& document = std::get<api::DocumentAnswer>(answer->what);
    EXPECT_EQ(document.code, 201);
    return document.document;
  }
  Result<api::Json> token(std::string spec) {
    return ask(
        {.group = "", .kind = "ServiceAccount", .spec = std::move(spec), .name_space = "ns"});
  }
  static std::string at(const Result<api::Json>& document, std::string_view path) {
    if (!document) return document.error().message;
    const api::Json* const found = api::find_path(*document, path);
    if (found == nullptr) return "";
    return found->is_string() ? std::string(found->get_string()) : api::to_text(*found);
  }
  void stand(std::string_view kind_name, std::string_view text) {
    const api::Kind& kind = *api::find_kind("", kind_name);
    auto object = api::Object::make(kind, api::parse_json(text).value().value);
    store::Transaction transaction;
    const std::string key = store::make_key(kind, object->meta().name_space, object->meta().name);
    transaction.writes.push_back({.key = key, .object = std::move(object), .expected = {}});
    ASSERT_TRUE(store_->commit(std::span(&transaction, 1)).value().front().has_value());
  }

  Access signing_{*store_, TokenKey::read(TokenKey::make_pem().value()).value()};
  Error error_;
};

TEST_F(AnswersTest, WhoAsksLearnsAllThatIsKnownOfThem) {
  const auto review =
      ask({.group = kAuthentication, .kind = "SelfSubjectReview", .groups = {"dev"}});
  EXPECT_EQ(at(review, "kind"), "SelfSubjectReview");
  EXPECT_EQ(at(review, "apiVersion"), "authentication.k8s.io/v1");
  EXPECT_EQ(at(review, "status"), R"({"userInfo":{"username":"jane","uid":"u7","groups":["dev"],)"
                                  R"("extra":{"dev/scope":["read","write"]}}})");
}

TEST_F(AnswersTest, AQuestionHasOneSubjectAndOneObject) {
  constexpr std::string_view kPods =
      R"("resourceAttributes":{"verb":"get","resource":"pods","namespace":"ns"})";
  constexpr std::string_view kPath = R"("nonResourceAttributes":{"verb":"get","path":"/x"})";
  const auto refusal = [&](std::string_view kind, std::string spec, std::string name_space = "") {
    const auto answer = ask({.group = kAuthorization,
                             .kind = kind,
                             .spec = std::move(spec),
                             .name_space = std::move(name_space)});
    if (answer) return std::string("answered");
    EXPECT_EQ(answer.error().reason, Reason::Invalid);
    return answer.error().message;
  };
  EXPECT_EQ(refusal("SelfSubjectAccessReview", "{}"),
            R"(SelfSubjectAccessReview.authorization.k8s.io "" is invalid: )"
            "spec.resourceAttributes: Invalid value: exactly one of nonResourceAttributes or "
            "resourceAttributes must be specified");
  EXPECT_EQ(refusal("SelfSubjectAccessReview", fmt::format("{{{},{}}}", kPods, kPath)),
            R"(SelfSubjectAccessReview.authorization.k8s.io "" is invalid: )"
            "spec.nonResourceAttributes: Invalid value: cannot be specified in combination with "
            "resourceAttributes");
  EXPECT_EQ(error_.kind, "SelfSubjectAccessReview");
  EXPECT_EQ(error_.group, kAuthorization);
  ASSERT_EQ(error_.causes.size(), 1U);
  EXPECT_EQ(error_.causes[0].field, "spec.nonResourceAttributes");
  EXPECT_EQ(
      refusal("LocalSubjectAccessReview", fmt::format(R"({{"user":"bob",{}}})", kPods), "other"),
      R"(LocalSubjectAccessReview.authorization.k8s.io "" is invalid: )"
      R"(spec.resourceAttributes.namespace: Invalid value: "ns": must match )"
      "metadata.namespace");
  EXPECT_EQ(refusal("LocalSubjectAccessReview", fmt::format(R"({{"user":"bob",{}}})", kPods), "ns"),
            "answered");
  EXPECT_EQ(refusal("SelfSubjectAccessReview", fmt::format("{{{}}}", kPath)), "answered");
}

TEST_F(AnswersTest, AnAnswerTellsTheQuestionAndWhy) {
  write("Role",
        R"({"metadata":{"name":"r","namespace":"ns"},"rules":[{"verbs":["get"],)"
        R"("apiGroups":["apps"],"resources":["deployments/scale"],"resourceNames":["web"]}]})");
  write("RoleBinding", R"({"metadata":{"name":"b","namespace":"ns"},"roleRef":{"kind":"Role",)"
                       R"("name":"r"},"subjects":[{"kind":"User","name":"jane"}]})");
  const std::vector<std::pair<std::string_view, std::string_view>> asked = {
      {"verb", "get"},          {"group", "apps"},   {"resource", "deployments"},
      {"subresource", "scale"}, {"namespace", "ns"}, {"name", "web"}};
  const auto may = [&](std::string_view other) {
    std::string attributes;
    for (const auto& [member, value] : asked)
      attributes += fmt::format(R"({}"{}":"{}")", attributes.empty() ? "" : ",", member,
                                member == other ? "x" : value);
    return ask({.group = kAuthorization,
                .kind = "SelfSubjectAccessReview",
                .spec = fmt::format(R"({{"resourceAttributes":{{{}}}}})", attributes)});
  };
  const auto allowed = may("");
  EXPECT_EQ(at(allowed, "status"),
            R"({"allowed":true,"reason":"RBAC: allowed by RoleBinding \"b/ns\" of Role \"r\" to )"
            R"(User \"jane\""})");
  EXPECT_EQ(at(allowed, "spec.resourceAttributes.resource"), "deployments");
  EXPECT_EQ(at(allowed, "metadata"), "{}");
  for (const auto& [member, value] : asked)
    EXPECT_EQ(at(may(member), "status"), R"({"allowed":false})") << member;

  write("RoleBinding", R"({"metadata":{"name":"a","namespace":"ns"},"roleRef":{"kind":"Role",)"
                       R"("name":"none"},"subjects":[{"kind":"User","name":"jane"}]})");
  EXPECT_EQ(at(may("verb"), "status"),
            R"({"allowed":false,)"
            R"("evaluationError":"RBAC: role.rbac.authorization.k8s.io \"none\" not found"})");
}

TEST_F(AnswersTest, RulesAreThoseOfANamespace) {
  write("ClusterRole", R"({"metadata":{"name":"c"},"rules":[{"verbs":["get"],)"
                       R"("nonResourceURLs":["/x"]},{"verbs":["list"],"apiGroups":["a"],)"
                       R"("resources":["bs"],"resourceNames":["n"]}]})");
  write("ClusterRoleBinding", R"({"metadata":{"name":"c"},"roleRef":{"kind":"ClusterRole",)"
                              R"("name":"c"},"subjects":[{"kind":"User","name":"jane"}]})");
  const auto rules = [&](std::string spec, std::vector<std::string> groups = {}) {
    return ask({.group = kAuthorization,
                .kind = "SelfSubjectRulesReview",
                .spec = std::move(spec),
                .groups = std::move(groups)});
  };
  EXPECT_EQ(
      at(rules(R"({"namespace":"ns"})"), "status"),
      R"({"incomplete":false,"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/x"]}],)"
      R"("resourceRules":[{"verbs":["list"],"apiGroups":["a"],"resources":["bs"],)"
      R"("resourceNames":["n"]}]})");
  EXPECT_TRUE(at(rules(R"({"namespace":"ns"})", {"system:masters"}), "status.resourceRules")
                  .starts_with(R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]},)"));
  EXPECT_EQ(at(rules("{}"), ""), "no namespace on request");
  EXPECT_EQ(error_.reason, Reason::BadRequest);
}

TEST_F(AnswersTest, ATokenIsMadeForTimesWithinReason) {
  EXPECT_EQ(at(token("{}"), ""), R"(serviceaccounts "robot" not found)");
  EXPECT_EQ(error_.reason, Reason::NotFound);
  EXPECT_EQ(error_.kind, "serviceaccounts");
  EXPECT_EQ(error_.name, "robot");
  stand("ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1"}})");
  const auto seconds = [&](std::string_view count) {
    return at(token(fmt::format(R"({{"expirationSeconds":{}}})", count)),
              "status.expirationTimestamp");
  };
  EXPECT_EQ(seconds("600"), "2026-01-01T00:10:00Z");
  EXPECT_EQ(seconds("599"),
            R"(TokenRequest.authentication.k8s.io "robot" is invalid: spec.expirationSeconds: )"
            "Invalid value: 599: may not specify a duration less than 10 minutes");
  EXPECT_EQ(error_.reason, Reason::Invalid);
  EXPECT_EQ(seconds("4294967296"), "2162-02-07T06:28:16Z");
  EXPECT_EQ(seconds("4294967297"),
            R"(TokenRequest.authentication.k8s.io "robot" is invalid: spec.expirationSeconds: )"
            "Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds");
  const auto made = token("{}");
  EXPECT_EQ(at(made, "kind") + " " + at(made, "apiVersion"),
            "TokenRequest authentication.k8s.io/v1");
  EXPECT_EQ(at(made, "metadata"), R"({"name":"robot","namespace":"ns",)"
                                  R"("creationTimestamp":"2026-01-01T00:00:00Z"})");
  EXPECT_EQ(at(made, "status.expirationTimestamp"), "2026-01-01T01:00:00Z");

  api::Request request;
  request.verb = api::Verb::Create;
  request.kind = api::find_kind("", "ServiceAccount");
  request.subresource = "token";
  request.name_space = "ns";
  request.name = "robot";
  request.body = api::JsonObject();
  const auto keyless = access_.reviews().answer(request, {}, now_, entropy_);
  ASSERT_FALSE(keyless);
  EXPECT_EQ(keyless.error().reason, Reason::ServiceUnavailable);
  EXPECT_EQ(keyless.error().message, "this server has no key to sign tokens with");
}

TEST_F(AnswersTest, ATokenIsBoundToWhatIsThere) {
  stand("ServiceAccount", R"({"metadata":{"name":"robot","namespace":"ns","uid":"u1"}})");
  stand("Secret", R"({"metadata":{"name":"s","namespace":"ns","uid":"s1"}})");
  stand("Pod", R"({"metadata":{"name":"p","namespace":"ns","uid":"p1"},)"
               R"("spec":{"serviceAccountName":"robot","nodeName":"gone"}})");
  const auto bound = [&](std::string_view reference) {
    return token(fmt::format(R"({{"boundObjectRef":{{{}}}}})", reference));
  };
  EXPECT_EQ(at(bound(R"("apiVersion":"v1","kind":"ConfigMap","name":"m")"), ""),
            R"(cannot bind token for serviceaccount "robot" to object of type v1, Kind=ConfigMap)");
  EXPECT_EQ(error_.reason, Reason::BadRequest);
  EXPECT_EQ(at(bound(R"("kind":"Secret","name":"t")"), ""), R"(secrets "t" not found)");
  EXPECT_EQ(error_.reason, Reason::NotFound);
  EXPECT_EQ(error_.name + " " + error_.kind, "t secrets");
  EXPECT_EQ(at(bound(R"("kind":"Secret","name":"s","uid":"other")"), ""),
            R"(Operation cannot be fulfilled on secrets "s": the UID in the bound object )"
            "reference (other) does not match the UID in record. The object might have been "
            "deleted and then recreated");
  EXPECT_EQ(error_.reason, Reason::Conflict);
  EXPECT_NE(at(bound(R"("kind":"Secret","name":"s","uid":"s1")"), "status.token"), "");

  // Its node is named even if nobody knows that node, by name alone.
  const std::string of_pod = at(bound(R"("kind":"Pod","name":"p")"), "status.token");
  const auto review = ask({.group = kAuthentication,
                           .kind = "TokenReview",
                           .spec = fmt::format(R"({{"token":"{}"}})", of_pod)});
  const api::Json* const extra = api::find_path(*review, "status.user.extra");
  ASSERT_NE(extra, nullptr);
  const auto says = [&](std::string_view key) {
    const api::Json* const list =
        api::find(*extra, fmt::format("authentication.kubernetes.io/{}", key));
    return list == nullptr ? "" : api::to_text(*list);
  };
  EXPECT_EQ(says("pod-name"), R"(["p"])");
  EXPECT_EQ(says("node-name"), R"(["gone"])");
  EXPECT_EQ(says("node-uid"), "");
}

TEST_F(AnswersTest, OnlyQuestionsAndTokensAreHandled) {
  const auto handles = [](std::string_view group, std::string_view kind,
                          std::string subresource = "", api::Verb verb = api::Verb::Create) {
    api::Request request;
    request.verb = verb;
    request.kind = api::find_kind(group, kind);
    request.subresource = std::move(subresource);
    return Reviews::handles(request);
  };
  EXPECT_TRUE(handles(kAuthentication, "TokenReview"));
  EXPECT_TRUE(handles(kAuthorization, "SubjectAccessReview"));
  EXPECT_TRUE(handles("", "ServiceAccount", "token"));
  EXPECT_FALSE(handles("", "ServiceAccount"));
  EXPECT_FALSE(handles("", "Pod", "token"));
  EXPECT_FALSE(handles("", "ServiceAccount", "token", api::Verb::Get));
  EXPECT_FALSE(handles(kAuthorization, "SubjectAccessReview", "", api::Verb::List));
}

}  // namespace
}  // namespace muster::server
