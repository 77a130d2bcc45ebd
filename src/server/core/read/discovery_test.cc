#include "server/core/read/discovery.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "api/json.h"
#include "server/core/request/status.h"
#include "server/core/request/version.h"

namespace muster::server {
namespace {

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Discovery, CoreVersions) {
  EXPECT_EQ(api_versions_json("127.0.0.1:6443"),
            R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":)"
            R"([{"clientCIDR":"0.0.0.0/0","serverAddress":"127.0.0.1:6443"}]})");
}

TEST(Discovery, GroupsNameTheirPreferredVersion) {
  EXPECT_TRUE(holds(api_group_list_json(),
                    R"({"name":"coordination.k8s.io","versions":[{"groupVersion":)"
                    R"("coordination.k8s.io/v1","version":"v1"}],"preferredVersion":)"
                    R"({"groupVersion":"coordination.k8s.io/v1","version":"v1"}})"));
  EXPECT_TRUE(
      api_group_json("coordination.k8s.io")
          ->starts_with(R"({"kind":"APIGroup","apiVersion":"v1","name":"coordination.k8s.io")"));
  EXPECT_EQ(api_group_json("nothing.example.com"), std::nullopt);
  EXPECT_EQ(api_group_json(""), std::nullopt);
}

TEST(Discovery, ResourcesOfAVersion) {
  const auto core = api_resource_list_json("", "v1");
  ASSERT_TRUE(core);
  EXPECT_TRUE(core->starts_with(R"({"kind":"APIResourceList","groupVersion":"v1","resources":[)"));
  EXPECT_TRUE(holds(
      *core,
      R"({"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["create",)"
      R"("delete","deletecollection","get","list","patch","update","watch"],)"
      R"("shortNames":["po"],"categories":["all"]})"));
  EXPECT_TRUE(holds(
      *core,
      R"({"name":"pods/binding","singularName":"","namespaced":true,"kind":"Binding","verbs":["create"]})"));
  EXPECT_TRUE(holds(
      *core,
      R"({"name":"pods/status","singularName":"","namespaced":true,"kind":"Pod","verbs":["get","patch","update"]})"));
  EXPECT_TRUE(holds(
      *core,
      R"({"name":"namespaces","singularName":"namespace","namespaced":false,"kind":"Namespace",)"
      R"("verbs":["create","delete","get","list","patch","update","watch"],"shortNames":["ns"]})"));
  EXPECT_TRUE(
      api_resource_list_json("scheduling.k8s.io", "v1")
          ->starts_with(
              R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"scheduling.k8s.io/v1")"));
  EXPECT_EQ(api_resource_list_json("", "v2"), std::nullopt);
}

TEST(Discovery, Aggregated) {
  const std::string core = aggregated_core_json();
  EXPECT_TRUE(core.starts_with(
      R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",)"
      R"("metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","resources":[)"));
  EXPECT_TRUE(holds(core,
                    R"({"resource":"nodes","responseKind":{"group":"","version":"","kind":"Node"},)"
                    R"("scope":"Cluster","singularResource":"node")"));
  EXPECT_TRUE(holds(core, R"("freshness":"Current")"));
  const std::string groups = aggregated_groups_json();
  EXPECT_TRUE(holds(groups, R"({"metadata":{"name":"scheduling.k8s.io"})"));
  EXPECT_FALSE(holds(groups, R"("resource":"pods")"));
}

TEST(Discovery, PartsOfAPod) {
  const auto core = api_resource_list_json("", "v1");
  for (const std::string_view part : {"ephemeralcontainers", "resize"})
    EXPECT_TRUE(holds(
        *core,
        fmt::format(
            R"({{"name":"pods/{}","singularName":"","namespaced":true,"kind":"Pod","verbs":["get","patch","update"]}})",
            part)))
        << part;
  EXPECT_TRUE(holds(
      *core,
      R"({"name":"bindings","singularName":"binding","namespaced":true,"kind":"Binding","verbs":["create"]})"));
}

TEST(Discovery, WhatIsNotStoredCanOnlyBeCreated) {
  EXPECT_EQ(
      api_resource_list_json("scheduling.muster.dev", "v1alpha1"),
      R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"scheduling.muster.dev/v1alpha1",)"
      R"("resources":[{"name":"groupbindings","singularName":"groupbinding","namespaced":true,)"
      R"("kind":"GroupBinding","verbs":["create"]}]})");
}

TEST(Discovery, KindsWhoseGateIsOffAreNotTold) {
  using api::Gate;
  const api::Gates defaults;
  const auto composites_off = served_kinds(defaults.without(Gate::CompositePodGroup));
  EXPECT_TRUE(holds(*api_resource_list_json("scheduling.k8s.io", "v1alpha3", composites_off),
                    R"("name":"podgroups/status")"));
  EXPECT_FALSE(holds(*api_resource_list_json("scheduling.k8s.io", "v1alpha3", composites_off),
                     "compositepodgroups"));
  EXPECT_FALSE(holds(aggregated_groups_json(composites_off), "compositepodgroups"));
  const auto all_off =
      served_kinds(defaults.without(Gate::CompositePodGroup).without(Gate::GenericWorkload));
  EXPECT_EQ(api_resource_list_json("scheduling.k8s.io", "v1alpha3", all_off), std::nullopt);
  EXPECT_EQ(api_resource_list_json("scheduling.k8s.io", "v1beta1", all_off), std::nullopt);
  EXPECT_TRUE(holds(*api_group_json("scheduling.k8s.io", all_off),
                    R"("versions":[{"groupVersion":"scheduling.k8s.io/v1","version":"v1"}])"));
  EXPECT_FALSE(holds(api_group_list_json(all_off), "v1beta1"));
}

TEST(Status, FailuresCarryDetails) {
  Error error = make_error(Reason::NotFound, R"(pods "x" not found)");
  error.name = "x";
  error.kind = "pods";
  EXPECT_EQ(
      status_json(error),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"x\" not found",)"
      R"("reason":"NotFound","details":{"name":"x","kind":"pods"},"code":404})");
  Error plain = make_error(Reason::BadRequest, "no");
  EXPECT_EQ(
      status_json(plain),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","reason":"BadRequest","code":400})");
  plain.causes.push_back(
      {.type = "FieldValueInvalid", .field = "spec.x", .message = "Invalid value"});
  plain.retry_after_s = 3;
  EXPECT_TRUE(holds(
      status_json(plain),
      R"("details":{"causes":[{"reason":"FieldValueInvalid","message":"Invalid value","field":"spec.x"}],"retryAfterSeconds":3})"));
  EXPECT_TRUE(holds(status_json(plain, "abc"), R"("metadata":{"continue":"abc"})"));
}

TEST(Status, BareRefusalsHaveEmptyDetails) {
  for (const auto& [error, empty] :
       {std::pair{make_error(Reason::NotFound, "no such resource"), true},
        std::pair{make_error(Reason::MethodNotAllowed, "no such verb"), true},
        std::pair{make_error(Reason::UnsupportedMediaType, "415: Unsupported Media Type"), true},
        std::pair{make_error(Reason::UnsupportedMediaType, "the body of the request"), false},
        std::pair{make_error(Reason::Forbidden, "no"), false}})
    EXPECT_EQ(holds(status_json(error), R"("details":{},)"), empty) << error.message;
}

TEST(Status, Successes) {
  EXPECT_EQ(
      status_json(api::StatusAnswer{.code = 201, .name = {}, .group = {}, .kind = {}, .uid = {}}),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})");
  EXPECT_EQ(
      status_json(
          api::StatusAnswer{.code = 200, .name = "x", .group = "g", .kind = "ks", .uid = "u"}),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"x","group":"g","kind":"ks","uid":"u"}})");
}

TEST(Version, ReadsAsKubernetes) {
  const auto parsed = api::parse_json(version_json());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(api::find_string(parsed->value, "minor"), "37");
  EXPECT_TRUE(api::find_string(parsed->value, "gitVersion").starts_with("v1.37."));
}

TEST(Discovery, VersionsStandFromTheMostStableToTheLeast) {
  api::Kind one;
  one.group = "a.io";
  one.kind = "One";
  one.plural = "ones";
  one.versions = {"v1alpha3", "v1beta1", "v2", "v1"};
  api::Kind two = one;
  two.kind = "Two";
  two.plural = "twos";
  two.versions = {"v1beta10", "v1", "v10", "v1beta2", "v2alpha1"};
  const std::array<const api::Kind*, 2> kinds{&one, &two};
  const std::string text = *api_group_json("a.io", kinds);
  std::string versions;
  constexpr std::string_view kVersion = R"("version":")";
  for (std::size_t at = text.find(kVersion); at != std::string::npos;
       at = text.find(kVersion, at + 1)) {
    const std::size_t begin = at + kVersion.size();
    versions += text.substr(begin, text.find('"', begin) - begin) + " ";
  }
  EXPECT_EQ(versions, "v10 v2 v1 v1beta10 v1beta2 v1beta1 v2alpha1 v1alpha3 v10 ");
  EXPECT_TRUE(holds(text, R"("preferredVersion":{"groupVersion":"a.io/v10","version":"v10"})"));

  const std::string resources = *api_resource_list_json("a.io", "v2", kinds);
  EXPECT_TRUE(holds(resources, R"("name":"ones")"));
  EXPECT_FALSE(holds(resources, R"("name":"twos")"));
  EXPECT_EQ(api_resource_list_json("a.io", "v3", kinds), std::nullopt);
  EXPECT_EQ(api_group_json("b.io", kinds), std::nullopt);
  EXPECT_EQ(api_group_json("", kinds), std::nullopt);
}

}  // namespace
}  // namespace muster::server
