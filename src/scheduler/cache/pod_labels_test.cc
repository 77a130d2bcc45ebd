#include "scheduler/cache/pod_labels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"

namespace muster::scheduler {
namespace {

Term term_of(std::vector<std::string> namespaces, std::vector<api::NodeRequirement> tests) {
  Term term;
  term.namespaces = std::move(namespaces);
  term.selector.is_null = false;
  term.selector.tests = std::move(tests);
  return term;
}

api::NodeRequirement test_of(std::string key, api::SelectorOperator op) {
  return {.key = std::move(key), .op = op, .values = {}};
}

api::NodeRequirement is_one_of(std::string key, std::vector<std::string> values) {
  return {.key = std::move(key), .op = api::SelectorOperator::In, .values = std::move(values)};
}

std::vector<std::string> names_of(const PodLabels& labels,
                                  const std::vector<PodLabels::Slot>& slots) {
  std::vector<std::string> names;
  names.reserve(slots.size());
  for (const PodLabels::Slot slot : slots) names.push_back(labels.pod(slot).meta().name);
  std::ranges::sort(names);
  return names;
}

TEST(PodLabels, FindsWhoMatches) {
  PodLabels labels;
  std::vector<api::ObjectPtr> pods;
  for (int i = 0; i < 100; ++i) {
    pods.push_back(PodSample{.name = fmt::format("p{}", i),
                             .labels = {{"app", "web"}, {"index", std::to_string(i)}}}
                       .make());
    labels.add(*pods.back(), ClassId{7});
  }
  const auto found = [&](const Term& term) { return labels.matching(term, {}).size(); };
  const Term web = term_of({"default"}, {is_one_of("app", {"web"})});
  EXPECT_EQ(found(web), 100u);
  EXPECT_EQ(labels.class_of(labels.matching(web, {}).front()), ClassId{7});
  EXPECT_EQ(found(term_of({"default"}, {is_one_of("app", {"web"}), is_one_of("index", {"7"})})),
            1u);
  EXPECT_EQ(found(term_of({"default"}, {is_one_of("app", {"db", "new"})})), 0u);
  EXPECT_EQ(found(term_of({"other"}, {is_one_of("app", {"web"})})), 0u);
  EXPECT_EQ(found(term_of({"default", "default"}, {is_one_of("app", {"web"})})), 100u);
  EXPECT_EQ(found(term_of({"default"}, {test_of("gone", api::SelectorOperator::Exists)})), 0u);
  EXPECT_EQ(found(term_of({"default"}, {test_of("gone", api::SelectorOperator::DoesNotExist)})),
            100u);
  EXPECT_EQ(found(term_of({"default"}, {})), 0u) << "spread by an empty selector counts nobody";
}

TEST(PodLabels, WhoExcludesWhatNobodyHasLooksAtNobody) {
  PodLabels labels;
  std::vector<api::ObjectPtr> pods;
  for (int i = 0; i < 100; ++i) {
    pods.push_back(PodSample{.name = fmt::format("p{}", i), .labels = {{"app", "web"}}}.make());
    labels.add(*pods.back(), ClassId{i < 30 ? 1U : 2U});
  }
  const PodLabels::ClassCounts all = {{ClassId{1}, 30}, {ClassId{2}, 70}};
  Term term = term_of({"default"}, {test_of("gone", api::SelectorOperator::DoesNotExist)});
  EXPECT_EQ(labels.matching_all(term, {}), all);
  term.selector.tests.push_back(is_one_of("app", {"db"}));
  term.selector.tests.back().op = api::SelectorOperator::NotIn;
  EXPECT_EQ(labels.matching_all(term, {}), all);
  EXPECT_EQ(labels.looks(), 0u);
  term.selector.tests.back().values.emplace_back("web");
  EXPECT_EQ(labels.matching_all(term, {}), std::nullopt);
}

// Namespaces, pods and questions of a random history.
class LabelHistory {
 public:
  explicit LabelHistory(std::uint32_t seed) : random_(seed) {
    namespaces_["ns1"] = {{"team", "red"}};
  }
  ~LabelHistory() {
    for (const auto& [name, pod] : pods_) labels_.remove(pod.second);
    EXPECT_EQ(labels_.lists(), 0u);
  }
  LabelHistory(const LabelHistory&) = delete;
  LabelHistory& operator=(const LabelHistory&) = delete;

  void step() {
    const int name = static_cast<int>(pick(30));
    const auto at = pods_.find(name);
    if (at == pods_.end()) {
      const api::ObjectPtr pod = random_pod(name);
      pods_.emplace(name, std::pair(pod, labels_.add(*pod, ClassId{pick(3)})));
    } else if (pick(3) == 0) {
      labels_.set_class(at->second.second, ClassId{pick(3)});
    } else if (pick(2) == 0) {
      labels_.remove(at->second.second);
      pods_.erase(at);
    } else {
      const api::ObjectPtr pod = random_pod(name);
      labels_.replace(at->second.second, *pod);
      at->second.first = pod;
    }
  }

  int answers_without_looks() const { return answers_without_looks_; }

  void check() {
    const Term term = random_term();
    const TermId id = book_.intern(term, "default").id;
    std::vector<std::string> want;
    for (const auto& [number, pod] : pods_)
      if (book_.matches(id, pod.first->meta(), namespaces_)) want.push_back(pod.first->meta().name);
    std::ranges::sort(want);
    const std::vector<PodLabels::Slot> found = labels_.matching(term, namespaces_);
    ASSERT_EQ(names_of(labels_, found), want);
    if (const auto all = labels_.matching_all(term, namespaces_)) {
      PodLabels::ClassCounts counts;
      for (const PodLabels::Slot slot : found) ++counts[labels_.class_of(slot)];
      ASSERT_EQ(*all, counts);
      ++answers_without_looks_;
    }
  }

 private:
  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  std::string one_of(const char* prefix) { return fmt::format("{}{}", prefix, pick(3)); }

  api::ObjectPtr random_pod(int name) {
    PodSample pod{.name = fmt::format("p{}", name), .name_space = one_of("ns")};
    pod.terminating = pick(5) == 0;
    for (std::uint32_t i = pick(3); i > 0; --i) pod.labels[one_of("k")] = one_of("v");
    return pod.make();
  }

  Term random_term() {
    Term term = term_of({one_of("ns")}, {});
    if (pick(2) == 0) term.role = Term::Role::Repels;
    if (pick(3) == 0) {
      term.namespace_selector.emplace();
      term.namespace_selector->is_null = false;
      if (pick(2) == 0) term.namespace_selector->tests.push_back(is_one_of("team", {"red"}));
    }
    for (std::uint32_t i = pick(3); i > 0; --i) {
      constexpr api::SelectorOperator kOperators[] = {
          api::SelectorOperator::In, api::SelectorOperator::NotIn, api::SelectorOperator::Exists,
          api::SelectorOperator::DoesNotExist};
      api::NodeRequirement test = test_of(one_of("k"), kOperators[pick(4)]);
      if (test.op <= api::SelectorOperator::NotIn) test.values = {one_of("v"), one_of("v")};
      std::ranges::sort(test.values);
      term.selector.tests.push_back(test);
    }
    return term;
  }

  std::mt19937 random_;
  PodLabels labels_;
  std::map<int, std::pair<api::ObjectPtr, PodLabels::Slot>> pods_;
  TermBook book_;
  TermBook::Labels namespaces_;
  int answers_without_looks_ = 0;
};

TEST(PodLabels, FindsWhoMatchesByTheirTextsAfterAnyHistory) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    LabelHistory history(seed);
    for (int step = 0; step < 400; ++step) {
      history.step();
      history.check();
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed << ", step " << step;
    }
    EXPECT_GT(history.answers_without_looks(), 0);
  }
}

}  // namespace
}  // namespace muster::scheduler
