// What a file says of the plugins of a profile, and of the scheduler as a whole.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "scheduler/config/scheduler_config.h"

namespace muster::scheduler {
namespace {

using Texts = std::vector<std::string>;

// Line 3 and the following are `rest`.
Result<SchedulerConfig> read(std::string_view rest) {
  return read_scheduler_config(fmt::format(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{}", rest));
}

SchedulerConfig config(std::string_view rest) {
  Result<SchedulerConfig> made = read(rest);
  EXPECT_TRUE(made.has_value()) << rest << "\nsays: " << (made ? "" : made.error().message);
  return made ? *made : SchedulerConfig{};
}
std::string wrong(std::string_view rest) {
  const Result<SchedulerConfig> made = read(rest);
  return made ? "" : made.error().message;
}

// The one profile with these plugins and arguments, each in JSON.
std::string profile_text(std::string_view plugins, std::string_view args = "[]") {
  return fmt::format("profiles:\n- plugins: {}\n  pluginConfig: {}\n", plugins, args);
}
Profile profile(std::string_view plugins, std::string_view args = "[]") {
  return config(profile_text(plugins, args)).profiles.first().profile;
}
std::string profile_wrong(std::string_view plugins, std::string_view args = "[]") {
  return wrong(profile_text(plugins, args));
}

Texts scores(const Profile& profile) {
  Texts out;
  for (const auto& entry : profile.scores())
    out.push_back(fmt::format("{} {}", entry.name, entry.weight));
  return out;
}

// --- order and weights ---

TEST(ProfileOfFile, ScoresAreOrderedAsPointAndMultiPointSay) {
  EXPECT_EQ(
      scores(profile(
          R"({multiPoint: {disabled: [{name: "*"}], enabled: [{name: ImageLocality, weight: 4}, {name: NodeAffinity}, {name: DefaultBinder},
                                                {name: PrioritySort}, {name: NodeResourcesFit, weight: 3}]},
                              score: {enabled: [{name: TaintToleration, weight: 9}, {name: NodeResourcesFit}]}})")),
      (Texts{"NodeResourcesFit 1", "ImageLocality 4", "NodeAffinity 1", "TaintToleration 9"}))
      << "both name Fit: first; then multiPoint's own in its order; then the point's own";
}

TEST(ProfileOfFile, WhatMultiPointDisablesAndEnablesComesLast) {
  const Texts found =
      scores(profile("{multiPoint: {disabled: [{name: NodeAffinity}], enabled: [{name: "
                     "NodeAffinity, weight: 5}]}}"));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.back(), "NodeAffinity 5");
  const Texts usual = scores(profile("{}"));
  EXPECT_EQ(found.size(), usual.size()) << "once";
}

TEST(ProfileOfFile, APointDisablesForItselfAlone) {
  const Profile found =
      profile(R"({score: {disabled: [{name: "*"}], enabled: [{name: NodeAffinity, weight: 7}]}})");
  EXPECT_EQ(scores(found), Texts{"NodeAffinity 7"});
  EXPECT_TRUE(found.runs("NodeAffinity", ExtensionPoint::Filter));
  EXPECT_TRUE(found.runs("TaintToleration", ExtensionPoint::Filter));
}

TEST(ProfileOfFile, WhatIsPermanentStaysWhateverIsDisabled) {
  const Profile found = profile(R"({placementGenerate: {disabled: [{name: "*"}]}})");
  ASSERT_EQ(found.placement_generators().size(), 1U);
  EXPECT_EQ(found.placement_generators().front().name, "TopologyPlacementGenerator");
}

// --- what arguments decide ---

TEST(ProfileOfFile, ArgumentsReachTheirSettings) {
  const ProfileSettings usual = profile("{}").settings();
  EXPECT_EQ(usual.preemption.candidates_min, 100);
  EXPECT_EQ(usual.default_spread_keys,
            (Texts{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}));
  EXPECT_EQ(usual.node_labels, Texts{});
  EXPECT_EQ(usual.placements_percentage, std::nullopt);
  const ProfileSettings said = profile("{}", R"([
    {name: DefaultPreemption, args: {minCandidateNodesAbsolute: 5}},
    {name: NodeResourcesFit, args: {ignoredResources: [example.com/a]}},
    {name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]}},
    {name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: k, operator: Exists}]}]}}}}])")
                                   .settings();
  EXPECT_EQ(said.preemption.candidates_min, 5);
  EXPECT_EQ(said.ignored.names, Texts{"example.com/a"});
  EXPECT_EQ(said.default_spread_keys, Texts{"rack"});
  EXPECT_EQ(said.node_labels, Texts{"k"});
}

TEST(ProfileOfFile, SpreadingByDefaultNeedsThePlugin) {
  const auto keys = [](std::string_view plugins) {
    return profile(plugins).settings().default_spread_keys.size();
  };
  EXPECT_EQ(keys("{score: {disabled: [{name: PodTopologySpread}]}}"), 2U) << "it filters";
  EXPECT_EQ(keys("{filter: {disabled: [{name: PodTopologySpread}]}}"), 2U) << "it scores";
  EXPECT_EQ(keys("{multiPoint: {disabled: [{name: PodTopologySpread}]}}"), 0U);
}

TEST(ProfileOfFile, PlacementsToScoreAreTheProfilesOrEverybodys) {
  EXPECT_EQ(config("percentageOfPlacementsToScore: 30\n")
                .profiles.first()
                .profile.settings()
                .placements_percentage,
            30);
  const SchedulerConfig found = config(
      "percentageOfPlacementsToScore: 30\nprofiles:\n- {schedulerName: a, "
      "percentageOfPlacementsToScore: 5}\n- {schedulerName: b}\n");
  EXPECT_EQ(found.profiles.find("a")->settings().placements_percentage, 5);
  EXPECT_EQ(found.profiles.find("b")->settings().placements_percentage, 30);
}

// --- what is refused, word for word ---

TEST(ProfileOfFile, FaultsOfPluginsAreNamed) {
  struct Case {
    std::string_view plugins, args, want;
  };
  const std::string known =
      "known plugins: DefaultBinder, DefaultPreemption, DynamicResources, GangScheduling, "
      "ImageLocality, InterPodAffinity, NodeAffinity, "
      "NodeDeclaredFeatures, NodeName, NodePorts, NodeResourcesBalancedAllocation, "
      "NodeResourcesFit, NodeSetPlacements, NodeUnschedulable, "
      "NodeVolumeLimits, PodGroupPodsCount, PodTopologySpread, PrioritySort, SchedulingGates, "
      "TaintToleration, TopologyPlacementGenerator, "
      "VolumeBinding, VolumeRestrictions, VolumeZone";
  const std::string unknown =
      R"(line 4: profiles[0].plugins.score.disabled[1].name: Not found: "Foo": )" + known;
  const Case cases[] = {
      {"{score: {disabled: [{name: NodeAffinity}, {name: Foo}]}}", "[]", unknown},
      {"{multiPoint: {disabled: [{name: GangScheduling}]}}", "[]",
       "line 4: profiles[0].plugins.multiPoint.disabled[0].name: Forbidden: GangScheduling cannot "
       "be disabled: what pods and groups ask for would be ignored"},
      {"{multiPoint: {enabled: [{name: NodeAffinity}, {name: NodeAffinity}]}}", "[]",
       R"(line 4: profiles[0].plugins.multiPoint.enabled[1].name: Duplicate value: "NodeAffinity")"},
      {"{filter: {enabled: [{name: ImageLocality, weight: -1}]}}", "[]",
       "line 4: profiles[0].plugins.filter.enabled[0].name: Invalid value: \"ImageLocality\": "
       "plugin \"ImageLocality\" does not extend filter plugin; "
       "line 4: profiles[0].plugins.filter.enabled[0].weight: Invalid value: -1: must be greater "
       "than or equal to 0"},
      {"{queueSort: {disabled: [{name: PrioritySort}]}}", "[]",
       "line 4: profiles[0].plugins.queueSort: Invalid value: only one queue sort plugin required "
       "for profile with scheduler name \"default-scheduler\", but got 0"},
      {"{bind: {disabled: [{name: DefaultBinder}]}}", "[]",
       "line 4: profiles[0].plugins.bind: Invalid value: at least one bind plugin is needed for "
       "profile with scheduler name \"default-scheduler\""},
      {"{filter: {disabled: [{name: NodeResourcesFit}]}}", "[]",
       "line 4: profiles[0].plugins.filter: Forbidden: NodeResourcesFit cannot be disabled at "
       "filter: nodes would be overcommitted"},
      {"{}", "[{name: NodeAffinity}, {name: NodeAffinity}]",
       "line 5: profiles[0].pluginConfig[1]: Duplicate value: \"NodeAffinity\""},
  };
  for (const Case& c : cases) EXPECT_EQ(profile_wrong(c.plugins, c.args), c.want);
}

TEST(ProfileOfFile, WeightsMayAddUpToWhatTotalsCanHold) {
  // The other scores are off; 100 times the sum must stay below 2^31 - 1.
  const auto said = [](std::string_view point, std::string_view plugin, std::int64_t weight) {
    return profile_wrong(
        fmt::format(R"({{{}: {{disabled: [{{name: "*"}}], enabled: [{{name: {}, weight: {}}}]}}}})",
                    point, plugin, weight));
  };
  EXPECT_EQ(said("score", "NodeAffinity", 21474836), "");
  EXPECT_EQ(said("score", "NodeAffinity", 21474837),
            "line 4: profiles[0].plugins.score: Invalid value: total score of Score plugins could "
            "overflow: the sum of all weights may be at most 21474836");
  EXPECT_EQ(said("placementScore", "PodGroupPodsCount", 21474836), "");
  EXPECT_EQ(said("placementScore", "PodGroupPodsCount", 21474837),
            "line 4: profiles[0].plugins.placementScore: Invalid value: total score of Score "
            "plugins could overflow: the sum of all weights may be at most 21474836");
  EXPECT_EQ(said("filter", "NodeResourcesFit", 21474837), "") << "weights of filters say nothing";
  EXPECT_NE(
      profile_wrong(
          R"({score: {disabled: [{name: "*"}], enabled: [{name: NodeAffinity, weight: 21474836}, {name: ImageLocality}]}})"),
      "");
}

TEST(SchedulerConfigText, FaultsAreNamedWordForWord) {
  struct Case {
    std::string_view text, want;
  };
  const Case cases[] = {
      {"parallelism: 1\n", ""},
      {"parallelism: -1\n",
       "line 3: parallelism: Invalid value: -1: should be an integer value greater than zero"},
      {"percentageOfNodesToScore: 0\npercentageOfPlacementsToScore: 100\n", ""},
      {"percentageOfNodesToScore: -1\npercentageOfPlacementsToScore: 101\n",
       "line 3: percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]; "
       "line 4: percentageOfPlacementsToScore: Invalid value: 101: not in valid range [0-100]"},
      {"profiles:\n- percentageOfNodesToScore: 100\n  percentageOfPlacementsToScore: 0\n", ""},
      {"profiles:\n- percentageOfNodesToScore: 101\n  percentageOfPlacementsToScore: -1\n",
       "line 4: profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range "
       "[0-100]; "
       "line 5: profiles[0].percentageOfPlacementsToScore: Invalid value: -1: not in valid range "
       "[0-100]"},
      {"leaderElection: {leaseDuration: 15s, renewDeadline: 10s, retryPeriod: "
       "2s}\nclientConnection: {qps: 2.5}\n",
       ""},
      {"leaderElection:\n  leaseDuration: a\n  renewDeadline: b\n  retryPeriod: c\n",
       "line 4: leaderElection.leaseDuration: Invalid value: \"a\": must be a length of time such "
       "as 15s; "
       "line 5: leaderElection.renewDeadline: Invalid value: \"b\": must be a length of time such "
       "as 15s; "
       "line 6: leaderElection.retryPeriod: Invalid value: \"c\": must be a length of time such as "
       "15s"},
      {"clientConnection: {qps: many}\n",
       "line 3: clientConnection.qps: Invalid value: \"many\": must be a number"},
      {"podInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 31536000\n", ""},
      {"podInitialBackoffSeconds: 11\n",
       "line 1: podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to "
       "PodInitialBackoffSeconds"},
      {"podInitialBackoffSeconds: -1\n",
       "line 3: podInitialBackoffSeconds: Invalid value: -1: must be greater than 0"},
      {"podMaxBackoffSeconds: 31536001\n",
       "line 3: podMaxBackoffSeconds: Invalid value: 31536001: must be less than or equal to "
       "31536000"},
      {"extenders: []\n", ""},
      {"extenders: {}\n",
       "line 3: extenders: Forbidden: extenders are not supported: a decision would wait for "
       "another server; write a plugin instead (docs/plugins.md)"},
      {"profiles:\n- {}\n- {}\n",
       "line 4: profiles[0].schedulerName: Required value; line 5: profiles[1].schedulerName: "
       "Required value; "
       "line 5: profiles[1].schedulerName: Duplicate value: \"profiles[0].schedulerName\""},
      {"profiles:\n- {schedulerName: a}\n- {schedulerName: b}\n- {schedulerName: a}\n",
       "line 6: profiles[2].schedulerName: Duplicate value: \"profiles[0].schedulerName\""},
  };
  for (const Case& c : cases) EXPECT_EQ(wrong(c.text), c.want) << c.text;
}

TEST(SchedulerConfigText, OneVersionOfOneKindIsRead) {
  const auto said = [](std::string_view text) {
    const auto made = read_scheduler_config(text);
    return made ? std::string() : made.error().message;
  };
  EXPECT_EQ(said("profiles: []\n"),
            "line 1: Object 'Kind' is missing; line 1: Object 'apiVersion' is missing");
  EXPECT_EQ(said("kind: KubeSchedulerConfiguration\n"), "line 1: Object 'apiVersion' is missing");
  EXPECT_EQ(said("apiVersion: kubescheduler.config.k8s.io/v1\n"),
            "line 1: Object 'Kind' is missing");
  EXPECT_EQ(said("apiVersion: kubescheduler.config.k8s.io/v1\nkind: Pod\n"),
            "line 1: no kind \"Pod\" is registered for version \"kubescheduler.config.k8s.io/v1\"; "
            "write kind KubeSchedulerConfiguration, apiVersion "
            "kubescheduler.config.k8s.io/v1");
  EXPECT_EQ(said("apiVersion: v1\nkind: KubeSchedulerConfiguration\n"),
            "line 1: no kind \"KubeSchedulerConfiguration\" is registered for version \"v1\"; "
            "write kind KubeSchedulerConfiguration, apiVersion "
            "kubescheduler.config.k8s.io/v1");
}

TEST(SchedulerConfigText, AHundredProfilesAreTheMost) {
  std::string text = "profiles:\n";
  for (int i = 0; i < 101; ++i) text += fmt::format("- {{schedulerName: s{}}}\n", i);
  EXPECT_EQ(wrong(text), "line 3: profiles: Too many: 101: must have at most 100 items");
}

TEST(SchedulerConfigText, PackingNeedsTheNameOfAResource) {
  EXPECT_TRUE(packing_config("nvidia.com/gpu"));
  const auto refused = packing_config("a b");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::Invalid);
  EXPECT_TRUE(refused.error().message.starts_with(
      "\"a b\" is no name of a resource: name part must consist of"))
      << refused.error().message;
}

}  // namespace
}  // namespace muster::scheduler
