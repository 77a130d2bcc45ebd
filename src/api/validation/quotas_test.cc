#include <fmt/format.h>

#include "api/validation/kind_rules_testing.h"

namespace muster::api {
namespace {

std::string limits(std::string_view item) {
  return fmt::format(R"({{"spec":{{"limits":[{}]}}}})", item);
}

TEST(LimitRange, IsJudgedAsUpstreamDoes) {
  const std::string gold = ": Invalid value: \"gold\": must be a standard resource ";
  const std::string no_type = gold + "type or fully qualified";
  const std::string not_of_containers = gold + "for containers";
  const RuleCase cases[] = {
      {"",
       "LimitRange",
       limits(
           R"({"type":"Container","min":{"cpu":"100m"},"default":{"cpu":"1"},"max":{"cpu":"2"}})"),
       {}},
      {"",
       "LimitRange",
       limits(R"({"type":"Container","min":{"cpu":"1"},"max":{"cpu":"500m"}})"),
       {"spec.limits[0].min[cpu]: Invalid value: \"1\": min value 1 is greater than max value "
        "500m",
        "spec.limits[0].defaultRequest[cpu]: Invalid value: \"500m\": min value 1 is greater than "
        "default request value 500m",
        "spec.limits[0].default[cpu]: Invalid value: \"1\": min value 1 is greater than default "
        "value 500m"}},
      {"",
       "LimitRange",
       limits(
           R"({"type":"Container","min":{"cpu":"3"},"default":{"cpu":"1"},"defaultRequest":{"cpu":"2"}})"),
       {"spec.limits[0].defaultRequest[cpu]: Invalid value: \"2\": min value 3 is greater than "
        "default request value 2",
        "spec.limits[0].defaultRequest[cpu]: Invalid value: \"2\": default request value 2 is "
        "greater than default limit value 1",
        "spec.limits[0].default[cpu]: Invalid value: \"3\": min value 3 is greater than default "
        "value 1"}},
      {"",
       "LimitRange",
       limits(R"({"type":"Container","default":{"cpu":"3"},"max":{"cpu":"2"}})"),
       {"spec.limits[0].defaultRequest[cpu]: Invalid value: \"3\": default request value 3 is "
        "greater than max value 2",
        "spec.limits[0].default[cpu]: Invalid value: \"2\": default value 3 is greater than max "
        "value 2"}},
      {"",
       "LimitRange",
       limits(R"({"type":"Pod","default":{"cpu":"1"}})"),
       {"spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"}},
      {"",
       "LimitRange",
       limits(R"({"type":"Node"})"),
       {"spec.limits[0].type: Invalid value: \"Node\": must be a standard limit type or fully "
        "qualified"}},
      {"",
       "LimitRange",
       limits(R"({"type":"Pod"},{"type":"Pod"})"),
       {"spec.limits[1].type: Duplicate value: \"Pod\""}},
      {"",
       "LimitRange",
       limits(R"({"type":"Container","max":{"gold":"1"}})"),
       {"spec.limits[0].max[gold]" + no_type, "spec.limits[0].max[gold]" + not_of_containers,
        "spec.limits[0].default[gold]" + no_type,
        "spec.limits[0].default[gold]" + not_of_containers,
        "spec.limits[0].defaultRequest[gold]" + no_type,
        "spec.limits[0].defaultRequest[gold]" + not_of_containers}},
      {"",
       "LimitRange",
       limits(R"({"type":"PersistentVolumeClaim","max":{"cpu":"1"}})"),
       {"spec.limits[0].limits: Required value: either minimum or maximum storage value is "
        "required, "
        "but neither was provided"}},
      {"",
       "LimitRange",
       limits(
           R"({"type":"Container","min":{"cpu":"1"},"max":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"3","memory":"500m"}})"),
       {"spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"3\": ratio 3 is greater than "
        "max/min = 2.000000",
        "spec.limits[0].maxLimitRequestRatio[memory]: Invalid value: \"500m\": ratio 500m is less "
        "than 1"}},
  };
  for (const RuleCase& c : cases) expect(c);
}

TEST(LimitRange, DefaultsFollowTheLimits) {
  const auto made = [](std::string_view item) {
    const Json range = prepared(*find_kind("", "LimitRange"), limits(item));
    return to_text(find_path(range, "spec.limits")->get_array()[0]);
  };
  EXPECT_EQ(
      made(
          R"({"type":"Container","max":{"cpu":"2"},"min":{"memory":"1"},"default":{"memory":"4"}})"),
      R"({"type":"Container","max":{"cpu":"2"},"min":{"memory":"1"},)"
      R"("default":{"memory":"4","cpu":"2"},"defaultRequest":{"memory":"4","cpu":"2"}})");
  EXPECT_EQ(made(R"({"type":"Container","min":{"cpu":"1"}})"),
            R"({"type":"Container","min":{"cpu":"1"},"defaultRequest":{"cpu":"1"}})");
  EXPECT_EQ(made(R"({"type":"Pod","max":{"cpu":"2"}})"), R"({"type":"Pod","max":{"cpu":"2"}})");
}

TEST(LimitRange, AmountsMayBeEqual) {
  const RuleCase cases[] = {
      {"",
       "LimitRange",
       limits(
           R"({"type":"Container","min":{"cpu":"1"},"default":{"cpu":"1"},"defaultRequest":{"cpu":"1"},
               "max":{"cpu":"1"},"maxLimitRequestRatio":{"cpu":"1"}})"),
       {}},
      {"",
       "LimitRange",
       limits(
           R"({"type":"Pod","min":{"cpu":"1"},"max":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"2"}})"),
       {}},
      {"",
       "LimitRange",
       limits(
           R"({"type":"Pod","min":{"cpu":"0"},"max":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"9"}})"),
       {}},
      {"",
       "LimitRange",
       limits(
           R"({"type":"Container","default":{"example.com/x":"2"},"defaultRequest":{"example.com/x":"1"}})"),
       {"spec.limits[0].defaultRequest[example.com/x]: Invalid value: \"1\": default value 2 must "
        "equal to defaultRequest value 1 in example.com/x"}},
      {"",
       "LimitRange",
       limits(R"({"type":"Pod","defaultRequest":{"cpu":"1"}})"),
       {"spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'"}},
      {"", "LimitRange", limits(R"({"type":"PersistentVolumeClaim","min":{"storage":"1"}})"), {}},
      {"", "LimitRange", limits(R"({"type":"PersistentVolumeClaim","max":{"storage":"1"}})"), {}},
      {"", "LimitRange", limits(R"({"type":"example.com/x","max":{"requests.cpu":"1"}})"), {}},
      {"",
       "LimitRange",
       limits(R"({"type":"-"})"),
       {"spec.limits[0].type: Invalid value: \"-\": " + kBadNamePart}},
  };
  for (const RuleCase& c : cases) expect(c);
}

TEST(ResourceQuota, ScopesCountWhatTheyCan) {
  const auto scoped = [](std::string_view hard, std::string_view scopes) {
    return fmt::format(R"({{"spec":{{"hard":{{{}}},"scopes":[{}]}}}})", hard, scopes);
  };
  const auto selected = [](std::string_view expression, std::string_view hard = "") {
    return fmt::format(
        R"({{"spec":{{"hard":{{{}}},"scopeSelector":{{"matchExpressions":[{}]}}}}}})", hard,
        expression);
  };
  const std::string uncounted = ": unsupported scope applied to resource";
  const std::string at = "spec.scopeSelector.matchExpressions";
  const RuleCase cases[] = {
      {"", "ResourceQuota", scoped(R"("pods":"1")", R"("BestEffort")"), {}},
      {"",
       "ResourceQuota",
       scoped(R"("pods":"1","cpu":"1","limits.memory":"1","requests.cpu":"1")",
              R"("NotBestEffort","Terminating")"),
       {}},
      {"",
       "ResourceQuota",
       scoped(R"("services":"1","secrets":"1","example.com/x":"1")", R"("Terminating")"),
       {"spec.scopes: Invalid value: [\"Terminating\"]" + uncounted,
        "spec.scopes: Invalid value: [\"Terminating\"]" + uncounted}},
      {"",
       "ResourceQuota",
       scoped(R"("persistentvolumeclaims":"1","requests.storage":"1")",
              R"("VolumeAttributesClass")"),
       {}},
      {"",
       "ResourceQuota",
       scoped(R"("pods":"1")", R"("VolumeAttributesClass")"),
       {"spec.scopes: Invalid value: [\"VolumeAttributesClass\"]" + uncounted}},
      {"",
       "ResourceQuota",
       scoped("", R"("Terminating","NotTerminating")"),
       {"spec.scopes: Invalid value: [\"Terminating\",\"NotTerminating\"]: conflicting scopes"}},
      {"", "ResourceQuota", scoped("", R"("BestEffort","NotTerminating")"), {}},
      {"",
       "ResourceQuota",
       selected(R"({"scopeName":"PriorityClass","operator":"In","values":["high"]},
                   {"scopeName":"VolumeAttributesClass","operator":"DoesNotExist"},
                   {"scopeName":"CrossNamespacePodAffinity","operator":"Exists"})"),
       {}},
      {"",
       "ResourceQuota",
       selected(R"({"scopeName":"PriorityClass","operator":"Exists","values":["high"]})"),
       {at + ".values: Invalid value: [\"high\"]: must be no value when `operator` is 'Exist' or "
             "'DoesNotExist' for scope selector"}},
      {"",
       "ResourceQuota",
       selected(R"({"scopeName":"Often","operator":"Exists"})"),
       {at + ".scopeName: Invalid value: \"Often\": unsupported scope"}},
      {"",
       "ResourceQuota",
       selected(
           R"({"scopeName":"BestEffort","operator":"Exists"},{"scopeName":"NotBestEffort","operator":"Exists"})"),
       {at + ": Invalid value: null: conflicting scopes"}},
      {"",
       "ResourceQuota",
       selected(R"({"scopeName":"BestEffort","operator":"Exists"})", R"("cpu":"1")"),
       {at + ": Invalid value: {\"matchExpressions\":[{\"scopeName\":\"BestEffort\",\"operator\":"
             "\"Exists\"}]}: unsupported scope applied to resource"}},
      {"",
       "ResourceQuota",
       R"({"spec":{"hard":{"storage":"1","hugepages-2Mi":"1","requests.hugepages-2Mi":"1","services.nodeports":"1500m"}}})",
       {"spec.hard[storage]: Invalid value: \"storage\": must be a standard resource for quota",
        "spec.hard[services.nodeports]: Invalid value: \"1500m\": must be an integer"}},
      {"",
       "ResourceQuota",
       scoped(R"("pods":"2")", R"("BestEffort","NotTerminating")"),
       {},
       scoped(R"("pods":"1")", R"("NotTerminating","BestEffort")")},
  };
  for (const RuleCase& c : cases) expect(c);
}

TEST(ResourceQuota, IsJudgedAsUpstreamDoes) {
  const RuleCase cases[] = {
      {"",
       "ResourceQuota",
       R"({"spec":{"hard":{"count/jobs.batch":"5","requests.cpu":"1","requests.nvidia.com/gpu":"4"}}})",
       {}},
      {"",
       "ResourceQuota",
       R"({"spec":{"hard":{"pods":"-1"}}})",
       {"spec.hard[pods]: Invalid value: \"-1\": must be greater than or equal to 0"}},
      {"",
       "ResourceQuota",
       R"({"spec":{"hard":{"limit.cpu":"1"}}})",
       {"spec.hard[limit.cpu]: Invalid value: \"limit.cpu\": must be a standard resource type or "
        "fully qualified",
        "spec.hard[limit.cpu]: Invalid value: \"limit.cpu\": must be a standard resource for "
        "quota"}},
      {"",
       "ResourceQuota",
       R"({"spec":{"hard":{"cpu":"1"},"scopes":["BestEffort","NotBestEffort"]}})",
       {"spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: unsupported scope applied "
        "to resource",
        R"(spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes)"}},
      {"",
       "ResourceQuota",
       R"({"spec":{"scopes":["Often"]}})",
       {"spec.scopes: Invalid value: [\"Often\"]: unsupported scope"}},
      {"",
       "ResourceQuota",
       R"({"spec":{"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In"},{"scopeName":"Terminating","operator":"Near"}]}}})",
       {"spec.scopeSelector.matchExpressions.values: Required value: must be at least one value "
        "when "
        "`operator` is 'In' or 'NotIn' for scope selector",
        "spec.scopeSelector.matchExpressions.operator: Invalid value: \"Near\": must be 'Exist' "
        "when "
        "scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
        "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
        "ResourceQuotaScopeCrossNamespacePodAffinity",
        "spec.scopeSelector.matchExpressions.operator: Invalid value: \"Near\": not a valid "
        "selector "
        "operator"}},
      {"",
       "ResourceQuota",
       R"({"spec":{"scopes":["BestEffort"]}})",
       {"spec.scopes: Invalid value: [\"BestEffort\"]: field is immutable"},
       R"({"spec":{}})"},
  };
  for (const RuleCase& c : cases) expect(c);
}

}  // namespace
}  // namespace muster::api
