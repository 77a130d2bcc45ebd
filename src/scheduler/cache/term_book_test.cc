#include "scheduler/cache/term_book.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace muster::scheduler {
namespace {

using api::SelectorOperator;

Term term_of(std::vector<std::string> namespaces, std::vector<api::NodeRequirement> tests) {
  Term term;
  term.role = Term::Role::Avoids;
  term.namespaces = std::move(namespaces);
  term.selector.is_null = false;
  term.selector.tests = std::move(tests);
  return term;
}
Term lacks(const std::string& name_space, int key) {
  return term_of(
      {name_space},
      {{.key = fmt::format("k{}", key), .op = SelectorOperator::DoesNotExist, .values = {}}});
}
api::ObjectMeta pod_in(const std::string& name_space) {
  api::ObjectMeta meta;
  meta.name_space = name_space;
  meta.labels = {{"app", "web"}};
  return meta;
}
TermId add(TermBook& book, const Term& term) {
  const TermId id = book.intern(term, "default").id;
  book.use(id);
  return id;
}

TEST(TermBook, APodIsNotComparedWithTermsAboutOtherNamespaces) {
  TermBook book;
  for (int i = 0; i < 1000; ++i) {
    add(book, lacks("theirs", i));
    add(book, term_of({"theirs", "third"}, {{.key = "app",
                                             .op = SelectorOperator::In,
                                             .values = {fmt::format("a{}", i), "web"}}}));
  }
  EXPECT_EQ(book.matching(pod_in("ours"), {}).size(), 0U);
  EXPECT_EQ(book.looks(), 0U);
  EXPECT_EQ(book.matching(pod_in("theirs"), {}).size(), 2000U);
  EXPECT_EQ(book.matching(pod_in("third"), {}).size(), 1000U);
}

// In the order in which they came, and the other way round.
TEST(TermBook, TermsThatGoCostNoLookAtAllTheOthers) {
  constexpr int kTerms = 2000;
  for (const bool is_backwards : {false, true}) {
    TermBook book;
    std::vector<TermId> ids;
    for (int i = 0; i < kTerms; ++i) ids.push_back(add(book, lacks("ours", i)));
    if (is_backwards) std::ranges::reverse(ids);
    for (const TermId id : ids) book.release(id);
    EXPECT_LE(book.looks(), 4U * kTerms);
    EXPECT_TRUE(book.empty());
    EXPECT_EQ(book.matching(pod_in("ours"), {}).size(), 0U);
  }
}

TEST(TermBook, ATermIsFoundWithoutAProductOfItsParts) {
  TermBook book;
  std::vector<std::string> namespaces;
  std::vector<std::string> values;
  for (int i = 0; i < 1000; ++i) {
    namespaces.push_back(fmt::format("ns{:04}", i));
    values.push_back(fmt::format("v{:04}", i));
  }
  values.emplace_back("web");
  const TermId id = add(
      book, term_of(namespaces, {{.key = "app", .op = SelectorOperator::In, .values = values}}));
  EXPECT_EQ(book.matching(pod_in("ns0007"), {}), std::vector{id});
  EXPECT_TRUE(book.matching(pod_in("ours"), {}).empty());
  book.release(id);
  EXPECT_TRUE(book.empty());
}

TEST(ResolveTerms, TheOwnNamespaceIsMeantOnlyIfNoOtherIsAskedFor) {
  api::PodNeeds needs;
  needs.pod_terms.resize(3);
  needs.pod_terms[1].namespaces = {"theirs"};
  needs.pod_terms[2].namespace_selector.emplace();
  const std::vector<Term> terms = resolve_terms(pod_in("ours"), needs);
  ASSERT_EQ(terms.size(), 3U);
  EXPECT_EQ(terms[0].namespaces, std::vector<std::string>{"ours"});
  EXPECT_EQ(terms[1].namespaces, std::vector<std::string>{"theirs"});
  EXPECT_EQ(terms[2].namespaces, std::vector<std::string>{}) << "those that the selector chooses";
}

// Terms come and go; each time a pod finds those that match it one by one.
class TermHistory {
 public:
  explicit TermHistory(std::uint32_t seed) : random_(seed) {
    namespaces_["ns1"] = {{"team", "red"}};
  }
  void step() {
    if (!living_.empty() && pick(2) == 0) {
      const auto at = std::next(living_.begin(), pick(static_cast<std::uint32_t>(living_.size())));
      book_.release(*at);
      living_.erase(at);
    } else {
      living_.push_back(add(book_, random_term()));
    }
    api::ObjectMeta pod = pod_in(one_of("ns"));
    std::map<std::string, std::string> labels;
    for (std::uint32_t i = pick(4); i > 0; --i) labels[one_of("k")] = one_of("v");
    pod.labels = {labels.begin(), labels.end()};
    std::vector<TermId> want;
    for (const TermId id : living_)
      if (book_.matches(id, pod, namespaces_)) want.push_back(id);
    std::ranges::sort(want);
    const auto repeated = std::ranges::unique(want);
    want.erase(repeated.begin(), repeated.end());
    ASSERT_EQ(book_.matching(pod, namespaces_), want);
  }

 private:
  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  std::string one_of(const char* prefix) { return fmt::format("{}{}", prefix, pick(3)); }

  Term random_term() {
    Term term = term_of({}, {});
    for (std::uint32_t i = 1 + pick(3); i > 0; --i) term.namespaces.push_back(one_of("ns"));
    std::ranges::sort(term.namespaces);
    if (pick(3) == 0) {
      term.namespace_selector.emplace();
      term.namespace_selector->is_null = false;
      term.namespace_selector->tests.push_back(
          {.key = "team", .op = SelectorOperator::In, .values = {"red"}});
    }
    if (pick(20) == 0) term.selector.is_null = true;
    for (std::uint32_t i = pick(3); i > 0; --i) {
      constexpr SelectorOperator kOperators[] = {SelectorOperator::In, SelectorOperator::NotIn,
                                                 SelectorOperator::Exists,
                                                 SelectorOperator::DoesNotExist};
      api::NodeRequirement test{.key = one_of("k"), .op = kOperators[pick(4)], .values = {}};
      if (test.op <= SelectorOperator::NotIn) test.values = {one_of("v"), one_of("v")};
      std::ranges::sort(test.values);
      term.selector.tests.push_back(test);
    }
    return term;
  }

  std::mt19937 random_;
  TermBook book_;
  TermBook::Labels namespaces_;
  std::vector<TermId> living_;  // one for each use
};

TEST(TermBook, FindsWhatMatchesAfterAnyHistory) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    TermHistory history(seed);
    for (int step = 0; step < 400; ++step) {
      history.step();
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace muster::scheduler
