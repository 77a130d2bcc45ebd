// What is judged of all that the pods of a namespace ask about others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

std::string term_of(const std::string& selector, const std::string& more = "") {
  return R"({"topologyKey":"zone","labelSelector":)" + selector + more + "}";
}
std::string repels(const std::string& terms) {
  return R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)" +
         terms + "]}}";
}
std::string is_app(const std::string& app) { return R"({"matchLabels":{"app":")" + app + R"("}})"; }
// All pods have it not.
std::string has_no(const std::string& label) {
  return R"({"matchExpressions":[{"key":")" + label + R"(","operator":"DoesNotExist"}]})";
}
std::string broad_term(int number) { return term_of(has_no(fmt::format("k{}", number))); }

// Of pods that ask about any namespace.
std::string foreign_terms(int from, int count) {
  std::string terms;
  for (int i = from; i < from + count; ++i)
    terms += (terms.empty() ? "" : ",") +
             term_of(is_app(fmt::format("a{}", i)), R"(,"namespaceSelector":{})");
  return repels(terms);
}

constexpr const char* kForeign =
    "pods of namespace default have too many different terms of pod affinity about pods of other "
    "namespaces, at most 4 are judged";
constexpr const char* kMatches =
    "terms of pod affinity and topology spread constraints in namespace default match too many "
    "kinds of its pods, at most 20 matches are judged";

class TermBounds : public ::testing::Test {
 protected:
  TermBounds() {
    for (const char* node : {"n1", "n2"}) cluster_.set_node(NodeSample{.name = node}.make());
    cluster_.set_term_limits({.foreign_terms = 4, .matches = 20});
    cluster_.follow_pods();
  }
  const PodClass& waits(const std::string& spec, const std::string& name_space = "default") {
    return cluster_.class_of(
        PodSample{.name = "waits", .spec = spec, .name_space = name_space}.make());
  }
  ClassId keep(const PodClass& pods) {
    cluster_.retain_class(pods.id);
    return pods.id;
  }
  // Each with a class of its own.
  void run(int number, const std::string& spec = "") {
    cluster_.set_pod(PodSample{.name = fmt::format("p{}", number),
                               .cpu = fmt::format("{}m", number + 1),
                               .node_name = "n1",
                               .spec = spec,
                               .labels = {{"app", fmt::format("p{}", number)}}}
                         .make());
  }
  const PodClass& running(int number) const {
    return cluster_.followed_class(fmt::format("default-p{}", number));
  }
  std::size_t matches() const { return cluster_.term_charge("default").matches; }

  Cluster cluster_;
};

TEST_F(TermBounds, TooManyTermsAboutOtherNamespacesAreRefusedUntilSomeAreGone) {
  const ClassId first = keep(waits(foreign_terms(0, 3)));
  EXPECT_EQ(waits(foreign_terms(3, 2)).refusal, kForeign);
  EXPECT_TRUE(waits(foreign_terms(3, 2)).terms.empty());
  EXPECT_EQ(cluster_.term_charge("default").foreign_terms, 3u) << "nothing of it is kept";
  EXPECT_TRUE(waits(foreign_terms(0, 3)).refusal.empty()) << "they are asked already";
  const ClassId last = keep(waits(foreign_terms(3, 1)));
  EXPECT_TRUE(cluster_.pod_class(last).refusal.empty());
  EXPECT_EQ(waits(foreign_terms(4, 1)).refusal, kForeign);
  EXPECT_TRUE(waits(foreign_terms(4, 4), "other").refusal.empty()) << "others have their own";

  cluster_.release_class(first);
  EXPECT_EQ(cluster_.term_charge("default").foreign_terms, 1u);
  EXPECT_TRUE(waits(foreign_terms(8, 3)).refusal.empty());
}

TEST_F(TermBounds, NamesOfOtherNamespacesCountLikeSelectors) {
  const auto about = [](int number, const char* names) {
    return repels(
        term_of(is_app(fmt::format("a{}", number)), fmt::format(R"(,"namespaces":[{}])", names)));
  };
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(cluster_.pod_class(keep(waits(about(i, R"("default")")))).refusal.empty());
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(cluster_.pod_class(keep(waits(about(i, R"("default","other")")))).refusal.empty());
  EXPECT_EQ(waits(about(4, R"("default","other")")).refusal, kForeign);
  EXPECT_EQ(waits(about(4, R"("other")")).refusal, kForeign);
}

// The one who is asked about pays nothing, and who asks first is charged.
TEST_F(TermBounds, WhatOthersAskIsChargedToThem) {
  run(0);
  const std::string about_default = repels(term_of(has_no("x"), R"(,"namespaces":["default"])"));
  const ClassId other = keep(waits(about_default, "other"));
  EXPECT_EQ(running(0).matches.size(), 1u);
  EXPECT_EQ(matches(), 0u);
  EXPECT_EQ(cluster_.term_charge("other").foreign_terms, 1u);
  const ClassId own = keep(waits(about_default));
  EXPECT_EQ(cluster_.term_charge("default").own_terms, 0u);
  cluster_.release_class(other);
  EXPECT_EQ(cluster_.term_charge("other").foreign_terms, 1u) << "it is still asked";
  cluster_.release_class(own);
  EXPECT_EQ(cluster_.term_charge("other").foreign_terms, 0u);
}

TEST_F(TermBounds, APodThatRunsBeyondTheBoundAsksNothing) {
  keep(waits(foreign_terms(0, 4)));
  run(0);
  cluster_.set_pod(
      PodSample{.name = "runs", .node_name = "n1", .spec = foreign_terms(4, 1)}.make());
  const PodClass& runs = cluster_.followed_class("default-runs");
  EXPECT_TRUE(runs.terms.empty());
  EXPECT_TRUE(runs.needs->pod_terms.empty());
  EXPECT_TRUE(runs.refusal.empty());
  EXPECT_FALSE(runs.is_left_out);
  const ClassId about_all = keep(waits(repels(term_of(has_no("x")))));
  EXPECT_TRUE(runs.is_matched_by(cluster_.pod_class(about_all).terms.front())) << "it is counted";
}

TEST_F(TermBounds, ANewTermThatMayMatchTooManyKindsOfPodsIsRefusedUntilOthersAreGone) {
  for (int i = 0; i < 6; ++i) run(i);
  std::vector<ClassId> kept;
  kept.push_back(keep(waits(repels(broad_term(0)))));
  kept.push_back(keep(waits(repels(broad_term(1)))));
  EXPECT_EQ(matches(), 6u + 1 + 6 + 2);
  const std::uint64_t epoch = cluster_.term_epoch();
  const PodClass& refused = waits(repels(broad_term(2)));
  EXPECT_EQ(refused.refusal, kMatches);
  EXPECT_TRUE(refused.terms.empty());
  EXPECT_TRUE(refused.needs->pod_terms.empty());
  EXPECT_EQ(cluster_.term_epoch(), epoch) << "nobody has to look again";
  EXPECT_EQ(waits(repels(broad_term(2))).id, refused.id);
  EXPECT_TRUE(waits(repels(broad_term(2)), "other").refusal.empty());

  // Lists of pods that run still hold what nobody asks any more. That is no reason.
  for (const ClassId id : kept) cluster_.release_class(id);
  EXPECT_TRUE(cluster_.pod_class(keep(waits(repels(broad_term(2))))).refusal.empty());
  EXPECT_EQ(running(0).matches.size(), 1u);
}

TEST_F(TermBounds, ANewClassThatMatchesTooMuchIsLeftOut) {
  const std::string both = repels(broad_term(0) + "," + broad_term(1));
  const ClassId asks = keep(waits(both));
  const TermId term = cluster_.pod_class(asks).terms.front();
  for (int i = 0; i < 9; ++i) run(i);
  EXPECT_EQ(matches(), 20u);
  EXPECT_TRUE(running(8).is_matched_by(term));
  EXPECT_FALSE(running(8).is_left_out);
  run(9);
  EXPECT_TRUE(running(9).is_left_out);
  EXPECT_TRUE(running(9).matches.empty());
  EXPECT_EQ(cluster_.counted_class_of(PodSample{.name = "p9", .cpu = "10m"}.make()).id,
            running(9).id);
  // A pod that waits is refused, though it asks nothing itself.
  const auto waiting = PodSample{.name = "w", .cpu = "77m"}.make();
  EXPECT_EQ(cluster_.class_of(waiting).refusal, kMatches);
  EXPECT_TRUE(cluster_.class_of(PodSample{.name = "w", .cpu = "77m", .name_space = "other"}.make())
                  .refusal.empty());

  cluster_.remove_pod("default-p0");
  run(9);
  EXPECT_TRUE(running(9).is_left_out) << "the log holds the class of the pod that left";
  cluster_.release_class(asks);
  run(9);
  EXPECT_FALSE(running(9).is_left_out);
  EXPECT_TRUE(cluster_.class_of(waiting).refusal.empty());
}

// Both parts of a class match what all of it did, so that lists grow by more than the new matches.
TEST_F(TermBounds, WhoMovesToAClassThatThereIsNoRoomForIsLeftOut) {
  const auto run_app = [&](int number, const char* cpu, const char* app) {
    cluster_.set_pod(PodSample{
        .name = fmt::format("p{}", number), .cpu = cpu, .node_name = "n1", .labels = {{"app", app}}}
                         .make());
  };
  for (int i = 0; i < 6; ++i) run_app(i, "1", i < 4 ? "web" : "db");
  for (int i = 6; i < 12; ++i) run_app(i, "2", i < 10 ? "web" : "db");
  std::string terms = broad_term(0);
  for (int i = 1; i < 4; ++i) terms += "," + broad_term(i);
  keep(waits(repels(terms)));
  ASSERT_EQ(matches(), 12u);
  const std::uint64_t logged = cluster_.pod_log().end();
  const std::uint64_t epoch = cluster_.term_epoch();
  EXPECT_EQ(waits(repels(term_of(is_app("web")))).refusal, kMatches);
  EXPECT_EQ(cluster_.term_epoch(), epoch + 1);
  EXPECT_EQ(running(4).matches.size(), 4u) << "the first class is split";
  EXPECT_FALSE(running(6).is_left_out);
  EXPECT_TRUE(running(10).is_left_out) << "of the second the smaller part goes";
  EXPECT_EQ(running(11).id, running(10).id);
  EXPECT_EQ(cluster_.pod_log().end(), logged + 4) << "two leave and come back as others";
  EXPECT_LE(matches(), 20u);
  // The next time it is known.
  EXPECT_EQ(waits(repels(term_of(is_app("web")))).refusal, kMatches);
  EXPECT_EQ(cluster_.term_epoch(), epoch + 1);

  // Nothing that is asked about them later changes them, until they come again.
  cluster_.set_term_limits({.foreign_terms = 4, .matches = 100});
  keep(waits(repels(term_of(is_app("db")))));
  keep(waits(repels(broad_term(9))));
  EXPECT_TRUE(running(11).matches.empty());
  run_app(11, "2", "db");
  EXPECT_EQ(running(11).matches.size(), 6u) << "all broad ones, and the one about its kind";
  EXPECT_TRUE(running(10).is_left_out);
}

TEST_F(TermBounds, ThousandsOfDeploymentsThatAskAboutThemselvesAreAccepted) {
  constexpr int kCount = 2000;
  cluster_.set_term_limits({});
  for (int i = 0; i < kCount; ++i) {
    const std::string app = is_app(fmt::format("d{}", i));
    PodSample pod{.name = fmt::format("d{}", i),
                  .spec = repels(term_of(app)) +
                          R"(,"topologySpreadConstraints":[{"topologyKey":"zone","maxSkew":1,)"
                          R"("whenUnsatisfiable":"DoNotSchedule","labelSelector":)" +
                          app + "}]",
                  .labels = {{"app", fmt::format("d{}", i)}}};
    const PodClass& waiting = cluster_.class_of(pod.make());
    ASSERT_EQ(waiting.refusal, "");
    ASSERT_EQ(waiting.terms.size(), 2u);
    ASSERT_EQ(waiting.matches.size(), 2u);
    keep(waiting);
    pod.node_name = "n2";
    cluster_.set_pod(pod.make());
    ASSERT_EQ(cluster_.followed_class("default-" + pod.name).matches.size(), 2u);
  }
  EXPECT_EQ(cluster_.term_charge("default").own_terms, 2u * kCount);
  EXPECT_EQ(matches(), 4u * kCount);
}

// Holds classes to save work, like the standings of classes seen lately.
struct Saves final : Cluster::Derived {
  explicit Saves(Cluster& cluster) : cluster_(cluster) {}
  void release_idle() override {
    std::erase_if(held, [&](ClassId id) {
      const bool goes = cluster_.wants_back(cluster_.pod_class(id));
      if (goes) cluster_.release_class(id);
      return goes;
    });
  }
  std::vector<ClassId> held;

 private:
  Cluster& cluster_;
};

TEST_F(TermBounds, ClassesThatOnlySaveWorkKeepNobodyOutForLong) {
  auto saves = std::make_unique<Saves>(cluster_);
  Saves& cache = *saves;
  static const int kKey = 0;
  cluster_.derived(&kKey) = std::move(saves);
  cache.held.push_back(keep(waits(foreign_terms(0, 4))));
  cache.held.push_back(keep(waits(foreign_terms(20, 4), "other")));
  run(0);
  EXPECT_EQ(cache.held.size(), 2u) << "nobody was refused";
  EXPECT_EQ(waits(foreign_terms(4, 1)).refusal, kForeign);
  run(1);
  EXPECT_EQ(cache.held.size(), 1u) << "that of the other namespace stays";
  EXPECT_TRUE(waits(foreign_terms(4, 1)).refusal.empty());

  // Who is refused again and again does not make everybody count again each time.
  cache.held.push_back(keep(waits(foreign_terms(5, 3))));
  EXPECT_EQ(waits(foreign_terms(9, 2)).refusal, kForeign);
  run(2);
  EXPECT_EQ(cache.held.size(), 2u);
}

TEST_F(TermBounds, ACopyHasTheSameLimitsAndCountsItsOwnClasses) {
  keep(waits(foreign_terms(0, 4)));
  Cluster copy = cluster_.fork();
  EXPECT_EQ(copy.term_charge("default").foreign_terms, 0u);
  const auto pod = PodSample{.name = "p", .spec = foreign_terms(4, 5)}.make();
  EXPECT_EQ(copy.class_of(pod).refusal, kForeign);
}

// What is charged is what stands in lists, after any history; and all of it goes.
TEST(TermBoundsProperty, ChargesAreWhatClassesHold) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::uint32_t count) {
      return static_cast<std::uint32_t>(random() % count);
    };
    Cluster cluster;
    cluster.set_node(NodeSample{.name = "n"}.make());
    const TermLimits limits{.foreign_terms = 6, .matches = 30};
    cluster.set_term_limits(limits);
    std::vector<ClassId> asking;
    for (int step = 0; step < 300; ++step) {
      PodSample pod{.name = fmt::format("p{}", pick(14)),
                    .cpu = fmt::format("{}m", 1 + pick(3)),
                    .name_space = pick(3) == 0 ? "other" : "default"};
      for (std::uint32_t i = pick(3); i > 0; --i)
        pod.labels[fmt::format("k{}", pick(3))] = fmt::format("v{}", pick(2));
      if (pick(2) == 0)
        pod.spec = repels(term_of(
            fmt::format(
                R"({{"matchExpressions":[{{"key":"k{}","operator":"NotIn","values":["v{}"]}}]}})",
                pick(3), pick(9)),
            pick(4) == 0 ? R"(,"namespaceSelector":{})" : ""));
      const std::uint32_t what = pick(4);
      if (what == 0) {
        cluster.remove_pod(pod.name_space + "-" + pod.name);
      } else if (what == 1 && !asking.empty()) {
        cluster.release_class(asking.front());
        asking.erase(asking.begin());
      } else if (what == 2) {
        const PodClass& pods = cluster.class_of(pod.make());
        cluster.retain_class(pods.id);
        asking.push_back(pods.id);
      } else {
        pod.node_name = "n";
        cluster.set_pod(pod.make());
      }
      for (const char* name_space : {"default", "other"}) {
        const TermCharge& charge = cluster.term_charge(name_space);
        ASSERT_LE(charge.foreign_terms, limits.foreign_terms) << seed << " " << step;
        ASSERT_LE(charge.matches, limits.matches + 8) << seed << " " << step;
        ASSERT_LE(charge.gone, charge.matches);
      }
    }
  }
}

}  // namespace
}  // namespace muster::scheduler
