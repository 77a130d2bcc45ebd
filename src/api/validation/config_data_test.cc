#include <fmt/format.h>

#include "api/validation/kind_rules_testing.h"

// ConfigMaps, Secrets and roles.
namespace muster::api {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::size_t kMebi = std::size_t{1} << 20U;

TEST(ConfigMap, HoldsAMebibyteAtMost) {
  const auto with = [](std::size_t text, std::size_t base64) {
    return fmt::format(R"({{"data":{{"a":"{}"}},"binaryData":{{"b":"{}"}}}})",
                       std::string(text, 'x'), std::string(base64, 'A'));
  };
  const Sentences too_long{": Too long: may not be more than 1048576 bytes"};
  expect({"", "ConfigMap", with(kMebi, 0), {}});
  expect({"", "ConfigMap", with(kMebi - 3, 4), {}});
  expect({"", "ConfigMap", with(kMebi - 2, 4), too_long});
}

TEST(ConfigMap, StaysOnceItIsImmutable) {
  const std::string old = R"({"data":{"a":"1"},"binaryData":{"b":"AAAA"},"immutable":true})";
  const std::string why = ": Forbidden: field is immutable when `immutable` is set";
  expect({"", "ConfigMap", old, {}, old});
  expect({"",
          "ConfigMap",
          R"({"data":{"a":"1"},"binaryData":{"b":"AAAA"},"immutable":false})",
          {"immutable" + why},
          old});
  expect({"",
          "ConfigMap",
          R"({"data":{"a":"1"},"binaryData":{"b":"AAAB"},"immutable":true})",
          {"binaryData" + why},
          old});
  expect({"", "ConfigMap", R"({"data":{"a":"2"},"immutable":true})", {}, R"({"data":{"a":"1"}})"});
  const std::string bad_key =
      ": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
      "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
      "'[-._a-zA-Z0-9]+')";
  expect({"",
          "ConfigMap",
          R"({"data":{"a b":""},"binaryData":{"c/d":""}})",
          {"data[a b]: Invalid value: \"a b\"" + bad_key,
           "binaryData[c/d]: Invalid value: \"c/d\"" + bad_key}});
}

TEST(Secret, HoldsAMebibyteAtMost) {
  const auto of = [](std::size_t base64) {
    return fmt::format(R"({{"data":{{"a":"{}"}}}})", std::string(base64, 'A'));
  };
  expect({"", "Secret", of(kMebi / 3 * 4), {}});
  expect({"",
          "Secret",
          of((kMebi / 3 + 1) * 4),
          {"data: Too long: may not be more than 1048576 bytes"}});
}

TEST(Secret, OfKnownTypesHaveTheirKeys) {
  struct Case {
    std::string_view type;
    std::string_view data;
    Sentences want;
  };
  const std::string no_json =
      ": Invalid value: \"<secret contents redacted>\": invalid character in JSON";
  const Case cases[] = {
      {"kubernetes.io/dockercfg", "", {"data[.dockercfg]: Required value"}},
      {"kubernetes.io/dockercfg", R"(".dockercfg":"{}")", {}},
      {"kubernetes.io/dockercfg", R"(".dockercfg":"{")", {"data[.dockercfg]" + no_json}},
      {"kubernetes.io/dockerconfigjson", "", {"data[.dockerconfigjson]: Required value"}},
      {"kubernetes.io/dockerconfigjson", R"(".dockerconfigjson":"{}")", {}},
      {"kubernetes.io/basic-auth",
       "",
       {"data[username]: Required value", "data[password]: Required value"}},
      {"kubernetes.io/basic-auth", R"("username":"u")", {}},
      {"kubernetes.io/basic-auth", R"("password":"p")", {}},
      {"kubernetes.io/ssh-auth", "", {"data[ssh-privatekey]: Required value"}},
      {"kubernetes.io/ssh-auth", R"("ssh-privatekey":"k")", {}},
      {"kubernetes.io/tls", "", {"data[tls.crt]: Required value", "data[tls.key]: Required value"}},
      {"kubernetes.io/tls", R"("tls.crt":"c","tls.key":"k")", {}},
      {"Opaque", "", {}},
  };
  for (const Case& c : cases)
    expect({"", "Secret", fmt::format(R"({{"type":"{}","stringData":{{{}}}}})", c.type, c.data),
            c.want});
  expect({"",
          "Secret",
          R"({"type":"kubernetes.io/service-account-token",
              "metadata":{"annotations":{"kubernetes.io/service-account.name":"a"}}})",
          {}});
  expect({"",
          "Secret",
          R"({"data":{"a":"AAAA"},"immutable":true})",
          {"data: Forbidden: field is immutable when `immutable` is set"},
          R"({"data":{"a":"AAAB"},"immutable":true})"});
}

TEST(Secret, PlainTextWinsOverData) {
  const Kind& kind = *find_kind("", "Secret");
  EXPECT_EQ(to_text(prepared(kind, R"({"data":{"a":"eA=="},"stringData":{"a":"hi"}})")),
            R"({"data":{"a":"aGk="},"type":"Opaque"})");
  EXPECT_EQ(to_text(prepared(kind, R"({"stringData":{}})")), R"({"data":{},"type":"Opaque"})");
}

TEST(Rbac, RulesAreAboutResourcesOrAboutAddresses) {
  const std::string both =
      "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: rules cannot apply to both regular "
      "resources and non-resource URLs";
  for (const std::string_view more :
       {R"("apiGroups":[""])", R"("resources":["pods"])", R"("resourceNames":["a"])"})
    expect({kRbac,
            "ClusterRole",
            fmt::format(R"({{"rules":[{{"verbs":["get"],"nonResourceURLs":["/x"],{}}}]}})", more),
            {both}});
  expect(
      {kRbac,
       "ClusterRole",
       R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]},
                       {"verbs":[],"apiGroups":[],"resources":["pods"]}]})",
       {"rules[1].verbs: Required value: verbs must contain at least one value",
        "rules[1].apiGroups: Required value: resource rules must supply at least one api "
        "group"}});
  expect(
      {kRbac,
       "Role",
       R"({"rules":[{"verbs":["get"],"apiGroups":[""]}]})",
       {"rules[0].resources: Required value: resource rules must supply at least one resource"}});
}

TEST(Rbac, AggregationSelectsSomething) {
  expect({kRbac,
          "ClusterRole",
          R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}})",
          {}});
  expect({kRbac,
          "ClusterRole",
          R"({"aggregationRule":{}})",
          {"aggregationRule.clusterRoleSelectors: Required value: at least one "
           "clusterRoleSelector required if aggregationRule is non-nil"}});
  expect(
      {kRbac,
       "ClusterRole",
       R"({"aggregationRule":{"clusterRoleSelectors":[{},{"matchExpressions":[{"key":"a","operator":"Is"}]}]}})",
       {"aggregationRule.clusterRoleSelectors[1].matchExpressions[0].operator: Invalid value: "
        "\"Is\": not a valid selector operator"}});
}

TEST(Rbac, SubjectsBelongToTheirGroups) {
  const Json binding =
      prepared(*find_kind(kRbac, "RoleBinding"),
               R"({"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"},
          {"kind":"Group","name":"g"},{"kind":"ServiceAccount","name":"a"},
          {"kind":"User","apiGroup":"x","name":"v"}]})");
  const JsonArray& subjects = *find_array(binding, "subjects");
  EXPECT_EQ(find_string(subjects[0], "apiGroup"), kRbac);
  EXPECT_EQ(find_string(subjects[1], "apiGroup"), kRbac);
  EXPECT_EQ(find_string(subjects[2], "apiGroup"), "");
  EXPECT_EQ(find_string(subjects[3], "apiGroup"), "x");
  const std::string wanted = R"(: supported values: "rbac.authorization.k8s.io")";
  expect({kRbac,
          "RoleBinding",
          R"({"roleRef":{"apiGroup":"x","kind":"ClusterRole","name":".."},"subjects":[
              {"kind":"User","apiGroup":"x","name":"u"},{"kind":"Group","apiGroup":"y"},
              {"kind":"ServiceAccount","apiGroup":"x","name":"A"},{"kind":"ServiceAccount"}]})",
          {"roleRef.apiGroup: Unsupported value: \"x\"" + wanted,
           "roleRef.name: Invalid value: \"..\": may not be '..'",
           "subjects[0].apiGroup: Unsupported value: \"x\"" + wanted,
           "subjects[1].name: Required value",
           "subjects[1].apiGroup: Unsupported value: \"y\"" + wanted,
           "subjects[2].name: Invalid value: \"A\": " + kBadSubdomain,
           R"(subjects[2].apiGroup: Unsupported value: "x": supported values: "")",
           "subjects[3].name: Required value"}});
  expect({kRbac,
          "ClusterRoleBinding",
          R"({"roleRef":{"kind":"ClusterRole","name":"r"},
              "subjects":[{"kind":"ServiceAccount","name":"a","namespace":"n"}]})",
          {},
          R"({"roleRef":{"kind":"ClusterRole","name":"r"}})"});
}

TEST(DisruptionBudget, AmountsAreNumbersOrPercentages) {
  const std::string percent =
      ": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
      "'93%', regex used for validation is '[0-9]+%')";
  for (const std::string_view text : {"5", "%", "1.5%", "-1%", "5%%", "x%"})
    expect({"policy",
            "PodDisruptionBudget",
            fmt::format(R"({{"spec":{{"minAvailable":"{}"}}}})", text),
            {fmt::format("spec.minAvailable: Invalid value: \"{}\"{}", text, percent)}});
  for (const std::string_view text : {R"("100%")", R"("0%")", "0", "2147483647"})
    expect({"policy",
            "PodDisruptionBudget",
            fmt::format(
                R"({{"spec":{{"maxUnavailable":{},"unhealthyPodEvictionPolicy":"AlwaysAllow"}}}})",
                text),
            {}});
  expect(
      {"policy",
       "PodDisruptionBudget",
       R"({"spec":{"selector":{"matchLabels":{"-":"v"}},"unhealthyPodEvictionPolicy":"IfHealthyBudget"}})",
       {"spec.selector.matchLabels: Invalid value: \"-\": " + kBadNamePart}});
}

TEST(Devices, RequestsAreCountedAndFixed) {
  constexpr std::string_view kGroup = "resource.k8s.io";
  const auto claim = [](std::size_t requests) {
    std::string list;
    for (std::size_t i = 0; i < requests; ++i)
      list += fmt::format(R"({}{{"name":"r{}","exactly":{{"deviceClassName":"c"}}}})",
                          i == 0 ? "" : ",", i);
    return fmt::format(R"({{"spec":{{"devices":{{"requests":[{}]}}}}}})", list);
  };
  expect({kGroup, "ResourceClaim", claim(32), {}});
  expect({kGroup,
          "ResourceClaim",
          claim(33),
          {"spec.devices.requests: Too many: 33: must have at most 32 items"}});
  expect(
      {kGroup,
       "ResourceClaim",
       R"({"spec":{"devices":{"requests":[{"exactly":{}},{"name":"A","exactly":{"deviceClassName":"c"},
              "firstAvailable":[{"name":"b","deviceClassName":"c"}]},{"name":"A","firstAvailable":[{"name":"b","deviceClassName":"c"}]}]}}})",
       {"spec.devices.requests[0].name: Required value",
        "spec.devices.requests[0].exactly.deviceClassName: Required value",
        "spec.devices.requests[1].name: Invalid value: \"A\": " + kBadLabel,
        R"(spec.devices.requests[1]: Required value: exactly one of `exactly` or `firstAvailable` is required)",
        "spec.devices.requests[2].name: Invalid value: \"A\": " + kBadLabel,
        "spec.devices.requests[2].name: Duplicate value: \"A\""}});
  expect({kGroup, "ResourceClaim", claim(1), {}, claim(1)});
  FieldErrors errors;
  const Kind& kind = *find_kind(kGroup, "ResourceClaim");
  const Json two = prepared(kind, claim(2));
  const Json one = prepared(kind, claim(1));
  rules::validate_resource_claim(two, &one, errors);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(errors.text().starts_with("spec: Invalid value: ")) << errors.text();
  EXPECT_TRUE(errors.text().ends_with(": field is immutable")) << errors.text();
}

TEST(Devices, OneIsAskedForUnlessMoreOrAllAre) {
  const Kind& kind = *find_kind("resource.k8s.io", "ResourceClaimTemplate");
  const Json made = prepared(
      kind,
      R"({"spec":{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"c","count":3}},
          {"name":"b","exactly":{"deviceClassName":"c","allocationMode":"All"}},
          {"name":"c","firstAvailable":[{"name":"d","deviceClassName":"c"}]}]}}}})");
  const JsonArray& requests = find_path(made, "spec.spec.devices.requests")->get_array();
  EXPECT_EQ(to_text(*find_path(requests[0], "exactly.count")), "3");
  EXPECT_EQ(find_path(requests[1], "exactly.count"), nullptr);
  EXPECT_EQ(to_text(*find(find_array(requests[2], "firstAvailable")->at(0), "count")), "1");
  expect({"resource.k8s.io",
          "ResourceClaimTemplate",
          R"({"spec":{"spec":{"devices":{"requests":[{"name":"g"}]}}}})",
          {"spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or "
           "`firstAvailable` is required"}});
}

}  // namespace
}  // namespace muster::api
