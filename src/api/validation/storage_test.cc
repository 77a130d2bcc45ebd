#include <fmt/format.h>

#include "api/validation/kind_rules_testing.h"

namespace muster::api {
namespace {

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
          {"spec.accessModes: Required value", "spec.capacity: Required value",
           "spec.capacity: Unsupported value: null: supported values: \"storage\"",
           "spec: Required value: must specify a volume type"}});
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

std::string claim(std::string_view size, std::string_view more = "", std::string_view phase = "") {
  return fmt::format(
      R"({{"spec":{{"accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"{}"}}}}{}}},)"
      R"("status":{{"phase":"{}","capacity":{{"storage":"1Gi"}}}}}})",
      size, more, phase.empty() ? "Pending" : phase);
}

constexpr std::string_view kClaimStays =
    "spec: Forbidden: spec is immutable after creation except resources.requests and "
    "volumeAttributesClassName for bound claims";

TEST(PersistentVolumeClaim, IsJudgedAsUpstreamDoes) {
  const RuleCase cases[] = {
      {"",
       "PersistentVolumeClaim",
       claim("0"),
       {"spec.resources[storage]: Invalid value: \"0\": must be greater than zero"}},
      {"",
       "PersistentVolumeClaim",
       claim("1Gi", R"(,"volumeMode":"Tape","storageClassName":"A")"),
       {"spec.storageClassName: Invalid value: \"A\": " + kBadSubdomain,
        "spec.volumeMode: Unsupported value: \"Tape\": supported values: \"Block\", "
        "\"Filesystem\""}},
      {"",
       "PersistentVolumeClaim",
       claim("1Gi", R"(,"dataSource":{"kind":"Snapshot","name":"s"})"),
       {"spec.dataSource: Invalid value: \"Snapshot\": must be 'PersistentVolumeClaim' when "
        "referencing the default apiGroup"}},
  };
  for (const RuleCase& c : cases) expect(c);
  expect(
      {"",
       "PersistentVolumeClaim",
       R"({"spec":{"accessModes":["ReadWriteOncePod","ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}})",
       {"spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"}});
}

TEST(PersistentVolumeClaim, GrowsOnceItIsBound) {
  const std::string stays(kClaimStays);
  const RuleCase cases[] = {
      {"", "PersistentVolumeClaim", claim("2Gi"), {stays}, claim("1Gi")},
      {"", "PersistentVolumeClaim", claim("2Gi", "", "Bound"), {}, claim("1Gi", "", "Bound")},
      // Less than was asked for, but not less than there is.
      {"", "PersistentVolumeClaim", claim("2Gi", "", "Bound"), {}, claim("3Gi", "", "Bound")},
      {"",
       "PersistentVolumeClaim",
       claim("1Gi", "", "Bound"),
       {"spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"},
       claim("3Gi", "", "Bound")},
      {"", "PersistentVolumeClaim", claim("1Gi", R"(,"volumeName":"v")"), {}, claim("1Gi")},
      {"",
       "PersistentVolumeClaim",
       claim("1Gi", R"(,"volumeName":"w")"),
       {stays},
       claim("1Gi", R"(,"volumeName":"v")")},
      {"", "PersistentVolumeClaim", claim("1Gi", R"(,"storageClassName":"a")"), {}, claim("1Gi")},
      {"",
       "PersistentVolumeClaim",
       claim("1Gi", R"(,"volumeMode":"Block")"),
       {stays, "volumeMode: Invalid value: \"Block\": field is immutable"},
       claim("1Gi")},
      {"",
       "PersistentVolumeClaim",
       claim("1Gi"),
       {"spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"},
       claim("1Gi", R"(,"volumeAttributesClassName":"a")")},
  };
  for (const RuleCase& c : cases) expect(c);
}

std::string volume(std::string_view more) {
  return fmt::format(
      R"({{"spec":{{"accessModes":["ReadWriteOnce"],"capacity":{{"storage":"1Gi"}}{}}}}})", more);
}

TEST(PersistentVolume, IsJudgedAsUpstreamDoes) {
  constexpr std::string_view kHere =
      R"(,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"Exists"}]}]}})";
  const std::string local = volume(std::string(R"(,"local":{"path":"/d"})").append(kHere));
  const RuleCase cases[] = {
      {"", "PersistentVolume", local, {}},
      {"",
       "PersistentVolume",
       volume(R"(,"local":{"path":"/d"})"),
       {"spec.nodeAffinity: Required value: Local volume requires node affinity"}},
      {"",
       "PersistentVolume",
       volume(R"(,"hostPath":{"path":"/d"},"nfs":{"server":"s","path":"/"})"),
       {"spec.nfs: Forbidden: may not specify more than 1 volume type"}},
      {"", "PersistentVolume", volume(R"(,"hostPath":{})"), {"spec.hostPath.path: Required value"}},
      {"",
       "PersistentVolume",
       volume(R"(,"rbd":{"monitors":[],"image":"i"})"),
       {"spec.rbd.monitors: Required value"}},
      {"",
       "PersistentVolume",
       volume(R"(,"hostPath":{"path":"/"},"persistentVolumeReclaimPolicy":"Recycle")"),
       {"spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount "
        "of "
        "'/'"}},
      {"",
       "PersistentVolume",
       volume(R"(,"hostPath":{"path":"/d"},"persistentVolumeReclaimPolicy":"Keep")"),
       {"spec.persistentVolumeReclaimPolicy: Unsupported value: \"Keep\": supported values: "
        "\"Delete\", \"Recycle\", \"Retain\""}},
      {"",
       "PersistentVolume",
       R"({"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"-1"},"hostPath":{"path":"/d"}}})",
       {"spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
        "spec.capacity[storage]: Invalid value: \"-1\": must be greater than zero"}},
      {"",
       "PersistentVolume",
       volume(R"(,"hostPath":{"path":"/e"},"volumeMode":"Block")"),
       {"spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
        "creation",
        "volumeMode: Invalid value: \"Block\": field is immutable"},
       volume(R"(,"hostPath":{"path":"/d"})")},
  };
  for (const RuleCase& c : cases) expect(c);
}

TEST(StorageClass, SaysWhoProvides) {
  expect({"storage.k8s.io",
          "StorageClass",
          R"({"reclaimPolicy":"Recycle","volumeBindingMode":"Later"})",
          {"provisioner: Required value",
           "reclaimPolicy: Unsupported value: \"Recycle\": supported values: \"Delete\", "
           "\"Retain\"",
           "volumeBindingMode: Unsupported value: \"Later\": supported values: \"Immediate\", "
           "\"WaitForFirstConsumer\""}});
  expect({"storage.k8s.io",
          "StorageClass",
          R"({"provisioner":"A B"})",
          {"provisioner: Invalid value: \"a b\": " + kBadNamePart}});
  expect({"storage.k8s.io",
          "StorageClass",
          R"({"provisioner":"p","parameters":{"a":"2"},"reclaimPolicy":"Retain"})",
          {"parameters: Forbidden: updates to parameters are forbidden.",
           "reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden."},
          R"({"provisioner":"p","parameters":{"a":"1"}})"});
  expect({"storage.k8s.io",
          "VolumeAttributesClass",
          R"({"driverName":"d"})",
          {"parameters: Required value: must contain at least one key/value pair"}});
}

TEST(StorageDrivers, AreJudgedAsUpstreamDoes) {
  expect(
      {"storage.k8s.io",
       "CSIDriver",
       R"({"spec":{"fsGroupPolicy":"Odd","volumeLifecycleModes":["Odd"],"tokenRequests":[{"audience":"a","expirationSeconds":1},{"audience":"a"}]}})",
       {"spec.fsGroupPolicy: Unsupported value: \"Odd\": supported values: \"File\", \"None\", "
        "\"ReadWriteOnceWithFSType\"",
        "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration "
        "less "
        "than 10 minutes",
        "spec.tokenRequests[1].audience: Duplicate value: \"a\"",
        "spec.volumeLifecycleModes: Unsupported value: \"Odd\": supported values: \"Persistent\", "
        "\"Ephemeral\""}});
  expect({"storage.k8s.io",
          "CSIDriver",
          R"({"spec":{"attachRequired":false,"podInfoOnMount":true}})",
          {"spec.attachedRequired: Invalid value: false: field is immutable"},
          R"({"spec":{}})"});
  const std::string changed =
      R"({"spec":{"drivers":[{"name":"d","nodeID":"m","allocatable":{"count":2}}]}})";
  expect({"storage.k8s.io",
          "CSINode",
          changed,
          {"CSINodeDriver: Invalid value: {\"name\":\"d\",\"nodeID\":\"m\",\"allocatable\":"
           "{\"count\":2}}: field is immutable"},
          R"({"spec":{"drivers":[{"name":"d","nodeID":"n"}]}})"});
  expect({"storage.k8s.io",
          "CSINode",
          changed,
          {},
          R"({"spec":{"drivers":[{"name":"d","nodeID":"m"}]}})"});
  expect({"storage.k8s.io",
          "VolumeAttachment",
          R"({"spec":{"attacher":"a","nodeName":"","source":{"persistentVolumeName":"v"}}})",
          {"spec.nodeName: Invalid value: \"\": " + kBadSubdomain}});
}

}  // namespace
}  // namespace muster::api
