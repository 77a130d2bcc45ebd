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
          {"data[a]: Invalid value: \"a\": duplicate of key present in binaryData"}});
  FieldErrors errors;
  rules::validate_config_map(document(R"({"data":{"a b":""}})"), nullptr, errors);
  EXPECT_EQ(errors.size(), 1U);
  expect({"",
          "ConfigMap",
          R"({"data":{"a":"2"}})",
          {"immutable: Forbidden: field is immutable when `immutable` is set",
           "data: Forbidden: field is immutable when `immutable` is set"},
          R"({"data":{"a":"1"},"immutable":true})"});
  const std::string big(std::size_t{1024} * 1024 + 1, 'a');
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
          {R"(roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole")",
           "roleRef.name: Required value",
           "subjects[0].kind: Unsupported value: \"Robot\": supported values: \"ServiceAccount\", "
           "\"User\", \"Group\"",
           "subjects[1].namespace: Required value"}});
  expect({kRbac,
          "RoleBinding",
          R"({"roleRef":{"kind":"Role","name":"s"}})",
          {"roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\","
           "\"Name\":\"s\"}: cannot change roleRef"},
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
  expect(
      {kGroup,
       "JobSet",
       job_set("", R"(,"dependsOn":[{"name":"b","status":"Ready"}])"),
       {"spec.replicatedJobs[1].dependsOn[0].name: Invalid value: \"b\": replicatedJob: b cannot "
        "depend on replicatedJob: b"}});
  expect({kGroup,
          "JobSet",
          job_set(R"(,"startupPolicy":{"startupPolicyOrder":"InOrder"})",
                  R"(,"dependsOn":[{"name":"a","status":"Ready"}])"),
          {"spec: Invalid value: \"\": StartupPolicy and DependsOn APIs are mutually exclusive"}});
  expect({kGroup,
          "JobSet",
          job_set(R"(,"suspend":true,"network":{"subdomain":"s"})"),
          {"spec.network: Invalid value: Value is immutable"},
          job_set()});
}

TEST(JobSet, IsJudgedAsItsWebhookDoes) {
  constexpr std::string_view kGroup = "jobset.x-k8s.io";
  const std::string long_name(60, 'b');
  std::string many_pods = job_set("", R"(,"replicas":2147483647)");
  many_pods.replace(many_pods.rfind(R"("spec":{"template")"), 8, R"("spec":{"parallelism":2,)");
  const RuleCase cases[] = {
      {kGroup,
       "JobSet",
       job_set(R"(,"coordinator":{"replicatedJob":"c"})"),
       {"spec.coordinator.replicatedJob: Invalid value: \"c\": coordinator replicatedJob c does "
        "not "
        "exist"}},
      {kGroup,
       "JobSet",
       job_set(R"(,"coordinator":{"replicatedJob":"a","jobIndex":1})"),
       {"spec.coordinator.jobIndex: Invalid value: 1: coordinator job index 1 is invalid for "
        "replicatedJob a"}},
      {kGroup,
       "JobSet",
       job_set(R"(,"coordinator":{"replicatedJob":"a","podIndex":1})"),
       {"spec.coordinator.podIndex: Invalid value: 1: coordinator pod index 1 is invalid for "
        "replicatedJob a job index 0"}},
      {kGroup,
       "JobSet",
       job_set(
           R"(,"failurePolicy":{"rules":[{"name":"1x","action":"FailJobSet","targetReplicatedJobs":["c"],"onJobFailureReasons":["Rain"]}]})"),
       {"spec.failurePolicy.rules[0].name: Invalid value: \"1x\": invalid failure policy rule name "
        "'1x', a failure policy rule name must start with an alphabetic character, optionally "
        "followed by a string of alphanumeric characters or '_,:', and must end with an "
        "alphanumeric "
        "character or '_'",
        "spec.failurePolicy.rules[0].targetReplicatedJobs[0]: Invalid value: \"c\": invalid "
        "replicatedJob name 'c' in failure policy does not appear in .spec.ReplicatedJobs",
        "spec.failurePolicy.rules[0].onJobFailureReasons[0]: Invalid value: \"Rain\": invalid job "
        "failure reason 'Rain' in failure policy is not a recognized job failure reason"}},
      {kGroup,
       "JobSet",
       many_pods,
       {"spec.replicatedJobs[1].replicas: Invalid value: 2147483647: the product of replicas and "
        "parallelism must not exceed 2147483647 for replicatedJob 'b'"}},
      {kGroup,
       "JobSet",
       fmt::format(
           R"({{"metadata":{{"name":"js"}},"spec":{{"replicatedJobs":[{{"name":"{}","template":{{"spec":{{{}}}}}}}]}}}})",
           long_name, pod_template()),
       {"spec.replicatedJobs[0].name: Invalid value: \"" + long_name +
        "\": JobSet name is too long, job names generated for this JobSet will exceed 63 "
        "characters"}},
  };
  for (const RuleCase& c : cases) expect(c);
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
       {"spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize: Invalid value: 4: size or size - "
        "1 must be divisible by subGroupSize"}});
  expect(
      {kGroup,
       "LeaderWorkerSet",
       leader_worker_set(
           R"(,"size":2,"subGroupPolicy":{"subGroupSize":3,"subGroupPolicyType":"LeaderExcluded"})"),
       {"spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize: Invalid value: 3: size or size - 1 "
        "must be divisible by subGroupSize",
        "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize: Invalid value: 3: subGroupSize "
        "cannot "
        "be larger than size",
        "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize: Invalid value: 3: size-1 must be "
        "divisible by subGroupSize when using LeaderExcluded"}});
  const std::string halves = leader_worker_set(R"(,"size":4,"subGroupPolicy":{"subGroupSize":2})");
  const std::string quarters =
      leader_worker_set(R"(,"size":4,"subGroupPolicy":{"subGroupSize":1})");
  const std::string whole = leader_worker_set(R"(,"size":4)");
  const std::string at = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize: Invalid value: ";
  expect({kGroup, "LeaderWorkerSet", quarters, {at + "1: field is immutable"}, halves});
  expect({kGroup,
          "LeaderWorkerSet",
          halves,
          {at + "2: cannot enable subGroupSize after the lws is already created"},
          whole});
  expect({kGroup,
          "LeaderWorkerSet",
          whole,
          {at + "2: cannot remove subGroupSize after enabled"},
          halves});
  expect({kGroup,
          "LeaderWorkerSet",
          leader_worker_set(R"(,"size":0)"),
          {"spec.leaderWorkerTemplate.size: Invalid value: 0: size must be equal or greater than "
           "1"}});
  std::string rollout = leader_worker_set("");
  rollout.replace(
      rollout.find(R"("spec":{)"), 8,
      R"("spec":{"replicas":3,"rolloutStrategy":{"rollingUpdateConfiguration":{"maxUnavailable":"10%"}},)");
  expect(
      {kGroup,
       "LeaderWorkerSet",
       rollout,
       {"spec.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable: Invalid value: \"10%\": "
        "must not be 0 when `maxSurge` is 0"}});
  const Json set = prepared(*find_kind(kGroup, "LeaderWorkerSet"),
                            leader_worker_set(R"(,"restartPolicy":"Default")"));
  EXPECT_EQ(find_path(set, "spec.leaderWorkerTemplate.restartPolicy")->get_string(), "None");
  EXPECT_EQ(find_path(set, "spec.networkConfig.subdomainPolicy")->get_string(), "Shared");
  EXPECT_EQ(find_path(set, "spec.startupPolicy")->get_string(), "LeaderCreated");
}

}  // namespace
}  // namespace muster::api
