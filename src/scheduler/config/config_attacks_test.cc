// Configurations that nobody would write on purpose. Each is refused with one message that says
// where and why, and none costs more than its size.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/yaml.h"
#include "scheduler/config/scheduler_config.h"

namespace muster::scheduler {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;

constexpr std::string_view kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
constexpr std::size_t kMessageMax = 64 << 10U;

std::string repeated(std::string_view text, std::size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += text;
  return all;
}

// With # replaced by a number that counts up.
std::string numbered(std::string_view text, std::size_t bytes) {
  std::string all;
  for (std::size_t i = 0; all.size() < bytes; ++i) {
    std::string line(text);
    line.replace(line.find('#'), 1, std::to_string(i));
    all += line;
  }
  return all;
}

struct Attack {
  std::string what;
  std::string text;  // without the head
  std::string want;
};

constexpr std::size_t kLarge = 1'500'000;
constexpr std::size_t kSome = 150'000;  // where more of it would be the same

std::vector<Attack> large_ones() {
  const std::string plugins = "profiles:\n- plugins:\n    score:\n      enabled:\n";
  const std::string spread =
      "profiles:\n- pluginConfig:\n  - name: PodTopologySpread\n    args:\n"
      "      defaultingType: List\n      defaultConstraints:\n";
  const std::string long_name(kLarge, 'x');
  return {
      {"profiles", "profiles:\n" + numbered("- {schedulerName: s#}\n", kLarge),
       "line 3: profiles: Too many: "},
      {"profiles of one name", "profiles:\n" + repeated("- {schedulerName: a}\n", kSome),
       "line 3: profiles: Too many: "},
      {"unknown plugins", plugins + numbered("      - {name: P#}\n", kLarge),
       R"(line 7: profiles[0].plugins.score.enabled[0].name: Not found: "P0")"},
      {"one plugin again and again", plugins + repeated("      - name: NodeAffinity\n", kSome),
       R"(line 8: profiles[0].plugins.score.enabled[1].name: Duplicate value: "NodeAffinity")"},
      {"two plugins in turn",
       plugins + repeated("      - name: NodeAffinity\n", kSome / 2) +
           repeated("      - name: ImageLocality\n", kSome / 2),
       "Duplicate value"},
      {"unknown fields", numbered("field#: 1\n", kLarge),
       R"(line 3: strict decoding error: unknown field "field0")"},
      {"arguments of unknown plugins",
       "profiles:\n- pluginConfig:\n" + numbered("  - {name: P#}\n", kSome),
       R"(line 5: profiles[0].pluginConfig[0].name: Not found: "P0")"},
      {"the same arguments",
       "profiles:\n- pluginConfig:\n" +
           repeated("  - {name: NodeResourcesFit, args: {foo: 1}}\n", kSome),
       R"(unknown field "profiles[0].pluginConfig[0].args.foo")"},
      {"bad default constraints",
       spread +
           numbered("      - {maxSkew: 0, topologyKey: k#, whenUnsatisfiable: Never}\n", kSome),
       "line 9: profiles[0].pluginConfig[0].args.defaultConstraints[0].maxSkew: Invalid value: 0"},
      {"a long name", plugins + "      - {name: " + long_name + "}\n",
       "line 7: profiles[0].plugins.score.enabled[0].name: Not found"},
      {"a long field", long_name.substr(0, 1000) + ": 1\n", "line 3: strict decoding error"},
      {"a long scheduler name twice", "profiles:\n- &p {schedulerName: " + long_name + "}\n- *p\n",
       R"(profiles[1].schedulerName: Duplicate value: "profiles[0].schedulerName")"},
      {"values", "extra: [" + repeated("1,", kLarge) + "1]\n", "values"},
  };
}

std::vector<Attack> odd_ones() {
  std::string aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i)
    aliases += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n",
                           i, i - 1);
  std::string with_zero = "profiles: [a";
  with_zero += '\0';
  with_zero += "b]\n";
  return {
      {"aliases of aliases", aliases, "excessive aliasing"},
      {"an alias of itself", "profiles: &a [*a]\n", "anchor"},
      {"an anchor that is not there", "profiles: *nowhere\n", "anchor"},
      {"depth", "profiles: " + std::string(100'000, '['), ""},
      {"depth of maps", "profiles: " + repeated("{a: ", 400'000), ""},
      {"a byte of zero", with_zero, ""},
      {"no UTF-8", "profiles: \"\xff\xfe\"\n", ""},
      {"a quote without an end", "profiles: \"abc\n", "line"},
      {"tabs", "profiles:\n\t- schedulerName: a\n", "line"},
      {"two documents", "---\nprofiles: []\n", ""},
      {"two keys alike", "profiles: []\nprofiles: []\n", R"(duplicate field "profiles")"},
      {"a number too large", "parallelism: 99999999999999999999\n",
       "line 3: KubeSchedulerConfiguration: json: cannot unmarshal number"},
      {"a fraction", "parallelism: 1.5\n",
       "line 3: KubeSchedulerConfiguration: json: cannot unmarshal number 1.5"},
      {"extenders of another type", "extenders: 7\n", "line 3: extenders: Forbidden"},
      {"a wrong type deep inside",
       "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    score:\n"
       "      enabled:\n      - name: NodeAffinity\n      - name: ImageLocality\n"
       "        weight: heavy\n",
       "line 11: KubeSchedulerConfiguration: json: cannot unmarshal string into Go struct field "
       "Plugin.profiles.plugins.score.enabled.weight of type int32"},
      {"a wrong type in arguments",
       "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n"
       "      scoringStrategy:\n        type: MostAllocated\n        resources:\n"
       "        - {name: cpu, weight: 1}\n        - name: memory\n          weight: {}\n",
       "line 12: profiles[0].pluginConfig[0].args: json: cannot unmarshal object"},
      {"weights that overflow together",
       "profiles:\n- plugins:\n    score:\n      enabled:\n"
       "      - {name: NodeAffinity, weight: 2147483647}\n"
       "      - {name: ImageLocality, weight: 2147483647}\n",
       "line 5: profiles[0].plugins.score: Invalid value"},
      {"a lease without a length", "leaderElection: {leaseDuration: soon}\n",
       R"(line 3: leaderElection.leaseDuration: Invalid value: "soon")"},
      {"a rate that is none", "clientConnection: {qps: many}\n",
       R"(line 3: clientConnection.qps: Invalid value: "many")"},
      {"a negative patience",
       "profiles:\n- pluginConfig:\n  - name: DefaultPreemption\n    args: {victimPatience: -5m}\n",
       R"(line 6: profiles[0].pluginConfig[0].args.victimPatience: Invalid value: "-5m")"},
      {"an endless patience",
       "profiles:\n- pluginConfig:\n  - name: DefaultPreemption\n"
       "    args: {reserveAfter: 99999999999999h}\n",
       "line 6: profiles[0].pluginConfig[0].args.reserveAfter: Invalid value"},
      {"a timeout of devices",
       "profiles:\n- pluginConfig:\n  - name: DynamicResources\n    args: {filterTimeout: soon}\n",
       R"(line 6: profiles[0].pluginConfig[0].args.filterTimeout: Invalid value: "soon")"},
  };
}

void expect_refused(const std::vector<Attack>& attacks) {
  for (const Attack& attack : attacks) {
    const auto read = read_scheduler_config(std::string(kHead) + attack.text);
    if (read) {
      ADD_FAILURE() << attack.what << " is accepted";
      continue;
    }
    const std::string& message = read.error().message;
    EXPECT_NE(message.find(attack.want), std::string::npos)
        << attack.what << " says: " << message.substr(0, 2000);
    EXPECT_FALSE(message.empty()) << attack.what;
    EXPECT_LT(message.size(), kMessageMax) << attack.what;
  }
}

TEST(ConfigAttacks, LargeFilesAreRefusedWithOneMessage) { expect_refused(large_ones()); }

TEST(ConfigAttacks, OddFilesAreRefusedWithOneMessage) { expect_refused(odd_ones()); }

TEST(ConfigAttacks, SizeAloneIsNoFault) {
  const auto read = read_scheduler_config(std::string(kHead) + repeated("# words\n", kLarge));
  EXPECT_TRUE(read.has_value()) << read.error().message;
  std::string profiles = "profiles:\n";
  for (int i = 0; i < 100; ++i) profiles += fmt::format("- {{schedulerName: s{}}}\n", i);
  EXPECT_TRUE(read_scheduler_config(std::string(kHead) + profiles).has_value());
}

TEST(ConfigAttacks, OfManyFaultsTheFirstAreNamed) {
  std::string text(kHead);
  for (int i = 0; i < 50; ++i) text += fmt::format("field{}: 1\n", i);
  const auto read = read_scheduler_config(text);
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message.find("line 22: "), std::string::npos) << read.error().message;
  EXPECT_EQ(read.error().message.find("line 23: "), std::string::npos) << read.error().message;
  EXPECT_TRUE(read.error().message.ends_with("; and 30 more")) << read.error().message;
}

// --- every value replaced by others ---

constexpr std::string_view kFull = R"(
parallelism: 4
leaderElection: {leaderElect: true, leaseDuration: 15s, resourceName: x}
clientConnection: {kubeconfig: /k, qps: 50, burst: 100}
enableProfiling: true
percentageOfNodesToScore: 50
percentageOfPlacementsToScore: 50
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
delayCacheUntilActive: true
profiles:
- schedulerName: a
  percentageOfNodesToScore: 10
  percentageOfPlacementsToScore: 10
  plugins:
    multiPoint:
      enabled: [{name: NodeAffinity, weight: 3}]
      disabled: [{name: ImageLocality}]
    filter: {disabled: [{name: NodePorts}]}
    score: {enabled: [{name: ImageLocality, weight: 2}], disabled: [{name: '*'}]}
  pluginConfig:
  - name: DefaultPreemption
    args: {minCandidateNodesPercentage: 5, minCandidateNodesAbsolute: 9, pdbViolations: Never,
           mode: Upstream, victimPatience: 30s, stepsMax: 10, reserveAfter: 1h,
           reserveNodesPercentage: 25}
  - name: DynamicResources
    args: {filterTimeout: 10s, bindingTimeout: 10s}
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 5, ignorePreferredTermsOfExistingPods: true}
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: k, operator: In, values: [v]}]}]
        preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 1, preference: {matchExpressions: [{key: k, operator: Exists}]}}
  - name: NodeResourcesBalancedAllocation
    args: {resources: [{name: cpu, weight: 1}]}
  - name: NodeResourcesFit
    args:
      ignoredResources: [example.com/a]
      ignoredResourceGroups: [example.com]
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: cpu, weight: 1}]
        requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 50, score: 9}]}
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
  - name: VolumeBinding
    args: {bindTimeoutSeconds: 60, shape: [{utilization: 0, score: 0}]}
)";

const std::vector<Json>& replacements() {
  static const std::vector<Json> kAll{"text",
                                      "",
                                      7,
                                      -1,
                                      0,
                                      1e300,
                                      0.5,
                                      2147483647,
                                      std::int64_t{9223372036854775807},
                                      true,
                                      nullptr,
                                      JsonArray{},
                                      JsonObject{},
                                      JsonArray{JsonArray{}},
                                      JsonArray{nullptr},
                                      JsonArray{7, "text"},
                                      JsonObject{{"x", 1}},
                                      JsonArray{JsonObject{{"name", 1}}}};
  return kAll;
}

std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

class Replacing {
 public:
  explicit Replacing(Json document) : document_(std::move(document)) {}

  void run() {
    visit(document_, "");
    EXPECT_GT(refused_, 500);
  }

 private:
  // The member that a value belongs to; items of lists belong to that of their list.
  void visit(Json& value, const std::string& member) {
    if (!member.empty()) replace(value, member);
    if (value.is_object())
      for (auto& [key, inner] : value.get_object()) visit(inner, std::string(key));
    else if (value.is_array())
      for (Json& inner : value.get_array()) visit(inner, member);
  }

  void replace(Json& value, const std::string& member) {
    const Json kept = value;
    for (const Json& other : replacements()) {
      value = other;
      const auto read = read_scheduler_config(api::to_text(document_));
      if (read) continue;
      ++refused_;
      const std::string& message = read.error().message;
      EXPECT_NE(lowered(message).find(lowered(member)), std::string::npos)
          << member << " replaced by " << api::to_text(other) << " says: " << message;
      EXPECT_LT(message.size(), kMessageMax);
    }
    value = kept;
  }

  Json document_;
  int refused_ = 0;
};

TEST(ConfigAttacks, WhateverIsWrongIsNamed) {
  auto parsed = api::parse_yaml(std::string(kHead) + std::string(kFull));
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  const auto whole = read_scheduler_config(api::to_text(parsed->value));
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  Replacing(std::move(parsed->value)).run();
}

}  // namespace
}  // namespace muster::scheduler
