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

TEST(PodUpdate, DeadlinesHaveBounds) {
  const std::string plain = R"({"containers":[{"name":"c","image":"i"}]})";
  const std::string with = R"({"containers":[{"name":"c","image":"i"}],"activeDeadlineSeconds":5})";
  const std::string range = "must be between 1 and 2147483647, inclusive";
  const Case cases[] = {
      {"the same", with, R"({"activeDeadlineSeconds":5})", {}},
      {"sooner", with, R"({"activeDeadlineSeconds":1})", {}},
      {"at most", plain, R"({"activeDeadlineSeconds":2147483647})", {}},
      {"too long",
       plain,
       R"({"activeDeadlineSeconds":2147483648})",
       {"spec.activeDeadlineSeconds: Invalid value: 2147483648: " + range,
        "spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 0 and 2147483647, "
        "inclusive"}},
      {"negative, and nothing else is looked at",
       plain,
       R"({"activeDeadlineSeconds":-1,"nodeName":"n"})",
       {"spec.activeDeadlineSeconds: Invalid value: -1: " + range,
        "spec.activeDeadlineSeconds: Invalid value: -1: must be between 0 and 2147483647, "
        "inclusive"}},
  };
  for (const Case& c : cases) {
    const Json old = pod(c.old);
    EXPECT_EQ(sentences(validate_pod_update(edited(old, "spec", c.now), old)), c.want) << c.name;
  }
}

TEST(PodUpdate, TolerationsStayButForTheirSeconds) {
  const std::string old_spec =
      R"({"containers":[{"name":"c","image":"i"}],"tolerations":[{"key":"k","operator":"Equal","value":"v","effect":"NoExecute"}]})";
  const Json old = pod(old_spec);
  const Sentences refused{
      "spec.tolerations: Forbidden: existing toleration can not be modified except its "
      "tolerationSeconds"};
  for (const std::string_view toleration :
       {R"({"key":"l","operator":"Equal","value":"v","effect":"NoExecute"})",
        R"({"key":"k","operator":"Exists","effect":"NoExecute"})",
        R"({"key":"k","operator":"Equal","value":"w","effect":"NoExecute"})",
        R"({"key":"k","operator":"Equal","value":"v","effect":"NoSchedule"})"})
    EXPECT_EQ(sentences(validate_pod_update(
                  edited(old, "spec", fmt::format(R"({{"tolerations":[{}]}})", toleration)), old)),
              refused)
        << toleration;
  EXPECT_EQ(
      sentences(validate_pod_update(
          edited(
              old, "spec",
              R"({"tolerations":[{"key":"-","operator":"Exists"},{"key":"k","operator":"Equal","value":"v","effect":"NoExecute"}]})"),
          old)),
      (Sentences{"spec.tolerations[0].key: Invalid value: \"-\": " + kBadNamePart,
                 "spec.tolerations[0].key: Invalid value: \"-\": " + kBadNamePart}))
      << "of the spec, and of what was added";
}

TEST(PodUpdate, AGatedPodMayLoseNeitherSelectorNorOtherAffinity) {
  const std::string gated =
      R"({"containers":[{"name":"c","image":"i"}],"schedulingGates":[{"name":"x/a"}],"nodeSelector":{"a":"1"},
          "affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"k"}]},
          "nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{}}]}}})";
  const std::string pods =
      R"({"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"k"}]})";
  const Json old = pod(gated);
  EXPECT_EQ(sentences(validate_pod_update(edited(old, "spec", R"({"nodeSelector":{}})"), old)),
            Sentences{"spec.nodeSelector: Invalid value: {}: only additions to spec.nodeSelector "
                      "are allowed (no mutations or deletions)"});
  EXPECT_EQ(sentences(validate_pod_update(
                edited(old, "spec", R"({"affinity":{"podAffinity":)" + pods + "}}"), old)),
            Sentences{})
      << "preferences may go";
  const auto without_pods = sentences(validate_pod_update(
      edited(old, "spec",
             R"({"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
             {"weight":1,"preference":{}}]}}})"),
      old));
  ASSERT_EQ(without_pods.size(), 1U);
  EXPECT_TRUE(without_pods[0].starts_with(kRule + "\n- affinity: ")) << without_pods[0];
  const auto both = sentences(validate_pod_update(
      edited(old, "spec", R"({"hostname":"h","nodeSelector":{"a":"1","b":"2"}})"), old));
  EXPECT_EQ(both, Sentences{kRule + "\n+ hostname: \"h\""});
}

TEST(PodUpdate, AMirrorStaysAMirror) {
  const std::string spec = R"({"nodeName":"n1","containers":[{"name":"c","image":"i"}]})";
  const Json plain = pod(spec);
  const Json mirror =
      edited(plain, "metadata", R"({"annotations":{"kubernetes.io/config.mirror":"a"}})");
  const Json other =
      edited(plain, "metadata", R"({"annotations":{"kubernetes.io/config.mirror":"b"}})");
  EXPECT_TRUE(validate_pod_update(mirror, mirror).empty());
  const std::string at = "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: ";
  const Sentences added{at + "may not add mirror pod annotation"};
  const Sentences changed{at + "may not remove or update mirror pod annotation"};
  EXPECT_EQ(sentences(validate_pod_update(mirror, plain)), added);
  EXPECT_EQ(sentences(validate_pod_update(plain, mirror)), changed);
  EXPECT_EQ(sentences(validate_pod_update(other, mirror)), changed);
  EXPECT_EQ(sentences(validate_pod_status_update(mirror, plain)), added);
}

TEST(PodStatusUpdate, NominationsAndAddressesAreWellFormed) {
  const Json old = document(
      R"({"metadata":{"name":"p","namespace":"n"},"spec":{"resourceClaims":[{"name":"a"}]},
          "status":{"nominatedNodeName":"n1"}})");
  const auto errors_of = [&](std::string_view status) {
    return sentences(validate_pod_status_update(edited(old, "status", status), old));
  };
  EXPECT_EQ(errors_of(R"({"nominatedNodeName":"n2","podIPs":[{"ip":"10.0.0.1"},{"ip":"::1"}],
                          "resourceClaimStatuses":[{"name":"a","resourceClaimName":"x"}]})"),
            Sentences{});
  EXPECT_EQ(errors_of(R"({"nominatedNodeName":null})"), Sentences{});
  EXPECT_EQ(errors_of(R"({"nominatedNodeName":"N"})"),
            Sentences{"status.nominatedNodeName: Invalid value: \"N\": " + kBadSubdomain});
  EXPECT_EQ(errors_of(R"({"podIPs":[{"ip":"x"}]})"),
            Sentences{"status.podIPs[0]: Invalid value: \"x\": must be a valid IP address, (e.g. "
                      "10.9.8.7 or 2001:db8::ffff)"});
  EXPECT_EQ(errors_of(R"({"podIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]})"),
            Sentences{"status.podIPs: Invalid value: [{\"ip\":\"10.0.0.1\"},{\"ip\":\"10.0.0.2\"}"
                      "]: may specify no more than one IP for each IP family"});
  EXPECT_EQ(
      errors_of(R"({"resourceClaimStatuses":[{"name":"a"},{"name":"a","resourceClaimName":"X"}]})"),
      (Sentences{"status.resourceClaimStatuses[1].name: Duplicate value: \"a\"",
                 "status.resourceClaimStatuses[1].name: Invalid value: \"X\": " + kBadSubdomain}));
  const Json bound = document(
      R"({"metadata":{"name":"p","namespace":"n"},"spec":{"nodeName":"n1"},"status":{"nominatedNodeName":"n1"}})");
  EXPECT_TRUE(validate_pod_status_update(bound, bound).empty()) << "an old nomination may stay";
}

TEST(PodStatusUpdate, WhatEndedForGoodDoesNotRunAgain) {
  const auto errors_of = [](std::string_view policy, std::string_view list, std::string_view code) {
    const Json old = document(fmt::format(
        R"({{"metadata":{{"name":"p","namespace":"n"}},"spec":{{"restartPolicy":"{}"}},
        "status":{{"{}":[{{"name":"c","state":{{"terminated":{{"exitCode":{}}}}}}}]}}}})",
        policy, list, code));
    return sentences(validate_pod_status_update(
        edited(old, "status", fmt::format(R"({{"{}":[{{"name":"c","state":{{}}}}]}})", list)),
        old));
  };
  const auto refused = [](std::string_view list) {
    return Sentences{fmt::format(
        "status.{}[0].state: Forbidden: may not be transitioned to non-terminated state", list)};
  };
  EXPECT_EQ(errors_of("Always", "containerStatuses", "0"), Sentences{});
  EXPECT_EQ(errors_of("Never", "containerStatuses", "1"), refused("containerStatuses"));
  EXPECT_EQ(errors_of("OnFailure", "containerStatuses", "1"), Sentences{});
  EXPECT_EQ(errors_of("OnFailure", "containerStatuses", "0"), refused("containerStatuses"));
  EXPECT_EQ(errors_of("Never", "initContainerStatuses", "0"), refused("initContainerStatuses"));
  EXPECT_EQ(errors_of("Always", "ephemeralContainerStatuses", "0"),
            refused("ephemeralContainerStatuses"))
      << "whatever the policy";
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
