#include <fmt/format.h>

#include "api/validation/kind_rules_testing.h"

// Drivers, attachments, classes, and what volumes may not change.
namespace muster::api {
namespace {

constexpr std::string_view kStorage = "storage.k8s.io";

TEST(CsiDriver, TokensLastFromTenMinutesOn) {
  const auto driver = [](std::string_view seconds) {
    return fmt::format(
        R"({{"spec":{{"tokenRequests":[{{"audience":"a","expirationSeconds":{}}}]}}}})", seconds);
  };
  const std::string at = "spec.tokenRequests[0].expirationSeconds: Invalid value: ";
  expect({kStorage, "CSIDriver", driver("600"), {}});
  expect({kStorage,
          "CSIDriver",
          driver("599"),
          {at + "599: may not specify a duration less than 10 minutes"}});
  expect({kStorage, "CSIDriver", driver("4294967296"), {}});
  expect({kStorage,
          "CSIDriver",
          driver("4294967297"),
          {at + "4294967297: may not specify a duration larger than 2^32 seconds"}});
  expect({kStorage,
          "CSIDriver",
          R"({"spec":{"fsGroupPolicy":"File","volumeLifecycleModes":["Ephemeral","Persistent"]}})",
          {}});
  const Json made = prepared(*find_kind(kStorage, "CSIDriver"), R"({"spec":{}})");
  EXPECT_EQ(to_text(*find_path(made, "spec.volumeLifecycleModes")), R"(["Persistent"])");
  const Json kept = prepared(*find_kind(kStorage, "CSIDriver"),
                             R"({"spec":{"volumeLifecycleModes":["Ephemeral"]}})");
  EXPECT_EQ(to_text(*find_path(kept, "spec.volumeLifecycleModes")), R"(["Ephemeral"])");
}

TEST(CsiNode, DriversAreNamedOnce) {
  const auto node = [](std::string_view driver) {
    return fmt::format(R"({{"spec":{{"drivers":[{}]}}}})", driver);
  };
  const std::string label = std::string(64, 'a');
  expect(
      {kStorage,
       "CSINode",
       node(fmt::format(
           R"({{"name":"D.e","nodeID":"{}","topologyKeys":["a","b/c"],"allocatable":{{"count":0}}}})",
           std::string(256, 'n'))),
       {}});
  expect({kStorage,
          "CSINode",
          node(fmt::format(R"({{"name":"d","nodeID":"{}"}})", std::string(257, 'n'))),
          {fmt::format("spec.drivers[0].nodeID: Invalid value: \"{}\": must be 256 characters or "
                       "less",
                       std::string(257, 'n'))}});
  expect(
      {kStorage,
       "CSINode",
       node(
           R"({"name":"d","nodeID":"n","allocatable":{"count":-1},"topologyKeys":["a","a","-",""]})"),
       {R"(spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0)",
        "spec.drivers[0]: Duplicate value: \"a\"",
        "spec.drivers[0]: Invalid value: \"-\": " + kBadNamePart, "spec.drivers[0]: Required value",
        "spec.drivers[0]: Invalid value: \"\": name part must be non-empty",
        "spec.drivers[0]: Invalid value: \"\": " + kBadNamePart}});
  expect({kStorage,
          "CSINode",
          node(fmt::format(R"({{"nodeID":"n"}},{{"name":"{}","nodeID":"n"}})", label)),
          {"spec.drivers[0].name: Required value",
           "spec.drivers[0].name: Invalid value: \"\": " + kBadSubdomain,
           "spec.drivers[1].name: Too long: may not be more than 63 bytes"}});
  expect({kStorage,
          "CSINode",
          node(R"({"name":"d","nodeID":"n"},{"name":"e","nodeID":"n"})"),
          {},
          node(R"({"name":"d","nodeID":"n"})")});
  expect({kStorage,
          "CSINode",
          node(R"({"name":"d","nodeID":"n","topologyKeys":["a"]})"),
          {"CSINodeDriver: Invalid value: "
           "{\"name\":\"d\",\"nodeID\":\"n\",\"topologyKeys\":[\"a\"]}: field is immutable"},
          node(R"({"name":"d","nodeID":"n"})")});
}

TEST(CsiStorageCapacity, IsOfAClassAndAPlace) {
  const std::string fine =
      R"({"storageClassName":"c","nodeTopology":{"matchLabels":{"a":"b"}},"capacity":"1Gi","maximumVolumeSize":"0"})";
  expect({kStorage, "CSIStorageCapacity", fine, {}, fine});
  expect(
      {kStorage,
       "CSIStorageCapacity",
       R"({"storageClassName":"C","nodeTopology":{"matchLabels":{"-":"b"}},"capacity":"-1","maximumVolumeSize":"-2"})",
       {"nodeTopology.matchLabels: Invalid value: \"-\": " + kBadNamePart,
        "storageClassName: Invalid value: \"C\": " + kBadSubdomain,
        "capacity: Invalid value: \"-1\": must be greater than or equal to 0",
        "maximumVolumeSize: Invalid value: \"-2\": must be greater than or equal to 0"}});
  expect({kStorage,
          "CSIStorageCapacity",
          R"({"storageClassName":"d","capacity":"2Gi"})",
          {"nodeTopology: Invalid value: null: field is immutable",
           "storageClassName: Invalid value: \"d\": field is immutable"},
          fine});
}

TEST(VolumeAttachment, HasOneSource) {
  const auto attachment = [](std::string_view source) {
    return fmt::format(R"({{"spec":{{"attacher":"a","nodeName":"n","source":{{{}}}}}}})", source);
  };
  const std::string one_of =
      "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  constexpr std::string_view kInline =
      R"("inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1"}})";
  expect({kStorage, "VolumeAttachment", attachment(R"("persistentVolumeName":"v")"), {}});
  expect({kStorage, "VolumeAttachment", attachment(kInline), {}});
  expect({kStorage,
          "VolumeAttachment",
          attachment(std::string(kInline) + R"(,"persistentVolumeName":"v")"),
          {"spec.source: Forbidden: " + one_of}});
  expect({kStorage,
          "VolumeAttachment",
          attachment(R"("persistentVolumeName":"")"),
          {"spec.source.persistentVolumeName: Required value: must specify non empty "
           "persistentVolumeName",
           "spec.source.persistentVolumeName: Invalid value: \"\": " + kBadSubdomain}});
  expect({kStorage,
          "VolumeAttachment",
          R"({"spec":{"nodeName":"N","source":{"persistentVolumeName":"V"}}})",
          {"spec.attacher: Required value", "spec.nodeName: Invalid value: \"N\": " + kBadSubdomain,
           "spec.attacher: Required value", "spec.attacher: Invalid value: \"\": " + kBadSubdomain,
           "spec.source.persistentVolumeName: Invalid value: \"V\": " + kBadSubdomain}});
  expect({kStorage,
          "VolumeAttachment",
          attachment(R"("persistentVolumeName":"w")"),
          {"spec: Invalid value: {\"attacher\":\"a\",\"nodeName\":\"n\",\"source\":"
           "{\"persistentVolumeName\":\"w\"}}: field is immutable"},
          attachment(R"("persistentVolumeName":"v")")});
}

TEST(VolumeAttributesClass, StaysAsItIs) {
  const std::string fine = R"({"driverName":"d","parameters":{"a":"1"}})";
  expect({kStorage, "VolumeAttributesClass", fine, {}, fine});
  expect({kStorage,
          "VolumeAttributesClass",
          R"({"driverName":"e","parameters":{"a":"2"}})",
          {"driverName: Forbidden: updates to driverName are forbidden.",
           "parameters: Forbidden: updates to parameters are forbidden."},
          fine});
  expect({kStorage,
          "VolumeAttributesClass",
          R"({"parameters":{"a":"2"}})",
          {"driverName: Required value"}});
}

TEST(StorageClass, ParametersAreFewAndShort) {
  const auto with = [](std::size_t count, std::size_t bytes) {
    std::string parameters = fmt::format(R"("{}":"")", std::string(bytes, 'x'));
    for (std::size_t i = 1; i < count; ++i) parameters += fmt::format(R"(,"{}":"")", i);
    return fmt::format(R"({{"provisioner":"p","parameters":{{{}}}}})", parameters);
  };
  expect({kStorage, "StorageClass", with(512, 1), {}});
  expect({kStorage,
          "StorageClass",
          with(513, 1),
          {"parameters: Too long: may not be more than 512 bytes"}});
  expect({kStorage, "StorageClass", with(1, std::size_t{256} * 1024), {}});
  expect({kStorage,
          "StorageClass",
          with(1, std::size_t{256} * 1024 + 1),
          {"parameters: Too long: may not be more than 262144 bytes"}});
  expect({kStorage,
          "StorageClass",
          R"({"provisioner":"p","parameters":{"":"v"}})",
          {"parameters: Invalid value: \"\": field can not be empty."}});
}

// A volume with these members.
std::string volume(std::string_view more) {
  return fmt::format(
      R"({{"spec":{{"accessModes":["ReadWriteOnce"],"capacity":{{"storage":"1Gi"}}{}}}}})", more);
}

TEST(PersistentVolume, OfDriversAndClassesIsWellFormed) {
  const RuleCase cases[] = {
      {"", "PersistentVolume", volume(R"(,"csi":{"driver":"d","volumeHandle":"h"})"), {}},
      {"",
       "PersistentVolume",
       volume(R"(,"csi":{"driver":"","volumeHandle":""})"),
       {"spec.csi.driver: Required value", "spec.csi.driver: Invalid value: \"\": " + kBadSubdomain,
        "spec.csi.volumeHandle: Required value"}},
      {"",
       "PersistentVolume",
       volume(R"(,"csi":{"driver":"d","volumeHandle":"h"},"volumeAttributesClassName":"c")"),
       {}},
      {"",
       "PersistentVolume",
       volume(R"(,"hostPath":{"path":"/d"},"volumeAttributesClassName":"C")"),
       {"spec.volumeAttributesClassName: Invalid value: \"C\": " + kBadSubdomain,
        "spec.csi: Required value: has to be specified when using volumeAttributesClassName"}},
      {"",
       "PersistentVolume",
       volume(R"(,"csi":{"driver":"d","volumeHandle":"h"},"volumeAttributesClassName":"")"),
       {"spec.volumeAttributesClassName: Required value: an empty string is disallowed"}},
      {"",
       "PersistentVolume",
       volume(
           R"(,"hostPath":{"path":"/d"},"storageClassName":"C","volumeMode":"Tape","nodeAffinity":{})"),
       {"spec.nodeAffinity.required: Required value: must specify required node constraints",
        "spec.storageClassName: Invalid value: \"C\": " + kBadSubdomain,
        "spec.volumeMode: Unsupported value: \"Tape\": supported values: \"Block\", "
        "\"Filesystem\""}},
      {"",
       "PersistentVolume",
       R"({"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"0","gold":"1"},"hostPath":{"path":"/d"}}})",
       {"spec.capacity: Unsupported value: {\"storage\":\"0\",\"gold\":\"1\"}: supported values: "
        "\"storage\"",
        "spec.capacity[storage]: Invalid value: \"0\": must be greater than zero"}},
      {"",
       "PersistentVolume",
       R"({"spec":{"accessModes":["ReadOnlyMany","ReadWriteMany"],"capacity":{"storage":"1"},"hostPath":{"path":"/"},
           "persistentVolumeReclaimPolicy":"Retain"}})",
       {}},
  };
  for (const RuleCase& c : cases) expect(c);
}

TEST(PersistentVolume, ItsPlaceStays) {
  const auto at = [](std::string_view key) {
    return volume(fmt::format(
        R"(,"hostPath":{{"path":"/d"}},"nodeAffinity":{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[
        {{"key":"{}","operator":"Exists"}}]}}]}}}})",
        key));
  };
  const std::string nowhere = volume(R"(,"hostPath":{"path":"/d"})");
  expect({"", "PersistentVolume", at("k"), {}, at("k")});
  expect({"", "PersistentVolume", at("k"), {}, nowhere});
  expect({"",
          "PersistentVolume",
          nowhere,
          {"nodeAffinity: Invalid value: null: field is immutable, except for updating from beta "
           "label to GA"},
          at("k")});
  const std::string driver = R"(,"csi":{"driver":"d","volumeHandle":"h"})";
  expect({"",
          "PersistentVolume",
          volume(driver),
          {"spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is "
           "forbidden"},
          volume(driver + R"(,"volumeAttributesClassName":"c")")});
  expect({"",
          "PersistentVolume",
          volume(driver + R"(,"volumeAttributesClassName":"d")"),
          {},
          volume(driver + R"(,"volumeAttributesClassName":"c")")});
}

TEST(PersistentVolumeClaim, SourcesAreNamedAndClassesMayChange) {
  const auto claim = [](std::string_view more) {
    return fmt::format(
        R"({{"spec":{{"accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"1Gi"}}}}{}}}}})",
        more);
  };
  expect(
      {"",
       "PersistentVolumeClaim",
       claim(
           R"(,"dataSource":{"apiGroup":"g","kind":"K","name":"n"},"selector":{"matchLabels":{"a":"b"}})"),
       {}});
  expect(
      {"",
       "PersistentVolumeClaim",
       claim(
           R"(,"dataSource":{"kind":"PersistentVolumeClaim","name":"n"},"dataSourceRef":{"apiGroup":"G","kind":"","name":""})"),
       {"spec.dataSourceRef.name: Required value", "spec.dataSourceRef.kind: Required value",
        "spec.dataSourceRef.apiGroup: Invalid value: \"G\": " + kBadSubdomain}});
  const std::string gold = claim(R"(,"volumeAttributesClassName":"gold")");
  expect({"", "PersistentVolumeClaim", claim(R"(,"volumeAttributesClassName":"tin")"), {}, gold});
  expect(
      {"",
       "PersistentVolumeClaim",
       claim(R"(,"volumeAttributesClassName":"")"),
       {"spec.volumeAttributesClassName: Forbidden: update from non-nil value to an empty string "
        "is forbidden"},
       gold});
  expect({"",
          "PersistentVolumeClaim",
          claim(R"(,"volumeAttributesClassName":"")"),
          {},
          claim(R"(,"volumeAttributesClassName":"")")});
}

}  // namespace
}  // namespace muster::api
