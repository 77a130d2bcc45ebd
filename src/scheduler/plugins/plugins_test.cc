#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/views/tolerations.h"
#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standing.h"
#include "scheduler/plugins/node_affinity.h"
#include "scheduler/plugins/node_name.h"
#include "scheduler/plugins/node_ports.h"
#include "scheduler/plugins/node_resources_balanced_allocation.h"
#include "scheduler/plugins/node_resources_fit.h"
#include "scheduler/plugins/node_selector.h"
#include "scheduler/plugins/node_unschedulable.h"
#include "scheduler/plugins/scheduling_gates.h"
#include "scheduler/plugins/taint_toleration.h"

namespace muster::scheduler {
namespace {

constexpr std::int64_t kMi = std::int64_t{1024} * 1024;
constexpr std::int64_t kGi = 1024 * kMi;

struct Bench {
  Cluster cluster;
  NodeId add(const NodeSample& node) {
    cluster.set_node(node.make());
    NodeId id{};
    EXPECT_TRUE(cluster.find_node(node.name, id));
    return id;
  }
  void run(const std::string& name, const std::string& node, const std::string& cpu,
           std::map<std::string, std::string> extended = {}) {
    cluster.set_pod(
        PodSample{.name = name, .cpu = cpu, .extended = std::move(extended), .node_name = node}
            .make());
  }
};

std::vector<std::string> reasons(const Verdict& verdict) {
  return {verdict.reasons().begin(), verdict.reasons().end()};
}

TEST(NodeResourcesFitFilter, GivesUpstreamsReasons) {
  struct Case {
    const char* name;
    NodeSample node;
    int pods;
    const char* used_each;
    PodSample pod;
    std::vector<std::string> want;
    Remedy remedy;
  };
  const Case cases[] = {
      {"C1",
       {.name = "n", .pods = 10},
       7,
       "500m",
       {.name = "p", .cpu = "600m"},
       {"Insufficient cpu"},
       Remedy::Eviction},
      {"C2",
       {.name = "n", .pods = 10},
       10,
       "390m",
       {.name = "p", .cpu = "5"},
       {"Too many pods", "Insufficient cpu"},
       Remedy::None},
      {"C3", {.name = "n", .pods = 10}, 10, "", {.name = "p"}, {"Too many pods"}, Remedy::Eviction},
      {"C4", {.name = "n", .pods = -1}, 0, "", {.name = "p"}, {"Too many pods"}, Remedy::Eviction},
      {"C5",
       {.name = "n"},
       0,
       "",
       {.name = "p", .extended = {{"example.com/gpu", "1"}}},
       {"Insufficient example.com/gpu"},
       Remedy::None},
      {"C7", {.name = "n"}, 5, "1", {.name = "p", .cpu = "0"}, {}, Remedy::Eviction},
  };
  for (const Case& c : cases) {
    Bench bench;
    const NodeId node = bench.add(c.node);
    for (int i = 0; i < c.pods; ++i) bench.run("u" + std::to_string(i), "n", c.used_each);
    const PodClass& pods = bench.cluster.class_of(c.pod.make());
    const auto pass = NodeResourcesFit().prepare_filter(pods, bench.cluster);
    const Verdict verdict = pass->ask(node);
    EXPECT_EQ(reasons(verdict), c.want) << c.name;
    if (!c.want.empty()) {
      EXPECT_EQ(verdict.remedy(), c.remedy) << c.name;
    }
    EXPECT_EQ(pass->admits(node), c.want.empty()) << c.name;
    EXPECT_EQ(pass->cap_at(node) > 0, c.want.empty()) << c.name;
  }
}

TEST(NodeResourcesFitFilter, C6AFullNodeMayBeFreed) {
  Bench bench;
  const NodeId node = bench.add({.name = "n", .extended = {{"example.com/gpu", "2"}}});
  bench.run("u", "n", "", {{"example.com/gpu", "2"}});
  const PodClass& pods =
      bench.cluster.class_of(PodSample{.name = "p", .extended = {{"example.com/gpu", "1"}}}.make());
  const Verdict verdict = NodeResourcesFit().prepare_filter(pods, bench.cluster)->ask(node);
  EXPECT_EQ(reasons(verdict), std::vector<std::string>{"Insufficient example.com/gpu"});
  EXPECT_EQ(verdict.remedy(), Remedy::Eviction);
}

// What a profile ignores is extended resources alone, by name or by group.
TEST(NodeResourcesFitFilter, IgnoresExtendedResourcesThatAProfileNames) {
  Bench bench;
  const NodeId node = bench.add({.name = "n"});
  NodeResourcesFitArgs args;
  args.ignored.names = {"example.com/gadget", "cpu", "hugepages-2Mi", "kubernetes.io/odd"};
  args.ignored.groups = {"devices.example.com", "batch.kubernetes.io"};
  const NodeResourcesFit plugin(args);
  const auto accepts = [&](const char* resource) {
    const auto pod = PodSample{.name = "p", .extended = {{resource, "1"}}}.make();
    return plugin.prepare_filter(bench.cluster.class_of(pod), bench.cluster)->admits(node);
  };
  EXPECT_TRUE(accepts("example.com/gadget"));
  EXPECT_TRUE(accepts("devices.example.com/any"));
  EXPECT_FALSE(accepts("example.com/other"));
  EXPECT_FALSE(accepts("hugepages-2Mi"));
  EXPECT_FALSE(accepts("kubernetes.io/odd"));
  EXPECT_FALSE(accepts("batch.kubernetes.io/odd"));
  const auto large = PodSample{.name = "p", .cpu = "5"}.make();
  EXPECT_FALSE(plugin.prepare_filter(bench.cluster.class_of(large), bench.cluster)->admits(node));
}

TEST(NodeResourcesFitFilter, NamesWhatIsShortInOrder) {
  Bench bench;
  const NodeId node = bench.add({.name = "n",
                                 .cpu = "1",
                                 .memory = "1Gi",
                                 .pods = 0,
                                 .extended = {{"ephemeral-storage", "1Gi"}}});
  const auto pod = PodSample{.name = "p",
                             .cpu = "2",
                             .memory = "2Gi",
                             .extended = {{"ephemeral-storage", "2Gi"}, {"example.com/gpu", "1"}}}
                       .make();
  const auto pass = NodeResourcesFit().prepare_filter(bench.cluster.class_of(pod), bench.cluster);
  EXPECT_EQ(
      reasons(pass->ask(node)),
      (std::vector<std::string>{"Too many pods", "Insufficient cpu", "Insufficient memory",
                                "Insufficient ephemeral-storage", "Insufficient example.com/gpu"}));
}

struct Strategy {
  std::int64_t capacity[2];
  std::int64_t used[2];
  std::vector<Share> shares(std::int64_t a, std::int64_t b, std::int64_t wa = 1,
                            std::int64_t wb = 1) const {
    return {{&capacity[0], &used[0], a, wa}, {&capacity[1], &used[1], b, wb}};
  }
};

// Numbers computed by upstream's own code.
TEST(NodeResourcesFitScore, D2D5D8D10ToD13OtherStrategiesGiveUpstreamsNumbers) {
  const Strategy d2{{4000, 10000}, {0, 0}};
  EXPECT_EQ(most_allocated_at(d2.shares(3000, 5000), 0), 62);
  const Strategy d5{{4000, 8 * kGi}, {3950, 2 * kGi}};
  EXPECT_EQ(most_allocated_at(d5.shares(100, 200 * kMi), 0), 63);
  const Strategy d8{{4000, 4}, {1000, 0}};
  EXPECT_EQ(least_allocated_at(d8.shares(500, 1, 1, 5), 0), 72);
  const ShapeTable rising = tabulate(std::vector<ShapePoint>{{0, 0}, {100, 10}});
  const Strategy d10{{4000, 8 * kGi}, {0, 0}};
  EXPECT_EQ(requested_to_capacity_at(d10.shares(1500, 4 * kGi), rising, 0), 44);
  const ShapeTable falling = tabulate(std::vector<ShapePoint>{{0, 10}, {70, 0}});
  const Strategy d11{{100, 100}, {0, 0}};
  EXPECT_EQ(requested_to_capacity_at(d11.shares(33, 33), falling, 0), 53);
  EXPECT_EQ(requested_to_capacity_at(d11.shares(0, 50), rising, 0), 50);
  const ShapeTable bent = tabulate(std::vector<ShapePoint>{{0, 0}, {50, 5}, {100, 10}});
  EXPECT_EQ(requested_to_capacity_at(d11.shares(51, 40), bent, 0), 46);
}

TEST(NodeResourcesFitScore, D8D9LeavesOutAScalarThePodDoesNotAskFor) {
  Bench bench;
  const NodeId node = bench.add({.name = "n", .extended = {{"example.com/gpu", "4"}}});
  bench.run("u", "n", "1");
  const NodeResourcesFit plugin({.resources = {{"cpu", 1}, {"example.com/gpu", 5}}, .shape = {}});
  const auto local = [&](const PodSample& pod) {
    return plugin.prepare_score(bench.cluster.class_of(pod.make()), bench.cluster)->local(node);
  };
  EXPECT_EQ(local({.name = "p", .cpu = "500m", .extended = {{"example.com/gpu", "1"}}}), 72);
  EXPECT_EQ(local({.name = "p", .cpu = "500m"}), 62);
}

// What the pod requests as a whole counts on its node, but not in the score of a node for it.
TEST(NodeResourcesFitScore, IgnoresHugePagesThatThePodRequestsAsAWhole) {
  Bench bench;
  const NodeId node = bench.add({.name = "n", .extended = {{"hugepages-2Mi", "100Mi"}}});
  const NodeResourcesFit plugin({.resources = {{"hugepages-2Mi", 1}}, .shape = {}});
  const auto local = [&](const char* of_container, const char* of_pod) {
    const PodSample pod{
        .name = "p",
        .extended = {{"hugepages-2Mi", of_container}},
        .spec = fmt::format(R"("resources":{{"requests":{{"hugepages-2Mi":"{}"}}}})", of_pod)};
    return plugin.prepare_score(bench.cluster.class_of(pod.make()), bench.cluster)->local(node);
  };
  EXPECT_EQ(local("10Mi", "10Mi"), 90);
  EXPECT_EQ(local("10Mi", "40Mi"), 90);
}

TEST(NodeResourcesBalancedAllocation, E7SkipsPodsWithoutRequests) {
  Bench bench;
  bench.add({.name = "n"});
  const NodeResourcesBalancedAllocation plugin;
  EXPECT_EQ(
      plugin.prepare_score(bench.cluster.class_of(PodSample{.name = "p"}.make()), bench.cluster),
      nullptr);
}

TEST(Tolerations, G1ToG4MatchAsUpstreamDoes) {
  using Op = api::TolerationOperator;
  const api::Taint hard{"k", "v", api::TaintEffect::NoSchedule};
  const api::Taint evicting{"k", "v", api::TaintEffect::NoExecute};
  EXPECT_TRUE(tolerates(api::Toleration{"k", Op::Equal, "v", ""}, hard));
  EXPECT_TRUE(tolerates(api::Toleration{"", Op::Exists, "", ""}, evicting));
  EXPECT_FALSE(tolerates(api::Toleration{"k", Op::Exists, "", "NoExecute"}, hard));
  EXPECT_FALSE(tolerates(api::Toleration{"sla", Op::Other, "90", ""},
                         {"sla", "95", api::TaintEffect::NoSchedule}));
  EXPECT_FALSE(tolerates(api::Toleration{"k", Op::Equal, "other", ""}, hard));
}

TEST(TaintToleration, RefusesUntoleratedTaintsWithoutRemedy) {
  Bench bench;
  const NodeId tainted =
      bench.add({.name = "a", .taints = R"([{"key":"k","value":"v","effect":"NoSchedule"}])"});
  const PodClass& pods = bench.cluster.class_of(PodSample{.name = "p"}.make());
  const auto pass = TaintToleration().prepare_filter(pods, bench.cluster);
  const NodeId late = bench.add({.name = "b", .taints = R"([{"key":"x","effect":"NoExecute"}])"});
  const NodeId clean =
      bench.add({.name = "c", .taints = R"([{"key":"x","effect":"PreferNoSchedule"}])"});
  pass->refresh();
  for (const NodeId node : {tainted, late}) {
    EXPECT_FALSE(pass->admits(node));
    EXPECT_EQ(reasons(pass->ask(node)),
              std::vector<std::string>{"node(s) had untolerated taint(s)"});
    EXPECT_EQ(pass->ask(node).remedy(), Remedy::None);
  }
  EXPECT_TRUE(pass->admits(clean));
  NodeSet set = bench.cluster.nodes();
  pass->narrow(set);
  EXPECT_EQ(set.count(), 1u);
}

std::vector<std::int64_t> normalized(const ScorePass& pass, std::vector<std::int64_t> raws) {
  pass.normalize(raws);
  return raws;
}

TEST(TaintToleration, G5ToG7NormalizesFewerTaintsAsBetter) {
  Bench bench;
  const PodClass& pods = bench.cluster.class_of(PodSample{.name = "p"}.make());
  const auto pass = TaintToleration().prepare_score(pods, bench.cluster);
  EXPECT_EQ(normalized(*pass, {0, 2, 4}), (std::vector<std::int64_t>{100, 50, 0}));
  EXPECT_EQ(normalized(*pass, {0, 0, 0}), (std::vector<std::int64_t>{100, 100, 100}));
  EXPECT_EQ(normalized(*pass, {3, 1, 2}), (std::vector<std::int64_t>{0, 67, 34}));
}

TEST(TaintToleration, CountsSoftTaintsThatAreNotTolerated) {
  Bench bench;
  const NodeId node = bench.add({.name = "a", .taints = R"([{"key":"k","effect":"PreferNoSchedule"},
      {"key":"l","effect":"PreferNoSchedule"},{"key":"m","effect":"NoSchedule"}])"});
  const auto raw = [&](const char* tolerations) {
    const auto pod = PodSample{.name = "p", .spec = tolerations}.make();
    return TaintToleration().prepare_score(bench.cluster.class_of(pod), bench.cluster)->raw(node);
  };
  EXPECT_EQ(raw(""), 2);
  EXPECT_EQ(raw(R"("tolerations":[{"key":"k","operator":"Exists"}])"), 1);
  EXPECT_EQ(raw(R"("tolerations":[{"operator":"Exists","effect":"NoSchedule"}])"), 2);
  EXPECT_EQ(raw(R"("tolerations":[{"operator":"Exists","effect":"PreferNoSchedule"}])"), 0);
}

TEST(NodeAffinity, H1H2NormalizesByTheBestNode) {
  Bench bench;
  const auto pod = PodSample{.name = "p", .spec = R"("affinity":{"nodeAffinity":{
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[
      {"key":"k","operator":"Exists"}]}}]}})"}
                       .make();
  const auto pass = NodeAffinity().prepare_score(bench.cluster.class_of(pod), bench.cluster);
  EXPECT_EQ(normalized(*pass, {50, 80, 0}), (std::vector<std::int64_t>{62, 100, 0}));
  EXPECT_EQ(normalized(*pass, {1, 3}), (std::vector<std::int64_t>{33, 100}));
}

std::string required(const std::string& terms) {
  return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)" +
         terms + "]}}}";
}

TEST(NodeAffinity, H3H4NarrowsByNamesInMatchFields) {
  Bench bench;
  for (const char* name : {"a", "b", "c"}) bench.add({.name = name});
  const auto prepare = [&](const std::string& terms) {
    const auto pod = PodSample{.name = "p", .spec = required(terms)}.make();
    return NodeAffinity().prepare_filter(bench.cluster.class_of(pod), bench.cluster);
  };
  const auto one_of =
      prepare(R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["a"]}]},
                                 {"matchFields":[{"key":"metadata.name","operator":"In","values":["b"]}]})");
  ASSERT_NE(one_of->only_on(), nullptr);
  EXPECT_EQ(*one_of->only_on(), (std::vector<std::string>{"a", "b"}));
  NodeSet set = bench.cluster.nodes();
  one_of->narrow(set);
  EXPECT_EQ(set.count(), 2u);
  const auto both =
      prepare(R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["a"]},
                                               {"key":"metadata.name","operator":"In","values":["b"]}]})");
  EXPECT_EQ(both->refuses_everywhere(), "pod affinity terms conflict");
}

TEST(NodeAffinity, AskedForNoTermsNoNodeMatches) {
  Bench bench;
  const NodeId node = bench.add({.name = "a"});
  const auto pod = PodSample{.name = "p", .spec = required("")}.make();
  const auto pass = NodeAffinity().prepare_filter(bench.cluster.class_of(pod), bench.cluster);
  EXPECT_EQ(pass->only_on(), nullptr);
  EXPECT_EQ(reasons(pass->ask(node)),
            std::vector<std::string>{"node(s) didn't match Pod's node affinity/selector"});
  EXPECT_EQ(pass->ask(node).remedy(), Remedy::None);
}

TEST(NodeAffinity, AProfileMayAddTerms) {
  Bench bench;
  bench.cluster.watch_label("pool");
  const NodeId a = bench.add({.name = "a", .labels = {{"pool", "a"}}});
  const NodeId b = bench.add({.name = "b", .labels = {{"pool", "b"}}});
  using Op = api::SelectorOperator;
  const api::NodeSelectorTerm in_a{{{"pool", Op::In, {"a"}}}, {}};
  const NodeAffinity plugin(
      {.has_required = true,
       .required = {in_a},
       .preferred = {
           {.weight = 7, .term = in_a}, {.weight = 0, .term = in_a}, {.weight = 5, .term = {}}}});
  const PodClass& pods = bench.cluster.class_of(PodSample{.name = "p"}.make());
  const auto filter = plugin.prepare_filter(pods, bench.cluster);
  EXPECT_TRUE(filter->admits(a));
  EXPECT_EQ(reasons(filter->ask(b)),
            std::vector<std::string>{"node(s) didn't match scheduler-enforced node affinity"});
  EXPECT_EQ(filter->ask(b).remedy(), Remedy::None);
  const auto score = plugin.prepare_score(pods, bench.cluster);
  EXPECT_EQ(score->raw(a), 7) << "a weight of 0 and an empty term count for nothing";
  EXPECT_EQ(score->raw(b), 0);
}

TEST(NodeSelector, H5H6OperatorsMatchAsUpstreamDoes) {
  using Op = api::SelectorOperator;
  const std::string seven = "7";
  EXPECT_TRUE(matches(api::NodeRequirement{"n", Op::Gt, {"6"}}, &seven));
  EXPECT_FALSE(matches(api::NodeRequirement{"n", Op::Lt, {"7"}}, &seven));
  EXPECT_FALSE(matches(api::NodeRequirement{"n", Op::Gt, {"7"}}, &seven));
  EXPECT_FALSE(matches(api::NodeRequirement{"n", Op::Gt, {"x"}}, &seven));
  EXPECT_TRUE(matches(api::NodeRequirement{"n", Op::NotIn, {"7"}}, nullptr));
  EXPECT_TRUE(matches(api::NodeRequirement{"n", Op::DoesNotExist, {}}, nullptr));
  EXPECT_FALSE(matches(api::NodeRequirement{"n", Op::In, {"7"}}, nullptr));
  EXPECT_FALSE(matches(api::NodeSelectorTerm{{{"n", Op::Gt, {"x"}}}, {}}, "node", {{"n", "7"}}));
  EXPECT_FALSE(matches(api::NodeSelectorTerm{}, "node", {})) << "an empty term matches nothing";
}

TEST(NodeAffinity, CompiledTermsAgreeWithPlainOnes) {
  Bench bench;
  const auto pod =
      PodSample{.name = "p",
                .spec = R"("nodeSelector":{"disk":"ssd"},)" +
                        required(
                            R"({"matchExpressions":[{"key":"gen","operator":"Gt","values":["3"]}]},
         {"matchExpressions":[{"key":"zone","operator":"NotIn","values":["z1"]},{"key":"old","operator":"DoesNotExist"}]})")}
          .make();
  const PodClass& pods = bench.cluster.class_of(pod);
  const auto pass = NodeAffinity().prepare_filter(pods, bench.cluster);
  std::vector<NodeSample> nodes{
      {.name = "n0", .labels = {{"disk", "ssd"}, {"gen", "4"}, {"zone", "z1"}}},
      {.name = "n1", .labels = {{"disk", "ssd"}, {"gen", "3"}, {"zone", "z1"}}},
      {.name = "n2", .labels = {{"disk", "ssd"}, {"gen", "x"}}},
      {.name = "n3", .labels = {{"disk", "ssd"}, {"old", ""}}},
      {.name = "n4", .labels = {{"disk", "hdd"}, {"gen", "9"}}},
      {.name = "n5", .labels = {{"gen", "9"}}},
  };
  for (const NodeSample& sample : nodes) {
    const NodeId node = bench.add(sample);
    pass->refresh();
    const auto object = bench.cluster.node_object(node);
    EXPECT_EQ(pass->admits(node),
              matches_selection(*pods.needs, sample.name, object->meta().labels))
        << sample.name;
  }
  NodeSet set = bench.cluster.nodes();
  pass->narrow(set);
  EXPECT_EQ(set.count(), 2u);  // n0 and n2
}

TEST(NodeUnschedulable, KeepsPodsOffCordonedNodes) {
  Bench bench;
  const NodeId open = bench.add({.name = "a"});
  const NodeId cordoned = bench.add({.name = "b", .unschedulable = true});
  const NodeUnschedulable plugin;
  const auto pass =
      plugin.prepare_filter(bench.cluster.class_of(PodSample{.name = "p"}.make()), bench.cluster);
  EXPECT_TRUE(pass->ask(open).accepted());
  EXPECT_EQ(reasons(pass->ask(cordoned)), std::vector<std::string>{"node(s) were unschedulable"});
  EXPECT_EQ(pass->ask(cordoned).remedy(), Remedy::None);
  const auto tolerant =
      PodSample{.name = "q", .spec = R"("tolerations":[{"key":"node.kubernetes.io/unschedulable",
      "operator":"Exists","effect":"NoSchedule"}])"}
          .make();
  EXPECT_EQ(plugin.prepare_filter(bench.cluster.class_of(tolerant), bench.cluster), nullptr);
}

TEST(NodeName, KeepsAPodToItsNode) {
  Bench bench;
  const NodeId a = bench.add({.name = "a"});
  const NodeId b = bench.add({.name = "b"});
  const auto pod = PodSample{.name = "p", .node_name = "b"}.make();
  const auto pass = NodeName().prepare_filter(bench.cluster.class_of(pod), bench.cluster);
  EXPECT_EQ(reasons(pass->ask(a)),
            std::vector<std::string>{"node(s) didn't match the requested node name"});
  EXPECT_EQ(pass->ask(a).remedy(), Remedy::None);
  ASSERT_NE(pass->only_on(), nullptr);
  EXPECT_EQ(*pass->only_on(), std::vector<std::string>{"b"});
  EXPECT_TRUE(pass->ask(b).accepted());
}

TEST(NodePorts, N1N2ConflictsByProtocolPortAndAddress) {
  const auto with_port = [](const std::string& name, const std::string& ip,
                            const std::string& protocol) {
    return PodSample{.name = name,
                     .spec = R"("initContainers":[{"name":"s","image":"i","restartPolicy":"Always",
        "ports":[{"containerPort":80,"hostPort":80,"hostIP":")" +
                             ip + R"(","protocol":")" + protocol + "\"}]}]"};
  };
  const auto accepts = [&](const std::string& used_ip, const std::string& ip,
                           const std::string& protocol) {
    Bench bench;
    const NodeId node = bench.add({.name = "n"});
    PodSample used = with_port("u", used_ip, "TCP");
    used.node_name = "n";
    bench.cluster.set_pod(used.make());
    const PodClass& pods = bench.cluster.class_of(with_port("p", ip, protocol).make());
    const auto pass = NodePorts().prepare_filter(pods, bench.cluster);
    const bool before = pass->admits(node);
    EXPECT_EQ(pass->cap_at(node), before ? 1 : 0);
    if (!before) {
      EXPECT_EQ(
          reasons(pass->ask(node)),
          std::vector<std::string>{"node(s) didn't have free ports for the requested pod ports"});
      EXPECT_EQ(pass->ask(node).remedy(), Remedy::Eviction);
    }
    bench.cluster.remove_pod("default-u");
    EXPECT_TRUE(pass->admits(node));
    return before;
  };
  EXPECT_FALSE(accepts("0.0.0.0", "10.0.0.1", "TCP"));
  EXPECT_TRUE(accepts("0.0.0.0", "10.0.0.1", "UDP"));
  EXPECT_FALSE(accepts("10.0.0.1", "0.0.0.0", "TCP"));
  EXPECT_TRUE(accepts("10.0.0.1", "10.0.0.2", "TCP"));
}

TEST(SchedulingGates, NamesTheGates) {
  const auto pod =
      PodSample{.name = "p", .spec = R"("schedulingGates":[{"name":"b"},{"name":"a"}])"}.make();
  EXPECT_EQ(SchedulingGates().holds_back(*pod), "waiting for scheduling gates: [b a]");
  EXPECT_EQ(SchedulingGates().holds_back(*PodSample{.name = "q"}.make()), std::nullopt);
}

// A standing lives on while the values of a label, and the lists of taints, are numbered again
// because most of them are gone.
TEST(Renumbering, StandingsJudgeLabelsAndTaintsAsTheyAre) {
  Bench bench;
  Profile profile;
  profile.add<TaintToleration>(3);
  profile.add<NodeAffinity>(2);
  const auto node = [](const std::string& name, int turn) {
    const std::string value = "v" + std::to_string(turn);
    return NodeSample{
        .name = name,
        .labels = {{"turn", value}},
        .taints = R"([{"key":"turn","value":")" + value + R"(","effect":"NoSchedule"}])"};
  };
  bench.add(node("n0", -1));
  const NodeId moving = bench.add(node("n1", 0));
  const auto picky =
      PodSample{
          .name = "p",
          .spec = R"("nodeSelector":{"turn":"v150"},"tolerations":[{"key":"turn","value":"v150"}])"}
          .make();
  Standing standing(bench.cluster.class_of(picky), profile, bench.cluster);
  for (int turn = 1; turn < 400; ++turn) {
    bench.add(node("n1", turn));
    standing.catch_up();
    const bool fits = turn == 150;
    ASSERT_EQ(standing.is_feasible(moving), fits) << turn;
    ASSERT_EQ(standing.pick().has_value(), fits) << turn;
    for (const Standing::NamedFilter& filter : standing.filters())
      ASSERT_EQ(filter.pass->admits(moving), fits) << filter.name << " in turn " << turn;
  }
}

}  // namespace
}  // namespace muster::scheduler
