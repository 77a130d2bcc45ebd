#include "scheduler/plugins/inter_pod_affinity.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/plugins/standing_testing.h"
#include "scheduler/plugins/terms_of_others.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kUnmet = "node(s) didn't match pod affinity rules";
constexpr std::string_view kRepelled = "node(s) didn't match pod anti-affinity rules";
constexpr std::string_view kRepelling = "node(s) didn't satisfy existing pods anti-affinity rules";

using Labels = std::map<std::string, std::string>;

std::string term(const std::string& key, const std::string& app, const std::string& more = "") {
  return fmt::format(R"({{"topologyKey":"{}","labelSelector":{{"matchLabels":{{"app":"{}"}}}}{}}})",
                     key, app, more);
}
std::string required(const std::string& field, const std::string& terms) {
  return fmt::format(
      R"("affinity":{{"{}":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}})", field,
      terms);
}
std::string preferred(const std::string& field, int weight, const std::string& term) {
  return fmt::format(
      R"("affinity":{{"{}":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":{},"podAffinityTerm":{}}}]}}}})",
      field, weight, term);
}

class AffinityTest : public StandingTest {
 protected:
  AffinityTest() {
    for (const char* zone : {"z1", "z2", "z3"})
      for (int i = 0; i < 2; ++i) {
        const std::string name = fmt::format("{}-{}", zone, i);
        cluster_.set_node(
            NodeSample{.name = name, .labels = {{"zone", zone}, {"host", name}}}.make());
      }
    cluster_.set_node(NodeSample{.name = "bare"}.make());
  }
  void run(const std::string& node, const Labels& labels, const std::string& spec = "",
           const std::string& name_space = "default") {
    cluster_.set_pod(PodSample{.name = fmt::format("p{}", next_++),
                               .node_name = node,
                               .spec = spec,
                               .name_space = name_space,
                               .labels = labels}
                         .make());
  }
  Standing& ask(const std::string& spec, const Labels& labels = {},
                const InterPodAffinityArgs& args = {}) {
    asking_ = PodSample{.name = "asks", .spec = spec, .labels = labels}.make();
    profile_ = Profile();
    profile_.add<InterPodAffinity>(1, args);
    return again();
  }
  // The class of the pod may have changed with what others ask about it.
  Standing& again() { return standing_of(asking_); }

  api::ObjectPtr asking_;
};

TEST_F(AffinityTest, GoesWhereThePodIsThatItWants) {
  run("z2-0", {{"app", "db"}});
  ask(required("podAffinity", term("zone", "db")));
  EXPECT_EQ(why("z2-0"), "");
  EXPECT_EQ(why("z2-1"), "");
  EXPECT_EQ(why("z1-0"), kUnmet);
  EXPECT_EQ(why("bare"), kUnmet);
  EXPECT_EQ(standing_->ask(id("z1-0")).verdict.remedy(), Remedy::None);
}

TEST_F(AffinityTest, J6TheFirstOfItsKindGoesAnywhereThatHasTheLabel) {
  ask(required("podAffinity", term("zone", "web")), {{"app", "web"}});
  EXPECT_EQ(why("z1-0"), "");
  EXPECT_EQ(why("z3-1"), "");
  EXPECT_EQ(why("bare"), kUnmet);
  run("z3-0", {{"app", "web"}});
  standing_->catch_up();
  EXPECT_EQ(why("z1-0"), kUnmet) << "the second one stays with the first";
  EXPECT_EQ(why("z3-1"), "");
  ask(required("podAffinity", term("zone", "nobody")), {{"app", "web"}});
  EXPECT_EQ(why("z1-0"), kUnmet) << "it does not want its own kind";
}

// Terms are looked at together: a pod that matches one of two terms counts for neither.
TEST_F(AffinityTest, OnePodMustMatchAllTerms) {
  run("z1-0", {{"app", "db"}});
  run("z1-1", {{"app", "cache"}});
  ask(required("podAffinity", term("zone", "db") + "," + term("zone", "cache")));
  EXPECT_EQ(why("z1-0"), kUnmet);
}

TEST_F(AffinityTest, KeepsAwayFromThoseItRepelsAndThoseThatRepelIt) {
  run("z1-0", {{"app", "noisy"}});
  run("z2-0", {{"app", "shy"}}, required("podAntiAffinity", term("zone", "web")));
  ask(required("podAntiAffinity", term("zone", "noisy")), {{"app", "web"}});
  EXPECT_EQ(why("z1-1"), kRepelled);
  EXPECT_EQ(why("z2-1"), kRepelling);
  EXPECT_EQ(why("z3-0"), "");
  EXPECT_EQ(why("bare"), "");
  EXPECT_EQ(standing_->ask(id("z1-1")).verdict.remedy(), Remedy::Eviction);
}

// Also pods that ask for nothing: those that run already may have something against them.
TEST_F(AffinityTest, APodWithoutTermsIsRepelledToo) {
  ask("", {{"app", "web"}});
  EXPECT_TRUE(standing_->filters().empty());
  run("z2-0", {}, required("podAntiAffinity", term("zone", "web")));
  again();
  ASSERT_EQ(standing_->filters().size(), 1u);
  EXPECT_EQ(why("z2-1"), kRepelling);
  EXPECT_EQ(why("z1-0"), "");
}

TEST_F(AffinityTest, SelfAntiAffinityByHostIsAnExactCapOfOne) {
  const std::string spec = required("podAntiAffinity", term("host", "web"));
  ask(spec, {{"app", "web"}});
  run("z1-0", {{"app", "web"}});
  standing_->catch_up();
  EXPECT_EQ(standing_->cap_exactness(), Exactness::PerNode);
  EXPECT_EQ(standing_->caps()[id("z1-0")], 0);
  EXPECT_EQ(standing_->caps()[id("z1-1")], 1);
  EXPECT_EQ(standing_->caps()[id("bare")], kNoCap) << "no label, no host to share";
}

TEST_F(AffinityTest, SelfAntiAffinityByZoneLimitsTheZone) {
  ask(required("podAntiAffinity", term("zone", "web")), {{"app", "web"}});
  run("z1-0", {{"app", "web"}});
  standing_->catch_up();
  EXPECT_EQ(standing_->cap_exactness(), Exactness::UpperBound);
  const FilterPass& pass = *standing_->filters()[0].pass;
  ASSERT_NE(pass.domain_column(), nullptr);
  EXPECT_EQ(pass.domain_column()->key, "zone");
  EXPECT_EQ(pass.domain_cap(pass.domain_column()->values[id("z1-1")]), 0);
  EXPECT_EQ(pass.domain_cap(pass.domain_column()->values[id("z2-1")]), 1);
}

TEST_F(AffinityTest, NamespacesByNameAndByLabel) {
  run("z1-0", {{"app", "db"}}, "", "data");
  ask(required("podAffinity", term("zone", "db")));
  EXPECT_EQ(why("z1-0"), kUnmet) << "only its own namespace is meant";
  ask(required("podAffinity", term("zone", "db", R"(,"namespaces":["data"])")));
  EXPECT_EQ(why("z1-0"), "");
  const std::string by_label = required(
      "podAffinity", term("zone", "db", R"(,"namespaceSelector":{"matchLabels":{"team":"x"}})"));
  ask(by_label);
  EXPECT_EQ(why("z1-0"), kUnmet);
  cluster_.set_namespace(*namespace_of("data", {{"team", "x"}}));
  standing_->catch_up();
  EXPECT_EQ(why("z1-0"), "");
  cluster_.set_namespace(*namespace_of("data", {}));
  standing_->catch_up();
  EXPECT_EQ(why("z1-0"), kUnmet);
  ask(required("podAffinity", term("zone", "db", R"(,"namespaceSelector":{})")));
  EXPECT_EQ(why("z1-0"), "") << "an empty selector means every namespace";
}

TEST_F(AffinityTest, MatchAndMismatchLabelKeys) {
  run("z1-0", {{"app", "db"}, {"rev", "1"}});
  run("z2-0", {{"app", "db"}, {"rev", "2"}});
  ask(required("podAffinity", term("zone", "db", R"(,"matchLabelKeys":["rev"])")), {{"rev", "2"}});
  EXPECT_EQ(why("z1-0"), kUnmet);
  EXPECT_EQ(why("z2-0"), "");
  ask(required("podAffinity", term("zone", "db", R"(,"mismatchLabelKeys":["rev"])")),
      {{"rev", "2"}});
  EXPECT_EQ(why("z1-0"), "");
  EXPECT_EQ(why("z2-0"), kUnmet);
}

TEST_F(AffinityTest, TerminatingPodsCount) {
  cluster_.set_pod(PodSample{
      .name = "going", .node_name = "z1-0", .terminating = true, .labels = {{"app", "noisy"}}}
                       .make());
  ask(required("podAntiAffinity", term("zone", "noisy")));
  EXPECT_EQ(why("z1-1"), kRepelled);
}

TEST_F(AffinityTest, J4PrefersByWeightAndCount) {
  run("z1-0", {{"app", "web"}});
  run("z1-1", {{"app", "web"}});
  run("z2-0", {{"app", "web"}});
  ask(preferred("podAffinity", 5, term("zone", "web")));
  EXPECT_EQ(scores({"z1-0", "z2-0", "z3-0"}), (std::vector<std::int64_t>{100, 50, 0}));
  ask(preferred("podAffinity", 5, term("host", "web")));
  EXPECT_EQ(scores({"z1-0", "z2-1", "z3-0"}), (std::vector<std::int64_t>{100, 0, 0}));
}

TEST_F(AffinityTest, J5OthersPreferToo) {
  run("z1-0", {}, required("podAffinity", term("zone", "web")));
  run("z2-0", {}, preferred("podAntiAffinity", 8, term("zone", "web")));
  ask("", {{"app", "web"}});
  EXPECT_EQ(scores({"z1-1", "z2-1"}), (std::vector<std::int64_t>{100, 0}));
  ask("", {{"app", "web"}}, {.hard_pod_affinity_weight = 0});
  EXPECT_EQ(scores({"z1-1", "z2-1", "z3-0"}), (std::vector<std::int64_t>{100, 0, 100}));
  ask("", {{"app", "web"}}, {.ignore_preferred_terms_of_existing_pods = true});
  EXPECT_TRUE(standing_->scores().empty());
}

TEST_F(AffinityTest, J1J2J3NormalizesLikeUpstream) {
  struct Case {
    std::vector<int> weights;  // of a pod that wants us in each zone; below 0: avoids us
    std::vector<std::int64_t> want;
  };
  const Case cases[] = {
      {{0, 29, 100}, {0, 28, 100}}, {{-10, 0, 30}, {0, 25, 100}}, {{5, 5, 5}, {0, 0, 0}}};
  for (const Case& c : cases) {
    Cluster cluster;
    for (std::size_t i = 0; i < c.weights.size(); ++i) {
      const std::string name = fmt::format("n{}", i);
      cluster.set_node(NodeSample{.name = name, .labels = {{"zone", name}}}.make());
      if (c.weights[i] == 0) continue;
      cluster.set_pod(
          PodSample{.name = "p" + name,
                    .node_name = name,
                    .spec = preferred(c.weights[i] > 0 ? "podAffinity" : "podAntiAffinity",
                                      std::abs(c.weights[i]), term("zone", "web"))}
              .make());
    }
    Profile profile;
    profile.add<InterPodAffinity>(1);
    Standing standing(
        cluster.class_of(PodSample{.name = "asks", .labels = {{"app", "web"}}}.make()), profile,
        cluster);
    standing.catch_up();
    std::vector<std::int64_t> scores;
    for (std::uint32_t rank = 0; rank < c.weights.size(); ++rank)
      scores.push_back(standing.scores()[0].pass->raw(cluster.node_at(rank)));
    standing.scores()[0].pass->normalize(scores);
    EXPECT_EQ(scores, c.want);
  }
}

// --- many who ask ---

// Terms that all select the pods of one app, and are all different.
std::string distinct_terms(const std::string& key, int from, int count, bool is_weighed = false) {
  std::string list;
  for (int i = from; i < from + count; ++i) {
    const std::string one =
        fmt::format(R"({{"topologyKey":"{}","labelSelector":{{"matchLabels":{{"app":"web"}},)"
                    R"("matchExpressions":[{{"key":"x","operator":"NotIn","values":["{}"]}}]}}}})",
                    key, i);
    if (!list.empty()) list += ",";
    list += is_weighed ? fmt::format(R"({{"weight":1,"podAffinityTerm":{}}})", one) : one;
  }
  return list;
}

// Other pods cost what they ask themselves, not that times what all of them ask.
TEST_F(AffinityTest, OtherPodsAreLookedUpByTheTermsTheyHave) {
  constexpr int kClasses = 20;
  constexpr int kTerms = 64;
  for (int i = 0; i < kClasses; ++i)
    run("z1-0", {},
        fmt::format(
            R"("affinity":{{"podAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[{}]}}}})",
            distinct_terms("zone", i * kTerms, kTerms, true)));
  cluster_.follow_pods();
  const PodClass& asks =
      cluster_.class_of(PodSample{.name = "asks", .labels = {{"app", "web"}}}.make());
  ASSERT_EQ(asks.matches.size(), static_cast<std::size_t>(kClasses * kTerms));

  TermsOfOthers others;
  for (const TermId term : asks.matches) others.add(term, 7);
  std::size_t found = 0;
  cluster_.for_each_running([&](const PodClass& pods, NodeId, std::uint32_t) {
    others.for_each_of(pods, [&](std::size_t, std::size_t counts_for) {
      EXPECT_EQ(counts_for, 7u);
      ++found;
    });
  });
  EXPECT_EQ(found, static_cast<std::size_t>(kClasses * kTerms));
  EXPECT_EQ(others.looks(), static_cast<std::uint64_t>(kClasses * kTerms));

  ask("", {{"app", "web"}});
  EXPECT_EQ(scores({"z1-1", "z2-0"}), (std::vector<std::int64_t>{100, 0}));
  EXPECT_EQ(standing_->scores()[0].pass->raw(id("z1-0")),
            standing_->scores()[0].pass->raw(id("z1-1")));
}

// What they have against us is counted once for each label, not for each of their terms.
TEST_F(AffinityTest, AThousandTermsAgainstUsTakeTheMemoryOfOne) {
  const auto bytes_after = [&](int pods) {
    for (; next_ < pods; ++next_)
      cluster_.set_pod(
          PodSample{.name = fmt::format("p{}", next_),
                    .node_name = "z1-0",
                    .spec = required("podAntiAffinity", distinct_terms("host", next_ * 64, 64))}
              .make());
    ask("", {{"app", "web"}});
    return standing_->filters()[0].pass->bytes();
  };
  const std::size_t few = bytes_after(1);
  const std::size_t many = bytes_after(17);
  EXPECT_LE(many - few, std::size_t{16} * 64 * 40) << "a number for each, no counts";
  EXPECT_EQ(why("z1-0"), kRepelling);
  EXPECT_EQ(why("z1-1"), "");
  for (int i = 0; i < 17; ++i) {
    EXPECT_EQ(why("z1-0"), kRepelling) << "as long as one of them is there";
    cluster_.remove_pod(PodSample{.name = fmt::format("p{}", i)}.make()->meta().uid);
    standing_->catch_up();
  }
  EXPECT_EQ(why("z1-0"), "");
}

TEST_F(AffinityTest, ALabelThatNoNodeHasCountsFromWhenOneHasIt) {
  run("bare", {}, required("podAntiAffinity", term("rack", "web")));
  run("bare", {}, preferred("podAffinity", 5, term("shelf", "web")));
  ask(preferred("podAffinity", 5, term("box", "web")), {{"app", "web"}});
  EXPECT_EQ(why("bare"), "");
  cluster_.set_node(NodeSample{.name = "bare", .labels = {{"rack", "r1"}}}.make());
  standing_->catch_up();
  EXPECT_EQ(why("bare"), kRepelling);
  cluster_.set_node(NodeSample{.name = "bare", .labels = {{"shelf", "s1"}}}.make());
  standing_->catch_up();
  EXPECT_EQ(why("bare"), "");
  EXPECT_EQ(scores({"bare", "z1-0"}), (std::vector<std::int64_t>{100, 0}));
  run("bare", {{"app", "web"}});
  cluster_.set_node(NodeSample{.name = "bare", .labels = {{"box", "b1"}}}.make());
  standing_->catch_up();
  EXPECT_EQ(scores({"bare", "z1-0"}), (std::vector<std::int64_t>{100, 0}));
}

// --- hints ---

ClusterEvent pod_event(Action action, const api::ObjectPtr& before, const api::ObjectPtr& after) {
  return {Resource::AssignedPod, action, before, after};
}

TEST(InterPodAffinityHints, WakeOnPodsThatChangeTheAnswer) {
  const InterPodAffinity plugin;
  const auto pod = [](const std::string& spec, const Labels& labels) {
    return PodSample{.name = "p", .spec = spec, .labels = labels}.make();
  };
  const auto on_node = [](const std::string& spec, const Labels& labels) {
    return PodSample{.name = "q", .node_name = "n", .spec = spec, .labels = labels}.make();
  };
  const auto wants = pod(required("podAffinity", term("zone", "db")), {});
  const auto repels = pod(required("podAntiAffinity", term("zone", "db")), {{"app", "web"}});
  const auto db = on_node("", {{"app", "db"}});
  const auto other = on_node("", {{"app", "other"}});
  EXPECT_TRUE(plugin.could_help(*wants, pod_event(Action::Add, nullptr, db)));
  EXPECT_FALSE(plugin.could_help(*wants, pod_event(Action::Add, nullptr, other)));
  EXPECT_TRUE(plugin.could_help(*wants, pod_event(Action::UpdatePodLabel, other, db)));
  EXPECT_FALSE(plugin.could_help(*repels, pod_event(Action::Add, nullptr, db)));
  EXPECT_TRUE(plugin.could_help(*repels, pod_event(Action::Delete, db, nullptr)));
  EXPECT_FALSE(plugin.could_help(*repels, pod_event(Action::Delete, other, nullptr)));
  EXPECT_TRUE(plugin.could_help(*repels, pod_event(Action::UpdatePodLabel, db, other)));
  EXPECT_FALSE(plugin.could_help(*repels, pod_event(Action::UpdatePodLabel, other, db)));
  const auto guard = on_node(required("podAntiAffinity", term("zone", "web")), {});
  EXPECT_TRUE(plugin.could_help(*repels, pod_event(Action::Delete, guard, nullptr)));
  EXPECT_FALSE(plugin.could_help(*wants, pod_event(Action::Delete, guard, nullptr)));
  const auto node = NodeSample{.name = "n"}.make();
  EXPECT_TRUE(plugin.could_help(*wants, {Resource::Node, Action::Add, nullptr, node}));
  EXPECT_TRUE(plugin.could_help(*wants, {Resource::Node, Action::UpdateNodeLabel, node, node}));
  EXPECT_TRUE(plugin.could_help(*wants, {Resource::Namespace, Action::Add, nullptr, nullptr}));
  const auto unplaced = pod("", {{"app", "db"}});
  EXPECT_FALSE(plugin.could_help(*wants, pod_event(Action::Add, nullptr, unplaced)));
}

// Once nobody is left that it wants, a pod that wants its like goes anywhere.
TEST(InterPodAffinityHints, WakeAPodThatWantsItsLikeWhenTheLastOfThemGoes) {
  const InterPodAffinity plugin;
  const Labels db{{"app", "db"}};
  const auto waits =
      PodSample{.name = "p", .spec = required("podAffinity", term("zone", "db")), .labels = db}
          .make();
  const auto runs = PodSample{.name = "q", .node_name = "n", .labels = db}.make();
  const auto other = PodSample{.name = "q", .node_name = "n", .labels = {{"app", "web"}}}.make();
  const auto expected = PodSample{.name = "q", .nominated_node = "n", .labels = db}.make();
  const auto unplaced = PodSample{.name = "q", .labels = db}.make();
  EXPECT_TRUE(plugin.could_help(*waits, pod_event(Action::Delete, runs, nullptr)));
  EXPECT_TRUE(plugin.could_help(*waits, pod_event(Action::Delete, expected, nullptr)));
  EXPECT_FALSE(plugin.could_help(*waits, pod_event(Action::Delete, unplaced, nullptr)));
  EXPECT_TRUE(plugin.could_help(*waits, pod_event(Action::UpdatePodLabel, runs, other)));
  EXPECT_FALSE(plugin.could_help(*waits, pod_event(Action::UpdatePodLabel, runs, runs)));
}

TEST(InterPodAffinityHints, WakeWhenOneOfTwoTermsNoLongerRepels) {
  const InterPodAffinity plugin;
  const auto waits =
      PodSample{
          .name = "p",
          .spec = required(
              "podAntiAffinity",
              term("zone", "db") +
                  R"(,{"topologyKey":"host","labelSelector":{"matchLabels":{"tier":"back"}}})")}
          .make();
  const auto with = [](const Labels& labels) {
    return PodSample{.name = "q", .node_name = "n", .labels = labels}.make();
  };
  const auto both = with({{"app", "db"}, {"tier", "back"}});
  const auto second = with({{"tier", "back"}});
  EXPECT_TRUE(plugin.could_help(*waits, pod_event(Action::UpdatePodLabel, both, second)));
  EXPECT_FALSE(plugin.could_help(*waits, pod_event(Action::UpdatePodLabel, second, both)));
}

}  // namespace
}  // namespace muster::scheduler
