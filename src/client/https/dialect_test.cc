#include "client/https/dialect.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/decode.h"

namespace muster::client {
namespace {

api::Json json(std::string_view text) { return api::parse_json(text).value().value; }

constexpr std::string_view kThere = R"({
  "metadata": {"name": "gang"},
  "spec": {
    "podGroupTemplateRef": {"workload": {"workloadName": "train", "podGroupTemplateName": "worker"}},
    "schedulingPolicy": {"gang": {"minCount": 3}}, "disruptionMode": "PodGroup"},
  "status": {"conditions": [{"type": "DisruptionTarget", "status": "True"},
                            {"type": "PodGroupScheduled", "status": "False"}]}})";
constexpr std::string_view kHere = R"({
  "metadata": {"name": "gang"},
  "spec": {
    "workloadRef": {"workloadName": "train", "templateName": "worker"},
    "schedulingPolicy": {"gang": {"minCount": 3}}, "disruptionMode": {"all": {}}},
  "status": {"conditions": [{"type": "DisruptionTarget", "status": "True"},
                            {"type": "PodGroupInitiallyScheduled", "status": "False"}]}})";

TEST(DialectTest, GroupsOfAnOlderServerAreReadAndWrittenInItsWords) {
  api::Json document = json(kThere);
  translate_in(api::kinds::pod_group(), "v1alpha2", document);
  EXPECT_EQ(document, json(kHere));
  const Result<api::Decoded> decoded =
      api::decode(*api::kinds::pod_group().message, {document, {}});
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_TRUE(decoded->unknown.empty()) << decoded->unknown.front();
  translate_out(api::kinds::pod_group(), "v1alpha2", document);
  EXPECT_EQ(document, json(kThere));
}

TEST(DialectTest, TemplatesOfWorkloadsToo) {
  const api::Json there = json(R"({"spec": {"podGroupTemplates": [
    {"name": "a", "disruptionMode": "Pod"}, {"name": "b"}]}})");
  api::Json document = there;
  translate_in(api::kinds::workload(), "v1alpha2", document);
  EXPECT_EQ(document, json(R"({"spec": {"podGroupTemplates": [
    {"name": "a", "disruptionMode": {"single": {}}}, {"name": "b"}]}})"));
  translate_out(api::kinds::workload(), "v1alpha2", document);
  EXPECT_EQ(document, there);
}

TEST(DialectTest, OtherVersionsAndBrokenDocumentsStayAsTheyAre) {
  for (const std::string_view text : {"7", R"({"spec": 7})", R"({"spec": {"disruptionMode": 7}})",
                                      R"({"status": {"conditions": [7]}})"}) {
    api::Json document = json(text);
    translate_in(api::kinds::pod_group(), "v1alpha2", document);
    EXPECT_EQ(document, json(text));
  }
  api::Json newest = json(kHere);
  translate_out(api::kinds::pod_group(), "v1beta1", newest);
  EXPECT_EQ(newest, json(kHere));
}

// A garbage collector finds an owner only by a version that its server serves.
TEST(DialectTest, OwnersAreNamedInTheVersionThatIsServed) {
  OwnerVersions owners;
  owners.set(api::kinds::workload(), "v1alpha2");
  owners.set(api::kinds::pod_group(), "v1beta1");  // ours
  const auto named = [](std::string_view workload) {
    return fmt::format(R"([{{"apiVersion":"batch/v1","kind":"Job","uid":"1"}},
        {{"apiVersion":"scheduling.k8s.io/{}","kind":"Workload","uid":"2"}},
        {{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","uid":"3"}},
        {{"$patch":"delete","uid":"4"}}])",
                       workload);
  };
  // A document, and patches of the same shape; one and all in a list of operations.
  for (const std::string_view form :
       {R"({{"metadata":{{"name":"a","ownerReferences":{}}},"spec":{{}}}})",
        R"([{{"op":"test","path":"/metadata/uid","value":"5"}},
            {{"op":"add","path":"/metadata/ownerReferences","value":{}}}])"}) {
    const api::Json ours = json(fmt::format(fmt::runtime(form), named("v1beta1")));
    const api::Json theirs = json(fmt::format(fmt::runtime(form), named("v1alpha2")));
    api::Json document = ours;
    EXPECT_TRUE(owners.concerns(document));
    owners.translate_out(document);
    EXPECT_EQ(document, theirs);
    EXPECT_FALSE(owners.concerns(document));
    translate_owners_in(document);
    EXPECT_EQ(document, ours);
  }
  api::Json one = json(R"([{"op":"add","path":"/metadata/ownerReferences/-",
      "value":{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"Workload","uid":"2"}}])");
  owners.translate_out(one);
  EXPECT_EQ(api::find_string(one.at(0).at("value"), "apiVersion"), "scheduling.k8s.io/v1alpha2");
}

TEST(DialectTest, OwnersOfOtherShapesStayAsTheyAre) {
  OwnerVersions owners;
  EXPECT_FALSE(owners.concerns(
      json(R"({"metadata":{"ownerReferences":[{"apiVersion":"scheduling.k8s.io/v1beta1"}]}})")));
  owners.set(api::kinds::workload(), "v1alpha2");
  for (const std::string_view text :
       {"7", "[7]", R"({"metadata":7})", R"({"metadata":{"ownerReferences":7}})",
        R"({"metadata":{"ownerReferences":[7,{},{"apiVersion":7,"kind":"Workload"},
            {"apiVersion":"scheduling.k8s.io/v2","kind":"Strange"},
            {"apiVersion":"scheduling.k8s.io","kind":"Workload"},
            {"apiVersion":"scheduling.k8s.iox/v1alpha2","kind":"Workload"}]}})",
        R"({"spec":{"template":{"metadata":{"ownerReferences":[
            {"apiVersion":"scheduling.k8s.io/v1beta1","kind":"Workload"}]}}}})",
        R"([{"op":"add","path":"/spec","value":{"apiVersion":"scheduling.k8s.io/v1beta1",
            "kind":"Workload"}}])"}) {
    api::Json document = json(text);
    EXPECT_FALSE(owners.concerns(document)) << text;
    owners.translate_out(document);
    translate_owners_in(document);
    EXPECT_EQ(document, json(text)) << text;
  }
}

TEST(DialectTest, OurOwnVersionsAreAskedForFirst) {
  EXPECT_EQ(versions_to_ask(api::kinds::pod_group()),
            (std::vector<std::string>{"v1beta1", "v1alpha3", "v1alpha2"}));
  EXPECT_EQ(versions_to_ask(api::kinds::pod()), std::vector<std::string>{"v1"});
}

TEST(DialectTest, ConditionsAndTemplatesOfOddShapesStayAsTheyAre) {
  for (const std::string_view text :
       {R"({"status":7})", R"({"status":{"conditions":7}})", R"({"spec":{"podGroupTemplates":7}})",
        R"({"spec":{"podGroupTemplates":[7]}})", R"({"metadata":{}})",
        R"({"spec":{"workloadRef":7}})"}) {
    api::Json document = json(text);
    translate_out(api::kinds::workload(), "v1alpha2", document);
    EXPECT_EQ(document, json(text));
    translate_in(api::kinds::workload(), "v1alpha2", document);
    EXPECT_EQ(document, json(text));
  }
  api::Json odd = json(R"({"spec":{"podGroupTemplateRef":{"pod":{}}}})");
  translate_in(api::kinds::pod_group(), "v1alpha2", odd);
  EXPECT_EQ(odd, json(R"({"spec":{}})")) << "it refers to nothing that we know";
}

TEST(DialectTest, OnlyThisVersionOfThisGroupIsTranslated) {
  EXPECT_TRUE(is_translated(api::kinds::workload(), "v1alpha2"));
  EXPECT_FALSE(is_translated(api::kinds::workload(), "v1alpha3"));
  EXPECT_FALSE(is_translated(*api::find_kind("jobset.x-k8s.io", "JobSet"), "v1alpha2"));
  EXPECT_EQ(versions_to_ask(api::kinds::workload()).back(), "v1alpha2");
}

TEST(DialectTest, OwnersAreToldApartByKindAndVersion) {
  OwnerVersions owners;
  owners.set(api::kinds::workload(), "v1alpha2");
  owners.set(api::kinds::pod_group(), "v1alpha3");
  api::Json body = json(R"({"metadata":{"ownerReferences":[
      {"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup"},
      {"apiVersion":"scheduling.k8s.io/v1beta1","kind":"Workload"},
      {"apiVersion":"v1","kind":"Workload"}]}})");
  owners.translate_out(body);
  EXPECT_EQ(body, json(R"({"metadata":{"ownerReferences":[
      {"apiVersion":"scheduling.k8s.io/v1alpha3","kind":"PodGroup"},
      {"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"Workload"},
      {"apiVersion":"v1","kind":"Workload"}]}})"));
}

}  // namespace
}  // namespace muster::client
