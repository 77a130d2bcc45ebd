#include "server/core/request/decode_body.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::server {
namespace {

using api::FieldValidation;

class DecodeBodyTest : public ::testing::Test {
 protected:
  // What a body becomes, or why it is refused.
  std::string decoded(std::string_view text) {
    if (const auto done = decode_into(request_, text); !done) {
      reason_ = done.error().reason;
      return done.error().message;
    }
    return api::to_text(request_.body);
  }
  static api::Request to(std::string_view group, std::string_view kind, std::string version,
                         std::string subresource = "") {
    api::Request request;
    request.kind = api::find_kind(group, kind);
    request.version = std::move(version);
    request.subresource = std::move(subresource);
    return request;
  }

  api::Request request_ = to("", "ConfigMap", "v1");
  Reason reason_ = Reason::InternalError;
};

TEST_F(DecodeBodyTest, LosesItsTypeWhichTheEndpointKnows) {
  for (const char* type : {"", R"("kind":"ConfigMap",)", R"("apiVersion":"v1",)",
                           R"("apiVersion":"v1","kind":"ConfigMap",)"})
    EXPECT_EQ(decoded(std::string("{") + type + R"("data":{"a":"b"}})"), R"({"data":{"a":"b"}})");
  request_ = to("apps", "Deployment", "v1");
  EXPECT_EQ(decoded(R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":2}})"),
            R"({"spec":{"replicas":2}})");
}

TEST_F(DecodeBodyTest, OfAnotherTypeIsRefused) {
  struct Case {
    std::string type;
    std::string want;
  };
  const std::vector<Case> cases = {
      {R"("apiVersion":"v1","kind":"Secret")",
       R"(Secret in version "v1" cannot be handled as a Deployment: converting (v1.Secret) to )"
       R"((apps.Deployment): unknown conversion)"},
      {R"("kind":"ReplicaSet")",
       R"(ReplicaSet in version "v1" cannot be handled as a Deployment: converting )"
       R"((v1.ReplicaSet) to (apps.Deployment): unknown conversion)"},
      {R"("apiVersion":"apps/v1","kind":"Secret")",
       R"(Secret in version "v1" cannot be handled as a Deployment: no kind "Secret" is )"
       R"(registered for version "apps/v1")"},
      {R"("apiVersion":"apps/v2")",
       R"(Deployment in version "v2" cannot be handled as a Deployment: no kind "Deployment" is )"
       R"(registered for version "apps/v2")"},
      {R"("apiVersion":"v1")",
       R"(Deployment in version "v1" cannot be handled as a Deployment: no kind "Deployment" is )"
       R"(registered for version "v1")"},
      {R"("apiVersion":"v2","kind":"Pod")",
       R"(Pod in version "v2" cannot be handled as a Deployment: no kind "Pod" is registered for )"
       R"(version "v2")"},
  };
  request_ = to("apps", "Deployment", "v1");
  for (const Case& one : cases) {
    reason_ = Reason::InternalError;
    EXPECT_EQ(decoded("{" + one.type + "}"), one.want);
    EXPECT_EQ(reason_, Reason::BadRequest) << one.want;
  }
  request_ = to("", "Pod", "v1");
  EXPECT_EQ(decoded(R"({"kind":"Node"})"),
            R"(Node in version "v1" cannot be handled as a Pod: converting (v1.Node) to )"
            R"((core.Pod): unknown conversion)");
}

// Both are served, but the one is asked for at the address of the other.
TEST_F(DecodeBodyTest, OfAnotherVersionIsRefused) {
  request_ = to("scheduling.k8s.io", "PodGroup", "v1beta1");
  EXPECT_EQ(decoded(R"({"apiVersion":"scheduling.k8s.io/v1alpha3","kind":"PodGroup"})"),
            "the API version in the data (scheduling.k8s.io/v1alpha3) does not match the expected "
            "API version (scheduling.k8s.io/v1beta1)");
  EXPECT_EQ(reason_, Reason::BadRequest);
  EXPECT_EQ(decoded(R"({"apiVersion":"scheduling.k8s.io/v1beta1"})"), "{}");
}

TEST_F(DecodeBodyTest, EvictionsHaveTwoVersions) {
  request_ = to("", "Pod", "v1", "eviction");
  for (const char* version : {"v1", "v1beta1"})
    EXPECT_EQ(decoded(std::string(R"({"apiVersion":"policy/)") + version +
                      R"(","kind":"Eviction","metadata":{"name":"a"}})"),
              R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(decoded(R"({"apiVersion":"policy/v2","kind":"Eviction"})"),
            R"(Eviction in version "v2" cannot be handled as a Eviction: no kind "Eviction" is )"
            R"(registered for version "policy/v2")");
  EXPECT_EQ(decoded(R"({"apiVersion":"apps/v1beta1","kind":"Eviction"})"),
            R"(Eviction in version "v1beta1" cannot be handled as a Eviction: no kind "Eviction" )"
            R"(is registered for version "apps/v1beta1")");
  request_ = to("policy", "PodDisruptionBudget", "v1");
  EXPECT_EQ(decoded(R"({"apiVersion":"policy/v1beta1"})"),
            R"(PodDisruptionBudget in version "v1beta1" cannot be handled as a )"
            R"(PodDisruptionBudget: no kind "PodDisruptionBudget" is registered for version )"
            R"("policy/v1beta1")");
}

TEST_F(DecodeBodyTest, SubresourcesHaveBodiesOfTheirOwn) {
  struct Case {
    std::string subresource;
    std::string want;
  };
  for (const Case& one : std::vector<Case>{{"", "v1 Pod"},
                                           {"status", "v1 Pod"},
                                           {"binding", "v1 Binding"},
                                           {"eviction", "policy/v1 Eviction"}}) {
    const auto type = body_type(api::kinds::pod(), "v1", one.subresource);
    ASSERT_TRUE(type) << one.subresource;
    EXPECT_EQ((type->group.empty() ? "" : type->group + "/") + type->version + " " + type->kind,
              one.want);
    ASSERT_NE(type->message, nullptr) << one.subresource;
    EXPECT_EQ(type->message->name, type->kind);
  }
  const auto scale = body_type(*api::find_kind("apps", "Deployment"), "v1", "scale");
  ASSERT_TRUE(scale);
  EXPECT_EQ(scale->group + "/" + scale->version + " " + scale->kind, "autoscaling/v1 Scale");
  EXPECT_EQ(scale->message->package, "autoscaling/v1");

  const auto unknown = body_type(api::kinds::pod(), "v1", "spleen");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().reason, Reason::MethodNotAllowed);
  EXPECT_EQ(unknown.error().message,
            "the server does not allow this method on the requested resource");
}

TEST_F(DecodeBodyTest, UnknownMembersAreDroppedWithAWarningOrRefused) {
  constexpr std::string_view kText = R"({"data":{"a":"b"},"foo":1,"metadata":{"bar":2}})";
  constexpr std::string_view kPruned = R"({"data":{"a":"b"},"metadata":{}})";
  request_.warnings = {"earlier"};
  EXPECT_EQ(decoded(kText), kPruned);
  EXPECT_EQ(request_.warnings, (std::vector<std::string>{"earlier", R"(unknown field "foo")",
                                                         R"(unknown field "metadata.bar")"}));

  request_ = to("", "ConfigMap", "v1");
  request_.field_validation = FieldValidation::Ignore;
  EXPECT_EQ(decoded(kText), kPruned);
  EXPECT_EQ(request_.warnings, std::vector<std::string>());

  request_.field_validation = FieldValidation::Strict;
  EXPECT_EQ(decoded(kText),
            R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding )"
            R"(error: unknown field "foo", unknown field "metadata.bar")");
  EXPECT_EQ(reason_, Reason::BadRequest);
  EXPECT_EQ(decoded(R"({"data":{"c":"d"}})"), R"({"data":{"c":"d"}})");
}

TEST_F(DecodeBodyTest, FieldsOfAnEarlyProposalAreExplained) {
  request_ = to("", "Pod", "v1");
  decoded(R"({"spec":{"workloadRef":{}}})");
  EXPECT_EQ(request_.warnings, (std::vector<std::string>{R"(unknown field "spec.workloadRef": use )"
                                                         R"(spec.schedulingGroup.podGroupName)"}));
}

TEST_F(DecodeBodyTest, AMemberOfAWrongTypeIsRefused) {
  request_ = to("apps", "Deployment", "v1");
  const std::string said = decoded(R"({"spec":{"replicas":"two"}})");
  EXPECT_TRUE(said.starts_with(R"(Deployment in version "v1" cannot be handled as a Deployment: )"))
      << said;
  EXPECT_EQ(reason_, Reason::BadRequest);
}

// As upstream quotes it: as text if it looks like JSON, else in hexadecimal; at most 30 bytes.
TEST_F(DecodeBodyTest, WhatIsNotJsonIsQuoted) {
  const auto quoted = [&](std::string_view text) {
    const std::string said = decoded(text);
    EXPECT_TRUE(
        said.starts_with("the object provided is unrecognized (must be of type "
                         "ConfigMap): couldn't get version/kind; json parse error: "))
        << said;
    EXPECT_EQ(reason_, Reason::BadRequest);
    return said.substr(said.rfind(" (") + 1);
  };
  EXPECT_EQ(quoted(""), "(<empty>)");
  EXPECT_EQ(quoted("{no}"), "({no})");
  EXPECT_EQ(quoted("a\n\xff"), "(610aff)");
  const std::string thirty = "{" + std::string(29, 'x');
  EXPECT_EQ(quoted(thirty), "(" + thirty + ")");
  EXPECT_EQ(quoted(thirty + "y"), "(" + thirty + " ...)");
  request_.subresource = "spleen";
  EXPECT_EQ(decoded("no"), "the server does not allow this method on the requested resource");
}

}  // namespace
}  // namespace muster::server
