#include "server/core/write/quota_usage.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"

namespace muster::server {
namespace {

using api::Json;
using api::Quantities;

const api::Kind& kind(std::string_view group, std::string_view name) {
  return *api::find_kind(group, name);
}

Json json(std::string_view text) { return api::parse_json(text).value().value; }

std::string text(const Quantities& amounts) {
  std::string out;
  for (const auto& [name, amount] : amounts)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, amount.text());
  return out;
}

std::string usage(const api::Kind& of, std::string_view document) {
  return text(usage_of(of, json(document)));
}

Quantities limits(std::vector<std::string> names) {
  std::ranges::sort(names);
  Quantities out;
  for (const std::string& name : names) out.emplace_back(name, api::Quantity::of_units(9));
  return out;
}

TEST(QuotaUsage, EveryObjectCountsAndSomeByAShortNameToo) {
  EXPECT_EQ(usage(kind("", "ConfigMap"), "{}"), "configmaps=1 count/configmaps=1");
  EXPECT_EQ(usage(kind("", "Secret"), "{}"), "count/secrets=1 secrets=1");
  EXPECT_EQ(usage(kind("", "ResourceQuota"), "{}"), "count/resourcequotas=1 resourcequotas=1");
  EXPECT_EQ(usage(kind("", "ReplicationController"), "{}"),
            "count/replicationcontrollers=1 replicationcontrollers=1");
  EXPECT_EQ(usage(kind("batch", "Job"), "{}"), "count/jobs.batch=1");
  EXPECT_EQ(usage(kind("", "ServiceAccount"), "{}"), "count/serviceaccounts=1");
}

TEST(QuotaUsage, APodUsesWhatItsContainersAskFor) {
  const std::string spec =
      R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1","memory":"2Gi",)"
      R"("ephemeral-storage":"3Gi","hugepages-2Mi":"4Mi","example.com/gpu":"5"},)"
      R"("limits":{"cpu":"2","hugepages-2Mi":"4Mi","example.com/gpu":"5"}}},)"
      R"({"resources":{"requests":{"cpu":"500m"}}}]})";
  EXPECT_EQ(usage(api::kinds::pod(), "{" + spec + "}"),
            "count/pods=1 cpu=1500m ephemeral-storage=3Gi hugepages-2Mi=4Mi limits.cpu=2 "
            "memory=2Gi pods=1 requests.cpu=1500m requests.ephemeral-storage=3Gi "
            "requests.example.com/gpu=5 requests.hugepages-2Mi=4Mi requests.memory=2Gi");
  for (const char* phase : {"Succeeded", "Failed"})
    EXPECT_EQ(
        usage(api::kinds::pod(), fmt::format(R"({{{},"status":{{"phase":"{}"}}}})", spec, phase)),
        "count/pods=1")
        << phase;
  for (const char* phase : {"Pending", "Running"})
    EXPECT_NE(
        usage(api::kinds::pod(), fmt::format(R"({{{},"status":{{"phase":"{}"}}}})", spec, phase)),
        "count/pods=1")
        << phase;
}

TEST(QuotaUsage, AServiceUsesABalancerAndANodePortPerPort) {
  struct Case {
    std::string spec;
    std::string want;
  };
  const std::string ports = R"("ports":[{"port":80,"nodePort":30000},{"port":81}])";
  for (const Case& one : std::vector<Case>{
           {R"("type":"ClusterIP",)" + ports, ""},
           {R"("type":"NodePort",)" + ports, " services.nodeports=2"},
           {R"("type":"LoadBalancer",)" + ports, " services.loadbalancers=1 services.nodeports=2"},
           {R"("type":"LoadBalancer","allocateLoadBalancerNodePorts":true,)" + ports,
            " services.loadbalancers=1 services.nodeports=2"},
           {R"("type":"LoadBalancer","allocateLoadBalancerNodePorts":false,)" + ports,
            " services.loadbalancers=1 services.nodeports=1"},
           {R"("type":"NodePort","allocateLoadBalancerNodePorts":false,)" + ports,
            " services.nodeports=2"}})
    EXPECT_EQ(usage(kind("", "Service"), R"({"spec":{)" + one.spec + "}}"),
              "count/services=1 services=1" + one.want)
        << one.spec;
}

TEST(QuotaUsage, AClaimUsesStorageAlsoOfItsClass) {
  const api::Kind& claims = api::kinds::persistent_volume_claim();
  EXPECT_EQ(usage(claims, R"({"spec":{}})"),
            "count/persistentvolumeclaims=1 persistentvolumeclaims=1");
  EXPECT_EQ(usage(claims, R"({"spec":{"resources":{"requests":{"storage":"2Gi"}}}})"),
            "count/persistentvolumeclaims=1 persistentvolumeclaims=1 requests.storage=2Gi");
  EXPECT_EQ(
      usage(claims,
            R"({"spec":{"storageClassName":"fast","resources":{"requests":{"storage":"2Gi"}}}})"),
      "count/persistentvolumeclaims=1 "
      "fast.storageclass.storage.k8s.io/persistentvolumeclaims=1 "
      "fast.storageclass.storage.k8s.io/requests.storage=2Gi "
      "persistentvolumeclaims=1 requests.storage=2Gi");
  EXPECT_EQ(usage(claims, R"({"spec":{"storageClassName":"fast"}})"),
            "count/persistentvolumeclaims=1 "
            "fast.storageclass.storage.k8s.io/persistentvolumeclaims=1 persistentvolumeclaims=1");
}

TEST(QuotaUsage, EachNameIsCountedOverOneKind) {
  struct Case {
    std::vector<std::string> names;
    std::string want;
  };
  for (const Case& one : std::vector<Case>{
           {{"pods"}, "pods"},
           {{"requests.cpu", "limits.memory", "cpu", "example.com/gpu"}, "pods"},
           {{"configmaps"}, "configmaps"},
           {{"secrets", "count/secrets"}, "secrets"},
           {{"services", "services.nodeports"}, "services"},
           {{"requests.storage"}, "persistentvolumeclaims"},
           {{"persistentvolumeclaims"}, "persistentvolumeclaims"},
           {{"fast.storageclass.storage.k8s.io/requests.storage"}, "persistentvolumeclaims"},
           {{"count/jobs.batch"}, "jobs"},
           {{"count/nodes"}, ""},
           {{"count/nothing.example.com"}, ""},
           {{"services", "pods", "services.loadbalancers"}, "pods services"}}) {
    std::string kinds;
    for (const api::Kind* counted : kinds_using(limits(one.names)))
      kinds += (kinds.empty() ? "" : " ") + counted->plural;
    EXPECT_EQ(kinds, one.want) << one.names.front();
  }
}

TEST(QuotaUsage, OnlyWhatIsLimitedIsLookedAt) {
  const Quantities usage = usage_of(kind("", "ConfigMap"), Json());  // configmaps, count/configmaps
  EXPECT_EQ(text(masked(usage, limits({"configmaps"}))), "configmaps=1");
  EXPECT_EQ(text(masked(usage, limits({"configmaps", "cpu", "pods"}))), "configmaps=1");
  EXPECT_EQ(text(masked(usage, limits({"configmaps", "count/configmaps"}))),
            "configmaps=1 count/configmaps=1");
  EXPECT_EQ(text(masked(usage, {})), "");
}

// A pod as scopes see it.
ScopeTraits traits(std::string_view spec_members) {
  return use_of(api::kinds::pod(), json(fmt::format(R"({{"spec":{{{}}}}})", spec_members))).traits;
}

bool counts(std::string_view quota_spec, std::string_view pod_spec) {
  return QuotaScopes(json(quota_spec)).match(traits(pod_spec));
}

TEST(QuotaScopes, ChooseByDeadlineAndQuality) {
  constexpr std::string_view kBrief = R"("activeDeadlineSeconds":0)";
  constexpr std::string_view kAsks = R"("containers":[{"resources":{"requests":{"cpu":"1"}}}])";
  struct Case {
    std::string_view scopes;
    std::string_view pod;
    bool want;
  };
  for (const Case& one :
       {Case{R"({})", "", true}, Case{R"({"scopes":["Terminating"]})", kBrief, true},
        Case{R"({"scopes":["Terminating"]})", "", false},
        Case{R"({"scopes":["NotTerminating"]})", kBrief, false},
        Case{R"({"scopes":["NotTerminating"]})", "", true},
        Case{R"({"scopes":["BestEffort"]})", "", true},
        Case{R"({"scopes":["BestEffort"]})", kAsks, false},
        Case{R"({"scopes":["NotBestEffort"]})", kAsks, true},
        Case{R"({"scopes":["NotBestEffort"]})", "", false},
        Case{R"({"scopes":["BestEffort","Terminating"]})", "", false},
        Case{R"({"scopes":["BestEffort","Terminating"]})", kBrief, true},
        Case{R"({"scopes":["Unheard"]})", "", false}})
    EXPECT_EQ(counts(one.scopes, one.pod), one.want) << one.scopes << " " << one.pod;
}

TEST(QuotaScopes, ChooseByPriorityClass) {
  const auto quota = [](std::string_view op, std::string_view values) {
    return fmt::format(R"({{"scopeSelector":{{"matchExpressions":[{{"scopeName":"PriorityClass",)"
                       R"("operator":"{}","values":[{}]}}]}}}})",
                       op, values);
  };
  constexpr std::string_view kGold = R"("priorityClassName":"gold")";
  constexpr std::string_view kTin = R"("priorityClassName":"tin")";
  struct Case {
    std::string quota;
    std::string_view pod;
    bool want;
  };
  for (const Case& one :
       {Case{quota("In", R"("silver","gold")"), kGold, true},
        Case{quota("In", R"("silver","gold")"), kTin, false},
        Case{quota("NotIn", R"("silver","gold")"), kGold, false},
        Case{quota("NotIn", R"("silver","gold")"), kTin, true},
        Case{quota("Exists", ""), kGold, true}, Case{quota("Exists", ""), "", false},
        Case{quota("DoesNotExist", ""), kGold, false}, Case{quota("DoesNotExist", ""), "", true},
        Case{R"({"scopes":["PriorityClass"]})", kGold, true},
        Case{R"({"scopes":["PriorityClass"]})", "", false}})
    EXPECT_EQ(counts(one.quota, one.pod), one.want) << one.quota << " " << one.pod;
}

TEST(QuotaScopes, ChooseByAffinityToOtherNamespaces) {
  constexpr std::string_view kQuota = R"({"scopes":["CrossNamespacePodAffinity"]})";
  const auto affinity = [](std::string_view kind_of, std::string_view list, std::string_view term) {
    return fmt::format(R"("affinity":{{"{}":{{"{}":[{{"topologyKey":"x"}},{}]}}}})", kind_of, list,
                       term);
  };
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  for (const std::string_view side : {"podAffinity", "podAntiAffinity"}) {
    EXPECT_TRUE(counts(kQuota, affinity(side, kRequired, R"({"namespaces":["a"]})"))) << side;
    EXPECT_TRUE(counts(kQuota, affinity(side, kRequired, R"({"namespaceSelector":{}})"))) << side;
    EXPECT_TRUE(
        counts(kQuota, affinity(side, kPreferred, R"({"podAffinityTerm":{"namespaces":["a"]}})")))
        << side;
    EXPECT_FALSE(counts(kQuota, affinity(side, kRequired, R"({"namespaces":[]})"))) << side;
    EXPECT_FALSE(counts(kQuota, affinity(side, kPreferred, R"({"podAffinityTerm":{}})"))) << side;
  }
  EXPECT_FALSE(counts(kQuota, ""));
}

TEST(QuotaScopes, ChooseNothingButPods) {
  const ScopeTraits map = use_of(kind("", "ConfigMap"), Json()).traits;
  EXPECT_TRUE(QuotaScopes(json("{}")).match(map));
  EXPECT_FALSE(QuotaScopes(json(R"({"scopes":["NotTerminating"]})")).match(map));
}

TEST(UnsaidResources, AreNamedWithTheirContainers) {
  const UnsaidResources unsaid(json(R"({"spec":{
      "initContainers":[{"name":"first","resources":{"requests":{"memory":"1"}}}],
      "containers":[{"name":"main"},
                    {"name":"side","resources":{"requests":{"cpu":"1"},"limits":{"memory":"1"}}}]
      }})"));
  EXPECT_EQ(unsaid.text(limits({"pods"})), "");
  EXPECT_EQ(unsaid.text(limits({"cpu"})), "cpu for: first,main");
  EXPECT_EQ(unsaid.text(limits(
                {"limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"})),
            "limits.cpu for: first,main,side; limits.memory for: first,main; memory for: "
            "main,side; requests.cpu for: first,main; requests.memory for: main,side");
}

}  // namespace
}  // namespace muster::server
