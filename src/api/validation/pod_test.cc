#include "api/validation/pod.h"

#include "api/validation/validation_testing.h"

namespace muster::api {
namespace {

Json good_pod() {
  return document(R"({"metadata":{"name":"p","namespace":"n"},"spec":{
      "containers":[{"name":"c","image":"busybox"}],"restartPolicy":"Always","dnsPolicy":"ClusterFirst"}})");
}

Json pod_with(std::string_view spec_edits) { return edited(good_pod(), "spec", spec_edits); }

// One container with these members beside its name and image.
Json pod_of(std::string_view container_members) {
  return pod_with(
      fmt::format(R"({{"containers":[{{"name":"c","image":"i",{}}}]}})", container_members));
}

struct Case {
  std::string input;
  Sentences want;
};

TEST(Pod, AGoodOneIsFine) { EXPECT_EQ(sentences(validate_pod(good_pod())), Sentences{}); }

TEST(Pod, SpecsAreJudgedAsUpstreamDoes) {
  const Case cases[] = {
      {R"({"containers":null})", {"spec.containers: Required value"}},
      {R"({"containers":[]})", {"spec.containers: Required value"}},
      {R"({"containers":[{}]})",
       {"spec.containers[0].name: Required value", "spec.containers[0].image: Required value"}},
      {R"({"containers":[{"name":"A","image":"i"},{"name":"a.b","image":" i"}]})",
       {"spec.containers[0].name: Invalid value: \"A\": " + kBadLabel,
        "spec.containers[1].name: Invalid value: \"a.b\": must not contain dots",
        "spec.containers[1].image: Invalid value: \" i\": must not have leading or trailing "
        "whitespace"}},
      {R"({"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]})",
       {"spec.containers[1].name: Duplicate value: \"c\""}},
      {R"({"initContainers":[{"name":"c","image":"i","livenessProbe":{"exec":{"command":["x"]}}},
                             {"name":"s","image":"i","restartPolicy":"Sometimes"}]})",
       {"spec.initContainers[0].name: Duplicate value: \"c\"",
        "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers "
        "without "
        "restartPolicy=Always",
        "spec.initContainers[1].restartPolicy: Unsupported value: \"Sometimes\": supported values: "
        "\"Always\", \"Never\", \"OnFailure\""}},
      {R"({"ephemeralContainers":[{"name":"d","image":"i","targetContainerName":"x"}]})",
       {"spec.ephemeralContainers[0].targetContainerName: Not found: \"x\"",
        "spec.ephemeralContainers: Forbidden: cannot be set on create"}},
      {R"({"restartPolicy":"Sometimes","dnsPolicy":"Any"})",
       {"spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
        "\"OnFailure\", \"Never\"",
        "spec.dnsPolicy: Unsupported value: \"Any\": supported values: "
        "\"ClusterFirstWithHostNet\", "
        "\"ClusterFirst\", \"Default\", \"None\""}},
      {R"({"dnsPolicy":"None"})",
       {"spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"}},
      {R"({"nodeSelector":{"-k":"v"}})",
       {"spec.nodeSelector: Invalid value: \"-k\": " + kBadNamePart}},
      {R"({"activeDeadlineSeconds":0})",
       {"spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, "
        "inclusive"}},
      {R"({"hostname":"a.b","subdomain":"B","nodeName":"N","priorityClassName":"P"})",
       {"spec.nodeName: Invalid value: \"N\": " + kBadSubdomain,
        "spec.hostname: Invalid value: \"a.b\": must not contain dots",
        "spec.subdomain: Invalid value: \"B\": " + kBadLabel,
        "spec.priorityClassName: Invalid value: \"P\": " + kBadSubdomain}},
      {R"({"schedulingGates":[{"name":"a/b"},{"name":"a/b"},{"name":""}],"nodeName":"n1"})",
       {"spec.schedulingGates[1]: Duplicate value: \"a/b\"",
        "spec.schedulingGates[2]: Invalid value: \"\": name part must be non-empty",
        "spec.schedulingGates[2]: Invalid value: \"\": " + kBadNamePart,
        "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"}},
      {R"({"schedulingGroup":{}})",
       {"spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: "
        "`podGroupName`"}},
      {R"({"schedulingGroup":{"podGroupName":"G"},"evictionResponders":[{"name":"x"}]})",
       {"spec.schedulingGroup.podGroupName: Invalid value: \"G\": " + kBadSubdomain,
        "spec.schedulingGroup: Forbidden: may not be set when evictionResponders is set"}},
      {R"({"schedulingGroup":{"podGroupName":"g"}})", {}},
      {R"({"preemptionPolicy":"Maybe"})",
       {"spec.preemptionPolicy: Unsupported value: \"Maybe\": supported values: "
        "\"PreemptLowerPriority\", \"Never\""}},
      {R"({"securityContext":{"runAsUser":-1}})",
       {"spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, "
        "inclusive"}},
      {R"({"hostAliases":[{"ip":"x","hostnames":["ok"]}]})",
       {"spec.hostAliases[0].ip: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 "
        "or "
        "2001:db8::ffff)"}},
      {R"({"os":{"name":"plan9"}})",
       {R"(spec.os.name: Unsupported value: "plan9": supported values: "linux", "windows")"}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(sentences(validate_pod(pod_with(c.input))), c.want) << c.input;
}

TEST(Pod, ContainersAreJudgedAsUpstreamDoes) {
  const Case cases[] = {
      {R"("ports":[{"containerPort":0},{"containerPort":70000,"hostPort":-1,"protocol":"X","name":"80"}])",
       {"spec.containers[0].ports[0].containerPort: Required value",
        ("spec.containers[0].ports[1].name: Invalid value: \"80\": must contain at least one "
         "letter (a-z)"),
        ("spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and "
         "65535, inclusive"),
        ("spec.containers[0].ports[1].hostPort: Invalid value: -1: must be between 1 and 65535, "
         "inclusive"),
        ("spec.containers[0].ports[1].protocol: Unsupported value: \"X\": supported values: "
         "\"SCTP\", \"TCP\", \"UDP\"")}},
      {R"("ports":[{"containerPort":1},{"containerPort":65535},{"containerPort":65536}])",
       {"spec.containers[0].ports[2].containerPort: Invalid value: 65536: must be between 1 and "
        "65535, inclusive"}},
      {R"("ports":[{"containerPort":1,"name":"a","hostPort":9},{"containerPort":2,"name":"a","hostPort":9}])",
       {"spec.containers[0].ports[1].name: Duplicate value: \"a\"",
        "spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//9\""}},
      {R"("env":[{"name":""},{"name":"A=B"},{"name":"C","valueFrom":{}},
                 {"name":"D","value":"v","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}])",
       {"spec.containers[0].env[0].name: Required value",
        "spec.containers[0].env[1].name: Invalid value: \"A=B\": a valid environment variable name "
        "must "
        "consist only of printable ASCII characters other than '='",
        "spec.containers[0].env[2].valueFrom: Invalid value: \"\": must specify one of: "
        "`fieldRef`, "
        "`resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`",
        "spec.containers[0].env[3].valueFrom: Invalid value: \"\": may not be specified when "
        "`value` is "
        "not empty"}},
      {R"("envFrom":[{"prefix":"x"},{"configMapRef":{}}])",
       {"spec.containers[0].envFrom: Invalid value: \"\": must specify one of: `configMapRef` or "
        "`secretRef`",
        "spec.containers[0].envFrom[1].configMapRef.name: Required value"}},
      {R"("volumeMounts":[{"name":"v","mountPath":"/a"},{"name":"","mountPath":"/a"}])",
       {"spec.containers[0].volumeMounts[0].name: Not found: \"v\"",
        "spec.containers[0].volumeMounts[1].name: Required value",
        "spec.containers[0].volumeMounts[1].name: Not found: \"\"",
        "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/a\": must be unique"}},
      {R"("imagePullPolicy":"Often")",
       {"spec.containers[0].imagePullPolicy: Unsupported value: \"Often\": supported values: "
        "\"Always\", "
        "\"IfNotPresent\", \"Never\""}},
      {R"("readinessProbe":{"periodSeconds":-1},"livenessProbe":{"exec":{},"httpGet":{},"successThreshold":2})",
       {"spec.containers[0].livenessProbe.httpGet: Forbidden: may not specify more than 1 handler "
        "type",
        "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
        "spec.containers[0].readinessProbe: Required value: must specify a handler type",
        "spec.containers[0].readinessProbe.periodSeconds: Invalid value: -1: must be greater than "
        "or "
        "equal to 0"}},
      {R"("securityContext":{"runAsUser":-5})",
       {"spec.containers[0].securityContext.runAsUser: Invalid value: -5: must be between 0 and "
        "2147483647, inclusive"}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(sentences(validate_pod(pod_of(c.input))), c.want) << c.input;
}

TEST(Pod, ResourcesAreJudgedAsUpstreamDoes) {
  const Case cases[] = {
      {R"({"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"2Gi"}})", {}},
      {R"({"requests":{"cpu":"-1"}})",
       {"resources.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"}},
      {R"({"requests":{"cpu":"2"},"limits":{"cpu":"1"}})",
       {"resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1"}},
      {R"({"requests":{"gpu":"1"}})",
       {"resources.requests[gpu]: Invalid value: \"gpu\": must be a standard resource type or "
        "fully "
        "qualified",
        "resources.requests[gpu]: Invalid value: \"gpu\": must be a standard resource for "
        "containers"}},
      {R"({"requests":{"pods":"1"}})",
       {"resources.requests[pods]: Invalid value: \"pods\": must be a standard resource for "
        "containers"}},
      {R"({"requests":{"nvidia.com/gpu":"1"}})",
       {"resources.limits: Required value: Limit must be set for non overcommitable resources"}},
      {R"({"requests":{"nvidia.com/gpu":"1"},"limits":{"nvidia.com/gpu":"2"}})",
       {"resources.requests: Invalid value: \"1\": must be equal to nvidia.com/gpu limit of 2"}},
      {R"({"requests":{"nvidia.com/gpu":"1500m"},"limits":{"nvidia.com/gpu":"1500m"}})",
       {"resources.limits[nvidia.com/gpu]: Invalid value: \"1500m\": must be an integer",
        "resources.requests[nvidia.com/gpu]: Invalid value: \"1500m\": must be an integer"}},
      {R"({"limits":{"nvidia.com/-gpu":"1"},"requests":{"nvidia.com/-gpu":"1"}})",
       {"resources.limits[nvidia.com/-gpu]: Invalid value: \"nvidia.com/-gpu\": " + kBadNamePart,
        "resources.limits[nvidia.com/-gpu]: Invalid value: \"nvidia.com/-gpu\": doesn't follow "
        "extended "
        "resource name standard",
        "resources.requests[nvidia.com/-gpu]: Invalid value: \"nvidia.com/-gpu\": " + kBadNamePart,
        "resources.requests[nvidia.com/-gpu]: Invalid value: \"nvidia.com/-gpu\": doesn't follow "
        "extended resource name standard"}},
      {R"({"limits":{"hugepages-2Mi":"3Mi"}})",
       {"resources.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer "
        "multiple "
        "of hugepages-2Mi",
        "resources: Forbidden: HugePages require cpu or memory"}},
      {R"({"claims":[{"name":"x"},{"name":""}]})",
       {"resources.claims[0]: Not found: \"x\": must be one of the names in "
        "pod.spec.resourceClaims "
        "which is empty",
        "resources.claims[1]: Required value"}},
  };
  for (const Case& c : cases) {
    Sentences want;
    for (const std::string& sentence : c.want) want.push_back("spec.containers[0]." + sentence);
    EXPECT_EQ(sentences(validate_pod(pod_of("\"resources\":" + c.input))), want) << c.input;
  }
  EXPECT_EQ(
      sentences(validate_pod(pod_with(
          R"({"resources":{"requests":{"cpu":"2","ephemeral-storage":"1"},"limits":{"cpu":"1"}}})"))),
      (Sentences{"spec.resources.requests: Invalid value: \"2\": must be less than or equal to cpu "
                 "limit of 1",
                 "spec.resources.requests[ephemeral-storage]: Unsupported value: "
                 "\"ephemeral-storage\": supported values: \"cpu\", \"hugepages-\", \"memory\""}));
}

TEST(Pod, VolumesAndClaimsAreJudgedAsUpstreamDoes) {
  const Case cases[] = {
      {R"({"volumes":[{"name":"v","emptyDir":{}},{"name":"v","hostPath":{}},{"name":""},
                      {"name":"w","emptyDir":{},"secret":{"secretName":"s"}}]})",
       {"spec.volumes[1].hostPath.path: Required value",
        "spec.volumes[1].name: Duplicate value: \"v\"",
        "spec.volumes[2]: Required value: must specify a volume type",
        "spec.volumes[2].name: Required value",
        "spec.volumes[3].secret: Forbidden: may not specify more than 1 volume type"}},
      {R"({"resourceClaims":[{"name":"a"},{"name":"a","resourceClaimName":"x"}]})",
       {"spec.resourceClaims[0]: Invalid value: {\"name\":\"a\"}: must specify one of: "
        "`resourceClaimName`, `resourceClaimTemplateName`",
        "spec.resourceClaims[1].name: Duplicate value: \"a\""}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(sentences(validate_pod(pod_with(c.input))), c.want) << c.input;
}

TEST(Pod, PlacementIsJudgedAsUpstreamDoes) {
  const std::string required =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const std::string anti =
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]";
  const Case cases[] = {
      {R"({"tolerations":[{"key":"k","operator":"Exists","value":"v"},{"value":"v"},
           {"key":"k","operator":"Lt"},{"key":"k","value":"-v","effect":"Never"},
           {"operator":"Exists","tolerationSeconds":3}]})",
       {("spec.tolerations[0].operator: Invalid value: \"v\": value must be empty when `operator` "
         "is 'Exists'"),
        ("spec.tolerations[1].operator: Invalid value: \"\": operator must be Exists when `key` is "
         "empty, which means \"match all values and all keys\""),
        ("spec.tolerations[2].operator: Unsupported value: \"Lt\": supported values: \"Equal\", "
         "\"Exists\""),
        "spec.tolerations[3].operator: Invalid value: \"-v\": " + kBadLabelValue,
        ("spec.tolerations[3].effect: Unsupported value: \"Never\": supported values: "
         "\"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""),
        ("spec.tolerations[4].effect: Invalid value: \"\": effect must be 'NoExecute' when "
         "`tolerationSeconds` is set")}},
      {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
           {"nodeSelectorTerms":[]}}}})",
       {required + ": Required value: must have at least one node selector term"}},
      {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
           {"matchExpressions":[{"key":"k","operator":"In"},{"key":"k","operator":"Exists","values":["v"]},
                                {"key":"k","operator":"Gt"},{"key":"","operator":"Is","values":["-v"]}],
            "matchFields":[{"key":"metadata.uid","operator":"Exists"},
                           {"key":"metadata.name","operator":"In","values":["A","b"]}]}]}}}})",
       {required +
            "[0].matchExpressions[0].values: Required value: must be specified when `operator` is "
            "'In' or 'NotIn'",
        required +
            "[0].matchExpressions[1].values: Forbidden: may not be specified when `operator` is "
            "'Exists' or 'DoesNotExist'",
        required +
            "[0].matchExpressions[2].values: Required value: must be specified single value when "
            "`operator` is 'Lt' or 'Gt'",
        required + "[0].matchExpressions[3].operator: Invalid value: \"Is\": not a valid selector "
                   "operator",
        required + "[0].matchExpressions[3].key: Invalid value: \"\": name part must be non-empty",
        required + "[0].matchExpressions[3].key: Invalid value: \"\": " + kBadNamePart,
        required + "[0].matchExpressions[3].values[0]: Invalid value: \"-v\": " + kBadLabelValue,
        required +
            "[0].matchFields[0].operator: Invalid value: \"Exists\": not a valid selector operator",
        required +
            "[0].matchFields[0].key: Invalid value: \"metadata.uid\": not a valid field selector "
            "key",
        required +
            "[0].matchFields[1].values: Required value: must be only one value when `operator` is "
            "'In' or 'NotIn' for node field selector",
        required + "[0].matchFields[1].values[0]: Invalid value: \"A\": " + kBadSubdomain}},
      {R"({"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
           {"weight":101,"preference":{"matchExpressions":[{"key":"k","operator":"In","values":["-v"]}]}}]}}})",
       {"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
        "Invalid "
        "value: 101: must be in the range 1-100"}},
      {R"({"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
           {"topologyKey":"","matchLabelKeys":["a"],
            "namespaceSelector":{"matchExpressions":[{"key":"k","operator":"Gt"}]}}]}}})",
       {anti +
            ".namespaceSelector.matchExpressions[0].operator: Invalid value: \"Gt\": not a valid "
            "selector operator",
        anti + ".matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
        anti + ".topologyKey: Required value: can not be empty",
        anti + ".topologyKey: Invalid value: \"\": name part must be non-empty",
        anti + ".topologyKey: Invalid value: \"\": " + kBadNamePart}},
      {R"({"topologySpreadConstraints":[
           {"maxSkew":0,"topologyKey":"","whenUnsatisfiable":"Panic","minDomains":0,"nodeTaintsPolicy":"Odd"},
           {"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","matchLabelKeys":["a"],
            "labelSelector":{"matchLabels":{"a":"b"}}},
           {"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}]})",
       {"spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
        "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
        ("spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"Panic\": "
         "supported values: \"DoNotSchedule\", \"ScheduleAnyway\""),
        "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero",
        ("spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: can only use minDomains "
         "if whenUnsatisfiable=DoNotSchedule, not Panic"),
        ("spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: \"Odd\": "
         "supported values: \"Honor\", \"Ignore\""),
        ("spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "
         "\"{z, DoNotSchedule}\""),
        ("spec.topologySpreadConstraints[1].matchLabelKeys[0]: Invalid value: \"a\": exists in "
         "both matchLabelKeys and labelSelector")}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(sentences(validate_pod(pod_with(c.input))), c.want) << c.input;
}

TEST(Pod, AnnotationsThatMeanSomethingAreChecked) {
  const Json pod = edited(good_pod(), "metadata",
                          R"({"annotations":{"controller.kubernetes.io/pod-deletion-cost":"many",
                                             "kubernetes.io/config.mirror":"m"}})");
  EXPECT_EQ(sentences(validate_pod(pod)),
            (Sentences{
                "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "
                "\"many\": must be a 32bit integer",
                "metadata.annotations[kubernetes.io/config.mirror]: Invalid value: \"m\": must set "
                "spec.nodeName if mirror pod annotation is set"}));
}

TEST(Pod, OddShapesAreSurvived) {
  for (const std::string_view text :
       {"null", "[]", "{}", R"({"spec":[]})", R"({"spec":{"containers":{}}})",
        R"({"spec":{"containers":[null,3,[],{"ports":3,"env":{},"resources":[],"volumeMounts":[1]}],
            "affinity":[],"tolerations":[0],"volumes":[false],"schedulingGates":["x"],
            "topologySpreadConstraints":[null],"nodeSelector":{"a":1}}})"}) {
    Json odd = document(text);
    default_pod(odd);
    EXPECT_FALSE(validate_pod(odd).empty()) << text;
    validate_pod_status_update(odd, odd);
  }
}

TEST(Pod, ImagesThatMayMoveArePulledAlways) {
  struct PullCase {
    std::string image;
    std::string want;
  };
  const PullCase cases[] = {
      {"busybox", "Always"},
      {"busybox:latest", "Always"},
      {"busybox:1", "IfNotPresent"},
      {"registry:5000/busybox", "Always"},
      {"registry:5000/busybox:1", "IfNotPresent"},
      {"busybox@sha256:abc", "IfNotPresent"},
      {"busybox:latest@sha256:abc", "Always"},
  };
  for (const PullCase& c : cases) {
    Json pod = pod_with(fmt::format(
        R"({{"containers":[{{"name":"c","image":"{0}"}},{{"name":"d","image":"{0}","imagePullPolicy":"Never"}}],
             "initContainers":[{{"name":"i","image":"{0}"}}]}})",
        c.image));
    default_pod(pod);
    const JsonArray& containers = *find_array(pod.at("spec"), "containers");
    EXPECT_EQ(find_string(containers[0], "imagePullPolicy"), c.want) << c.image;
    EXPECT_EQ(find_string(containers[1], "imagePullPolicy"), "Never");
    EXPECT_EQ(find_string(find_array(pod.at("spec"), "initContainers")->at(0), "imagePullPolicy"),
              c.want);
  }
}

TEST(Pod, RequestsFollowLimitsAndHostPortsFollowContainerPorts) {
  Json pod = pod_with(
      R"({"hostNetwork":true,"serviceAccount":"robot","containers":[{"name":"c","image":"i:1",
      "resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"1"}},
      "ports":[{"containerPort":80},{"containerPort":81,"hostPort":81}]}]})");
  default_pod(pod);
  const Json& container = find_array(pod.at("spec"), "containers")->at(0);
  EXPECT_EQ(to_text(*find_path(container, "resources.requests")), R"({"cpu":"1","memory":"1Gi"})");
  EXPECT_EQ(to_text(*find(container, "ports")),
            R"([{"containerPort":80,"hostPort":80},{"containerPort":81,"hostPort":81}])");
  EXPECT_EQ(find_string(pod.at("spec"), "serviceAccountName"), "robot");
  EXPECT_EQ(sentences(validate_pod(pod)), Sentences{});

  const Json clash = pod_with(
      R"({"hostNetwork":true,"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":81}]}]})");
  EXPECT_EQ(
      sentences(validate_pod(clash)),
      Sentences{
          "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` "
          "when `hostNetwork` is true"});
}

TEST(Binding, NamesANode) {
  EXPECT_EQ(
      sentences(validate_binding(document(R"({"target":{"kind":"Pod"}})"))),
      (Sentences{"target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\"",
                 "target.name: Required value"}));
  EXPECT_TRUE(validate_binding(document(R"({"target":{"name":"n"}})")).empty());
}

}  // namespace
}  // namespace muster::api
