#include "client/https/dialect.h"

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

TEST(DialectTest, OurOwnVersionsAreAskedForFirst) {
  EXPECT_EQ(versions_to_ask(api::kinds::pod_group()),
            (std::vector<std::string>{"v1beta1", "v1alpha3", "v1alpha2"}));
  EXPECT_EQ(versions_to_ask(api::kinds::pod()), std::vector<std::string>{"v1"});
}

}  // namespace
}  // namespace muster::client
