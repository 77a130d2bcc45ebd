// Nothing that pods and groups ask for is ignored: each of their fields is judged, or says nothing
// of where a pod may run. A field that the API gets one day stands in neither list, and this test
// fails until somebody has decided what it means.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "api/schema/schema.h"

namespace muster::scheduler {
namespace {

using Names = std::set<std::string_view>;

void expect_decided(std::string_view package, std::string_view message, const Names& judged,
                    const Names& says_nothing) {
  Names all;
  for (const api::schema::Field* field : api::schema::message(package, message).members) {
    all.insert(field->name);
    EXPECT_NE(judged.contains(field->name), says_nothing.contains(field->name))
        << message << "." << field->name << " is in both lists or in none";
  }
  for (const Names* list : {&judged, &says_nothing})
    for (const std::string_view name : *list)
      EXPECT_TRUE(all.contains(name)) << message << " has no field " << name;
}

TEST(JudgedFields, OfPods) {
  expect_decided(
      "core/v1", "PodSpec",
      {"affinity", "containers", "hostNetwork", "hostUsers", "initContainers", "nodeName",
       "nodeSelector", "overhead", "preemptionPolicy", "priority", "resourceClaims", "resources",
       "schedulerName", "schedulingGates", "schedulingGroup", "tolerations",
       "topologySpreadConstraints", "volumes"},
      // The class of a priority is resolved when a pod is created; there are no RuntimeClasses.
      {"activeDeadlineSeconds",
       "automountServiceAccountToken",
       "dnsConfig",
       "dnsPolicy",
       "enableServiceLinks",
       "ephemeralContainers",
       "evictionResponders",
       "hostAliases",
       "hostIPC",
       "hostPID",
       "hostname",
       "hostnameOverride",
       "imagePullSecrets",
       "os",
       "priorityClassName",
       "readinessGates",
       "restartPolicy",
       "runtimeClassName",
       "securityContext",
       "serviceAccount",
       "serviceAccountName",
       "setHostnameAsFQDN",
       "shareProcessNamespace",
       "subdomain",
       "terminationGracePeriodSeconds"});
  expect_decided(
      "core/v1", "Container",
      {"image", "ports", "resources", "restartPolicy", "restartPolicyRules", "volumeMounts"},
      {"args", "command", "env", "envFrom", "imagePullPolicy", "lifecycle", "livenessProbe", "name",
       "readinessProbe", "resizePolicy", "securityContext", "startupProbe", "stdin", "stdinOnce",
       "terminationMessagePath", "terminationMessagePolicy", "tty", "volumeDevices", "workingDir"});
  // Claims of a container are claims of its pod.
  expect_decided("core/v1", "ResourceRequirements", {"requests"}, {"claims", "limits"});
  expect_decided("core/v1", "Affinity", {"nodeAffinity", "podAffinity", "podAntiAffinity"}, {});
  const Names strengths{"requiredDuringSchedulingIgnoredDuringExecution",
                        "preferredDuringSchedulingIgnoredDuringExecution"};
  for (const char* side : {"NodeAffinity", "PodAffinity", "PodAntiAffinity"})
    expect_decided("core/v1", side, strengths, {});
  expect_decided("core/v1", "NodeSelectorTerm", {"matchExpressions", "matchFields"}, {});
  expect_decided("core/v1", "PodAffinityTerm",
                 {"labelSelector", "matchLabelKeys", "mismatchLabelKeys", "namespaceSelector",
                  "namespaces", "topologyKey"},
                 {});
  expect_decided("core/v1", "TopologySpreadConstraint",
                 {"labelSelector", "matchLabelKeys", "maxSkew", "minDomains", "nodeAffinityPolicy",
                  "nodeTaintsPolicy", "topologyKey", "whenUnsatisfiable"},
                 {});
  // How long a pod stays where a taint evicts it is for others.
  expect_decided("core/v1", "Toleration", {"effect", "key", "operator", "value"},
                 {"tolerationSeconds"});
}

TEST(JudgedFields, OfGroups) {
  const Names of_both{"disruptionMode", "parentCompositePodGroupName", "preemptionPolicy",
                      "priority",       "schedulingConstraints",       "schedulingPolicy",
                      "workloadRef"};
  Names of_leaves = of_both;
  of_leaves.insert("resourceClaims");
  expect_decided("scheduling/v1beta1", "PodGroupSpec", of_leaves, {"priorityClassName"});
  expect_decided("scheduling/v1alpha3", "CompositePodGroupSpec", of_both, {"priorityClassName"});
}

}  // namespace
}  // namespace muster::scheduler
