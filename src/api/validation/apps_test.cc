#include <fmt/format.h>

#include "api/validation/kind_rules_testing.h"
#include "api/validation/object_meta.h"

namespace muster::api {
namespace {

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
           "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not "
           "match template `labels`",
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
          {"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when "
           "maxSurge is 0"}});
  expect({"apps",
          "StatefulSet",
          replicas(R"(,"podManagementPolicy":"Random")"),
          {"spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or "
           "'Parallel'"}});
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

TEST(Apps, StrategiesOfAnotherTypeAreNamed) {
  expect({"apps",
          "Deployment",
          replicas(R"(,"strategy":{"type":"Blue"})"),
          {"spec.strategy: Unsupported value: {\"Type\":\"Blue\",\"RollingUpdate\":null}: "
           "supported values: \"Recreate\", \"RollingUpdate\""}});
  expect({"apps",
          "DaemonSet",
          replicas(R"(,"revisionHistoryLimit":-1,"updateStrategy":{"type":"Blue"})"),
          {"spec.updateStrategy: Unsupported value: {\"Type\":\"Blue\",\"RollingUpdate\":null}: "
           "supported values: \"RollingUpdate\", \"OnDelete\"",
           "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}});
  expect({"apps",
          "StatefulSet",
          replicas(R"(,"updateStrategy":{"type":"Blue","rollingUpdate":{"partition":1}})"),
          {"spec.updateStrategy: Invalid value: "
           "{\"Type\":\"Blue\",\"RollingUpdate\":{\"Partition\":1}}: must be 'RollingUpdate' or "
           "'OnDelete'"}});
}

TEST(Apps, AmountsOfARolloutAreBounded) {
  expect(
      {"apps",
       "Deployment",
       replicas(R"(,"strategy":{"rollingUpdate":{"maxUnavailable":"101%","maxSurge":"200%"}})"),
       {"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"101%\": must not be greater "
        "than 100%"}});
  expect(
      {"apps",
       "DaemonSet",
       replicas(R"(,"updateStrategy":{"rollingUpdate":{"maxUnavailable":1,"maxSurge":"101%"}})"),
       {"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: \"101%\": must not be greater "
        "than 100%",
        "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: \"101%\": may not be set when "
        "maxUnavailable is non-zero"}});
  expect({"apps",
          "StatefulSet",
          replicas(R"(,"updateStrategy":{"rollingUpdate":{"maxUnavailable":0}})"),
          {"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0"}});
}

TEST(Deployment, NumbersHaveBounds) {
  const RuleCase cases[] = {
      {"apps", "Deployment", replicas(R"(,"replicas":0,"minReadySeconds":599)"), {}},
      {"apps",
       "Deployment",
       replicas(R"(,"progressDeadlineSeconds":601,"minReadySeconds":600,"revisionHistoryLimit":0)"),
       {}},
      {"apps",
       "Deployment",
       replicas(R"(,"minReadySeconds":-1,"revisionHistoryLimit":-1,"progressDeadlineSeconds":0)"),
       {"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
        "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}},
      {"apps",
       "Deployment",
       replicas(R"(,"progressDeadlineSeconds":-1)"),
       {"spec.progressDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
        "spec.progressDeadlineSeconds: Invalid value: -1: must be greater than minReadySeconds"}},
      {"apps", "Deployment", replicas(R"(,"strategy":{"type":"Recreate"})"), {}},
      {"apps",
       "Deployment",
       replicas(R"(,"strategy":{"rollingUpdate":{"maxUnavailable":0,"maxSurge":1}})"),
       {}},
      {"apps",
       "Deployment",
       replicas(R"(,"strategy":{"rollingUpdate":{"maxUnavailable":"100%","maxSurge":0}})"),
       {}},
      {"apps",
       "Deployment",
       replicas(R"(,"strategy":{"rollingUpdate":{"maxUnavailable":-1,"maxSurge":"x"}})"),
       {"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: -1: must be greater than or "
        "equal to 0",
        "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"x\": a valid percent string must "
        "be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
        "validation is '[0-9]+%')"}},
      {"apps", "Deployment", replicas(), {}, replicas(R"(,"replicas":3)")},
      {"apps",
       "ReplicaSet",
       replicas(R"(,"replicas":-1,"minReadySeconds":-1)"),
       {"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"}},
  };
  for (const RuleCase& c : cases) expect(c);
}

TEST(Apps, WhatASelectorSelectedStays) {
  const std::string other =
      R"({"spec":{"selector":{"matchLabels":{"app":"web","b":"c"}},"template":{"metadata":{"labels":{"app":"web","b":"c"}},)"
      R"("spec":{"containers":[{"name":"c","image":"i"}]}}}})";
  for (const std::string_view kind : {"Deployment", "ReplicaSet", "DaemonSet"})
    expect({"apps",
            kind,
            other,
            {"spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"web\",\"b\":\"c\"}}: field "
             "is immutable"},
            replicas()});
}

TEST(DaemonSet, RollsOneNodeAtATime) {
  const auto strategy = [](std::string_view rolling) {
    return replicas(fmt::format(R"(,"updateStrategy":{{"rollingUpdate":{{{}}}}})", rolling));
  };
  const RuleCase cases[] = {
      {"apps", "DaemonSet", replicas(R"(,"updateStrategy":{"type":"OnDelete"})"), {}},
      {"apps", "DaemonSet", strategy(R"("maxUnavailable":0,"maxSurge":1)"), {}},
      {"apps", "DaemonSet", strategy(R"("maxUnavailable":"100%")"), {}},
      {"apps",
       "DaemonSet",
       strategy(R"("maxUnavailable":"101%")"),
       {"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: \"101%\": must not be "
        "greater than 100%"}},
      {"apps",
       "DaemonSet",
       replicas(R"(,"minReadySeconds":-1)"),
       {"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"}},
  };
  for (const RuleCase& c : cases) expect(c);
  const Json set = prepared(*find_kind("apps", "DaemonSet"), replicas());
  EXPECT_EQ(to_text(*find_path(set, "spec.updateStrategy.rollingUpdate")),
            R"({"maxUnavailable":1,"maxSurge":0})");
  const Json on_delete = prepared(*find_kind("apps", "DaemonSet"),
                                  replicas(R"(,"updateStrategy":{"type":"OnDelete"})"));
  EXPECT_EQ(find_path(on_delete, "spec.updateStrategy.rollingUpdate"), nullptr);
  const Json recreated =
      prepared(*find_kind("apps", "Deployment"), replicas(R"(,"strategy":{"type":"Recreate"})"));
  EXPECT_EQ(find_path(recreated, "spec.strategy.rollingUpdate"), nullptr);
}

TEST(Apps, SelectorsAreWantedInDifferentWords) {
  const std::string bare = R"({"spec":{)" + pod_template() + "}}";
  const std::string mismatch =
      "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match "
      "template `labels`";
  expect({"apps", "ReplicaSet", bare, {"spec.selector: Required value", mismatch}});
  expect({"apps", "StatefulSet", bare, {"spec.selector: Required value", mismatch}});
  expect({"apps", "DaemonSet", bare, {mismatch}});
  const std::string empty = R"({"spec":{"selector":{},)" + pod_template() + "}}";
  // Upstream says deployment of a ReplicaSet, too.
  for (const auto& [kind, noun] :
       {std::pair{"Deployment", "deployment"}, std::pair{"ReplicaSet", "deployment"},
        std::pair{"DaemonSet", "daemonset"}, std::pair{"StatefulSet", "statefulset"}})
    expect({"apps",
            kind,
            empty,
            {fmt::format("spec.selector: Invalid value: {{}}: empty selector is invalid for {}",
                         noun)}});
  expect(
      {"apps",
       "Deployment",
       R"({"spec":{"selector":{"matchExpressions":[{"key":"app","operator":"Near"}]},)" +
           pod_template(R"(,"restartPolicy":"Never")") + "}}",
       {"spec.selector.matchExpressions[0].operator: Invalid value: \"Near\": not a valid selector "
        "operator",
        "spec.selector: Invalid value: {\"matchExpressions\":[{\"key\":\"app\",\"operator\":"
        "\"Near\"}]}: invalid label selector"}});
}

// A StatefulSet whose container mounts volume "data", with these volumes and claims.
std::string stateful_set(std::string_view pod, std::string_view members) {
  return fmt::format(
      R"({{"metadata":{{"name":"x"}},"spec":{{"selector":{{"matchLabels":{{"app":"web"}}}},)"
      R"("template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"c",)"
      R"("image":"i","volumeMounts":[{{"name":"data","mountPath":"/d"}}]}}]{}}}}}{}}}}})",
      pod, members);
}

TEST(StatefulSet, ClaimsAreVolumesOfItsPods) {
  constexpr std::string_view kClaim =
      R"(,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],)"
      R"("resources":{"requests":{"storage":"1Gi"}}}}])";
  expect({"apps", "StatefulSet", stateful_set("", kClaim), {}});
  // What the controller puts in its place is not judged.
  expect({"apps",
          "StatefulSet",
          stateful_set(R"(,"hostname":"-","subdomain":"-","volumes":[{"name":"data"}])", kClaim),
          {}});
  expect({"apps",
          "StatefulSet",
          stateful_set("", ""),
          {"spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"data\""}});
  expect(
      {"apps",
       "StatefulSet",
       stateful_set("", R"(,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}])"),
       {"spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is "
        "required",
        "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value"}});
}

TEST(StatefulSet, NamesBecomePartsOfHostNames) {
  expect({"apps",
          "StatefulSet",
          replicas(R"(,"serviceName":"-a","ordinals":{"start":-1},"revisionHistoryLimit":-1)"),
          {"spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0",
           "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
           "spec.serviceName: Invalid value: \"-a\": " + kBadLabel}});
  EXPECT_EQ(meta_rules(*find_kind("apps", "StatefulSet")).name, NameRule::DnsLabel);
  EXPECT_EQ(meta_rules(*find_kind("apps", "Deployment")).name, NameRule::DnsSubdomain);
}

TEST(StatefulSet, PoliciesAreOfClosedSets) {
  const std::string unavailable =
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: ";
  const RuleCase cases[] = {
      {"apps", "StatefulSet", replicas(R"(,"podManagementPolicy":"Parallel")"), {}},
      {"apps", "StatefulSet", replicas(R"(,"updateStrategy":{"type":"OnDelete"})"), {}},
      {"apps",
       "StatefulSet",
       replicas(R"(,"updateStrategy":{"type":"OnDelete","rollingUpdate":{"partition":1}})"),
       {"spec.updateStrategy.rollingUpdate: Invalid value: {\"partition\":1}: only allowed for "
        "updateStrategy 'RollingUpdate'"}},
      {"apps",
       "StatefulSet",
       replicas(R"(,"updateStrategy":{"rollingUpdate":{"partition":-1,"maxUnavailable":"101%"}})"),
       {"spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or "
        "equal to 0",
        unavailable + "\"101%\": must not be greater than 100%"}},
      {"apps",
       "StatefulSet",
       replicas(R"(,"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}})"),
       {}},
      {"apps",
       "StatefulSet",
       replicas(
           R"(,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Keep"})"),
       {"spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: \"Keep\": "
        "supported values: \"Retain\", \"Delete\""}},
      {"apps",
       "StatefulSet",
       replicas(R"(,"replicas":-1,"minReadySeconds":-1)"),
       {"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"}},
      {"apps",
       "StatefulSet",
       replicas(
           R"(,"replicas":2,"ordinals":{"start":1},"minReadySeconds":1,"revisionHistoryLimit":1,
                   "updateStrategy":{"type":"OnDelete"},
                   "persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Delete"})"),
       {},
       replicas()},
  };
  for (const RuleCase& c : cases) expect(c);
  const Json set = prepared(*find_kind("apps", "StatefulSet"), replicas());
  EXPECT_EQ(to_text(*find_path(set, "spec.updateStrategy")),
            R"({"type":"RollingUpdate","rollingUpdate":{"partition":0}})");
}

TEST(ControllerRevision, StaysAsItIs) {
  expect({"apps", "ControllerRevision", R"({"data":{"a":1},"revision":0})", {}});
  expect({"apps",
          "ControllerRevision",
          R"({"data":{"a":1},"revision":2})",
          {},
          R"({"data":{"a":1},"revision":1})"});
  expect({"apps",
          "ControllerRevision",
          R"({"data":{"a":2},"revision":1})",
          {"data: Invalid value: {\"a\":2}: field is immutable"},
          R"({"data":{"a":1},"revision":1})"});
}

TEST(ReplicationController, IsLabelledAsItsPods) {
  const Kind& kind = *find_kind("", "ReplicationController");
  const Json made = prepared(kind, R"({"spec":{)" + pod_template() + "}}");
  EXPECT_EQ(to_text(*find_path(made, "spec.selector")), R"({"app":"web"})");
  EXPECT_EQ(to_text(*find_path(made, "metadata.labels")), R"({"app":"web"})");
  const Json own =
      prepared(kind, R"({"metadata":{"labels":{"a":"b"}},"spec":{"selector":{"app":"web"},)" +
                         pod_template() + "}}");
  EXPECT_EQ(to_text(*find_path(own, "metadata.labels")), R"({"a":"b"})");
  expect(
      {"",
       "ReplicationController",
       R"({"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})",
       {"spec.selector: Required value",
        "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: "
        "\"Always\""}});
}

TEST(ReplicationController, IsJudgedAsUpstreamDoes) {
  expect({"",
          "ReplicationController",
          R"({"spec":{"replicas":-1,"minReadySeconds":-1,"selector":{"app":"other"},)" +
              pod_template(R"(,"activeDeadlineSeconds":5)") + "}}",
          {"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
           "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
           "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not "
           "match template `labels`",
           "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in "
           "ReplicationController is not Supported"}});
}

}  // namespace
}  // namespace muster::api
