#include "api/validation/kind_rules.h"

#include <fmt/format.h>

#include "api/decode.h"
#include "api/validation/validation_testing.h"

namespace muster::api {
namespace {

// Decoded and defaulted, as the server hands documents to the rules.
Json prepared(const Kind& kind, std::string_view text) {
  auto decoded = decode(*kind.message, {document(text), {}});
  EXPECT_TRUE(decoded) << text << ": " << (decoded ? "" : decoded.error().message);
  if (!decoded) return {};
  EXPECT_TRUE(decoded->unknown.empty()) << text << ": " << decoded->unknown.front();
  const KindRules* rules = find_kind_rules(kind);
  if (rules->predefault != nullptr) rules->predefault(decoded->document.get_object());
  apply_defaults(*kind.message, decoded->document);
  if (rules->set_defaults != nullptr) rules->set_defaults(decoded->document.get_object());
  return decoded->document;
}

struct Case {
  std::string_view group;
  std::string_view kind;
  std::string text;
  Sentences want;
  std::string old = {};  // empty: create
};

void expect(const Case& c) {
  const Kind* kind = find_kind(c.group, c.kind);
  ASSERT_NE(kind, nullptr) << c.kind;
  const KindRules* rules = find_kind_rules(*kind);
  ASSERT_NE(rules, nullptr) << c.kind;
  const Json now = prepared(*kind, c.text);
  const Json old = c.old.empty() ? Json() : prepared(*kind, c.old);
  FieldErrors errors;
  rules->validate(now, c.old.empty() ? nullptr : &old, errors);
  EXPECT_EQ(sentences(errors), c.want) << c.kind << " " << c.text;
}

// A pod template with label app=web; `members` of its pod spec.
std::string pod_template(std::string_view members = "") {
  return std::string(
             R"("template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}])")
      .append(members)
      .append("}}");
}
std::string replicas(std::string_view members = "") {
  return std::string(
             R"({"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"app":"web"}},)")
      .append(pod_template())
      .append(members)
      .append("}}");
}

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

TEST(Service, PortsAreNamedNumberedAndUnique) {
  expect({"", "Service", R"({"spec":{"ports":[{"port":80}]}})", {}});
  expect({"", "Service", R"({"spec":{"clusterIP":"None"}})", {}});
  expect({"", "Service", R"({"spec":{}})", {"spec.ports: Required value"}});
  expect({"",
          "Service",
          R"({"spec":{"ports":[{"port":80},{"port":70000,"name":"b"}]}})",
          {"spec.ports[0].name: Required value",
           "spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
           "spec.ports[1].targetPort: Invalid value: 70000: must be between 1 and 65535, "
           "inclusive"}});
  expect({"",
          "Service",
          R"({"spec":{"type":"ExternalName"}})",
          {"spec.externalName: Required value"}});
  expect({"",
          "Service",
          R"({"spec":{"clusterIP":"10.0.0.2","ports":[{"port":80}]}})",
          {"spec.clusterIPs[0]: Invalid value: [\"10.0.0.2\"]: may not change once set"},
          R"({"spec":{"clusterIP":"10.0.0.1","ports":[{"port":80}]}})"});
}

TEST(Service, DefaultsFollowTheType) {
  const Json service = prepared(*find_kind("", "Service"),
                                R"({"spec":{"type":"LoadBalancer","ports":[{"port":80}]}})");
  const Json& spec = *find(service, "spec");
  EXPECT_EQ(find_string(spec, "externalTrafficPolicy"), "Cluster");
  EXPECT_EQ(find_string(spec, "internalTrafficPolicy"), "Cluster");
  EXPECT_EQ(find_string(spec, "sessionAffinity"), "None");
  EXPECT_EQ(to_text(find_array(spec, "ports")->at(0)),
            R"({"port":80,"protocol":"TCP","targetPort":80})");
}

TEST(Quotas, AmountsAreOrdered) {
  expect({"",
          "LimitRange",
          R"({"spec":{"limits":[{"type":"Container","min":{"cpu":"1"},"max":{"cpu":"500m"}}]}})",
          {"spec.limits[0].min[cpu]: Invalid value: \"1\": min value 1 is greater than max value "
           "500m"}});
  expect({"",
          "LimitRange",
          R"({"spec":{"limits":[{"type":"Pod","default":{"cpu":"1"}}]}})",
          {"spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"}});
  expect({"",
          "ResourceQuota",
          R"({"spec":{"hard":{"pods":"-1"}}})",
          {"spec.hard[pods]: Invalid value: \"-1\": must be greater than or equal to 0"}});
}

TEST(Deployment, IsJudgedAsUpstreamDoes) {
  expect({"apps", "Deployment", replicas(), {}});
  expect({"apps",
          "Deployment",
          replicas(R"(,"replicas":-1,"minReadySeconds":600)"),
          {"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
           "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than "
           "minReadySeconds"}});
  expect({"apps",
          "Deployment",
          R"({"spec":{)" + pod_template(R"(,"restartPolicy":"Never","activeDeadlineSeconds":5)") +
              "}}",
          {"spec.selector: Required value",
           "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: "
           "\"Always\"",
           "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in "
           "ReplicaSet is not Supported"}});
  expect({"apps",
          "Deployment",
          R"({"spec":{"selector":{"matchLabels":{"app":"other"}},)" + pod_template() + "}}",
          {"spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not "
           "match template `labels`"}});
  expect({"apps",
          "Deployment",
          replicas(R"(,"strategy":{"type":"Recreate","rollingUpdate":{}})"),
          {"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is "
           "'Recreate'"}});
  expect({"apps",
          "Deployment",
          replicas(R"(,"strategy":{"rollingUpdate":{"maxUnavailable":0,"maxSurge":"0%"}})"),
          {"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
           "`maxSurge` is 0"}});
  expect(
      {"apps",
       "Deployment",
       R"({"spec":{"selector":{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":"Exists"}]},)" +
           pod_template() + "}}",
       {"spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":["
        "{\"key\":\"app\",\"operator\":\"Exists\"}]}: field is immutable"},
       replicas()});
}

TEST(Deployment, RollsAQuarterAtATime) {
  const Json deployment = prepared(*find_kind("apps", "Deployment"), replicas());
  const Json& spec = *find(deployment, "spec");
  EXPECT_EQ(
      to_text(*find(spec, "strategy")),
      R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})");
  EXPECT_EQ(to_text(*find(spec, "replicas")), "1");
  EXPECT_EQ(
      find_string(find_path(spec, "template.spec.containers")->get_array()[0], "imagePullPolicy"),
      "Always");
}

TEST(Apps, OtherKindsHaveTheirOwnRules) {
  expect({"apps", "ReplicaSet", replicas(), {}});
  expect({"apps", "DaemonSet", replicas(), {}});
  expect({"apps", "StatefulSet", replicas(), {}});
  expect({"apps",
          "DaemonSet",
          replicas(R"(,"updateStrategy":{"rollingUpdate":{"maxUnavailable":0}})"),
          {"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0 when "
           "maxSurge is 0"}});
  expect({"apps",
          "StatefulSet",
          replicas(R"(,"podManagementPolicy":"Random")"),
          {"spec.podManagementPolicy: Unsupported value: \"Random\": supported values: "
           "\"OrderedReady\", \"Parallel\""}});
  expect({"apps",
          "StatefulSet",
          replicas(R"(,"serviceName":"b","replicas":3)"),
          {"spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
           "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
           "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"},
          replicas(R"(,"serviceName":"a")")});
  expect({"apps",
          "ControllerRevision",
          R"({"revision":-1})",
          {"data: Required value: data is mandatory",
           "revision: Invalid value: -1: must be greater than or equal to 0"}});
  expect({"", "ReplicationController", R"({"spec":{)" + pod_template() + "}}", {}});
  expect({"",
          "ReplicationController",
          R"({"spec":{"selector":{"a":"b"}}})",
          {"spec.template: Required value"}});
  expect({"",
          "PodTemplate",
          R"({"template":{"spec":{}}})",
          {"template.spec.containers: Required value"}});
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

TEST(Storage, VolumesAndClaims) {
  expect(
      {"",
       "PersistentVolumeClaim",
       R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})",
       {}});
  expect({"",
          "PersistentVolumeClaim",
          R"({"spec":{"accessModes":["Often"]}})",
          {"spec.accessModes: Unsupported value: \"Often\": supported values: \"ReadOnlyMany\", "
           "\"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
           "spec.resources[storage]: Required value"}});
  const std::string claim =
      R"({"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"a","resources":{"requests":{"storage":"1Gi"}}}})";
  expect(
      {"",
       "PersistentVolumeClaim",
       R"({"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"b","resources":{"requests":{"storage":"2Gi"}}}})",
       {"spec: Forbidden: spec is immutable after creation except resources.requests and "
        "volumeAttributesClassName for bound claims"},
       claim});
  expect({"",
          "PersistentVolume",
          R"({"spec":{}})",
          {"spec.accessModes: Required value: at least 1 access mode is required",
           "spec.capacity: Required value", "spec: Required value: must specify a volume type"}});
  expect(
      {"",
       "PersistentVolume",
       R"({"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"hostPath":{"path":"/a"}}})",
       {}});
  expect({"storage.k8s.io", "StorageClass", R"({"provisioner":"p"})", {}});
  expect({"storage.k8s.io",
          "StorageClass",
          R"({"provisioner":"q","volumeBindingMode":"WaitForFirstConsumer"})",
          {"provisioner: Forbidden: updates to provisioner are forbidden.",
           "volumeBindingMode: Invalid value: \"WaitForFirstConsumer\": field is immutable"},
          R"({"provisioner":"p"})"});
  expect(
      {"storage.k8s.io",
       "CSINode",
       R"({"spec":{"drivers":[{"name":"d","nodeID":"n"},{"name":"d"}]}})",
       {"spec.drivers[1].nodeID: Required value", "spec.drivers[1].name: Duplicate value: \"d\""}});
  expect({"storage.k8s.io", "CSIDriver", R"({"spec":{}})", {}});
  expect({"storage.k8s.io",
          "VolumeAttachment",
          R"({"spec":{"attacher":"a","nodeName":"n"}})",
          {"spec.source: Required value: must specify exactly one of inlineVolumeSpec and "
           "persistentVolumeName"}});
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

TEST(EndpointSlice, AddressesAreOfTheSaidType) {
  expect({"discovery.k8s.io",
          "EndpointSlice",
          R"({"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}]})",
          {}});
  expect({"discovery.k8s.io",
          "EndpointSlice",
          R"({"addressType":"IPv6","endpoints":[{"addresses":["10.0.0.1"]},{"addresses":[]}]})",
          {"endpoints[0].addresses[0]: Invalid value: \"10.0.0.1\": must be a valid IP address, "
           "(e.g. 10.9.8.7 or 2001:db8::ffff)",
           "endpoints[1].addresses: Required value: must contain at least 1 address"}});
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
