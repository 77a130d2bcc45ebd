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
