#include "api/validation/pod.h"
#include "api/validation/validation_testing.h"

namespace muster::api {
namespace {

const std::string kRule =
    "spec: Forbidden: pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

Json pod(std::string_view spec) {
  return document(
      fmt::format(R"({{"metadata":{{"name":"p","namespace":"n","uid":"u"}},"spec":{}}})", spec));
}

struct Case {
  std::string name;
  std::string old;
  std::string now;  // edits of the old spec
  Sentences want;
};

TEST(PodUpdate, OnlyAFewFieldsMayChange) {
  const std::string plain = R"({"containers":[{"name":"c","image":"i"}]})";
  const std::string gated =
      R"({"containers":[{"name":"c","image":"i"}],"schedulingGates":[{"name":"x/a"},{"name":"x/b"}],
          "nodeSelector":{"a":"1"}})";
  const std::string tolerant =
      R"({"containers":[{"name":"c","image":"i"}],"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}]})";
  const Case cases[] = {
      {"nothing", plain, "{}", {}},
      {"empty is absent",
       plain,
       R"({"tolerations":[],"nodeSelector":{},"hostNetwork":false,"hostname":""})",
       {}},
      {"image", plain, R"({"containers":[{"name":"c","image":"j"}]})", {}},
      {"no image",
       plain,
       R"({"containers":[{"name":"c","image":""}]})",
       {"spec.containers[0].image: Required value"}},
      {"another container",
       plain,
       R"({"containers":[{"name":"c","image":"i"},{"name":"d","image":"i"}]})",
       {"spec.containers: Forbidden: pod updates may not add or remove containers"}},
      {"command",
       plain,
       R"({"containers":[{"name":"c","image":"i","command":["x"]}]})",
       {kRule + "\n- containers: [{\"name\":\"c\",\"image\":\"i\",\"resources\":{}}]" +
        "\n+ containers: [{\"name\":\"c\",\"image\":\"i\",\"command\":[\"x\"],\"resources\":{}}]"}},
      {"node name", plain, R"({"nodeName":"n1"})", {kRule + "\n+ nodeName: \"n1\""}},
      {"group",
       plain,
       R"({"schedulingGroup":{"podGroupName":"g"}})",
       {kRule + "\n+ schedulingGroup: {\"podGroupName\":\"g\"}"}},
      {"deadline set", plain, R"({"activeDeadlineSeconds":5})", {}},
      {"deadline later",
       R"({"containers":[{"name":"c","image":"i"}],"activeDeadlineSeconds":5})",
       R"({"activeDeadlineSeconds":6})",
       {"spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous "
        "value"}},
      {"deadline dropped",
       R"({"containers":[{"name":"c","image":"i"}],"activeDeadlineSeconds":5})",
       R"({"activeDeadlineSeconds":null})",
       {"spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer "
        "to nil "
        "value"}},
      {"grace healed",
       R"({"containers":[{"name":"c","image":"i"}],"terminationGracePeriodSeconds":-1})",
       R"({"terminationGracePeriodSeconds":1})",
       {}},
      {"grace changed",
       R"({"containers":[{"name":"c","image":"i"}],"terminationGracePeriodSeconds":30})",
       R"({"terminationGracePeriodSeconds":1})",
       {kRule + "\n- terminationGracePeriodSeconds: 30\n+ terminationGracePeriodSeconds: 1"}},
      {"toleration added", plain, R"({"tolerations":[{"operator":"Exists"}]})", {}},
      {"toleration seconds",
       tolerant,
       R"({"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":9}]})",
       {}},
      {"toleration removed",
       tolerant,
       R"({"tolerations":[]})",
       {"spec.tolerations: Forbidden: existing toleration can not be modified except its "
        "tolerationSeconds"}},
      {"gate removed", gated, R"({"schedulingGates":[{"name":"x/b"}]})", {}},
      {"gates gone", gated, R"({"schedulingGates":[]})", {}},
      {"gate added",
       plain,
       R"({"schedulingGates":[{"name":"x/c"}]})",
       {"spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "
        "scheduling gate "
        "'x/c'"}},
      {"gate replaced",
       gated,
       R"({"schedulingGates":[{"name":"x/b"},{"name":"x/c"}]})",
       {"spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new "
        "scheduling gate "
        "'x/c'"}},
      {"gated node selector grows", gated, R"({"nodeSelector":{"a":"1","b":"2"}})", {}},
      {"gated node selector changes",
       gated,
       R"({"nodeSelector":{"a":"2"}})",
       {"spec.nodeSelector: Invalid value: {\"a\":\"2\"}: only additions to spec.nodeSelector are "
        "allowed "
        "(no mutations or deletions)"}},
      {"free node selector grows",
       plain,
       R"({"nodeSelector":{"b":"2"}})",
       {kRule + "\n+ nodeSelector: {\"b\":\"2\"}"}},
  };
  for (const Case& c : cases) {
    const Json old = pod(c.old);
    EXPECT_EQ(sentences(validate_pod_update(edited(old, "spec", c.now), old)), c.want) << c.name;
  }
}

TEST(PodUpdate, AGatedPodMayNarrowItsNodeAffinity) {
  const auto with_terms = [](std::string_view terms) {
    return pod(fmt::format(
        R"({{"containers":[{{"name":"c","image":"i"}}],"schedulingGates":[{{"name":"x/a"}}],"affinity":{{"nodeAffinity":
            {{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":{}}}}}}}}})",
        terms));
  };
  const std::string path =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const std::string first = R"({"key":"a","operator":"Exists"})";
  const std::string second = R"({"key":"b","operator":"Exists"})";
  const Json bare =
      pod(R"({"containers":[{"name":"c","image":"i"}],"schedulingGates":[{"name":"x/a"}]})");
  const Json one = with_terms("[{\"matchExpressions\":[" + first + "]}]");
  const Json narrowed = with_terms("[{\"matchExpressions\":[" + first + "," + second + "]}]");
  const Json changed = with_terms("[{\"matchExpressions\":[" + second + "]}]");
  const Json more = with_terms("[{\"matchExpressions\":[" + first + "]},{}]");
  EXPECT_EQ(sentences(validate_pod_update(one, bare)), Sentences{});
  EXPECT_EQ(sentences(validate_pod_update(narrowed, one)), Sentences{});
  EXPECT_EQ(sentences(validate_pod_update(changed, one)),
            Sentences{path + "[0]: Invalid value: {\"matchExpressions\":[" + second +
                      "]}: only additions are allowed (no mutations or deletions)"});
  EXPECT_EQ(
      sentences(validate_pod_update(more, one)),
      Sentences{path + ": Invalid value: [{\"matchExpressions\":[" + first +
                "]},{}]: no additions/deletions to non-empty NodeSelectorTerms list are allowed"});
}

// A term without requirements matches no node; with requirements it would match some.
TEST(PodUpdate, ATermThatMatchesNothingGoesOnMatchingNothing) {
  const auto with_terms = [](std::string_view first, std::string_view second) {
    return pod(fmt::format(
        R"({{"containers":[{{"name":"c","image":"i"}}],"schedulingGates":[{{"name":"x/a"}}],"affinity":{{"nodeAffinity":
            {{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[{},{}]}}}}}}}})",
        first, second));
  };
  const std::string a = R"({"key":"a","operator":"Exists"})";
  const std::string b = R"({"key":"b","operator":"Exists"})";
  const Json nothing = with_terms("{\"matchExpressions\":[" + a + "]}", "{}");
  const Json narrowed = with_terms("{\"matchExpressions\":[" + a + "," + b + "]}", "{}");
  EXPECT_EQ(sentences(validate_pod_update(narrowed, nothing)), Sentences{});
  for (const std::string& term :
       {"{\"matchExpressions\":[" + b + "]}",
        std::string(
            R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]})")}) {
    const Json something = with_terms("{\"matchExpressions\":[" + a + "]}", term);
    EXPECT_EQ(sentences(validate_pod_update(something, nothing)),
              Sentences{"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                        "nodeSelectorTerms[1]: Invalid value: " +
                        term + ": only additions are allowed (no mutations or deletions)"});
  }
}

TEST(PodUpdate, APodWithADeadlineAndInitContainersChangesAsOthersDo) {
  const Json old = pod(
      R"({"initContainers":[{"name":"i","image":"a"}],"containers":[{"name":"c","image":"a"}],
          "activeDeadlineSeconds":5})");
  for (const std::string_view edits :
       {R"({"containers":[{"name":"c","image":"b"}]})",
        R"({"initContainers":[{"name":"i","image":"b"}]})", R"({"activeDeadlineSeconds":4})"})
    EXPECT_EQ(sentences(validate_pod_update(edited(old, "spec", edits), old)), Sentences{})
        << edits;
  EXPECT_EQ(
      sentences(validate_pod_update(edited(old, "spec", R"({"initContainers":[]})"), old)),
      Sentences{"spec.initContainers: Forbidden: pod updates may not add or remove containers"});
}

TEST(PodStatusUpdate, IsJudgedAsUpstreamDoes) {
  const Json old = document(R"({"metadata":{"name":"p","namespace":"n"},
      "spec":{"nodeName":"n1","restartPolicy":"Never","initContainers":[{"name":"side","restartPolicy":"Always"}]},
      "status":{"qosClass":"Burstable",
                "containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0}}}],
                "initContainerStatuses":[{"name":"side","state":{"terminated":{"exitCode":0}}}]}})");
  EXPECT_EQ(sentences(validate_pod_status_update(old, old)), Sentences{});
  const Json now = edited(old, "status", R"({"qosClass":"Guaranteed","nominatedNodeName":"n2",
      "conditions":[{"type":"a b"}],"podIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.1"}],
      "containerStatuses":[{"name":"c","state":{"running":{}}}],
      "initContainerStatuses":[{"name":"side","state":{"running":{}}}],
      "resourceClaimStatuses":[{"name":"gone"}]})");
  EXPECT_EQ(
      sentences(validate_pod_status_update(now, old)),
      (Sentences{"metadata.conditions[0].Type: Invalid value: \"a b\": " + kBadNamePart,
                 ("status.nominatedNodeName: Forbidden: may not be set on pods that are already "
                  "bound to a node"),
                 "status.qosClass: Invalid value: \"Guaranteed\": field is immutable",
                 ("status.containerStatuses[0].state: Forbidden: may not be transitioned to "
                  "non-terminated state"),
                 ("status.resourceClaimStatuses[0].name: Invalid value: \"gone\": must match the "
                  "name of an entry in `spec.resourceClaims`"),
                 ("status.podIPs: Invalid value: [{\"ip\":\"10.0.0.1\"},{\"ip\":\"10.0.0.1\"}]: "
                  "may specify no more than one IP for each IP family"),
                 "status.podIPs[1]: Duplicate value: {\"ip\":\"10.0.0.1\"}"}));
  // With OnFailure a container that failed is started again, one that succeeded is not.
  const Json on_failure = document(R"({"metadata":{"name":"p","namespace":"n"},
      "spec":{"restartPolicy":"OnFailure"},
      "status":{"containerStatuses":[{"name":"failed","state":{"terminated":{"exitCode":1}}},
                                     {"name":"done","state":{"terminated":{"exitCode":0}}}]}})");
  const Json again = edited(on_failure, "status", R"({"containerStatuses":[
      {"name":"failed","state":{"running":{}}},{"name":"done","state":{"running":{}}}]})");
  EXPECT_EQ(sentences(validate_pod_status_update(again, on_failure)),
            Sentences{"status.containerStatuses[1].state: Forbidden: may not be transitioned to "
                      "non-terminated state"});
  EXPECT_EQ(sentences(validate_pod_status_update(edited(old, "spec", R"({"nodeName":"n2"})"), old)),
            Sentences{"status.nodeName: Forbidden: may not be changed directly"});
}

}  // namespace
}  // namespace muster::api
