#include "scheduler/plugins/pod_topology_spread.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/kinds/kind.h"
#include "scheduler/plugins/standing_testing.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kSkewed = "node(s) didn't match pod topology spread constraints";
constexpr std::string_view kUnlabelled =
    "node(s) didn't match pod topology spread constraints (missing required label)";

std::string constraint(const std::string& key, int skew, bool hard, const std::string& more = "") {
  return fmt::format(
      R"({{"topologyKey":"{}","maxSkew":{},"whenUnsatisfiable":"{}","labelSelector":{{"matchLabels":{{"app":"web"}}}}{}}})",
      key, skew, hard ? "DoNotSchedule" : "ScheduleAnyway", more);
}

class SpreadTest : public StandingTest {
 protected:
  void node(const std::string& name, const std::map<std::string, std::string>& labels) {
    cluster_.set_node(NodeSample{.name = name, .labels = labels}.make());
  }
  void pods(const std::string& node, int count,
            const std::map<std::string, std::string>& labels = {{"app", "web"}}) {
    for (int i = 0; i < count; ++i)
      cluster_.set_pod(
          PodSample{.name = fmt::format("p{}", next_++), .node_name = node, .labels = labels}
              .make());
  }
  Standing& ask(const std::string& constraints,
                const std::map<std::string, std::string>& labels = {{"app", "web"}}) {
    const api::ObjectPtr pod =
        PodSample{.name = "asks",
                  .spec = "\"topologySpreadConstraints\":[" + constraints + "]",
                  .labels = labels}
            .make();
    if (profile_.filters().empty()) profile_.add<PodTopologySpread>(1);
    return standing_of(pod);
  }
};

TEST_F(SpreadTest, I1RefusesWhatWouldSkew) {
  for (const char* zone : {"a", "b", "c"})
    for (int i = 0; i < 2; ++i) node(fmt::format("{}{}", zone, i), {{"zone", zone}});
  pods("a0", 2);
  pods("a1", 1);
  pods("b0", 1);
  ask(constraint("zone", 1, true));
  for (const char* name : {"a0", "a1", "b0", "b1"}) EXPECT_EQ(why(name), kSkewed) << name;
  EXPECT_EQ(why("c0"), "");
  EXPECT_EQ(standing_->ask(id("a0")).verdict.remedy(), Remedy::Eviction);
}

TEST_F(SpreadTest, I2TooFewDomainsMakeTheMinimumZero) {
  node("a", {{"zone", "a"}});
  node("b", {{"zone", "b"}});
  pods("a", 2);
  pods("b", 2);
  ask(constraint("zone", 1, true, R"(,"minDomains":3)"));
  EXPECT_EQ(why("a"), kSkewed);
  EXPECT_EQ(why("b"), kSkewed);
  ask(constraint("zone", 1, true, R"(,"minDomains":2)"));
  EXPECT_EQ(why("a"), "");
}

TEST_F(SpreadTest, I3PodsThatDoNotCountThemselvesAddNothing) {
  node("a", {{"zone", "a"}});
  node("b", {{"zone", "b"}});
  pods("a", 2);
  pods("b", 1);
  ask(constraint("zone", 1, true), {});
  EXPECT_EQ(why("a"), "");
  EXPECT_EQ(why("b"), "");
}

TEST_F(SpreadTest, I4NodesWithoutTheLabelAreOutOfTheQuestion) {
  node("a", {{"zone", "a"}});
  node("x", {});
  ask(constraint("zone", 1, true));
  EXPECT_EQ(why("x"), kUnlabelled);
  EXPECT_EQ(standing_->ask(id("x")).verdict.remedy(), Remedy::None);
  EXPECT_EQ(standing_->caps()[id("x")], 0);
}

TEST_F(SpreadTest, I5ScoresByDomain) {
  for (const char* zone : {"a", "b", "c"}) node(zone, {{"zone", zone}});
  pods("a", 3);
  pods("b", 1);
  ask(constraint("zone", 1, false));
  EXPECT_EQ(scores({"a", "b", "c"}), (std::vector<std::int64_t>{0, 60, 100}));
}

TEST_F(SpreadTest, I7AnEmptyClusterIsEven) {
  node("a", {{"zone", "a"}});
  node("b", {{"zone", "b"}});
  ask(constraint("zone", 1, false));
  EXPECT_EQ(scores({"a", "b"}), (std::vector<std::int64_t>{100, 100}));
}

TEST_F(SpreadTest, I8NodesWithoutTheLabelScoreNothing) {
  node("a", {{"zone", "a"}});
  node("b", {{"zone", "b"}});
  node("x", {});
  pods("a", 2);
  pods("b", 5);
  ask(constraint("zone", 1, false));
  EXPECT_EQ(scores({"a", "b", "x"}), (std::vector<std::int64_t>{100, 42, 0}));
}

TEST_F(SpreadTest, CountsNoOtherNamespaceAndNobodyWhoTerminates) {
  node("a", {{"zone", "a"}});
  node("b", {{"zone", "b"}});
  cluster_.set_pod(PodSample{
      .name = "other", .node_name = "a", .name_space = "elsewhere", .labels = {{"app", "web"}}}
                       .make());
  cluster_.set_pod(
      PodSample{.name = "going", .node_name = "a", .terminating = true, .labels = {{"app", "web"}}}
          .make());
  ask(constraint("zone", 1, true));
  EXPECT_EQ(why("a"), "");
  pods("a", 1);
  standing_->catch_up();
  EXPECT_EQ(why("a"), kSkewed);
}

// An empty selector selects the pod itself, but counts nobody.
TEST_F(SpreadTest, AnEmptySelectorCountsNobody) {
  node("a", {{"zone", "a"}});
  node("b", {{"zone", "b"}});
  pods("a", 5);
  ask(R"({"topologyKey":"zone","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule","labelSelector":{}})");
  EXPECT_EQ(why("a"), "");
}

TEST_F(SpreadTest, MatchLabelKeysCountOneRevisionOnly) {
  node("a", {{"zone", "a"}});
  node("b", {{"zone", "b"}});
  pods("a", 3, {{"app", "web"}, {"rev", "1"}});
  ask(constraint("zone", 1, true, R"(,"matchLabelKeys":["rev"])"), {{"app", "web"}, {"rev", "2"}});
  EXPECT_EQ(why("a"), "");
  ask(constraint("zone", 1, true, R"(,"matchLabelKeys":["rev"])"), {{"app", "web"}, {"rev", "1"}});
  EXPECT_EQ(why("a"), kSkewed);
}

class DefaultSpreadTest : public SpreadTest {
 protected:
  void SetUp() override {
    const auto document = api::parse_json(
        R"({"metadata": {"namespace": "default", "name": "web", "uid": "web"},
            "spec": {"selector": {"app": "web"}}})");
    cluster_.put_selector(*api::Object::make(*api::find_kind("", "Service"), document->value));
  }
  void use(const PodTopologySpreadArgs& args) {
    profile_.add<PodTopologySpread>(1, args);
    cluster_.set_default_spread_keys(args.default_keys());
  }
};

TEST_F(DefaultSpreadTest, PodsOfAServiceAreSpreadSoftly) {
  use({});
  node("a", {{"kubernetes.io/hostname", "a"}, {"topology.kubernetes.io/zone", "z1"}});
  node("b", {{"kubernetes.io/hostname", "b"}, {"topology.kubernetes.io/zone", "z1"}});
  node("c", {{"kubernetes.io/hostname", "c"}, {"topology.kubernetes.io/zone", "z2"}});
  pods("a", 2);
  pods("b", 1);
  ask("");
  const auto got = scores({"a", "b", "c"});
  EXPECT_LT(got[0], got[1]);
  EXPECT_LT(got[1], got[2]);
  ask("", {{"app", "db"}});
  EXPECT_TRUE(standing_->scores().empty()) << "no service selects it";
  ask(constraint("kubernetes.io/hostname", 1, true));
  EXPECT_TRUE(standing_->scores().empty()) << "its own constraints are all it has";
}

TEST_F(DefaultSpreadTest, I6ScoresHostsAndZonesTogether) {
  use({});
  const auto host = [this](const std::string& name, const std::string& zone, int count) {
    node(name, {{"kubernetes.io/hostname", name}, {"topology.kubernetes.io/zone", zone}});
    pods(name, count);
  };
  host("a", "z1", 0);
  host("b", "z1", 1);
  host("c", "z2", 2);
  host("d", "z2", 0);
  // Not among the candidates, but in their zones.
  host("e", "z1", 1);
  host("f", "z2", 1);
  ask("");
  EXPECT_EQ(scores({"a", "b", "c", "d"}), (std::vector<std::int64_t>{100, 85, 64, 92}));
}

TEST_F(DefaultSpreadTest, AListMayBeStrict) {
  PodTopologySpreadArgs args;
  args.is_system_defaulting = false;
  args.default_constraints = {{.topology_key = "zone", .max_skew = 1, .is_hard = true}};
  use(args);
  node("a", {{"zone", "a"}});
  node("b", {{"zone", "b"}});
  pods("a", 1);
  ask("");
  EXPECT_EQ(why("a"), kSkewed);
  EXPECT_EQ(why("b"), "");
  const auto pod = PodSample{.name = "p", .labels = {{"app", "web"}}}.make();
  EXPECT_TRUE(
      profile_.could_help("PodTopologySpread", *pod,
                          {Resource::Node, Action::Add, nullptr, NodeSample{.name = "c"}.make()}))
      << "what the default counts is not known to hints";
}

TEST_F(DefaultSpreadTest, NodesWithoutAKeyOfAListScoreNothing) {
  PodTopologySpreadArgs args;
  args.is_system_defaulting = false;
  args.default_constraints = {{.topology_key = "zone", .max_skew = 1, .is_hard = false},
                              {.topology_key = "rack", .max_skew = 1, .is_hard = false}};
  use(args);
  node("a", {{"zone", "a"}, {"rack", "r"}});
  node("b", {{"zone", "b"}});
  pods("a", 1);
  ask("");
  const auto got = scores({"a", "b"});
  EXPECT_GT(got[0], 0);
  EXPECT_EQ(got[1], 0);
}

TEST_F(DefaultSpreadTest, NodesWithoutAKeyOfTheSystemsDefaultsScoreByTheOthers) {
  use({});
  node("a", {{"kubernetes.io/hostname", "a"}, {"topology.kubernetes.io/zone", "z1"}});
  node("b", {{"kubernetes.io/hostname", "b"}});
  pods("a", 1);
  ask("");
  EXPECT_GT(scores({"b"})[0], 0);
}

TEST_F(SpreadTest, PoliciesSayWhichNodesAreDomains) {
  node("a", {{"zone", "a"}});
  cluster_.set_node(NodeSample{
      .name = "b", .labels = {{"zone", "b"}}, .taints = R"([{"key":"k","effect":"NoSchedule"}])"}
                        .make());
  pods("a", 1);
  ask(constraint("zone", 1, true));
  EXPECT_EQ(why("a"), kSkewed) << "zone b is a domain without pods";
  ask(constraint("zone", 1, true, R"(,"nodeTaintsPolicy":"Honor")"));
  EXPECT_EQ(why("a"), "") << "nobody can go to zone b";
  // Taints are compared again when they change.
  cluster_.set_node(NodeSample{.name = "b", .labels = {{"zone", "b"}}}.make());
  standing_->catch_up();
  EXPECT_EQ(why("a"), kSkewed);
}

// It may be ready again in a moment: its domain counts as before, and nobody counts again.
TEST_F(SpreadTest, ANodeThatIsNotReadyGoesOnToCount) {
  node("a", {{"zone", "a"}});
  node("b", {{"zone", "b"}});
  pods("a", 1);
  ask(constraint("zone", 1, true, R"(,"nodeTaintsPolicy":"Honor")"));
  EXPECT_EQ(why("a"), kSkewed);
  const std::uint64_t epoch = cluster_.taint_epoch();
  const NodeSample not_ready{
      .name = "b",
      .labels = {{"zone", "b"}},
      .taints = R"([{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"},
                    {"key":"node.kubernetes.io/not-ready","effect":"NoExecute"}])"};
  cluster_.set_node(not_ready.make());
  standing_->catch_up();
  EXPECT_EQ(why("a"), kSkewed);
  ask(constraint("zone", 1, true, R"(,"nodeTaintsPolicy":"Honor")"));
  EXPECT_EQ(why("a"), kSkewed) << "also for those who come now";
  EXPECT_EQ(cluster_.taint_epoch(), epoch);
}

TEST_F(SpreadTest, ANodeThatIsNotReachedGoesOnToCount) {
  node("a", {{"zone", "a"}});
  cluster_.set_node(
      NodeSample{.name = "b",
                 .labels = {{"zone", "b"}},
                 .taints = R"([{"key":"node.kubernetes.io/unreachable","effect":"NoExecute"}])"}
          .make());
  pods("a", 1);
  ask(constraint("zone", 1, true, R"(,"nodeTaintsPolicy":"Honor")"));
  EXPECT_EQ(why("a"), kSkewed);
}

TEST_F(SpreadTest, OneHostNameEach) {
  for (const char* name : {"a", "b", "c"}) node(name, {{"kubernetes.io/hostname", name}});
  pods("a", 2);
  ask(constraint("kubernetes.io/hostname", 1, true));
  EXPECT_EQ(why("a"), kSkewed);
  EXPECT_EQ(why("b"), "");
  pods("b", 2);
  pods("c", 2);
  standing_->catch_up();
  EXPECT_EQ(why("a"), "") << "the least has risen";
}

// Many values of a label: judged row by row, and by place if there are few.
TEST_F(SpreadTest, RacksOfTwoNodes) {
  for (int rack = 0; rack < 200; ++rack)
    for (int i = 0; i < 2; ++i)
      node(fmt::format("r{}-{}", rack, i), {{"rack", std::to_string(rack)}});
  ask(constraint("rack", 1, true));
  EXPECT_FALSE(standing_->filters()[0].pass->has_places());
  for (int rack = 0; rack < 199; ++rack) {
    pods(fmt::format("r{}-0", rack), 1);
    standing_->catch_up();
  }
  EXPECT_EQ(why("r3-1"), kSkewed);
  EXPECT_EQ(why("r199-1"), "");
  pods("r199-0", 1);
  standing_->catch_up();
  EXPECT_EQ(why("r3-1"), "");
}

// Nodes that the pod's own selector leaves out are no domains, unless the constraint says so.
TEST_F(SpreadTest, NodesThatThePodDoesNotSelectAreNoDomains) {
  node("a", {{"zone", "a"}, {"disk", "ssd"}});
  node("b", {{"zone", "b"}});
  pods("a", 1);
  const auto ask_with = [this](const std::string& more) {
    const api::ObjectPtr pod = PodSample{
        .name = "asks",
        .spec = R"("nodeSelector":{"disk":"ssd"},"topologySpreadConstraints":[)" +
                constraint("zone", 1, true, more) + "]",
        .labels = {{"app", "web"}}}.make();
    if (profile_.filters().empty()) profile_.add<PodTopologySpread>(1);
    standing_of(pod);
    return why("a");
  };
  EXPECT_EQ(ask_with(""), "") << "zone b is out of the question";
  EXPECT_EQ(ask_with(R"(,"nodeAffinityPolicy":"Ignore")"), kSkewed);
}

TEST(SpreadHints, WakeOnWhatChangesTheCounts) {
  const PodTopologySpread plugin;
  const auto asking = [](const std::string& more) {
    return PodSample{
        .name = "p",
        .spec = "\"topologySpreadConstraints\":[" + constraint("zone", 1, true, more) + "]",
        .labels = {{"app", "web"}}}
        .make();
  };
  const auto pod = asking("");
  const auto on_node = [](const std::string& app, const std::string& node) {
    return PodSample{.name = "q", .node_name = node, .labels = {{"app", app}}}.make();
  };
  const auto wakes = [&](Resource resource, Action action, const api::ObjectPtr& before,
                         const api::ObjectPtr& after) {
    return plugin.could_help(*pod, {resource, action, before, after});
  };
  using R = Resource;
  using A = Action;
  const auto web = on_node("web", "n");
  const auto db = on_node("db", "n");
  EXPECT_TRUE(wakes(R::AssignedPod, A::Add, nullptr, web));
  EXPECT_FALSE(wakes(R::AssignedPod, A::Add, nullptr, db));
  EXPECT_FALSE(wakes(R::AssignedPod, A::Add, nullptr, on_node("web", "")));
  EXPECT_TRUE(wakes(R::AssignedPod, A::Delete, web, nullptr));
  EXPECT_FALSE(wakes(R::AssignedPod, A::Delete, db, nullptr));
  EXPECT_TRUE(wakes(R::AssignedPod, A::UpdatePodLabel, web, db));
  EXPECT_TRUE(wakes(R::AssignedPod, A::UpdatePodLabel, db, web));
  EXPECT_FALSE(wakes(R::AssignedPod, A::UpdatePodLabel, web, web));
  const auto bare = NodeSample{.name = "n"}.make();
  const auto labelled = NodeSample{.name = "n", .labels = {{"zone", "a"}}}.make();
  EXPECT_TRUE(wakes(R::Node, A::Add, nullptr, labelled));
  EXPECT_FALSE(wakes(R::Node, A::Add, nullptr, bare));
  EXPECT_TRUE(wakes(R::Node, A::Delete, labelled, nullptr));
  EXPECT_FALSE(wakes(R::Node, A::Delete, bare, nullptr));
  EXPECT_TRUE(wakes(R::Node, A::UpdateNodeLabel, bare, labelled));
  EXPECT_FALSE(wakes(R::Node, A::UpdateNodeTaint, bare, bare));
  EXPECT_TRUE(wakes(R::Node, A::UpdateNodeTaint, labelled, labelled));
  EXPECT_FALSE(wakes(R::TargetPod, A::UpdatePodToleration, pod, pod));
  const auto careful = asking(R"(,"nodeTaintsPolicy":"Honor")");
  EXPECT_TRUE(
      plugin.could_help(*careful, {R::TargetPod, A::UpdatePodToleration, careful, careful}));
}

// Only strict constraints refuse nodes.
TEST(SpreadHints, SoftConstraintsNeitherWakeNorAskForLabels) {
  const PodTopologySpread plugin;
  const std::string soft = R"({"topologyKey":"rack","maxSkew":1,"whenUnsatisfiable":)"
                           R"("ScheduleAnyway","labelSelector":{"matchLabels":{"app":"db"}}})";
  const std::string both = constraint("zone", 1, true) + "," + soft;
  const auto pod = PodSample{.name = "p",
                             .spec = "\"topologySpreadConstraints\":[" + both + "]",
                             .labels = {{"app", "web"}}}
                       .make();
  const auto wakes = [&](Resource resource, Action action, const api::ObjectPtr& before,
                         const api::ObjectPtr& after) {
    return plugin.could_help(*pod, {resource, action, before, after});
  };
  const auto in_zone = NodeSample{.name = "n", .labels = {{"zone", "a"}}}.make();
  const auto in_rack = NodeSample{.name = "n", .labels = {{"rack", "r"}}}.make();
  EXPECT_TRUE(wakes(Resource::Node, Action::Add, nullptr, in_zone));
  EXPECT_FALSE(wakes(Resource::Node, Action::Add, nullptr, in_rack));
  const auto on_node = [](const std::string& app) {
    return PodSample{.name = "q", .node_name = "n", .labels = {{"app", app}}}.make();
  };
  EXPECT_FALSE(wakes(Resource::AssignedPod, Action::Add, nullptr, on_node("db")));
  EXPECT_FALSE(
      wakes(Resource::AssignedPod, Action::UpdatePodLabel, on_node("db"), on_node("other")));
}

}  // namespace
}  // namespace muster::scheduler
