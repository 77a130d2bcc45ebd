// The classes that pods on nodes are counted under, while questions about them come and go.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cache/cluster.h"
#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

api::ObjectPtr asks_about(const std::string& selector) {
  return PodSample{.name = "asks",
                   .spec = R"("affinity":{"podAntiAffinity":{)"
                           R"("requiredDuringSchedulingIgnoredDuringExecution":[)"
                           R"({"topologyKey":"zone","labelSelector":)" +
                           selector + "}]}}"}
      .make();
}
std::string is_app(const std::string& app) { return R"({"matchLabels":{"app":")" + app + R"("}})"; }

class RunningClasses : public ::testing::Test {
 protected:
  RunningClasses() {
    for (const char* node : {"n1", "n2", "n3"}) cluster_.set_node(NodeSample{.name = node}.make());
    cluster_.follow_pods();
  }
  void run(const std::string& name, const std::string& app, const std::string& node) {
    cluster_.set_pod(
        PodSample{.name = name, .cpu = "1", .node_name = node, .labels = {{"app", app}}}.make());
  }
  std::set<ClassId> classes() const {
    std::set<ClassId> found;
    cluster_.for_each_running(
        [&](const PodClass& pods, NodeId, std::uint32_t) { found.insert(pods.id); });
    return found;
  }
  std::uint32_t matched_by(TermId term) const {
    std::uint32_t matched = 0;
    cluster_.for_each_running([&](const PodClass& pods, NodeId, std::uint32_t count) {
      if (pods.is_matched_by(term)) matched += count;
    });
    return matched;
  }
  // The term of a class that stays.
  TermId ask(const std::string& selector) {
    const PodClass& pods = cluster_.class_of(asks_about(selector));
    cluster_.retain_class(pods.id);
    return pods.terms.front();
  }
  std::uint64_t moves_by(auto&& change) const {
    const std::uint64_t before = cluster_.split_log().end();
    change();
    return cluster_.split_log().end() - before;
  }

  Cluster cluster_;
};

TEST_F(RunningClasses, AreTheSameOnEveryNode) {
  run("a", "web", "n1");
  run("b", "web", "n2");
  run("c", "db", "n2");
  EXPECT_EQ(classes().size(), 1u);
  // The pod that is asked about is another matter.
  const auto asked = [&](const char* node) {
    return cluster_.class_of(PodSample{.name = "p", .cpu = "1", .node_name = node}.make()).id;
  };
  EXPECT_NE(asked("n1"), asked("n2"));
  EXPECT_FALSE(classes().contains(asked("")));
}

// The watch confirms what was assumed: passes that count pods are not notified.
TEST_F(RunningClasses, AConfirmedPodStaysWhatItIs) {
  const PodSample pod{.name = "p", .cpu = "1", .labels = {{"app", "web"}}};
  cluster_.assume(pod.make(), "n1");
  const std::uint64_t before = cluster_.pod_log().end();
  PodSample bound = pod;
  bound.node_name = "n1";
  cluster_.set_pod(bound.make());
  EXPECT_FALSE(cluster_.is_assumed("default-p"));
  EXPECT_EQ(cluster_.pod_log().end(), before);
}

// An image that the node reports later changes nothing about pods that run.
TEST_F(RunningClasses, KnowNothingOfImages) {
  run("a", "web", "n1");
  cluster_.set_node(
      NodeSample{.name = "n1", .status = R"("images":[{"names":["app:latest"],"sizeBytes":5}])"}
          .make());
  run("b", "web", "n1");
  EXPECT_EQ(classes().size(), 1u);
}

TEST_F(RunningClasses, AQuestionThatAllPodsOfAClassMatchMovesNobody) {
  for (int i = 0; i < 6; ++i) run(fmt::format("web-{}", i), "web", "n1");
  const std::set<ClassId> before = classes();
  TermId term{};
  EXPECT_EQ(moves_by([&] { term = ask(is_app("web")); }), 0u);
  EXPECT_EQ(matched_by(term), 6u);
  EXPECT_EQ(classes(), before);
  // Who comes later is of that class, too; who does not match is not.
  run("late", "web", "n2");
  EXPECT_EQ(classes(), before);
  run("db", "db", "n2");
  EXPECT_EQ(classes().size(), 2u);
  EXPECT_EQ(matched_by(term), 7u);
}

TEST_F(RunningClasses, TheSmallerPartOfAClassMoves) {
  for (int i = 0; i < 7; ++i) run(fmt::format("web-{}", i), "web", "n1");
  for (int i = 0; i < 3; ++i) run(fmt::format("db-{}", i), "db", "n2");
  TermId web{};
  EXPECT_EQ(moves_by([&] { web = ask(is_app("web")); }), 3u) << "those that do not match";
  EXPECT_EQ(matched_by(web), 7u);
  EXPECT_EQ(classes().size(), 2u);
  TermId db{};
  EXPECT_EQ(moves_by([&] { db = ask(is_app("db")); }), 0u) << "they are alone by now";
  EXPECT_EQ(matched_by(db), 3u);
  TermId any{};
  EXPECT_EQ(
      moves_by([&] { any = ask(R"({"matchExpressions":[{"key":"app","operator":"Exists"}]})"); }),
      0u);
  EXPECT_EQ(matched_by(any), 10u);
}

TEST_F(RunningClasses, AQuestionAboutWhatNobodyHasLooksAtNoPod) {
  for (int i = 0; i < 100; ++i) run(fmt::format("p-{}", i), i < 30 ? "web" : "db", "n1");
  ask(is_app("web"));  // by then pods are found by labels
  const std::uint64_t before = cluster_.looks().pods;
  TermId term{};
  EXPECT_EQ(moves_by([&] {
              term = ask(R"({"matchExpressions":[{"key":"gone","operator":"DoesNotExist"}]})");
            }),
            0u);
  EXPECT_EQ(cluster_.looks().pods, before);
  EXPECT_EQ(matched_by(term), 100u);
  run("late", "web", "n2");
  EXPECT_EQ(matched_by(term), 101u);
}

// Others run in the same class, of another namespace: pods have to be told apart after all.
TEST_F(RunningClasses, AQuestionAboutAWholeNamespaceSplitsClassesThatReachBeyondIt) {
  for (int i = 0; i < 5; ++i) run(fmt::format("p-{}", i), "web", "n1");
  for (int i = 0; i < 2; ++i)
    cluster_.set_pod(PodSample{.name = fmt::format("other-{}", i),
                               .cpu = "1",
                               .node_name = "n2",
                               .name_space = "other",
                               .labels = {{"app", "web"}}}
                         .make());
  ASSERT_EQ(classes().size(), 1u);
  TermId term{};
  EXPECT_EQ(moves_by([&] {
              term = ask(R"({"matchExpressions":[{"key":"gone","operator":"DoesNotExist"}]})");
            }),
            2u);
  EXPECT_EQ(matched_by(term), 5u);
}

api::ObjectPtr asks_often(int times, const std::string& node = "") {
  std::string terms;
  for (int i = 0; i < times; ++i)
    terms +=
        fmt::format(R"({}{{"weight":1,"podAffinityTerm":{{"topologyKey":"zone","labelSelector":)"
                    R"({{"matchExpressions":[{{"key":"k{}","operator":"DoesNotExist"}}]}}}}}})",
                    i == 0 ? "" : ",", i);
  return PodSample{.name = "asks" + node,
                   .node_name = node,
                   .spec = R"("affinity":{"podAntiAffinity":{)"
                           R"("preferredDuringSchedulingIgnoredDuringExecution":[)" +
                           terms + "]}}"}
      .make();
}

TEST_F(RunningClasses, APodThatAsksTooMuchIsRefusedAndNobodyElsePays) {
  run("a", "web", "n1");
  constexpr int kMax = static_cast<int>(kTermsMax);
  const PodClass& asks = cluster_.class_of(asks_often(kMax));
  EXPECT_EQ(asks.terms.size(), kTermsMax);
  EXPECT_TRUE(asks.refusal.empty());
  cluster_.retain_class(asks.id);
  cluster_.release_class(asks.id);

  const Cluster::Looks before = cluster_.looks();
  const PodClass& refused = cluster_.class_of(asks_often(kMax + 1));
  EXPECT_EQ(refused.refusal,
            "the pod has 65 terms of pod affinity and topology spread constraints, at most 64 are "
            "judged");
  EXPECT_TRUE(refused.terms.empty());
  EXPECT_TRUE(refused.labels.empty());
  EXPECT_TRUE(refused.needs->pod_terms.empty());
  EXPECT_EQ(cluster_.class_of(asks_often(kMax + 1)).id, refused.id);
  // Somebody put one on a node.
  cluster_.set_pod(asks_often(2900, "n2"));
  const PodClass& runs = cluster_.followed_class("default-asksn2");
  EXPECT_TRUE(runs.refusal.empty());
  EXPECT_TRUE(runs.terms.empty());
  EXPECT_TRUE(runs.needs->pod_terms.empty());
  run("b", "web", "n1");
  EXPECT_TRUE(cluster_.followed_class("default-b").matches.empty());
  EXPECT_EQ(cluster_.looks().pods, before.pods);
  EXPECT_EQ(cluster_.looks().terms, before.terms);
  cluster_.remove_pod("default-asksn2");
}

// Somebody invents one selector after the other, each about all pods.
TEST_F(RunningClasses, QuestionsThatNobodyAsksAnyMoreAreForgotten) {
  for (int i = 0; i < 10; ++i) run(fmt::format("p-{}", i), "web", "n1");
  const TermId stays = ask(is_app("web"));
  for (int i = 0; i < 1000; ++i) {
    const ClassId id =
        cluster_
            .class_of(asks_about(fmt::format(
                R"({{"matchExpressions":[{{"key":"app","operator":"NotIn","values":["x{}"]}}]}})",
                i)))
            .id;
    cluster_.retain_class(id);
    cluster_.release_class(id);
  }
  ASSERT_EQ(classes().size(), 1u);
  EXPECT_LE(cluster_.pod_class(*classes().begin()).matches.size(), 16u);
  EXPECT_EQ(matched_by(stays), 10u);
}

// Pods come, change, end and are assumed, namespaces change their labels, and classes ask and are
// released. Each asking class counts the way a standing does: all that runs when it is made, and
// what the log says from then on.
class CountingHistory {
 public:
  // With limits not all pods are counted that match.
  explicit CountingHistory(std::uint32_t seed, std::optional<TermLimits> limits = std::nullopt)
      : random_(seed), has_limits_(limits.has_value()) {
    if (limits) cluster_.set_term_limits(*limits);
    for (int i = 0; i < 3; ++i) cluster_.set_node(NodeSample{.name = fmt::format("n{}", i)}.make());
    if (pick(2) == 0) cluster_.follow_pods();
  }

  void step() {
    switch (pick(8)) {
      case 0:
      case 1:
      case 2: return change_pod();
      case 3: {
        const std::string name = one_of("p", 12);
        cluster_.remove_pod("default-" + name);
        pods_.erase(name);
        return;
      }
      case 4: {
        const api::ObjectPtr changed = namespace_of("default", {{"team", one_of("t", 3)}});
        namespace_ = changed->meta().labels;
        cluster_.set_namespace(*changed);
        return;
      }
      case 5:
        if (asking_.empty()) return;
        cluster_.release_class(asking_.front().pods);
        asking_.erase(asking_.begin());
        return;
      default: return ask();
    }
  }

  void check() {
    for (Asking& asking : asking_) {
      read_log(asking);
      ASSERT_EQ(asking.counts, counted_from(asking.terms));
      const PodClass& pods = cluster_.pod_class(asking.pods);
      ASSERT_EQ(pods.terms, asking.terms);
      if (has_limits_) continue;
      for (std::size_t t = 0; t < asking.terms.size(); ++t)
        for (std::size_t n = 0; n < 3; ++n) {
          const std::string node = fmt::format("n{}", n);
          ASSERT_EQ(asking.counts[t][n], naive_count(*cluster_.find_term(asking.terms[t]), node));
        }
    }
    std::map<ClassId, std::uint32_t> running;
    if (asking_.empty()) return;
    cluster_.for_each_running([&](const PodClass& pods, NodeId, std::uint32_t count) {
      running[pods.id] += count;
      ASSERT_TRUE(pods.is_counted);
      ASSERT_TRUE(std::ranges::is_sorted(pods.matches));
    });
    for (const auto& [id, count] : running) ASSERT_EQ(cluster_.pod_class(id).running, count);
  }

 private:
  using Counts = std::vector<std::vector<std::int64_t>>;  // by term and node
  struct Asking {
    ClassId pods;
    std::vector<TermId> terms;
    Counts counts;
    std::uint64_t seen;
  };

  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  std::string one_of(const char* prefix, std::uint32_t count) {
    return fmt::format("{}{}", prefix, pick(count));
  }

  void change_pod() {
    PodSample pod{.name = one_of("p", 12), .cpu = pick(2) == 0 ? "1" : "2"};
    pod.terminating = pick(6) == 0;
    for (std::uint32_t i = pick(3); i > 0; --i) pod.labels[one_of("k", 3)] = one_of("v", 2);
    if (pick(6) == 0) pod.spec = random_terms();
    const std::string node = one_of("n", 3);
    if (pick(3) == 0 && !pods_.contains(pod.name)) {
      pods_[pod.name] = {pod.make(), node};
      cluster_.assume(pods_[pod.name].first, node);
      return;
    }
    pod.node_name = node;
    pods_[pod.name] = {pod.make(), node};
    cluster_.set_pod(pods_[pod.name].first);
  }

  std::string random_selector() {
    const char* const op = pick(2) == 0 ? "In" : "NotIn";
    return fmt::format(
        R"({{"matchExpressions":[{{"key":"k{}","operator":"{}","values":["v{}"]}}]}})", pick(3), op,
        pick(2));
  }
  std::string random_terms() {
    std::string term = R"({"topologyKey":"zone","labelSelector":)" + random_selector();
    if (pick(3) == 0)
      term += fmt::format(R"(,"namespaceSelector":{{"matchLabels":{{"team":"t{}"}}}})", pick(3));
    std::string spec =
        R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)" +
        term + "}]}}";
    if (pick(2) == 0)
      spec +=
          R"(,"topologySpreadConstraints":[{"topologyKey":"zone","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule","labelSelector":)" +
          random_selector() + "}]";
    return spec;
  }

  void ask() {
    if (asking_.size() > 5) return;
    const PodClass& pods =
        cluster_.class_of(PodSample{.name = "asks", .spec = random_terms()}.make());
    cluster_.retain_class(pods.id);
    cluster_.follow_pods();
    asking_.push_back({.pods = pods.id,
                       .terms = pods.terms,
                       .counts = counted_from(pods.terms),
                       .seen = cluster_.pod_log().end()});
  }

  Counts counted_from(const std::vector<TermId>& terms) const {
    Counts counts(terms.size(), std::vector<std::int64_t>(3, 0));
    cluster_.for_each_running([&](const PodClass& pods, NodeId node, std::uint32_t count) {
      for (std::size_t t = 0; t < terms.size(); ++t)
        if (pods.is_matched_by(terms[t])) counts[t][index_of(node)] += count;
    });
    return counts;
  }

  void read_log(Asking& asking) const {
    const PodLog& log = cluster_.pod_log();
    ASSERT_TRUE(log.reaches(asking.seen));
    for (; asking.seen < log.end(); ++asking.seen) {
      const PodLog::Entry& entry = log.at(asking.seen);
      for (std::size_t t = 0; t < asking.terms.size(); ++t)
        if (cluster_.pod_class(entry.pods).is_matched_by(asking.terms[t]))
          asking.counts[t][index_of(entry.node)] += entry.came ? 1 : -1;
    }
  }

  std::int64_t naive_count(const Term& term, const std::string& node) const {
    std::int64_t count = 0;
    for (const auto& [name, pod] : pods_) {
      const api::ObjectMeta& meta = pod.first->meta();
      const bool is_spread = term.role == Term::Role::Counts;
      const bool is_about =
          term.namespace_selector ? term.namespace_selector->matches(namespace_) : true;
      count += pod.second == node && is_about && term.selector.matches(meta.labels) &&
                       !(is_spread && meta.deletion_time)
                   ? 1
                   : 0;
    }
    return count;
  }

  std::mt19937 random_;
  bool has_limits_;
  Cluster cluster_;
  api::StringPairs namespace_;
  std::map<std::string, std::pair<api::ObjectPtr, std::string>> pods_;
  std::vector<Asking> asking_;
};

TEST(RunningClassesProperty, CountsAreWhatANaiveReaderSaysAfterAnyHistory) {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CountingHistory history(seed);
    for (int step = 0; step < 200; ++step) {
      history.step();
      history.check();
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

// Who counts by the log counts what is there, also if pods are left out and counted again.
TEST(RunningClassesProperty, CountsFollowPodsThatAreLeftOut) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    CountingHistory history(seed, TermLimits{.foreign_terms = 2, .matches = 8 + seed % 12});
    for (int step = 0; step < 200; ++step) {
      history.step();
      history.check();
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace muster::scheduler
