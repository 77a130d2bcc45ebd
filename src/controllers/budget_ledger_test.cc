#include "controllers/budget_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "api/selectors.h"
#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

struct PodText {
  std::string app = "web";
  bool ready = true;
  bool leaving = false;
  std::string maker = {};
};

api::ObjectPtr pod_of(const std::string& name, const PodText& pod) {
  const std::string owner =
      pod.maker.empty()
          ? ""
          : fmt::format(
                R"(,"ownerReferences":[{{"kind":"Job","name":"o","uid":"{}","apiVersion":"batch/v1","controller":true}}])",
                pod.maker);
  return object(
      api::kinds::pod(),
      fmt::format(R"({{"metadata":{{"name":"{}","namespace":"n","labels":{{"app":"{}"}}{}{}}},)"
                  R"("status":{{"conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
                  name, pod.app, owner,
                  pod.leaving ? R"(,"deletionTimestamp":"2026-05-01T09:00:00Z")" : "",
                  pod.ready ? "True" : "False"));
}

// A ledger and the pods it counts.
class Book {
 public:
  explicit Book(std::size_t slice = BudgetLedger::kSlice,
                std::size_t makers_max = BudgetLedger::kMakersMax)
      : ledger("n", slice, makers_max) {}

  void put(const std::string& name, const PodText& pod = {}) {
    const api::ObjectPtr after = pod_of(name, pod);
    ledger.pod_changed(pods.put(after), after);
  }
  void remove(const std::string& name) {
    if (const api::ObjectPtr known = pods.find("n", name))
      ledger.pod_changed(pods.remove(*known), nullptr);
  }
  // Budgets of `app`, and of anything else: different selectors for the same pods.
  void budget(const std::string& name, const std::string& app, std::string_view other = "x") {
    const std::string text = fmt::format(
        R"({{"matchExpressions":[{{"key":"app","operator":"In","values":["{}","{}"]}}]}})", app,
        other);
    const auto parsed = api::parse_json(text);
    ledger.put_budget(name, text, *api::read_label_selector(&parsed->value));
  }
  Texts work_all() {
    Texts out;
    while (ledger.has_work()) {
      const std::uint64_t before = ledger.steps();
      std::ranges::move(ledger.work(pods), std::back_inserter(out));
      longest = std::max(longest, ledger.steps() - before);
    }
    std::ranges::sort(out);
    out.erase(std::ranges::unique(out).begin(), out.end());
    return out;
  }
  // "pods healthy makers".
  std::string counts(std::string_view budget) const {
    const BudgetLedger::Counts* counts = ledger.counts_of(budget);
    if (counts == nullptr) return "not counted";
    std::string out = fmt::format("{} {}", counts->pods, counts->healthy);
    for (const auto& [uid, count] : counts->makers) out += fmt::format(" {}={}", uid, count);
    return counts->knows_makers ? out : out + " crowded";
  }

  client::Mirror pods{client::Mirror::Indexes{.labels = true}};
  BudgetLedger ledger;
  std::uint64_t longest = 0;  // steps of a slice
};

TEST(BudgetLedger, CountsWhatIsThereAndWhatChanges) {
  Book book;
  book.put("a", {.maker = "u"});
  book.put("b", {.ready = false, .maker = "u"});
  book.put("c", {.leaving = true});
  book.put("d", {.app = "db"});
  book.budget("web", "web");
  book.budget("db", "db");
  EXPECT_EQ(book.counts("web"), "not counted");
  EXPECT_EQ(book.work_all(), (Texts{"db", "web"}));
  EXPECT_EQ(book.counts("web"), "3 1 u=2");
  EXPECT_EQ(book.counts("db"), "1 1");
  book.put("b", {.maker = "v"});
  EXPECT_EQ(book.work_all(), Texts{"web"});
  EXPECT_EQ(book.counts("web"), "3 2 u=1 v=1");
  book.put("d", {.app = "web"});
  EXPECT_EQ(book.work_all(), (Texts{"db", "web"})) << "the one that lost it hears of it, too";
  book.remove("a");
  book.work_all();
  EXPECT_EQ(book.counts("web"), "3 2 v=1");
  EXPECT_EQ(book.counts("db"), "0 0");
}

TEST(BudgetLedger, WhatMakesNoDifferenceIsNotNoted) {
  Book book;
  book.budget("web", "web");
  book.put("a");
  book.work_all();
  book.put("a");
  EXPECT_FALSE(book.ledger.has_work());
  book.put("a", {.ready = false});
  EXPECT_TRUE(book.ledger.has_work());
  book.put("a");
  EXPECT_EQ(book.work_all(), Texts{"web"}) << "two changes, counted once";
  EXPECT_EQ(book.counts("web"), "1 1");
}

TEST(BudgetLedger, SaysWhatItHasCountedOfAPod) {
  Book book;
  book.budget("web", "web");
  book.put("a");
  book.put("d", {.app = "db"});
  book.work_all();
  EXPECT_TRUE(book.ledger.is_healthy("web", "a", book.pods));
  EXPECT_FALSE(book.ledger.is_healthy("web", "d", book.pods));
  EXPECT_FALSE(book.ledger.is_healthy("web", "none", book.pods));
  book.remove("a");
  EXPECT_TRUE(book.ledger.is_healthy("web", "a", book.pods)) << "not yet counted as gone";
  book.work_all();
  EXPECT_FALSE(book.ledger.is_healthy("web", "a", book.pods));
}

// However many budgets select however many pods, a slice is short, and a change of one pod costs
// each selector once.
TEST(BudgetLedger, ASliceIsShortWhateverThereIs) {
  constexpr std::size_t kBudgets = 300;
  constexpr std::size_t kPods = 10'000;
  Book book;
  for (std::size_t i = 0; i < kPods; ++i) book.put(fmt::format("p{}", i));
  for (std::size_t i = 0; i < kBudgets; ++i)
    book.budget(fmt::format("b{}", i), "web", fmt::format("x{}", i));
  book.work_all();
  EXPECT_LE(book.longest, BudgetLedger::kSlice + kBudgets);
  EXPECT_EQ(book.counts("b7"), fmt::format("{0} {0}", kPods));
  const std::uint64_t before = book.ledger.steps();
  book.put("p5", {.ready = false});
  EXPECT_EQ(book.work_all().size(), kBudgets);
  EXPECT_LE(book.ledger.steps() - before, 2 * kBudgets) << "not once for each pod";
  EXPECT_EQ(book.counts("b7"), fmt::format("{} {}", kPods, kPods - 1));
}

TEST(BudgetLedger, BudgetsOfOneSelectorAreCountedOnce) {
  Book book;
  for (int i = 0; i < 1000; ++i) book.budget(fmt::format("b{}", i), "web");
  for (int i = 0; i < 1000; ++i) book.put(fmt::format("p{}", i));
  EXPECT_EQ(book.work_all().size(), 1000U);
  EXPECT_LE(book.ledger.steps(), 4 * 1000U);
}

TEST(BudgetLedger, TooManyMakersAreNotRemembered) {
  Book book(BudgetLedger::kSlice, 10);
  for (int i = 0; i < 20; ++i)
    book.put(fmt::format("p{:02}", i), {.maker = fmt::format("u{:02}", i)});
  book.budget("web", "web");
  book.work_all();
  EXPECT_EQ(book.counts("web"), "20 20 crowded");
  EXPECT_FALSE(book.ledger.has_work()) << "it does not try again and again";
  for (int i = 2; i < 20; ++i) book.remove(fmt::format("p{:02}", i));
  book.work_all();
  EXPECT_EQ(book.counts("web"), "2 2 u00=1 u01=1");
}

TEST(BudgetLedger, AnotherConditionDoesNotMakeAPodHealthy) {
  Book book;
  book.budget("web", "web");
  const auto booting = object(api::kinds::pod(),
                              R"({"metadata":{"name":"a","namespace":"n","labels":{"app":"web"}},
      "status":{"conditions":[{"type":"Initialized","status":"True"}]}})");
  book.ledger.pod_changed(book.pods.put(booting), booting);
  book.work_all();
  EXPECT_EQ(book.counts("web"), "1 0");
}

TEST(BudgetLedger, ABudgetThatIsGoneIsNotNamedAndNotCounted) {
  Book book;
  book.put("a");
  book.budget("one", "web");
  book.budget("two", "web");
  book.work_all();
  book.ledger.remove_budget("one");
  book.put("b");
  EXPECT_EQ(book.work_all(), Texts{"two"});
  EXPECT_FALSE(book.ledger.has_budget("one"));
  EXPECT_EQ(book.counts("one"), "not counted");
  EXPECT_FALSE(book.ledger.is_healthy("one", "a", book.pods));
  book.budget("three", "db");
  book.ledger.remove_budget("three");
  EXPECT_FALSE(book.ledger.has_work()) << "before its pods were counted";
  book.ledger.remove_budget("three");
  EXPECT_FALSE(book.ledger.empty());
  book.ledger.remove_budget("two");
  EXPECT_TRUE(book.ledger.empty());
}

TEST(BudgetLedger, ABudgetWithTheSelectorItHasCostsNothingAndWithAnotherItIsCounted) {
  Book book;
  book.put("a");
  book.put("b", {.app = "db"});
  book.put("c", {.app = "db"});
  book.budget("one", "web");
  book.work_all();
  book.budget("one", "web");
  EXPECT_FALSE(book.ledger.has_work());
  EXPECT_EQ(book.counts("one"), "1 1");
  book.budget("one", "db");
  EXPECT_EQ(book.counts("one"), "not counted");
  EXPECT_EQ(book.work_all(), Texts{"one"});
  EXPECT_EQ(book.counts("one"), "2 2");
}

TEST(BudgetLedger, ABudgetOfAFewPodsCostsThoseFew) {
  Book book(50);
  for (int i = 0; i < 200; ++i) book.put(fmt::format("p{}", i), {.app = "other"});
  for (int i = 0; i < 5; ++i) book.put(fmt::format("w{}", i));
  book.work_all();
  const std::uint64_t before = book.ledger.steps();
  book.budget("web", "web");
  book.work_all();
  EXPECT_EQ(book.counts("web"), "5 5");
  EXPECT_LT(book.ledger.steps() - before, 50U) << "not all 200 of the namespace";
}

TEST(BudgetLedger, MakersOfABudgetThatIsGoneLeaveRoomForOthers) {
  Book book(BudgetLedger::kSlice, 10);
  for (int i = 0; i < 8; ++i) book.put(fmt::format("w{}", i), {.maker = fmt::format("u{}", i)});
  for (int i = 0; i < 8; ++i)
    book.put(fmt::format("d{}", i), {.app = "db", .maker = fmt::format("v{}", i)});
  book.budget("web", "web");
  book.work_all();
  book.ledger.remove_budget("web");
  book.budget("db", "db");
  book.work_all();
  EXPECT_EQ(book.counts("db"), "8 8 v0=1 v1=1 v2=1 v3=1 v4=1 v5=1 v6=1 v7=1");
  // One that did not know its makers is gone like any other.
  book.budget("web", "web");
  book.work_all();
  EXPECT_EQ(book.counts("web"), "8 8 crowded");
  book.ledger.remove_budget("web");
  for (int i = 0; i < 8; ++i) book.remove(fmt::format("w{}", i));
  book.remove("d0");
  EXPECT_EQ(book.work_all(), Texts{"db"});
}

TEST(BudgetLedger, ABudgetIsTriedAgainAsSoonAsAllItsMakersHaveRoom) {
  Book book(BudgetLedger::kSlice, 4);
  for (int i = 0; i < 5; ++i) book.put(fmt::format("w{}", i), {.maker = fmt::format("u{}", i)});
  book.budget("web", "web");
  book.work_all();
  EXPECT_EQ(book.counts("web"), "5 5 crowded");
  book.remove("w4");
  book.work_all();
  EXPECT_EQ(book.counts("web"), "4 4 crowded") << "not before there is room to spare";
  book.remove("w3");
  EXPECT_EQ(book.work_all(), Texts{"web"});
  EXPECT_EQ(book.counts("web"), "3 3 u0=1 u1=1 u2=1");
}

TEST(BudgetLedger, WhoseMakersChangedIsLookedAt) {
  Book book;
  book.budget("a", "web");
  book.budget("b", "db");
  book.work_all();
  book.ledger.makers_changed();
  EXPECT_TRUE(book.ledger.has_work());
  EXPECT_EQ(book.work_all(), (Texts{"a", "b"}));
  EXPECT_FALSE(book.ledger.has_work());
}

// Whatever happens in whatever order, and however much is left of it between two slices.
TEST(BudgetLedger, CountsAsIfItCountedFromTheBeginning) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
    Book book(1 + pick(40));
    std::map<std::string, std::pair<std::string, PodText>> pods;
    std::map<std::string, std::string> budgets;  // what they select
    for (int step = 0; step < 300; ++step) {
      const std::string name = fmt::format("p{}", pick(30));
      const std::string budget = fmt::format("b{}", pick(6));
      const std::string app = fmt::format("app{}", pick(3));
      switch (pick(6)) {
        case 0:
        case 1:
        case 2: {
          const PodText pod{.app = app,
                            .ready = pick(2) == 0,
                            .leaving = pick(4) == 0,
                            .maker = pick(2) == 0 ? "" : fmt::format("u{}", pick(3))};
          pods[name] = {name, pod};
          book.put(name, pod);
          break;
        }
        case 3:
          pods.erase(name);
          book.remove(name);
          break;
        case 4:
          if (pick(3) == 0) {
            budgets.erase(budget);
            book.ledger.remove_budget(budget);
          } else {
            budgets[budget] = app;
            book.budget(budget, app);
          }
          break;
        default:
          if (book.ledger.has_work()) book.ledger.work(book.pods);
          break;
      }
      if (pick(20) != 0) continue;
      book.work_all();
      for (const auto& [each, wanted] : budgets) {
        std::int64_t count = 0;
        std::int64_t healthy = 0;
        std::map<std::string, int> makers;
        for (const auto& [key, entry] : pods) {
          const PodText& pod = entry.second;
          if (pod.app != wanted) continue;
          ++count;
          if (pod.ready && !pod.leaving) ++healthy;
          if (!pod.maker.empty()) ++makers[pod.maker];
        }
        std::string expected = fmt::format("{} {}", count, healthy);
        for (const auto& [uid, of] : makers) expected += fmt::format(" {}={}", uid, of);
        ASSERT_EQ(book.counts(each), expected) << "seed " << seed << " step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace muster::controllers
