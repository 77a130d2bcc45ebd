#include "scheduler/config/scheduler_config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "scheduler/plugins/default_profile.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

std::string text(std::string_view rest) { return std::string(kHead) + std::string(rest); }

SchedulerConfig config(std::string_view rest) {
  Result<SchedulerConfig> read = read_scheduler_config(text(rest));
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
  return read ? *read : SchedulerConfig{};
}

std::string refusal(std::string_view rest) {
  const Result<SchedulerConfig> read = read_scheduler_config(text(rest));
  EXPECT_FALSE(read.has_value()) << rest;
  return read ? "" : read.error().message;
}

template <typename Role>
std::vector<std::string> names(const std::vector<Profile::Entry<Role>>& entries) {
  std::vector<std::string> out;
  for (const auto& entry : entries) out.push_back(fmt::format("{} {}", entry.name, entry.weight));
  return out;
}

std::int64_t weight_of(const Profile& profile, std::string_view plugin) {
  for (const auto& entry : profile.scores())
    if (entry.name == plugin) return entry.weight;
  return 0;
}

bool filters(const Profile& profile, std::string_view plugin) {
  return profile.runs(plugin, ExtensionPoint::Filter);
}

TEST(SchedulerConfig, AnEmptyOneIsTheDefault) {
  const SchedulerConfig read = config("");
  ASSERT_EQ(read.profiles.all().size(), 1U);
  EXPECT_EQ(read.profiles.first().scheduler_name, "default-scheduler");
  const Profile standard = default_profile();
  EXPECT_EQ(names(read.profiles.first().profile.filters()), names(standard.filters()));
  EXPECT_EQ(names(read.profiles.first().profile.scores()), names(standard.scores()));
  EXPECT_EQ(read.initial_backoff, Duration(std::chrono::seconds{1}));
  EXPECT_EQ(read.max_backoff, Duration(std::chrono::seconds{10}));
}

TEST(SchedulerConfig, AProfileThatSaysNothingIsTheDefaultToo) {
  const SchedulerConfig read = config("profiles:\n- schedulerName: mine\n");
  const Profile standard = default_profile();
  EXPECT_EQ(read.profiles.find("default-scheduler"), nullptr);
  ASSERT_NE(read.profiles.find("mine"), nullptr);
  EXPECT_EQ(names(read.profiles.find("mine")->filters()), names(standard.filters()));
  EXPECT_EQ(names(read.profiles.find("mine")->scores()), names(standard.scores()));
}

TEST(SchedulerConfig, ReadsJson) {
  const auto read = read_scheduler_config(
      R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",
          "podInitialBackoffSeconds":3,"podMaxBackoffSeconds":20,"parallelism":4,
          "percentageOfNodesToScore":50,"leaderElection":{"leaderElect":false}})");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->initial_backoff, Duration(std::chrono::seconds{3}));
  EXPECT_EQ(read->max_backoff, Duration(std::chrono::seconds{20}));
}

TEST(SchedulerConfig, ABackoffMayStayTheSame) {
  const SchedulerConfig read = config("podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 5\n");
  EXPECT_EQ(read.initial_backoff, Duration(std::chrono::seconds{5}));
  EXPECT_EQ(read.max_backoff, Duration(std::chrono::seconds{5}));
}

TEST(SchedulerConfig, SeveralProfilesStandApart) {
  const SchedulerConfig read = config(R"(
percentageOfPlacementsToScore: 40
profiles:
- schedulerName: default-scheduler
- schedulerName: quick
  percentageOfPlacementsToScore: 0
  plugins:
    multiPoint:
      disabled: [{name: TaintToleration}]
)");
  const Profile* usual = read.profiles.find("default-scheduler");
  const Profile* quick = read.profiles.find("quick");
  ASSERT_TRUE(usual != nullptr && quick != nullptr);
  EXPECT_TRUE(filters(*usual, "TaintToleration"));
  EXPECT_FALSE(filters(*quick, "TaintToleration"));
  EXPECT_EQ(weight_of(*quick, "TaintToleration"), 0);
  EXPECT_EQ(usual->settings().placements_percentage, 40);
  EXPECT_EQ(quick->settings().placements_percentage, 0);
}

TEST(SchedulerConfig, MultiPointReplacesADefaultInPlace) {
  const SchedulerConfig read = config(R"(
profiles:
- plugins:
    multiPoint:
      enabled:
      - {name: NodeAffinity, weight: 7}
)");
  const Profile& profile = read.profiles.first().profile;
  EXPECT_EQ(weight_of(profile, "NodeAffinity"), 7);
  std::vector<std::string> order = names(default_profile().scores());
  for (std::string& name : order)
    if (name == "NodeAffinity 2") name = "NodeAffinity 7";
  EXPECT_EQ(names(profile.scores()), order);
}

TEST(SchedulerConfig, APointBeatsMultiPointAndComesFirst) {
  const SchedulerConfig read = config(R"(
profiles:
- plugins:
    multiPoint:
      enabled:
      - {name: NodeResourcesFit, weight: 5}
    score:
      enabled:
      - {name: NodeResourcesBalancedAllocation, weight: 4}
      - {name: TaintToleration}
      disabled:
      - {name: NodeAffinity}
)");
  const Profile& profile = read.profiles.first().profile;
  const std::vector<std::string> scores = names(profile.scores());
  ASSERT_GE(scores.size(), 3U);
  EXPECT_EQ(scores[0], "NodeResourcesBalancedAllocation 4");
  EXPECT_EQ(scores[1], "TaintToleration 1") << "named at the point without a weight: 1, not 3";
  EXPECT_EQ(weight_of(profile, "NodeResourcesFit"), 5);
  EXPECT_EQ(weight_of(profile, "NodeAffinity"), 0);
  EXPECT_TRUE(filters(profile, "NodeAffinity")) << "only its score is off";
}

TEST(SchedulerConfig, AStarDropsAllButWhatNoProfileCanDoWithout) {
  const SchedulerConfig read = config(R"(
profiles:
- plugins:
    multiPoint:
      disabled: [{name: "*"}]
    queueSort:
      enabled: [{name: PrioritySort}]
    filter:
      enabled: [{name: NodeResourcesFit}, {name: NodeName}]
    bind:
      enabled: [{name: DefaultBinder}]
)");
  const Profile& profile = read.profiles.first().profile;
  EXPECT_TRUE(profile.scores().empty());
  EXPECT_TRUE(filters(profile, "NodeName"));
  EXPECT_FALSE(filters(profile, "NodeAffinity"));
  EXPECT_FALSE(profile.runs("DefaultPreemption", ExtensionPoint::PostFilter));
  EXPECT_TRUE(profile.runs("GangScheduling", ExtensionPoint::Permit));
}

TEST(SchedulerConfig, PlacementsComeFromPlugins) {
  const auto texts = [](const Profile& profile) {
    std::vector<std::string> said;
    GroupSpec group;
    group.topology_key = "rack";
    for (const auto& entry : profile.placement_generators())
      said.push_back(fmt::format("{}: {}", entry.name, entry.plugin->placements_of(group)));
    return said;
  };
  const SchedulerConfig read = config(
      "profiles:\n- schedulerName: a\n  pluginConfig:\n  - name: NodeSetPlacements\n    args: "
      "{placements: [{name: new, selector: \"age in (2,1)\"}]}\n- schedulerName: b\n"
      "- schedulerName: c\n  plugins: {placementGenerate: {disabled: [{name: "
      "NodeSetPlacements}]}}\n");
  using Names = std::vector<std::string>;
  EXPECT_EQ(texts(read.profiles.all()[0].profile),
            (Names{"TopologyPlacementGenerator: rack", "NodeSetPlacements: new: age in (1,2); "}));
  EXPECT_EQ(texts(read.profiles.all()[1].profile), Names{"TopologyPlacementGenerator: rack"});
  EXPECT_EQ(texts(read.profiles.all()[2].profile), Names{"TopologyPlacementGenerator: rack"});
}

TEST(SchedulerConfig, PluginsForGroupsAreEnabledOrderedAndWeighed) {
  const SchedulerConfig read = config(
      "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins: {placementScore: {enabled: "
      "[{name: PodGroupPodsCount, weight: 3}], disabled: [{name: NodeResourcesFit}]}, "
      "podGroupPostFilter: {disabled: [{name: \"*\"}]}}\n");
  const auto scores = [](const Profile& profile) {
    std::vector<std::string> names;
    for (const auto& entry : profile.placement_scores())
      names.push_back(fmt::format("{} {}", entry.name, entry.weight));
    return names;
  };
  using Names = std::vector<std::string>;
  const Profile& usual = read.profiles.all()[0].profile;
  EXPECT_EQ(scores(usual), (Names{"NodeResourcesFit 1", "PodGroupPodsCount 1"}));
  ASSERT_EQ(usual.group_post_filters().size(), 1U);
  EXPECT_EQ(usual.group_post_filters()[0].name, "DefaultPreemption");
  ASSERT_EQ(usual.placement_feasibles().size(), 1U);
  const Profile& other = read.profiles.all()[1].profile;
  EXPECT_EQ(scores(other), Names{"PodGroupPodsCount 3"});
  EXPECT_TRUE(other.group_post_filters().empty());
  EXPECT_EQ(other.scores().size(), usual.scores().size()) << "nodes are scored as before";
}

TEST(SchedulerConfig, ReadsTheArgumentsOfPreemption) {
  const SchedulerConfig read = config(R"(
profiles:
- pluginConfig:
  - name: DefaultPreemption
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: DefaultPreemptionArgs
      minCandidateNodesPercentage: 5
      pdbViolations: Never
      mode: Upstream
      victimPatience: 30s
      stepsMax: 1000
      reserveAfter: 1h
      reserveNodesPercentage: 25
)");
  const PreemptionArgs& args = read.profiles.first().profile.settings().preemption;
  EXPECT_EQ(args.candidates_percentage, 5);
  EXPECT_EQ(args.candidates_min, 100);
  EXPECT_FALSE(args.violates_budgets);
  EXPECT_EQ(args.mode, PreemptionArgs::Mode::Upstream);
  EXPECT_EQ(args.victim_patience, std::chrono::seconds{30});
  EXPECT_EQ(args.steps_max, 1000U);
  EXPECT_EQ(args.reserve_after, std::chrono::hours{1});
  EXPECT_EQ(args.reserve_nodes_percentage, 25);
}

TEST(SchedulerConfig, PackingIsAConfigurationLikeAnyOther) {
  const auto packing = packing_config("nvidia.com/gpu");
  ASSERT_TRUE(packing.has_value());
  const auto read = read_scheduler_config(*packing);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(weight_of(read->profiles.first().profile, "NodeResourcesFit"), 2000);
  EXPECT_FALSE(packing_config("not a resource").has_value());
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SchedulerConfig, EveryExampleOfTheDocumentationIsOne) {
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MUSTER_SCHEDULER_EXAMPLES)) {
    const auto read = read_scheduler_config(read_file(entry.path()));
    EXPECT_TRUE(read.has_value()) << entry.path() << ": " << (read ? "" : read.error().message);
    ++examples;
  }
  EXPECT_GE(examples, 4U);
}

TEST(SchedulerConfig, TheFlagPackAndItsExampleAreTheSame) {
  const std::string example =
      read_file(std::filesystem::path(MUSTER_SCHEDULER_EXAMPLES) / "packing.yaml");
  EXPECT_EQ(example.substr(example.find('\n') + 1), packing_config("nvidia.com/gpu").value());
}

struct Refused {
  std::string_view text;
  std::string_view want;
};

// Lines count the two of the head.
const std::vector<Refused> kRefused{
    {"foo: 1\n", R"(line 3: strict decoding error: unknown field "foo")"},
    {"parallelism: 1\nparallelism: 2\n", R"(strict decoding error: duplicate field "parallelism")"},
    {"profiles:\n- schedulerName: a\n  plugin: {}\n",
     R"(line 5: strict decoding error: unknown field "profiles[0].plugin")"},
    {"parallelism: 0\n",
     "line 3: parallelism: Invalid value: 0: should be an integer value greater than zero"},
    {"percentageOfNodesToScore: 101\n",
     "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"},
    {"podInitialBackoffSeconds: 0\n",
     "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"},
    {"podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 4\n",
     "line 4: podMaxBackoffSeconds: Invalid value: 4: must be greater than or equal to "
     "PodInitialBackoffSeconds"},
    {"podMaxBackoffSeconds: 9223372036854775807\n", "podMaxBackoffSeconds: Invalid value"},
    {"parallelism: many\n", "cannot unmarshal string"},
    {"extenders:\n- urlPrefix: http://x\n", "line 3: extenders: Forbidden: extenders are not"},
    {"profiles:\n- {schedulerName: a}\n- {schedulerName: a}\n",
     R"(line 5: profiles[1].schedulerName: Duplicate value: "profiles[0].schedulerName")"},
    {"profiles:\n- {schedulerName: a}\n- {}\n", "profiles[1].schedulerName: Required value"},
    {"profiles:\n- schedulerName: ''\n", "line 4: profiles[0].schedulerName: Required value"},
    {"profiles:\n- plugins:\n    score:\n      enabled:\n      - name: Foo\n",
     R"(line 7: profiles[0].plugins.score.enabled[0].name: Not found: "Foo")"},
    {"profiles:\n- plugins:\n    score:\n      enabled:\n      - name: Foo\n",
     "known plugins: DefaultBinder, DefaultPreemption"},
    {"profiles:\n- plugins:\n    score:\n      disabled: [{name: Foo}]\n", "Not found"},
    {"profiles:\n- plugins:\n    score:\n      enabled: [{name: NodeName}]\n",
     R"(plugin "NodeName" does not extend score plugin)"},
    {"profiles:\n- plugins:\n    score:\n      enabled: [{name: NodeAffinity}, {name: "
     "NodeAffinity}]\n",
     R"(profiles[0].plugins.score.enabled[1].name: Duplicate value: "NodeAffinity")"},
    {"profiles:\n- plugins:\n    score:\n      enabled: [{name: NodeAffinity, weight: -1}]\n",
     "must be greater than or equal to 0"},
    {"profiles:\n- plugins:\n    score:\n      enabled: [{name: NodeAffinity, weight: "
     "2000000000}]\n",
     "total score of Score plugins could overflow"},
    {"profiles:\n- plugins:\n    queueSort:\n      disabled: [{name: PrioritySort}]\n",
     R"(only one queue sort plugin required for profile with scheduler name "default-scheduler")"},
    {"profiles:\n- plugins:\n    multiPoint:\n      disabled: [{name: DefaultBinder}]\n",
     R"(at least one bind plugin is needed for profile with scheduler name "default-scheduler")"},
    {"profiles:\n- plugins:\n    multiPoint:\n      disabled: [{name: GangScheduling}]\n",
     "GangScheduling cannot be disabled"},
    {"profiles:\n- plugins:\n    filter:\n      disabled: [{name: NodeResourcesFit}]\n",
     "NodeResourcesFit cannot be disabled at filter: nodes would be overcommitted"},
};

TEST(SchedulerConfig, SaysWhatIsWrongAndWhere) {
  for (const Refused& one : kRefused) {
    const std::string message = refusal(one.text);
    EXPECT_NE(message.find(one.want), std::string::npos) << one.text << "\nsays: " << message;
  }
}

TEST(SchedulerConfig, NamesEverythingThatIsWrong) {
  const std::string message = refusal("parallelism: 0\npodInitialBackoffSeconds: 0\n");
  EXPECT_NE(message.find("parallelism: Invalid"), std::string::npos) << message;
  EXPECT_NE(message.find("; line 4: podInitialBackoffSeconds"), std::string::npos) << message;
}

TEST(SchedulerConfig, KnowsOneVersionOfOneKind) {
  const auto read = read_scheduler_config(
      "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n");
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message.find(
                R"(is registered for version "kubescheduler.config.k8s.io/v1beta3")"),
            std::string::npos)
      << read.error().message;
  EXPECT_FALSE(read_scheduler_config("").has_value());
  EXPECT_FALSE(read_scheduler_config("profiles: []\n").has_value());
  EXPECT_FALSE(read_scheduler_config("[").has_value());
}

std::string args_refusal(std::string_view plugin, std::string_view args) {
  return refusal(
      fmt::format("profiles:\n- pluginConfig:\n  - name: {}\n    args: {}\n", plugin, args));
}

TEST(SchedulerConfig, JudgesTheArgumentsOfEveryPlugin) {
  struct Case {
    std::string_view plugin, args, want;
  };
  const std::vector<Case> cases{
      {"Foo", "{}", R"(profiles[0].pluginConfig[0].name: Not found: "Foo")"},
      {"NodeName", "{a: 1}",
       "profiles[0].pluginConfig[0].args: Forbidden: plugin NodeName takes no"},
      {"NodeResourcesFit", "{kind: NodeAffinityArgs}", "has to match plugin args"},
      {"NodeResourcesFit", "{foo: 1}",
       R"(line 6: strict decoding error: unknown field "profiles[0].pluginConfig[0].args.foo")"},
      {"NodeResourcesFit", "{ignoredResources: ['a b']}",
       "args.ignoredResources[0]: Invalid value"},
      {"NodeResourcesFit", "{ignoredResourceGroups: [a/b]}",
       "resource group name can't contain '/'"},
      {"NodeResourcesFit", "{scoringStrategy: {type: Best}}",
       R"(args.scoringStrategy.type: Unsupported value: "Best": supported values: )"
       R"("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")"},
      {"NodeResourcesFit",
       "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 101}]}}",
       "resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, "
       "100]"},
      {"NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}",
       "must be specified when type is RequestedToCapacityRatio"},
      {"NodeResourcesFit",
       "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: []}}}",
       "at least one point must be specified"},
      {"NodeResourcesFit",
       "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
       "[{utilization: 5, score: 1}, {utilization: 5, score: 11}]}}}",
       "shape[1].utilization: Invalid value: 5: values must be sorted in increasing order"},
      {"NodeResourcesFit",
       "{scoringStrategy: {type: LeastAllocated, requestedToCapacityRatio: {shape: []}}}",
       "must be nil when type is not RequestedToCapacityRatio"},
      {"NodeResourcesBalancedAllocation", "{resources: [{name: cpu}, {name: cpu}]}",
       R"(args.resources[1].name: Duplicate value: "cpu")"},
      {"NodeResourcesBalancedAllocation", "{resources: [{name: cpu, weight: 2}]}", "must be 1"},
      {"NodeAffinity",
       "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[{matchExpressions: [{key: a, operator: Near}]}]}}}",
       "args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"},
      {"DefaultPreemption", "{minCandidateNodesPercentage: 101}",
       "minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"},
      {"DefaultPreemption", "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
       "cannot be zero at the same time as minCandidateNodesAbsolute"},
      {"DefaultPreemption", "{pdbViolations: Sometimes}", R"(Unsupported value: "Sometimes")"},
      {"DefaultPreemption", "{mode: Wild}", R"(args.mode: Unsupported value: "Wild")"},
      {"DefaultPreemption", "{victimPatience: soon}",
       R"(args.victimPatience: Invalid value: "soon": must be a length of time such as 10m)"},
      {"DefaultPreemption", "{stepsMax: 0}", "args.stepsMax: Invalid value: 0: must be at least 1"},
      {"DefaultPreemption", "{reserveNodesPercentage: 101}",
       "args.reserveNodesPercentage: Invalid value: 101: not in valid range [0, 100]"},
      {"InterPodAffinity", "{hardPodAffinityWeight: 101}",
       "hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"},
      {"PodTopologySpread",
       "{defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: zone, "
       "whenUnsatisfiable: ScheduleAnyway}]}",
       "args.defaultConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"},
      {"PodTopologySpread",
       "{defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
       "whenUnsatisfiable: ScheduleAnyway}]}",
       R"(args.defaultingType: Invalid value: "System": when .defaultConstraints are not empty)"},
      {"PodTopologySpread",
       "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
       "whenUnsatisfiable: Maybe, labelSelector: {}}]}",
       "args.defaultConstraints[0].labelSelector: Forbidden"},
      {"PodTopologySpread",
       "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
       "whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 2, topologyKey: zone, "
       "whenUnsatisfiable: ScheduleAnyway}]}",
       "args.defaultConstraints[1]: Duplicate value"},
      {"NodeSetPlacements", "{placements: [{name: a, selector: \"x in y\"}]}",
       "args.placements[0].selector: Invalid value"},
      {"NodeSetPlacements", "{placements: [{name: a}]}",
       "args.placements[0].selector: Required value"},
      {"NodeSetPlacements", "{placements: [{name: a/b, selector: x=y}]}",
       "args.placements[0].name: Invalid value"},
      {"NodeSetPlacements", "{placements: [{name: a, selector: x=y}, {name: a, selector: x=z}]}",
       "args.placements[1].name: Duplicate value"},
      {"VolumeBinding", "{bindTimeoutSeconds: -1}",
       "bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a "
       "negative value"},
      {"VolumeBinding", "{shape: [{utilization: 0, score: 11}]}", "not in valid range [0, 10]"},
  };
  for (const Case& one : cases) {
    const std::string message = args_refusal(one.plugin, one.args);
    EXPECT_NE(message.find(one.want), std::string::npos) << one.args << "\nsays: " << message;
  }
}

}  // namespace
}  // namespace muster::scheduler
