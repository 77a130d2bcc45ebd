#include "api/validation/containers.h"

#include "api/validation/pod.h"
#include "api/validation/validation_testing.h"

namespace muster::api {
namespace {

// A pod of one container "c", with these members; `more` members of its spec.
Json pod(std::string_view members, std::string_view more = "") {
  return document(fmt::format(
      R"({{"metadata":{{"name":"p","namespace":"n"}},"spec":{{"containers":[{{"name":"c","image":"i"{}{}}}]{}{}}}}})",
      members.empty() ? "" : ",", members, more.empty() ? "" : ",", more));
}

struct Case {
  std::string members;
  Sentences want;  // after the path of the container
};

void check(const Case& c, std::string_view more = "") {
  Sentences want;
  for (const std::string& sentence : c.want) want.push_back("spec.containers[0]." + sentence);
  EXPECT_EQ(sentences(validate_pod(pod(c.members, more))), want) << c.members;
}

constexpr std::string_view kPorts = "must be between 1 and 65535, inclusive";
constexpr std::string_view kIds = "must be between 0 and 2147483647, inclusive";

TEST(Containers, PortsAreNumbersThatExist) {
  const Case cases[] = {
      {R"("ports":[{"containerPort":1,"hostPort":1},{"containerPort":65535,"hostPort":65535,"protocol":"UDP"}])",
       {}},
      {R"("ports":[{"containerPort":-1},{"containerPort":1,"hostPort":65536}])",
       {fmt::format("ports[0].containerPort: Invalid value: -1: {}", kPorts),
        fmt::format("ports[1].hostPort: Invalid value: 65536: {}", kPorts)}},
      {R"("ports":[{"containerPort":1,"hostPort":0},{"containerPort":1,"hostPort":0}])", {}},
      {R"("ports":[{"containerPort":1,"protocol":"SCTP"}])", {}},
      // A name that is wrong is not said to be a duplicate as well.
      {R"("ports":[{"containerPort":1,"name":"1"},{"containerPort":2,"name":"1"}])",
       {"ports[0].name: Invalid value: \"1\": must contain at least one letter (a-z)",
        "ports[1].name: Invalid value: \"1\": must contain at least one letter (a-z)"}},
  };
  for (const Case& c : cases) check(c);
}

TEST(Containers, HostPortsAreTakenOnceByProtocolAndAddress) {
  check(
      {R"("ports":[{"containerPort":1,"hostPort":9},{"containerPort":2,"hostPort":9,"protocol":"UDP"},
                     {"containerPort":3,"hostPort":9,"hostIP":"10.0.0.1"},{"containerPort":4,"hostPort":8}])",
       {}});
  check({R"("ports":[{"containerPort":1,"hostPort":9,"hostIP":"10.0.0.1"},
                     {"containerPort":2,"hostPort":9,"hostIP":"10.0.0.1","protocol":"TCP"}])",
         {"ports[1].hostPort: Duplicate value: \"TCP/10.0.0.1/9\""}});
  // Containers run beside each other, init containers one after the other.
  constexpr std::string_view kTaken = R"("ports":[{"containerPort":1,"hostPort":9}])";
  const auto two = [&](std::string_view list) {
    return sentences(validate_pod(document(fmt::format(
        R"({{"metadata":{{"name":"p","namespace":"n"}},"spec":{{"containers":[{{"name":"c","image":"i"}}],"{}":[
        {{"name":"a","image":"i",{}}},{{"name":"b","image":"i",{}}}]}}}})",
        list, kTaken, kTaken))));
  };
  EXPECT_EQ(two("initContainers"), Sentences{});
  EXPECT_EQ(sentences(validate_pod(document(fmt::format(
                R"({{"metadata":{{"name":"p","namespace":"n"}},"spec":{{"containers":[
                {{"name":"a","image":"i",{}}},{{"name":"b","image":"i",{}}}]}}}})",
                kTaken, kTaken)))),
            Sentences{"spec.containers[1].ports[0].hostPort: Duplicate value: \"TCP//9\""});
}

TEST(Containers, EnvironmentComesFromOneSourceEach) {
  const Case cases[] = {
      {R"("env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
                 {"name":"B","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu"}}},
                 {"name":"C","valueFrom":{"configMapKeyRef":{"name":"m","key":"k"}}},
                 {"name":"D","valueFrom":{"secretKeyRef":{"name":"m","key":"k"}}},
                 {"name":"E","value":"v"}])",
       {}},
      {R"("env":[{"name":"A","valueFrom":{"fieldRef":{}}},{"name":"B","valueFrom":{"resourceFieldRef":{}}},
                 {"name":"C","valueFrom":{"configMapKeyRef":{"name":"m"}}},
                 {"name":"D","valueFrom":{"secretKeyRef":{"name":"M","key":".."}}}])",
       {"env[0].valueFrom.fieldRef.fieldPath: Required value",
        "env[1].valueFrom.resourceFieldRef.resource: Required value",
        "env[2].valueFrom.configMapKeyRef.key: Required value",
        "env[3].valueFrom.secretKeyRef.name: Invalid value: \"M\": " + kBadSubdomain,
        "env[3].valueFrom.secretKeyRef.key: Invalid value: \"..\": must not be '..'"}},
      {R"("env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"f"},"secretKeyRef":{"name":"m","key":"k"}}}])",
       {"env[0].valueFrom: Invalid value: \"\": may not have more than one field specified at a "
        "time"}},
      {R"("envFrom":[{"configMapRef":{"name":"a"}},{"secretRef":{"name":"b"}},
                     {"configMapRef":{"name":"a"},"secretRef":{}}])",
       {"envFrom[2].secretRef.name: Required value",
        "envFrom: Invalid value: \"\": may not have more than one field specified at a time"}},
  };
  for (const Case& c : cases) check(c);
}

TEST(Containers, MountsAndDevicesNameVolumes) {
  constexpr std::string_view kVolumes =
      R"("volumes":[{"name":"v","emptyDir":{}},{"name":"d","persistentVolumeClaim":{"claimName":"x"}},
                    {"name":"e","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}])";
  const Case cases[] = {
      {R"("volumeMounts":[{"name":"v","mountPath":"/a","subPath":"x"},{"name":"v","mountPath":"/b","subPathExpr":"y"}])",
       {}},
      {R"("volumeMounts":[{"name":"v"},{"name":"v","mountPath":"/b","subPath":"x","subPathExpr":"y"}])",
       {"volumeMounts[0].mountPath: Required value",
        "volumeMounts[1].subPathExpr: Invalid value: \"y\": subPathExpr and subPath are mutually "
        "exclusive"}},
      {R"("volumeDevices":[{"name":"d","devicePath":"/d"},{"name":"e","devicePath":"/e"}])", {}},
      {R"("volumeDevices":[{"name":"v","devicePath":"/d"},{"name":"","devicePath":"/d"},{"name":"d"}])",
       {"volumeDevices[0].name: Invalid value: \"v\": can only use volume source type of "
        "PersistentVolumeClaim or Ephemeral for block mode",
        "volumeDevices[1].name: Required value", "volumeDevices[1].name: Not found: \"\"",
        "volumeDevices[2].devicePath: Required value"}},
  };
  for (const Case& c : cases) check(c, kVolumes);
}

TEST(Containers, ProbesAndHooksHaveOneHandler) {
  const Case cases[] = {
      {R"("livenessProbe":{"grpc":{"port":1},"successThreshold":1},"readinessProbe":{"tcpSocket":{"port":1},"successThreshold":3},
          "startupProbe":{"httpGet":{"port":1}})",
       {}},
      {R"("startupProbe":{"exec":{},"successThreshold":2,"initialDelaySeconds":-1,"timeoutSeconds":-1,"failureThreshold":-1})",
       {"startupProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0",
        "startupProbe.timeoutSeconds: Invalid value: -1: must be greater than or equal to 0",
        "startupProbe.failureThreshold: Invalid value: -1: must be greater than or equal to 0",
        "startupProbe.successThreshold: Invalid value: 2: must be 1"}},
      {R"("readinessProbe":{"exec":{},"initialDelaySeconds":0,"successThreshold":-1})",
       {"readinessProbe.successThreshold: Invalid value: -1: must be greater than or equal to 0"}},
      {R"("lifecycle":{"postStart":{},"preStop":{"sleep":{"seconds":1},"exec":{}}})",
       {"lifecycle.postStart: Required value: must specify a handler type",
        "lifecycle.preStop.sleep: Forbidden: may not specify more than 1 handler type"}},
      {R"("livenessProbe":{"exec":{},"tcpSocket":{"port":1},"sleep":{"seconds":1}})",
       {"livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
        "livenessProbe.sleep: Forbidden: may not specify more than 1 handler type"}},
  };
  for (const Case& c : cases) check(c);
}

TEST(Containers, WordsAreOfClosedSets) {
  const Case cases[] = {
      {R"("terminationMessagePolicy":"FallbackToLogsOnError","imagePullPolicy":"IfNotPresent")",
       {}},
      {R"("terminationMessagePolicy":"Shout")",
       {"terminationMessagePolicy: Unsupported value: \"Shout\": supported values: \"File\", "
        "\"FallbackToLogsOnError\""}},
      {R"("securityContext":{"runAsUser":0,"runAsGroup":2147483647})", {}},
      {R"("securityContext":{"runAsUser":2147483648,"runAsGroup":-1})",
       {fmt::format("securityContext.runAsUser: Invalid value: 2147483648: {}", kIds),
        fmt::format("securityContext.runAsGroup: Invalid value: -1: {}", kIds)}},
      {R"("securityContext":{"allowPrivilegeEscalation":false,"privileged":true})",
       {"securityContext: Invalid value: {\"allowPrivilegeEscalation\":false,\"privileged\":true}: "
        "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"}},
      {R"("securityContext":{"allowPrivilegeEscalation":true,"privileged":true})", {}},
      {R"("securityContext":{"allowPrivilegeEscalation":false,"privileged":false})", {}},
  };
  for (const Case& c : cases) check(c);
}

TEST(Containers, InitAndEphemeralOnesLackWhatNeedsTime) {
  const std::string only_sidecars =
      ": Forbidden: may not be set for init containers without restartPolicy=Always";
  const std::string not_ephemeral = ": Forbidden: cannot be set for an Ephemeral Container";
  EXPECT_EQ(sentences(validate_pod(pod("",
                                       R"("initContainers":[
          {"name":"a","image":"i","lifecycle":{"preStop":{"exec":{}}},"livenessProbe":{"exec":{}},
           "readinessProbe":{"exec":{}},"startupProbe":{"exec":{}}},
          {"name":"b","image":"i","restartPolicy":"Always","readinessProbe":{"exec":{}},"livenessProbe":{}},
          {"name":"b","image":"i"},{"image":"i"},{"image":"i"}])"))),
            (Sentences{
                "spec.initContainers[0].lifecycle" + only_sidecars,
                "spec.initContainers[0].livenessProbe" + only_sidecars,
                "spec.initContainers[0].readinessProbe" + only_sidecars,
                "spec.initContainers[0].startupProbe" + only_sidecars,
                "spec.initContainers[1].livenessProbe: Required value: must specify a handler type",
                "spec.initContainers[2].name: Duplicate value: \"b\"",
                "spec.initContainers[3].name: Required value",
                "spec.initContainers[4].name: Required value"}));
  EXPECT_EQ(sentences(validate_pod(pod("",
                                       R"("initContainers":[{"name":"a","image":"i"}],
          "ephemeralContainers":[{"name":"d","image":"i","targetContainerName":"c","ports":[],"livenessProbe":{},
          "readinessProbe":{},"startupProbe":{},"lifecycle":{}},
          {"name":"a","image":"i","targetContainerName":"a"},{"name":"e","image":"i","targetContainerName":"d"}])"))),
            (Sentences{"spec.ephemeralContainers[0].ports" + not_ephemeral,
                       "spec.ephemeralContainers[0].livenessProbe" + not_ephemeral,
                       "spec.ephemeralContainers[0].readinessProbe" + not_ephemeral,
                       "spec.ephemeralContainers[0].startupProbe" + not_ephemeral,
                       "spec.ephemeralContainers[0].lifecycle" + not_ephemeral,
                       "spec.ephemeralContainers[1].name: Duplicate value: \"a\"",
                       "spec.ephemeralContainers[2].targetContainerName: Not found: \"d\"",
                       "spec.ephemeralContainers: Forbidden: cannot be set on create"}));
}

TEST(Resources, NamesAndAmountsFitTogether) {
  const std::string standard = ": must be a standard resource type or fully qualified";
  const std::string for_containers = ": must be a standard resource for containers";
  const Case cases[] = {
      {R"("resources":{"requests":{"ephemeral-storage":"1","kubernetes.io/x":"1"}})", {}},
      {R"("resources":{"limits":{"hugepages-2Mi":"4Mi","memory":"1Gi"},"requests":{"hugepages-2Mi":"4Mi"}})",
       {}},
      {R"("resources":{"limits":{"hugepages-2Mi":"4Mi"},"requests":{"cpu":"1"}})", {}},
      {R"("resources":{"requests":{"hugepages-2Mi":"4Mi","cpu":"1"}})",
       {"resources.limits: Required value: Limit must be set for non overcommitable resources"}},
      {R"("resources":{"limits":{"cpu":"1","hugepages-2Mi":"4Mi"},"requests":{"hugepages-2Mi":"2Mi"}})",
       {"resources.requests: Invalid value: \"2Mi\": must be equal to hugepages-2Mi limit of 4Mi"}},
      {R"("resources":{"limits":{"cpu":"1","hugepages-0":"0"}})",
       {"resources.limits[hugepages-0]: Invalid value: \"0\": 0 is not positive integer multiple "
        "of "
        "hugepages-0"}},
      {R"("resources":{"limits":{"cpu":"1000m"},"requests":{"cpu":"1"}})", {}},
      {R"("resources":{"limits":{"cpu":"1"},"requests":{"cpu":"999m"}})", {}},
      {R"("resources":{"limits":{"storage":"1"}})",
       {"resources.limits[storage]: Invalid value: \"storage\"" + for_containers}},
      {R"("resources":{"limits":{"hugepage":"1"}})",
       {"resources.limits[hugepage]: Invalid value: \"hugepage\"" + standard,
        "resources.limits[hugepage]: Invalid value: \"hugepage\"" + for_containers}},
      {R"("resources":{"limits":{"requests.example.com/x":"1"}})",
       {"resources.limits[requests.example.com/x]: Invalid value: \"requests.example.com/x\": "
        "doesn't follow extended resource name standard"}},
      {R"("resources":{"limits":{"-":"1"}})",
       {"resources.limits[-]: Invalid value: \"-\": " + kBadNamePart,
        "resources.limits[-]: Invalid value: \"-\"" + for_containers}},
      {R"("resources":{"limits":{"cpu":"0"}})", {}},
  };
  for (const Case& c : cases) check(c);
}

TEST(Resources, ClaimsAreThoseOfThePod) {
  constexpr std::string_view kClaims =
      R"("resourceClaims":[{"name":"a","resourceClaimName":"x"},{"name":"b","resourceClaimTemplateName":"y"}])";
  const Case cases[] = {
      {R"("resources":{"claims":[{"name":"a"},{"name":"b","request":"r"},{"name":"b","request":"s"}]})",
       {}},
      {R"("resources":{"claims":[{"name":"a"},{"name":"a"},{"name":"a","request":"r"},{"name":"b","request":"r"},
                                {"name":"b","request":"r"}]})",
       {"resources.claims[1]: Duplicate value: \"a\"",
        "resources.claims[2]: Duplicate value: \"a/r\"",
        "resources.claims[4]: Duplicate value: \"b/r\""}},
      {R"("resources":{"claims":[{"name":"c"},{"name":"a","request":"R"}]})",
       {"resources.claims[0]: Not found: \"c\": must be one of the names in "
        "pod.spec.resourceClaims: a, b",
        "resources.claims[1].request: Invalid value: \"R\": " + kBadLabel}},
  };
  for (const Case& c : cases) check(c, kClaims);
  EXPECT_EQ(
      sentences(validate_pod(pod(
          "",
          R"("resourceClaims":[{"name":"A","resourceClaimName":"x","resourceClaimTemplateName":"Y"},
                           {"resourceClaimName":""}])"))),
      (Sentences{
          "spec.resourceClaims[0].name: Invalid value: \"A\": " + kBadLabel,
          R"(spec.resourceClaims[0]: Invalid value: {"name":"A","resourceClaimName":"x","resourceClaimTemplateName":"Y"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified)",
          "spec.resourceClaims[0].resourceClaimTemplateName: Invalid value: \"Y\": " +
              kBadSubdomain,
          "spec.resourceClaims[1].name: Required value",
          "spec.resourceClaims[1].resourceClaimName: Invalid value: \"\": " + kBadSubdomain}));
}

TEST(Resources, OfAWholePodAreAmountsOnly) {
  EXPECT_EQ(
      sentences(validate_pod(pod(
          "",
          R"("resources":{"claims":[{"name":"a"}],"limits":{"cpu":"1","hugepages-2Mi":"2Mi","example.com/x":"1"}},
              "overhead":{"cpu":"-1","gpu":"1"})"))),
      (Sentences{
          "spec.resources.claims: Forbidden: claims cannot be set for Resources at pod-level",
          R"(spec.resources.limits[example.com/x]: Unsupported value: "example.com/x": supported values: "cpu", "hugepages-", "memory")",
          R"(spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0)",
          "spec.overhead.limits[gpu]: Invalid value: \"gpu\": must be a standard resource "
          "type or fully qualified",
          "spec.overhead.limits[gpu]: Invalid value: \"gpu\": must be a standard resource "
          "for containers"}));
}

TEST(Volumes, OfEveryTypeSayWhatTheyCannotDoWithout) {
  struct Source {
    std::string_view type;
    std::string_view required;
  };
  const Source sources[] = {
      {"hostPath", "path"},
      {"gitRepo", "repository"},
      {"gcePersistentDisk", "pdName"},
      {"awsElasticBlockStore", "volumeID"},
      {"secret", "secretName"},
      {"nfs", "path"},
      {"iscsi", "targetPortal"},
      {"glusterfs", "endpoints"},
      {"persistentVolumeClaim", "claimName"},
      {"rbd", "image"},
      {"cinder", "volumeID"},
      {"flexVolume", "driver"},
      {"configMap", "name"},
      {"azureFile", "secretName"},
      {"vsphereVolume", "volumePath"},
      {"photonPersistentDisk", "pdID"},
      {"portworxVolume", "volumeID"},
      {"azureDisk", "diskName"},
      {"scaleIO", "gateway"},
      {"csi", "driver"},
      {"ephemeral", "volumeClaimTemplate"},
  };
  for (const Source& source : sources)
    EXPECT_EQ(sentences(validate_pod(
                  pod("", fmt::format(R"("volumes":[{{"name":"v","{}":{{}}}}])", source.type)))),
              Sentences{fmt::format("spec.volumes[0].{}.{}: Required value", source.type,
                                    source.required)});
  for (const std::string_view type :
       {"emptyDir", "flocker", "cephfs", "fc", "downwardAPI", "storageos", "projected", "image"})
    EXPECT_EQ(sentences(validate_pod(
                  pod("", fmt::format(R"("volumes":[{{"name":"v","{}":{{}}}}])", type)))),
              Sentences{})
        << type;
}

}  // namespace
}  // namespace muster::api
