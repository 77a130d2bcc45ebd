#include "scheduler/config/args_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/yaml.h"

namespace muster::scheduler {
namespace {

using Texts = std::vector<std::string>;

// The arguments of one plugin, as a file has them, and what became of them.
struct ArgsRead {
  PluginArgs args;
  std::string wrong;  // everything that is said against them

  ArgsRead(std::string_view plugin, const std::string& text) {
    auto parsed = api::parse_yaml(text);
    EXPECT_TRUE(parsed.has_value()) << text;
    ConfigErrors errors("");
    const api::FieldPath path("args");
    read_plugin_args(plugin, parsed->value, path, args, errors);
    if (!errors.empty()) wrong = errors.fail().value().message;
  }
};

PluginArgs args_of(std::string_view plugin, const std::string& text) {
  const ArgsRead read(plugin, text);
  EXPECT_EQ(read.wrong, "") << text;
  return read.args;
}

struct Refusal {
  std::string_view plugin, args, want;
};
void expect_said(const std::vector<Refusal>& refusals) {
  for (const Refusal& one : refusals)
    EXPECT_EQ(ArgsRead(one.plugin, std::string(one.args)).wrong, one.want) << one.args;
}

// --- of any plugin ---

TEST(PluginArgs, SayWhoseTheyAreOrNothing) {
  EXPECT_EQ(ArgsRead("InterPodAffinity", "{kind: InterPodAffinityArgs, hardPodAffinityWeight: 7}")
                .args.pod_affinity.hard_pod_affinity_weight,
            7);
  EXPECT_EQ(ArgsRead("InterPodAffinity", "{hardPodAffinityWeight: 7}")
                .args.pod_affinity.hard_pod_affinity_weight,
            7);
  expect_said({
      {"InterPodAffinity", "{kind: NodeAffinityArgs}",
       R"(args: Invalid value: {"kind":"NodeAffinityArgs"}: has to match plugin args)"},
      {"InterPodAffinity", "[]", "args: Invalid value: []: has to match plugin args"},
      {"NodePorts", "{}", "args: Forbidden: plugin NodePorts takes no arguments"},
      {"NodeResourcesFit", "{foo: 1, scoringStrategy: {type: MostAllocated, bar: 2}}",
       R"(strict decoding error: unknown field "args.foo"; strict decoding error: unknown field "args.scoringStrategy.bar")"},
  });
}

// --- NodeResourcesFit ---

TEST(FitArgs, AreRead) {
  const NodeResourcesFitArgs fit = args_of("NodeResourcesFit", R"(
    ignoredResources: [example.com/a, example.com/b]
    ignoredResourceGroups: [example.org]
    scoringStrategy:
      type: RequestedToCapacityRatio
      resources: [{name: cpu, weight: 100}, {name: memory}, {name: gpu, weight: 0}]
      requestedToCapacityRatio: {shape: [{utilization: 0, score: 10}, {utilization: 100}]}
  )")
                                       .fit;
  EXPECT_EQ(fit.ignored.names, (Texts{"example.com/a", "example.com/b"}));
  EXPECT_EQ(fit.ignored.groups, Texts{"example.org"});
  EXPECT_EQ(fit.strategy, AllocationStrategy::RequestedToCapacityRatio);
  Texts resources;
  for (const ResourceWeight& resource : fit.resources)
    resources.push_back(fmt::format("{} {}", resource.name, resource.weight));
  EXPECT_EQ(resources, (Texts{"cpu 100", "memory 1", "gpu 1"}));
  Texts shape;
  for (const ShapePoint& point : fit.shape)
    shape.push_back(fmt::format("{} {}", point.utilization, point.score));
  EXPECT_EQ(shape, (Texts{"0 10", "100 0"}));
}

TEST(FitArgs, AStrategyScoresCpuAndMemoryUnlessItSaysMore) {
  for (const char* more : {"", ", resources: []"}) {
    const NodeResourcesFitArgs fit =
        args_of("NodeResourcesFit",
                fmt::format("{{scoringStrategy: {{type: MostAllocated{}}}}}", more))
            .fit;
    EXPECT_EQ(fit.strategy, AllocationStrategy::MostAllocated);
    ASSERT_EQ(fit.resources.size(), 2U);
    EXPECT_EQ(fit.resources[0].name, "cpu");
    EXPECT_EQ(fit.resources[1].name, "memory");
  }
  EXPECT_EQ(args_of("NodeResourcesFit", "{scoringStrategy: {type: LeastAllocated}}").fit.strategy,
            AllocationStrategy::LeastAllocated);
}

TEST(FitArgs, AreJudged) {
  const auto shape = [](std::string_view points) {
    return fmt::format(
        "{{scoringStrategy: {{type: RequestedToCapacityRatio, requestedToCapacityRatio: {{shape: "
        "[{}]}}}}}}",
        points);
  };
  const std::string range = shape("{utilization: -1, score: -1}, {utilization: 101, score: 11}");
  const std::string order = shape("{utilization: 5}, {utilization: 5}, {utilization: 4}");
  const std::string empty = shape("");
  expect_said({
      {"NodeResourcesFit", "{ignoredResourceGroups: [a.b/c]}",
       R"(args.ignoredResourceGroups[0]: Invalid value: "a.b/c": resource group name can't contain '/')"},
      {"NodeResourcesFit",
       "{scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 100}, {name: gpu, "
       "weight: -1}, {name: x, weight: 101}]}}",
       "args.scoringStrategy.resources[1].weight: Invalid value: -1: resource weight of gpu not in "
       "valid range (0, 100]; "
       "args.scoringStrategy.resources[2].weight: Invalid value: 101: resource weight of x not in "
       "valid range (0, 100]"},
      {"NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}",
       "args.scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type "
       "is RequestedToCapacityRatio"},
      {"NodeResourcesFit", "{scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {}}}",
       "args.scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not "
       "RequestedToCapacityRatio"},
      {"NodeResourcesFit", range,
       "args.scoringStrategy.requestedToCapacityRatio.shape[0].utilization: Invalid value: -1: not "
       "in valid range [0, 100]; "
       "args.scoringStrategy.requestedToCapacityRatio.shape[0].score: Invalid value: -1: not in "
       "valid range [0, 10]; "
       "args.scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 101: "
       "not in valid range [0, 100]; "
       "args.scoringStrategy.requestedToCapacityRatio.shape[1].score: Invalid value: 11: not in "
       "valid range [0, 10]"},
      {"NodeResourcesFit", order,
       "args.scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 5: "
       "values must be sorted in increasing order"},
      {"NodeResourcesFit", empty,
       "args.scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point "
       "must be specified"},
  });
  for (const std::string list : {"ignoredResources", "ignoredResourceGroups"}) {
    const std::string wrong = ArgsRead("NodeResourcesFit", "{" + list + ": [ok, a b]}").wrong;
    EXPECT_TRUE(wrong.starts_with("args." + list + "[1]: Invalid value: \"a b\": name part must"))
        << wrong;
  }
}

TEST(BalancedArgs, AreReadAndJudged) {
  EXPECT_EQ(args_of("NodeResourcesBalancedAllocation",
                    "{resources: [{name: gpu}, {name: cpu, weight: 1}]}")
                .balanced_resources,
            (Texts{"gpu", "cpu"}));
  EXPECT_EQ(args_of("NodeResourcesBalancedAllocation", "{resources: []}").balanced_resources,
            (Texts{"cpu", "memory"}));
  expect_said(
      {{"NodeResourcesBalancedAllocation",
        "{resources: [{name: cpu}, {name: gpu, weight: 2}, {name: cpu}]}",
        R"(args.resources[1].weight: Invalid value: 2: must be 1; args.resources[2].name: Duplicate value: "cpu")"}});
}

// --- NodeAffinity and InterPodAffinity ---

TEST(AffinityArgs, AreRead) {
  const NodeAffinityArgs both = args_of("NodeAffinity", R"(
    addedAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 9, preference: {matchExpressions: [{key: b, operator: Exists}]}}
  )")
                                    .node_affinity;
  EXPECT_TRUE(both.has_required);
  ASSERT_EQ(both.required.size(), 1U);
  EXPECT_EQ(both.required[0].expressions[0].key, "a");
  ASSERT_EQ(both.preferred.size(), 1U);
  EXPECT_EQ(both.preferred[0].weight, 9);
  EXPECT_FALSE(args_of("NodeAffinity", "{}").node_affinity.has_required);
  const InterPodAffinityArgs pods =
      args_of("InterPodAffinity",
              "{hardPodAffinityWeight: 100, ignorePreferredTermsOfExistingPods: true}")
          .pod_affinity;
  EXPECT_EQ(pods.hard_pod_affinity_weight, 100);
  EXPECT_TRUE(pods.ignore_preferred_terms_of_existing_pods);
  EXPECT_EQ(args_of("InterPodAffinity", "{hardPodAffinityWeight: 0}")
                .pod_affinity.hard_pod_affinity_weight,
            0);
  EXPECT_EQ(args_of("InterPodAffinity", "{}").pod_affinity.hard_pod_affinity_weight, 1);
  EXPECT_FALSE(
      args_of("InterPodAffinity", "{}").pod_affinity.ignore_preferred_terms_of_existing_pods);
}

TEST(AffinityArgs, AreJudged) {
  expect_said({
      {"InterPodAffinity", "{hardPodAffinityWeight: 101}",
       "args.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"},
      {"InterPodAffinity", "{hardPodAffinityWeight: -1}",
       "args.hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100]"},
      {"NodeAffinity",
       "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}",
       "args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: "
       "Required value: must have at least one node selector term"},
  });
}

// --- DefaultPreemption ---

TEST(PreemptionArgs, AreUpstreamsUnlessSaid) {
  const PreemptionArgs usual = args_of("DefaultPreemption", "{}").preemption;
  EXPECT_EQ(usual.candidates_percentage, 10);
  EXPECT_EQ(usual.candidates_min, 100);
  EXPECT_TRUE(usual.violates_budgets);
  EXPECT_EQ(usual.mode, PreemptionArgs::Mode::Search);
  EXPECT_EQ(usual.steps_max, 2'000'000U);
  EXPECT_EQ(usual.reserve_nodes_percentage, 10);
  const PreemptionArgs said =
      args_of("DefaultPreemption",
              "{pdbViolations: Allow, mode: Search, stepsMax: 1, reserveNodesPercentage: 100, "
              "minCandidateNodesPercentage: 100, minCandidateNodesAbsolute: 0}")
          .preemption;
  EXPECT_TRUE(said.violates_budgets);
  EXPECT_EQ(said.mode, PreemptionArgs::Mode::Search);
  EXPECT_EQ(said.steps_max, 1U);
  EXPECT_EQ(said.reserve_nodes_percentage, 100);
  EXPECT_EQ(said.candidates_percentage, 100);
  EXPECT_EQ(said.candidates_min, 0);
  const PreemptionArgs few = args_of("DefaultPreemption",
                                     "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: "
                                     "1, reserveNodesPercentage: 0}")
                                 .preemption;
  EXPECT_EQ(few.candidates_percentage, 0);
  EXPECT_EQ(few.candidates_min, 1);
  EXPECT_EQ(few.reserve_nodes_percentage, 0);
}

TEST(PreemptionArgs, AreJudged) {
  expect_said({
      {"DefaultPreemption", "{minCandidateNodesPercentage: -1}",
       "args.minCandidateNodesPercentage: Invalid value: -1: not in valid range [0, 100]"},
      {"DefaultPreemption", "{minCandidateNodesPercentage: 101}",
       "args.minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"},
      {"DefaultPreemption", "{minCandidateNodesAbsolute: -1}",
       "args.minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)"},
      {"DefaultPreemption", "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
       "args.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
       "minCandidateNodesAbsolute; "
       "args.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as "
       "minCandidateNodesPercentage"},
      {"DefaultPreemption", "{pdbViolations: Sometimes}",
       R"(args.pdbViolations: Unsupported value: "Sometimes": supported values: "Allow", "Never")"},
      {"DefaultPreemption", "{mode: Wild}",
       R"(args.mode: Unsupported value: "Wild": supported values: "Search", "Upstream")"},
      {"DefaultPreemption", "{victimPatience: soon, reserveAfter: later}",
       R"(args.victimPatience: Invalid value: "soon": must be a length of time such as 10m; args.reserveAfter: Invalid value: "later": must be a length of time such as 10m)"},
      {"DefaultPreemption", "{stepsMax: 0}", "args.stepsMax: Invalid value: 0: must be at least 1"},
      {"DefaultPreemption", "{reserveNodesPercentage: -1}",
       "args.reserveNodesPercentage: Invalid value: -1: not in valid range [0, 100]"},
      {"DefaultPreemption", "{reserveNodesPercentage: 101}",
       "args.reserveNodesPercentage: Invalid value: 101: not in valid range [0, 100]"},
      {"DynamicResources", "{filterTimeout: soon, bindingTimeout: later}",
       R"(args.filterTimeout: Invalid value: "soon": must be a length of time such as 10m; args.bindingTimeout: Invalid value: "later": must be a length of time such as 10m)"},
      {"DynamicResources", "{filterTimeout: 1s, bindingTimeout: 10m}", ""},
  });
}

// --- PodTopologySpread ---

TEST(SpreadArgs, AreRead) {
  const PodTopologySpreadArgs spread = args_of("PodTopologySpread", R"(
    defaultingType: List
    defaultConstraints:
    - {maxSkew: 4, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
    - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}
  )")
                                           .spread;
  EXPECT_FALSE(spread.is_system_defaulting);
  Texts constraints;
  for (const auto& one : spread.default_constraints)
    constraints.push_back(fmt::format("{} {} {}", one.topology_key, one.max_skew, one.is_hard));
  EXPECT_EQ(constraints, (Texts{"zone 4 true", "zone 1 false"}));
  EXPECT_TRUE(args_of("PodTopologySpread", "{}").spread.is_system_defaulting);
  EXPECT_TRUE(args_of("PodTopologySpread", "{defaultingType: System}").spread.is_system_defaulting);
}

TEST(SpreadArgs, AreJudged) {
  const auto list = [](std::string_view constraints) {
    return fmt::format("{{defaultingType: List, defaultConstraints: [{}]}}", constraints);
  };
  const std::string usual = "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}";
  const std::string bare = list(usual + ", {maxSkew: -1}");
  const std::string twice = list(
      usual + ", " + usual + ", {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}");
  const std::string hard_twice = list(
      "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, "
      "topologyKey: zone, whenUnsatisfiable: DoNotSchedule}");
  const std::string selects =
      list("{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}");
  const std::string system = "{defaultConstraints: [" + usual + "]}";
  expect_said({
      {"PodTopologySpread", bare,
       "args.defaultConstraints[1].topologyKey: Required value: can not be empty; "
       "args.defaultConstraints[1].maxSkew: Invalid value: -1: must be greater than zero; "
       "args.defaultConstraints[1].whenUnsatisfiable: Required value"},
      {"PodTopologySpread", twice,
       R"(args.defaultConstraints[1]: Duplicate value: "{zone, ScheduleAnyway}")"},
      {"PodTopologySpread", hard_twice,
       R"(args.defaultConstraints[1]: Duplicate value: "{zone, DoNotSchedule}")"},
      {"PodTopologySpread", selects,
       "args.defaultConstraints[0].labelSelector: Forbidden: constraint must not define a "
       "selector, as they are deduced for each pod"},
      {"PodTopologySpread", system,
       R"(args.defaultingType: Invalid value: "System": when .defaultConstraints are not empty)"},
      {"PodTopologySpread", "{defaultingType: Mine}",
       R"(args.defaultingType: Unsupported value: "Mine": supported values: "System", "List")"},
  });
  EXPECT_NE(ArgsRead("PodTopologySpread",
                     list("{maxSkew: 1, topologyKey: a b, whenUnsatisfiable: DoNotSchedule}"))
                .wrong.find("args.defaultConstraints[0].topologyKey: Invalid value: \"a b\""),
            std::string::npos);
}

// --- VolumeBinding and NodeSetPlacements ---

TEST(VolumeBindingArgs, AreReadAndJudged) {
  const auto texts = [](const VolumeBindingArgs& args) {
    Texts points;
    for (const auto& point : args.shape)
      points.push_back(fmt::format("{} {}", point.utilization, point.score));
    return points;
  };
  const VolumeBindingArgs said = args_of("VolumeBinding",
                                         "{bindTimeoutSeconds: 0, shape: [{utilization: 0, score: "
                                         "3}, {utilization: 50, score: 10}]}")
                                     .volume_binding;
  EXPECT_EQ(said.bind_timeout, Duration::zero());
  EXPECT_EQ(texts(said), (Texts{"0 30", "50 100"})) << "in percent";
  const VolumeBindingArgs usual = args_of("VolumeBinding", "{}").volume_binding;
  EXPECT_EQ(usual.bind_timeout, std::chrono::minutes{10});
  EXPECT_EQ(texts(usual), (Texts{"0 100", "100 0"}));
  EXPECT_EQ(args_of("VolumeBinding", "{bindTimeoutSeconds: 60}").volume_binding.bind_timeout,
            std::chrono::minutes{1});
  EXPECT_EQ(args_of("VolumeBinding", "{bindTimeoutSeconds: 9223372036854775807}")
                .volume_binding.bind_timeout,
            std::chrono::seconds{1'000'000'000})
      << "as good as never";
  expect_said({
      {"VolumeBinding", "{bindTimeoutSeconds: -1, shape: []}",
       "args.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a "
       "negative value; "
       "args.shape: Required value: at least one point must be specified"},
  });
}

TEST(NodeSetArgs, AreReadAndJudged) {
  Texts sets;
  for (const auto& set : args_of("NodeSetPlacements",
                                 "{placements: [{name: b, selector: x=y}, {name: a, selector: z}]}")
                             .node_sets.sets)
    sets.push_back(set.name + ": " + set.selector.text());
  EXPECT_EQ(sets, (Texts{"b: x=y", "a: z"}));
  expect_said({
      {"NodeSetPlacements",
       "{placements: [{name: a, selector: x=y}, {name: a, selector: x=z}, {name: b}]}",
       R"(args.placements[1].name: Duplicate value: "a"; args.placements[2].selector: Required value: the labels of the nodes, as in kubectl get nodes -l)"},
  });
}

}  // namespace
}  // namespace muster::scheduler
