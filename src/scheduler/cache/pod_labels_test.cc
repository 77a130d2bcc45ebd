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

TEST(PodLabels, TheRarestLabelDecidesWhoIsLookedAt) {
  PodLabels labels;
  std::vector<api::ObjectPtr> pods;
  for (int i = 0; i < 100; ++i) {
    pods.push_back(PodSample{.name = fmt::format("p{}", i),
                             .labels = {{"app", "web"}, {"index", std::to_string(i)}}}
                       .make());
    labels.add(*pods.back());
  }
  const auto found = [&](const Term& term) { return labels.candidates(term, {}).size(); };
  EXPECT_EQ(found(term_of({"default"}, {is_one_of("app", {"web"})})), 100u);
  EXPECT_EQ(found(term_of({"default"}, {is_one_of("app", {"web"}), is_one_of("index", {"7"})})),
            1u);
  EXPECT_EQ(found(term_of({"default"}, {is_one_of("app", {"db", "new"})})), 0u);
  EXPECT_EQ(found(term_of({"other"}, {is_one_of("app", {"web"})})), 0u);
  EXPECT_EQ(found(term_of({"default"}, {test_of("gone", api::SelectorOperator::Exists)})), 0u);
  EXPECT_EQ(found(term_of({"default"}, {test_of("gone", api::SelectorOperator::DoesNotExist)})),
            100u);
}

// Random pods and questions: whoever matches is a candidate, and lists are of pods that are there.
TEST(PodLabels, NobodyWhoMatchesIsMissed) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::uint32_t count) {
      return static_cast<std::uint32_t>(random() % count);
    };
    PodLabels labels;
    std::map<int, std::pair<api::ObjectPtr, PodLabels::Seat>> pods;
    TermBook book;
    TermBook::Labels namespaces;
    namespaces["ns1"] = {{"team", "red"}};
    const auto make = [&](int name) {
      PodSample pod{.name = fmt::format("p{}", name), .name_space = fmt::format("ns{}", pick(3))};
      for (std::uint32_t i = pick(3); i > 0; --i)
        pod.labels[fmt::format("k{}", pick(3))] = fmt::format("v{}", pick(3));
      return pod.make();
    };
    for (int step = 0; step < 400; ++step) {
      const int name = static_cast<int>(pick(30));
      const auto at = pods.find(name);
      if (at == pods.end()) {
        const api::ObjectPtr pod = make(name);
        pods.emplace(name, std::pair(pod, labels.add(*pod)));
      } else if (pick(2) == 0) {
        labels.remove(at->second.second);
        pods.erase(at);
      } else {
        const api::ObjectPtr pod = make(name);
        labels.replace(at->second.second, *pod);
        at->second.first = pod;
      }
      Term term = term_of({fmt::format("ns{}", pick(3))}, {});
      if (pick(3) == 0) {
        term.namespace_selector.emplace();
        term.namespace_selector->is_null = false;
        if (pick(2) == 0) term.namespace_selector->tests.push_back(is_one_of("team", {"red"}));
      }
      for (std::uint32_t i = 1 + pick(2); i > 0; --i) {
        constexpr api::SelectorOperator kOperators[] = {
            api::SelectorOperator::In, api::SelectorOperator::NotIn, api::SelectorOperator::Exists,
            api::SelectorOperator::DoesNotExist};
        api::NodeRequirement test = test_of(fmt::format("k{}", pick(3)), kOperators[pick(4)]);
        if (test.op <= api::SelectorOperator::NotIn)
          test.values = {fmt::format("v{}", pick(3)), fmt::format("v{}", pick(3))};
        term.selector.tests.push_back(test);
      }
      const TermId id = book.intern(term).id;
      const std::vector<const api::Object*> found = labels.candidates(term, namespaces);
      for (const auto& [number, pod] : pods)
        if (book.matches(id, pod.first->meta(), namespaces)) {
          ASSERT_EQ(std::ranges::count(found, pod.first.get()), 1) << "seed " << seed;
        }
    }
    for (const auto& [number, pod] : pods) labels.remove(pod.second);
    EXPECT_EQ(labels.lists(), 0u);
  }
}

}  // namespace
}  // namespace muster::scheduler
