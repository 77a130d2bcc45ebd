#include "api/validation/kind_rules.h"

#include <fmt/format.h>

#include "api/validation/kind_rules_testing.h"

namespace muster::api {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

TEST(KindRules, EveryRuleBelongsToAKind) {
  std::size_t ruled = 0;
  for (const Kind* kind : all_kinds()) ruled += find_kind_rules(*kind) != nullptr ? 1U : 0U;
  EXPECT_EQ(ruled, 31U);
}

TEST(ConfigMap, KeysAndImmutability) {
  expect({"", "ConfigMap", R"({"data":{"a.b":"1"},"binaryData":{"c":"AAAA"}})", {}});
  expect({"",
          "ConfigMap",
          R"({"data":{"a":"1"},"binaryData":{"a":"AAAA"}})",
          {"binaryData[a]: Invalid value: \"a\": duplicate of key present in data"}});
  FieldErrors errors;
  rules::validate_config_map(document(R"({"data":{"a b":""}})"), nullptr, errors);
  EXPECT_EQ(errors.size(), 1U);
  expect({"",
          "ConfigMap",
          R"({"data":{"a":"2"}})",
          {"immutable: Forbidden: field is immutable when `immutable` is set",
           "data: Forbidden: field is immutable when `immutable` is set"},
          R"({"data":{"a":"1"},"immutable":true})"});
  const std::string big(1024 * 1024 + 1, 'a');
  expect({"",
          "ConfigMap",
          R"({"data":{"a":")" + big + R"("}})",
          {": Too long: may not be more than 1048576 bytes"}});
}

TEST(Secret, PlainTextIsStoredAsData) {
  const Kind& kind = *find_kind("", "Secret");
  EXPECT_EQ(to_text(prepared(kind, R"({"data":{"a":"eA=="},"stringData":{"b":"hi"}})")),
            R"({"data":{"a":"eA==","b":"aGk="},"type":"Opaque"})");
}

TEST(Secret, TypesHaveTheirKeys) {
  expect({"",
          "Secret",
          R"({"type":"kubernetes.io/tls","stringData":{"tls.crt":"x"}})",
          {"data[tls.key]: Required value"}});
  expect({"",
          "Secret",
          R"({"type":"kubernetes.io/dockerconfigjson","stringData":{".dockerconfigjson":"{"}})",
          {"data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid "
           "character in JSON"}});
  expect({"",
          "Secret",
          R"({"type":"kubernetes.io/service-account-token"})",
          {"metadata.annotations[kubernetes.io/service-account.name]: Required value"}});
  expect({"",
          "Secret",
          R"({"type":"a"})",
          {"type: Invalid value: \"a\": field is immutable"},
          R"({"type":"b"})"});
}

TEST(DisruptionBudget, SaysOneOfTwoThings) {
  expect({"policy", "PodDisruptionBudget", R"({"spec":{"minAvailable":"50%"}})", {}});
  expect({"policy",
          "PodDisruptionBudget",
          R"({"spec":{"minAvailable":1,"maxUnavailable":"101%"}})",
          {"spec: Invalid value: {\"minAvailable\":1,\"maxUnavailable\":\"101%\"}: minAvailable "
           "and maxUnavailable cannot be both set",
           "spec.maxUnavailable: Invalid value: \"101%\": must not be greater than 100%"}});
  expect({"policy",
          "PodDisruptionBudget",
          R"({"spec":{"maxUnavailable":-1,"unhealthyPodEvictionPolicy":"Never"}})",
          {"spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0",
           "spec.unhealthyPodEvictionPolicy: Unsupported value: \"Never\": supported values: "
           "\"AlwaysAllow\", \"IfHealthyBudget\""}});
}

TEST(Rbac, RulesAndSubjectsAreWellFormed) {
  expect({kRbac,
          "Role",
          R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})",
          {}});
  expect({kRbac,
          "Role",
          R"({"rules":[{"nonResourceURLs":["/x"]}]})",
          {"rules[0].verbs: Required value: verbs must contain at least one value",
           "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to "
           "non-resource URLs"}});
  expect({kRbac, "ClusterRole", R"({"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]})", {}});
  expect({kRbac,
          "ClusterRole",
          R"({"rules":[{"verbs":["get"]}]})",
          {"rules[0].apiGroups: Required value: resource rules must supply at least one api group",
           "rules[0].resources: Required value: resource rules must supply at least one "
           "resource"}});
  expect({kRbac,
          "RoleBinding",
          R"({"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"}]})",
          {}});
  expect({kRbac,
          "ClusterRoleBinding",
          R"({"roleRef":{"kind":"Role"},"subjects":[{"kind":"Robot","name":"u"},
              {"kind":"ServiceAccount","name":"a"}]})",
          {"roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\"",
           "roleRef.name: Required value",
           "subjects[0].kind: Unsupported value: \"Robot\": supported values: \"ServiceAccount\", "
           "\"User\", \"Group\"",
           "subjects[1].namespace: Required value"}});
  expect({kRbac,
          "RoleBinding",
          R"({"roleRef":{"kind":"Role","name":"s"}})",
          {"roleRef: Invalid value: {\"kind\":\"Role\",\"name\":\"s\",\"apiGroup\":"
           "\"rbac.authorization.k8s.io\"}: cannot change roleRef"},
          R"({"roleRef":{"kind":"Role","name":"r"}})"});
}

TEST(Devices, RequestsAreNamedAndOfOneForm) {
  const Kind& kind = *find_kind("resource.k8s.io", "ResourceClaim");
  const Json claim = prepared(
      kind,
      R"({"spec":{"devices":{"requests":[{"name":"g","exactly":{"deviceClassName":"gpu"}}]}}})");
  EXPECT_EQ(
      to_text(*find_path(claim, "spec.devices.requests")),
      R"([{"name":"g","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":1}}])");
  expect({"resource.k8s.io",
          "ResourceClaim",
          R"({"spec":{"devices":{"requests":[{"name":"g"}]}}})",
          {"spec.devices.requests[0]: Required value: exactly one of `exactly` or "
           "`firstAvailable` is required"}});
}

// A JobSet with replicated jobs "a" and "b".
std::string job_set(std::string_view members = "", std::string_view second = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"js"}},"spec":{{"replicatedJobs":[)"
      R"({{"name":"a","template":{{"spec":{{{0}}}}}}},{{"name":"b","template":{{"spec":{{{0}}}}}{1}}}]{2}}}}})",
      pod_template(), second, members);
}

TEST(JobSet, DefaultsAreThoseOfItsWebhook) {
  const Kind& kind = *find_kind("jobset.x-k8s.io", "JobSet");
  const Json set =
      prepared(kind, job_set(R"(,"failurePolicy":{"rules":[{"action":"FailJobSet"}]})"));
  const Json& job = find_path(set, "spec.replicatedJobs")->get_array()[0];
  EXPECT_EQ(find_path(job, "template.spec.completionMode")->get_string(), "Indexed");
  EXPECT_EQ(find_path(job, "template.spec.template.spec.restartPolicy")->get_string(), "OnFailure");
  EXPECT_EQ(to_text(*find(job, "replicas")), "1");
  EXPECT_EQ(to_text(*find_path(set, "spec.successPolicy")), R"({"operator":"All"})");
  EXPECT_EQ(to_text(*find_path(set, "spec.network")),
            R"({"enableDNSHostnames":true,"publishNotReadyAddresses":true})");
  EXPECT_EQ(to_text(*find_path(set, "spec.failurePolicy.rules")),
            R"([{"action":"FailJobSet","name":"failurePolicyRule0"}])");
}

TEST(JobSet, NamesMustExistAndFit) {
  constexpr std::string_view kGroup = "jobset.x-k8s.io";
  expect({kGroup, "JobSet", job_set(), {}});
  expect({kGroup,
          "JobSet",
          job_set(R"(,"successPolicy":{"operator":"All","targetReplicatedJobs":["c"]})"),
          {"spec.successPolicy.targetReplicatedJobs[0]: Invalid value: \"c\": invalid "
           "replicatedJob name 'c' does not appear in .spec.ReplicatedJobs"}});
  expect({kGroup,
          "JobSet",
          job_set("", R"(,"dependsOn":[{"name":"b","status":"Ready"}])"),
          {"spec.replicatedJobs[1].dependsOn[0].name: Invalid value: \"b\": must be the name of a "
           "previous replicatedJob"}});
  expect({kGroup,
          "JobSet",
          job_set(R"(,"startupPolicy":{"startupPolicyOrder":"InOrder"})",
                  R"(,"dependsOn":[{"name":"a","status":"Ready"}])"),
          {"spec: Invalid value: \"\": StartupPolicy and DependsOn APIs are mutually exclusive"}});
  expect({kGroup,
          "JobSet",
          job_set(R"(,"suspend":true,"network":{"subdomain":"s"})"),
          {"spec.network: Invalid value: {\"subdomain\":\"s\",\"enableDNSHostnames\":true,"
           "\"publishNotReadyAddresses\":true}: field is immutable"},
          job_set()});
}

std::string leader_worker_set(std::string_view members) {
  std::string worker = pod_template();
  worker.replace(worker.find("template"), 8, "workerTemplate");
  return fmt::format(R"({{"metadata":{{"name":"l"}},"spec":{{"leaderWorkerTemplate":{{{}{}}}}}}})",
                     worker, members);
}

TEST(LeaderWorkerSet, SizesDivide) {
  constexpr std::string_view kGroup = "leaderworkerset.x-k8s.io";
  expect({kGroup,
          "LeaderWorkerSet",
          leader_worker_set(R"(,"size":5,"subGroupPolicy":{"subGroupSize":2})"),
          {}});
  expect(
      {kGroup,
       "LeaderWorkerSet",
       leader_worker_set(R"(,"size":6,"subGroupPolicy":{"subGroupSize":4})"),
       {"spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: Invalid value: 4: size or size - "
        "1 must be divisible by subGroupSize"}});
  expect({kGroup,
          "LeaderWorkerSet",
          leader_worker_set(R"(,"size":0)"),
          {"spec.leaderWorkerTemplate.size: Invalid value: 0: size must be equal or greater than "
           "1"}});
  const Json set = prepared(*find_kind(kGroup, "LeaderWorkerSet"),
                            leader_worker_set(R"(,"restartPolicy":"Default")"));
  EXPECT_EQ(find_path(set, "spec.leaderWorkerTemplate.restartPolicy")->get_string(), "None");
  EXPECT_EQ(find_path(set, "spec.networkConfig.subdomainPolicy")->get_string(), "Shared");
  EXPECT_EQ(find_path(set, "spec.startupPolicy")->get_string(), "LeaderCreated");
}

}  // namespace
}  // namespace muster::api
