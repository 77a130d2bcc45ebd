#include "api/validation/placement_rules.h"

#include "api/validation/validation_testing.h"

namespace muster::api {
namespace {

struct Case {
  std::string_view text;
  Sentences want;
};

Sentences affinity_errors(std::string_view text) {
  FieldErrors errors;
  validate_affinity(document(text), FieldPath("a"), errors);
  return sentences(errors);
}

// A node affinity with one required term of these expressions.
Sentences expression_errors(std::string_view expressions) {
  FieldErrors errors;
  validate_node_selector(
      document(
          fmt::format(R"({{"nodeSelectorTerms":[{{"matchExpressions":[{}]}}]}})", expressions)),
      FieldPath("s"), errors);
  return sentences(errors);
}

TEST(NodeSelector, EachOperatorWantsItsNumberOfValues) {
  const std::string at = "s.nodeSelectorTerms[0].matchExpressions[0]";
  const std::string some =
      at + ".values: Required value: must be specified when `operator` is 'In' or 'NotIn'";
  const std::string none = at +
                           ".values: Forbidden: may not be specified when `operator` is 'Exists' "
                           "or 'DoesNotExist'";
  const std::string one = at +
                          ".values: Required value: must be specified single value when `operator` "
                          "is 'Lt' or 'Gt'";
  const Case cases[] = {
      {R"({"key":"k","operator":"In","values":["a","b"]})", {}},
      {R"({"key":"k","operator":"NotIn","values":["a"]})", {}},
      {R"({"key":"k","operator":"NotIn"})", {some}},
      {R"({"key":"k","operator":"Exists"})", {}},
      {R"({"key":"k","operator":"DoesNotExist"})", {}},
      {R"({"key":"k","operator":"DoesNotExist","values":["a"]})", {none}},
      {R"({"key":"k","operator":"Gt","values":["1"]})", {}},
      {R"({"key":"k","operator":"Lt","values":["1"]})", {}},
      {R"({"key":"k","operator":"Lt","values":["1","2"]})", {one}},
      {R"({"key":"k","operator":"Lt"})", {one}},
      {R"({"key":"k","operator":""})",
       {at + ".operator: Invalid value: \"\": not a valid selector operator"}},
  };
  for (const Case& c : cases) EXPECT_EQ(expression_errors(c.text), c.want) << c.text;
}

TEST(NodeSelector, FieldsAreNamesOfNodes) {
  const auto errors_of = [](std::string_view field) {
    FieldErrors errors;
    validate_node_selector(
        document(fmt::format(R"({{"nodeSelectorTerms":[{{}},{{"matchFields":[{}]}}]}})", field)),
        FieldPath("s"), errors);
    return sentences(errors);
  };
  const std::string at = "s.nodeSelectorTerms[1].matchFields[0]";
  EXPECT_EQ(errors_of(R"({"key":"metadata.name","operator":"NotIn","values":["n"]})"), Sentences{});
  EXPECT_EQ(
      errors_of(R"({"key":"metadata.name","operator":"In"})"),
      Sentences{at + ".values: Required value: must be only one value when `operator` is 'In' or "
                     "'NotIn' for node field selector"});
  EXPECT_EQ(errors_of(R"({"key":"metadata.name","operator":"Gt","values":["N"]})"),
            (Sentences{at + ".operator: Invalid value: \"Gt\": not a valid selector operator",
                       at + ".values[0]: Invalid value: \"N\": " + kBadSubdomain}));
}

TEST(Affinity, WeightsGoFromOneToAHundred) {
  const auto errors_of = [](std::string_view kind, std::string_view weight, std::string_view rest) {
    return affinity_errors(fmt::format(
        R"({{"{}":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":{}{}}}]}}}})",
        kind, weight, rest));
  };
  for (const std::string_view kind : {"nodeAffinity", "podAffinity", "podAntiAffinity"}) {
    EXPECT_EQ(errors_of(kind, "1", ""), Sentences{}) << kind;
    EXPECT_EQ(errors_of(kind, "100", ""), Sentences{}) << kind;
    for (const std::string_view weight : {"0", "101"})
      EXPECT_EQ(
          errors_of(kind, weight, ""),
          Sentences{fmt::format(
              "a.{}.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: "
              "{}: must be in the range 1-100",
              kind, weight)});
  }
  EXPECT_EQ(
      errors_of(
          "nodeAffinity", "1",
          R"(,"preference":{"matchExpressions":[{"key":"-","operator":"Gt","values":["a b"]}]})"),
      Sentences{"a.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference."
                "matchExpressions[0].key: Invalid value: \"-\": " +
                kBadNamePart})
      << "values are not judged";
  EXPECT_EQ(errors_of("podAffinity", "1", R"(,"podAffinityTerm":{})"),
            (Sentences{"a.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
                       "podAffinityTerm.topologyKey: Required value: can not be empty",
                       "a.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
                       "podAffinityTerm.topologyKey: Invalid value: \"\": name part must be "
                       "non-empty",
                       "a.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
                       "podAffinityTerm.topologyKey: Invalid value: \"\": " +
                           kBadNamePart}));
}

TEST(Affinity, TermsOfPodsAreWellFormed) {
  const auto errors_of = [](std::string_view term) {
    Sentences out;
    const std::string_view prefix =
        "a.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].";
    for (const std::string& sentence : affinity_errors(fmt::format(
             R"({{"podAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}})",
             term)))
      out.push_back(sentence.starts_with(prefix) ? sentence.substr(prefix.size()) : sentence);
    return out;
  };
  EXPECT_EQ(errors_of(R"({"topologyKey":"k","namespaces":["n"],"labelSelector":{},
                          "matchLabelKeys":["a"],"mismatchLabelKeys":["b"]})"),
            Sentences{});
  EXPECT_EQ(
      errors_of(R"({"topologyKey":"k","namespaces":["N"],
                    "labelSelector":{"matchLabels":{"-":"-"},"matchExpressions":[{"key":"-","operator":"In","values":["-"]}]},
                    "matchLabelKeys":["a","b","-"],"mismatchLabelKeys":["b","c/"]})"),
      (Sentences{
          "labelSelector.matchLabels: Invalid value: \"-\": " + kBadNamePart,
          "labelSelector.matchLabels: Invalid value: \"-\": " + kBadLabelValue,
          "labelSelector.matchExpressions[0].key: Invalid value: \"-\": " + kBadNamePart,
          "labelSelector.matchExpressions[0].values[0]: Invalid value: \"-\": " + kBadLabelValue,
          "namespace: Invalid value: \"N\": " + kBadLabel,
          "matchLabelKeys[2]: Invalid value: \"-\": " + kBadNamePart,
          "mismatchLabelKeys[1]: Invalid value: \"c/\": name part must be non-empty",
          "mismatchLabelKeys[1]: Invalid value: \"c/\": " + kBadNamePart,
          R"(matchLabelKeys[1]: Invalid value: "b": exists in both matchLabelKeys and mismatchLabelKeys)"}));
  EXPECT_EQ(errors_of(R"({"topologyKey":"k","mismatchLabelKeys":["b"]})"),
            Sentences{"mismatchLabelKeys: Forbidden: must not be specified when labelSelector is "
                      "not set"});
}

TEST(Tolerations, SaySomethingThatCanHold) {
  const auto errors_of = [](std::string_view toleration) {
    FieldErrors errors;
    validate_tolerations(document(fmt::format("[{}]", toleration)).get_array(), FieldPath("t"),
                         errors);
    return sentences(errors);
  };
  const Case cases[] = {
      {R"({"operator":"Exists"})", {}},
      {R"({"operator":"Exists","effect":"NoSchedule"})", {}},
      {R"({"key":"k","value":"v","effect":"PreferNoSchedule"})", {}},
      {R"({"key":"k","operator":"Equal","value":"v","effect":"NoExecute","tolerationSeconds":0})",
       {}},
      {R"({"key":"-","operator":"Exists"})", {"t[0].key: Invalid value: \"-\": " + kBadNamePart}},
      {R"({"key":"k","operator":"Equal","effect":"NoSchedule","tolerationSeconds":1})",
       {"t[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when "
        "`tolerationSeconds` is set"}},
      {R"({"operator":"Equal"})",
       {"t[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty, "
        "which means \"match all values and all keys\""}},
  };
  for (const Case& c : cases) EXPECT_EQ(errors_of(c.text), c.want) << c.text;
}

TEST(TopologySpread, IsWellFormed) {
  const auto errors_of = [](std::string_view constraints) {
    FieldErrors errors;
    validate_topology_spread(document(fmt::format("[{}]", constraints)).get_array(), FieldPath("s"),
                             errors);
    return sentences(errors);
  };
  const std::string fine = R"({"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway")";
  const std::string strict =
      R"({"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule")";
  EXPECT_EQ(errors_of(fine + "}," + strict +
                      R"(,"minDomains":1,"nodeAffinityPolicy":"Honor","nodeTaintsPolicy":"Ignore",
                      "labelSelector":{"matchLabels":{"b":"c"}},"matchLabelKeys":["a"]})"),
            Sentences{})
      << "the same key with another action is another constraint";
  EXPECT_EQ(errors_of(strict + "}," + strict + "}," + strict + "}"),
            (Sentences{"s[0].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{z, "
                       "DoNotSchedule}\"",
                       "s[1].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{z, "
                       "DoNotSchedule}\""}));
  EXPECT_EQ(errors_of(fine + R"(,"minDomains":1})"),
            Sentences{"s[0].minDomains: Invalid value: 1: can only use minDomains if "
                      "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"});
  EXPECT_EQ(
      errors_of(fine + R"(,"nodeAffinityPolicy":"Odd","matchLabelKeys":["a","-"],
                "labelSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}})"),
      (Sentences{"s[0].nodeAffinityPolicy: Unsupported value: \"Odd\": supported values: "
                 "\"Honor\", \"Ignore\"",
                 "s[0].matchLabelKeys[0]: Invalid value: \"a\": exists in both matchLabelKeys and "
                 "labelSelector",
                 "s[0].matchLabelKeys[1]: Invalid value: \"-\": " + kBadNamePart,
                 "s[0].labelSelector.matchExpressions[0].operator: Invalid value: \"Near\": not a "
                 "valid selector operator"}));
  EXPECT_EQ(errors_of(fine + R"(,"matchLabelKeys":["a"]})"),
            Sentences{"s[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is "
                      "not set"});
}

TEST(Taints, AreUniqueByKeyAndEffect) {
  const auto errors_of = [](std::string_view taints) {
    FieldErrors errors;
    validate_taints(document(fmt::format("[{}]", taints)).get_array(), FieldPath("t"), errors);
    return sentences(errors);
  };
  EXPECT_EQ(errors_of(R"({"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoExecute"},
                         {"key":"b","effect":"NoSchedule"},{"key":"b","effect":"PreferNoSchedule"})"),
            Sentences{});
  EXPECT_EQ(errors_of(R"({"effect":"NoSchedule"})"),
            (Sentences{"t[0].key: Invalid value: \"\": name part must be non-empty",
                       "t[0].key: Invalid value: \"\": " + kBadNamePart}));
}

}  // namespace
}  // namespace muster::api
