#include "api/openapi/openapi.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/json.h"

namespace muster::api {
namespace {

Json parsed(std::string_view text) { return parse_json(text).value().value; }

Json core_v3() { return parsed(OpenApi().v3("api/v1").value()); }

// Calls `visit` with every "$ref" in the document.
template <typename Visit>
void each_reference(const Json& value, const Visit& visit) {
  if (const JsonObject* object = value.if_object())
    for (const auto& member : *object) {
      if (member.key() == "$ref") visit(std::string_view(member.value().as_string()));
      each_reference(member.value(), visit);
    }
  if (const JsonArray* array = value.if_array())
    for (const Json& item : *array) each_reference(item, visit);
}

const Json& schema_of(const Json& document, std::string_view name) {
  return document.at("components").at("schemas").at(name);
}

TEST(OpenApi, ListsEveryGroupAndVersion) {
  const Json index = parsed(OpenApi().v3_index());
  for (const char* key : {"api/v1", "apis/coordination.k8s.io/v1", "apis/scheduling.k8s.io/v1"}) {
    const Json* entry = find(*find(index, "paths"), key);
    ASSERT_NE(entry, nullptr) << key;
    EXPECT_EQ(find_string(*entry, "serverRelativeURL"),
              std::string("/openapi/v3/") + key + "?hash=" + OpenApi().v3_hash(key).value());
  }
  EXPECT_EQ(OpenApi().v3("apis/nobody/v1").error().reason, Reason::NotFound);
}

TEST(OpenApi, TellsOnlyOfTheKindsItIsGiven) {
  const Kind* const kinds[] = {&kinds::pod(), &kinds::priority_class()};
  const OpenApi some(kinds);
  EXPECT_EQ(some.v3_index().find("v1beta1"), std::string::npos);
  EXPECT_EQ(some.v3("apis/scheduling.k8s.io/v1beta1").error().reason, Reason::NotFound);
  EXPECT_EQ(some.v2_json().find("scheduling.v1beta1.Workload"), std::string::npos);
  EXPECT_NE(OpenApi().v2_json().find("scheduling.v1beta1.Workload"), std::string::npos);
}

TEST(OpenApi, DefinesEverythingItRefersTo) {
  for (const char* key : {"api/v1", "apis/coordination.k8s.io/v1"}) {
    const Json document = parsed(OpenApi().v3(key).value());
    each_reference(document, [&](std::string_view reference) {
      ASSERT_TRUE(reference.starts_with("#/components/schemas/"));
      EXPECT_NE(find(*find_path(document, "components.schemas"), reference.substr(21)), nullptr)
          << reference;
    });
  }
  const Json swagger = parsed(OpenApi().v2_json());
  each_reference(swagger, [&](std::string_view reference) {
    ASSERT_TRUE(reference.starts_with("#/definitions/"));
    EXPECT_NE(find(*find(swagger, "definitions"), reference.substr(14)), nullptr) << reference;
  });
}

TEST(OpenApi, TellsKubectlWhatAPatchUnderstands) {
  const Json document = core_v3();
  const Json& patch =
      document.at("paths").at("/api/v1/namespaces/{namespace}/pods/{name}").at("patch");
  EXPECT_EQ(to_text(patch.at("x-kubernetes-group-version-kind")),
            R"({"group":"","kind":"Pod","version":"v1"})");
  EXPECT_NE(to_text(patch).find(R"({"name":"fieldValidation","in":"query")"), std::string::npos);
  EXPECT_NE(find(patch.at("requestBody").at("content"), "application/strategic-merge-patch+json"),
            nullptr);
}

TEST(OpenApi, DescribesKindsAndHowTheyMerge) {
  const Json document = core_v3();
  EXPECT_EQ(
      to_text(schema_of(document, "io.k8s.api.core.v1.Pod").at("x-kubernetes-group-version-kind")),
      R"([{"group":"","kind":"Pod","version":"v1"}])");
  const Json& spec = schema_of(document, "io.k8s.api.core.v1.PodSpec");
  EXPECT_EQ(to_text(spec.at("required")), R"(["containers"])");
  const Json& volumes = spec.at("properties").at("volumes");
  EXPECT_EQ(find_string(volumes, "x-kubernetes-patch-merge-key"), "name");
  EXPECT_EQ(find_string(volumes, "x-kubernetes-patch-strategy"), "merge,retainKeys");
  EXPECT_EQ(find_string(volumes, "x-kubernetes-list-type"), "map");
  EXPECT_EQ(find_string(volumes.at("items"), "$ref"),
            "#/components/schemas/io.k8s.api.core.v1.Volume");
  EXPECT_NE(find(schema_of(document, "io.k8s.api.core.v1.Volume").at("properties"), "emptyDir"),
            nullptr);
}

TEST(OpenApi, DescribesWhatCanOnlyBeCreated) {
  const Json document = parsed(OpenApi().v3("apis/scheduling.muster.dev/v1alpha1").value());
  const Json& paths = document.at("paths");
  ASSERT_EQ(paths.as_object().size(), 1U);
  const Json& post =
      paths.at("/apis/scheduling.muster.dev/v1alpha1/namespaces/{namespace}/groupbindings")
          .at("post");
  EXPECT_EQ(to_text(post.at("x-kubernetes-group-version-kind")),
            R"({"group":"scheduling.muster.dev","kind":"GroupBinding","version":"v1alpha1"})");
  EXPECT_EQ(to_text(post).find(R"("name":"name")"), std::string::npos)
      << "it has no path of its own";
  EXPECT_NE(
      to_text(paths.at("/apis/scheduling.muster.dev/v1alpha1/namespaces/{namespace}/groupbindings")
                  .at("patch"))
          .find(R"({"name":"fieldValidation","in":"query")"),
      std::string::npos)
      << "where kubectl looks";
  const Json& schema = schema_of(document, "dev.muster.v1alpha1.GroupBinding");
  EXPECT_EQ(to_text(schema.at("x-kubernetes-group-version-kind")),
            R"([{"group":"scheduling.muster.dev","kind":"GroupBinding","version":"v1alpha1"}])");
  EXPECT_EQ(to_text(schema_of(document, "dev.muster.v1alpha1.PodAssignment").at("required")),
            R"(["name","uid","nodeName"])");
}

// A field that refers and has something of its own to say: of version 3 on, only in an allOf.
TEST(OpenApi, ReferencesAreWrappedInVersion3Only) {
  const Json document = core_v3();
  const Json& third = schema_of(document, "io.k8s.api.core.v1.Pod").at("properties").at("spec");
  EXPECT_EQ(find(third, "$ref"), nullptr);
  EXPECT_EQ(to_text(third.at("allOf")),
            R"([{"$ref":"#/components/schemas/io.k8s.api.core.v1.PodSpec"}])");
  const Json swagger = parsed(OpenApi().v2_json());
  const Json& second =
      find(*find(swagger, "definitions"), "io.k8s.api.core.v1.Pod")->at("properties").at("spec");
  EXPECT_EQ(find(second, "allOf"), nullptr);
  EXPECT_EQ(find_string(second, "$ref"), "#/definitions/io.k8s.api.core.v1.PodSpec");
  EXPECT_NE(find_string(second, "description"), "");
}

TEST(OpenApi, IsTheSameEveryTime) {
  EXPECT_EQ(OpenApi().v3("api/v1").value(), OpenApi().v3("api/v1").value());
  EXPECT_EQ(OpenApi().v2_protobuf(), OpenApi().v2_protobuf());
}

TEST(OpenApi, WritesTheSwaggerDocumentForOldClients) {
  const std::string bytes = OpenApi().v2_protobuf();
  EXPECT_TRUE(
      bytes.starts_with("\x0a\x03"
                        "2.0"));
  for (const char* part :
       {"io.k8s.api.core.v1.PodSpec", "fieldValidation", "x-kubernetes-patch-merge-key",
        "#/definitions/io.k8s.api.core.v1.Container"})
    EXPECT_NE(bytes.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace muster::api
