#include "client/kit/work_queue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace muster::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

using Keys = std::vector<std::string>;

class WorkQueueTest : public ::testing::Test {
 protected:
  void add(std::initializer_list<const char*> keys) {
    for (const char* key : keys) work_.add(key, now_);
  }
  // What comes out, at most `limit`, at this moment.
  Keys popped(std::size_t limit = 100) {
    Keys out;
    while (out.size() < limit) {
      const auto key = work_.pop(now_);
      if (!key) break;
      out.push_back(*key);
    }
    return out;
  }

  std::size_t number_of(std::string_view metric) const {
    const std::string line = fmt::format("{}{{name=\"test\"}} ", metric);
    const std::string text = metrics_.text();
    return std::stoul(text.substr(text.find(line) + line.size()));
  }

  Time now_{seconds{100}};
  Metrics metrics_;
  WorkQueue work_{"test", &metrics_};
};

TEST_F(WorkQueueTest, HandsOutEachKeyOnceFirstComeFirstServed) {
  EXPECT_EQ(work_.next_deadline(), std::nullopt);
  add({"b", "a", "b", "c"});
  EXPECT_EQ(work_.next_deadline(), Time{});
  EXPECT_EQ(popped(2), (Keys{"b", "a"}));
  add({"a"});
  EXPECT_EQ(popped(), (Keys{"c", "a"})) << "one that comes again goes to the end";
  EXPECT_EQ(work_.next_deadline(), std::nullopt);
  EXPECT_EQ(work_.size(), 0U);
}

TEST_F(WorkQueueTest, KeepsWhatIsForLater) {
  work_.add_at(now_ + seconds{5}, "late");
  EXPECT_EQ(work_.next_deadline(), now_ + seconds{5});
  now_ += seconds{4};
  EXPECT_EQ(popped(), Keys{});
  now_ += seconds{1};
  EXPECT_EQ(popped(), Keys{"late"});
}

TEST_F(WorkQueueTest, WaitsForTheEarliestOfSeveralTimes) {
  for (const int s : {7, 5, 9}) work_.add_at(now_ + seconds{s}, "key");
  EXPECT_EQ(work_.next_deadline(), now_ + seconds{5});
  now_ += seconds{20};
  EXPECT_EQ(popped(), Keys{"key"}) << "once";
  EXPECT_EQ(work_.size(), 0U);
}

TEST_F(WorkQueueTest, PausesLongerAfterEveryFailureOfAKey) {
  for (const Duration pause : {milliseconds{50}, milliseconds{100}, milliseconds{200}}) {
    work_.retry("x", now_);
    EXPECT_EQ(work_.next_deadline(), now_ + pause);
    now_ += pause;
    EXPECT_EQ(popped(), Keys{"x"});
  }
  work_.retry("other", now_);
  EXPECT_EQ(work_.next_deadline(), now_ + milliseconds{50}) << "each key has its own pause";
}

TEST_F(WorkQueueTest, APauseIsBounded) {
  for (int i = 0; i < 20; ++i) {
    work_.retry("x", now_);
    now_ += seconds{30};
    EXPECT_EQ(popped(), Keys{"x"});
  }
}

TEST_F(WorkQueueTest, AfterASuccessThePauseIsShortAgain) {
  for (int i = 0; i < 5; ++i) {
    work_.retry("x", now_);
    now_ += seconds{30};
    popped();
  }
  EXPECT_EQ(work_.size(), 1U) << "its failures are remembered";
  work_.forget_failures("x");
  EXPECT_EQ(work_.size(), 0U);
  work_.retry("x", now_);
  EXPECT_EQ(work_.next_deadline(), now_ + milliseconds{50});
}

TEST_F(WorkQueueTest, AHeldKeyComesAfterItsRelease) {
  work_.hold("x");
  add({"x", "y"});
  EXPECT_EQ(popped(), Keys{"y"});
  work_.release("x", now_);
  EXPECT_EQ(popped(), Keys{"x"});
  work_.hold("x");
  work_.release("x", now_);
  EXPECT_EQ(popped(), Keys{}) << "nothing happened meanwhile";
  EXPECT_EQ(work_.size(), 0U);
}

TEST_F(WorkQueueTest, AKeyThatIsHeldAfterItBecameDueWaitsToo) {
  add({"x"});
  work_.hold("x");
  work_.hold("x");
  EXPECT_EQ(popped(), Keys{});
  work_.release("x", now_);
  EXPECT_EQ(popped(), Keys{}) << "held twice";
  work_.release("x", now_);
  EXPECT_EQ(popped(), Keys{"x"});
}

TEST_F(WorkQueueTest, NamespacesTakeTurns) {
  for (int i = 0; i < 100'000; ++i) work_.add(fmt::format("crowd/{}", i), now_);
  add({"a/1", "a/2", "node"});
  EXPECT_EQ(popped(6), (Keys{"crowd/0", "a/1", "node", "crowd/1", "a/2", "crowd/2"}));
  add({"late/1"});
  EXPECT_EQ(popped(2), (Keys{"late/1", "crowd/3"})) << "a newcomer waits for nobody's second turn";
}

TEST_F(WorkQueueTest, NamespacesTakeTurnsWithWhatWasForLater) {
  for (int i = 0; i < 100'000; ++i) work_.add_at(now_, fmt::format("crowd/{}", i));
  work_.add_at(now_ + seconds{1}, "a/1");
  now_ += seconds{1};
  EXPECT_EQ(popped(3), (Keys{"crowd/0", "a/1", "crowd/1"}));
  EXPECT_LE(number_of("workqueue_depth"), 3 * WorkQueue::kMovedMax) << "few are moved at once";
}

TEST_F(WorkQueueTest, WhoLookedAtMuchWaitsForAsManyTurnsOfOthers) {
  add({"large/1", "large/2", "a/1", "a/2", "a/3", "a/4", "a/5"});
  EXPECT_EQ(popped(1), Keys{"large/1"});
  work_.charge("large/1", 2 * WorkQueue::kChargeUnit);
  EXPECT_EQ(popped(5), (Keys{"a/1", "a/2", "a/3", "large/2", "a/4"}));
  // Nor does it help to come back with something new.
  work_.charge("large/2", WorkQueue::kChargeUnit);
  add({"large/3"});
  EXPECT_EQ(popped(1), Keys{"a/5"});
  EXPECT_EQ(popped(), Keys{"large/3"}) << "nobody else wants a turn";
  EXPECT_EQ(work_.size(), 0U);
}

// What WorkQueue promises, in the plainest way: every list is searched from its beginning.
class NaiveQueue {
 public:
  void add(const std::string& key, Time /*now*/) {
    Key& state = keys_[key];
    if (state.holds > 0)
      state.due_after_release = true;
    else
      make_due(key);
  }
  void add_at(Time when, const std::string& key) {
    std::optional<Time>& later = keys_[key].later;
    if (!later || when < *later) later = when;
  }
  void retry(const std::string& key, Time now) {
    Key& state = keys_[key];
    state.pause = std::clamp<Duration>(state.pause * 2, milliseconds{50}, seconds{30});
    add_at(now + state.pause, key);
  }
  void forget_failures(const std::string& key) { keys_[key].pause = {}; }
  void hold(const std::string& key) { ++keys_[key].holds; }
  void release(const std::string& key) {
    Key& state = keys_[key];
    if (--state.holds == 0 && std::exchange(state.due_after_release, false)) make_due(key);
  }
  bool is_held(const std::string& key) { return keys_[key].holds > 0; }
  void charge(const std::string& key, std::uint64_t cost) {
    if (cost < WorkQueue::kChargeUnit) return;
    Group& group = groups_[group_of(key)];
    group.turn = std::max(group.turn, clock_) + cost / WorkQueue::kChargeUnit;
    if (group.place) group.place = ++last_place_;
  }

  std::optional<std::string> pop(Time now) {
    for (;;) {
      give_turns(now);
      Group* next = nullptr;
      std::string name;
      for (auto& [each, group] : groups_)
        if (group.place && (next == nullptr || std::pair(group.turn, *group.place) <
                                                   std::pair(next->turn, *next->place))) {
          next = &group;
          name = each;
        }
      if (next == nullptr) {
        for (auto& [each, group] : groups_)
          if (!first_later(each)) group.turn = 0;
        return std::nullopt;
      }
      clock_ = next->turn;
      for (std::size_t i = 0; i < WorkQueue::kMovedMax; ++i)
        if (!move_one(name, now)) break;
      next->place.reset();
      while (!next->due.empty()) {
        std::string key = next->due.front();
        next->due.erase(next->due.begin());
        if (keys_[key].holds > 0) {
          keys_[key].due_after_release = true;
          continue;
        }
        ++next->turn;
        take_place(name, now);
        return key;
      }
      take_place(name, now);
    }
  }

  // None: there is nothing. Those in the past are all the same.
  std::optional<Time> next_deadline(Time now) const {
    std::optional<Time> first;
    for (const auto& [name, group] : groups_)
      if (!group.due.empty()) return Time{};
    for (const auto& [key, state] : keys_)
      if (state.later && (!first || *state.later < *first)) first = state.later;
    return first && *first <= now ? Time{} : first;
  }

 private:
  struct Key {
    std::optional<Time> later;
    std::uint32_t holds = 0;
    bool due_after_release = false;
    Duration pause{};
  };
  struct Group {
    std::vector<std::string> due;
    std::uint64_t turn = 0;
    std::optional<std::uint64_t> place;
  };

  static std::string group_of(const std::string& key) {
    const std::size_t slash = key.find('/');
    return slash == std::string::npos ? "" : key.substr(0, slash);
  }
  std::optional<std::pair<Time, std::string>> first_later(const std::string& name) const {
    std::optional<std::pair<Time, std::string>> first;
    for (const auto& [key, state] : keys_)
      if (group_of(key) == name && state.later && (!first || std::pair(*state.later, key) < *first))
        first.emplace(*state.later, key);
    return first;
  }
  void make_due(const std::string& key) {
    Group& group = groups_[group_of(key)];
    if (std::ranges::find(group.due, key) != group.due.end()) return;
    group.due.push_back(key);
    take_place(group_of(key), Time{});
  }
  void take_place(const std::string& name, Time now) {
    Group& group = groups_[name];
    const auto later = first_later(name);
    if (group.place || (group.due.empty() && (!later || later->first > now))) return;
    group.turn = std::max(group.turn, clock_);
    group.place = ++last_place_;
  }
  void give_turns(Time now) {
    std::vector<std::pair<Time, std::string>> awake;
    for (const auto& [key, state] : keys_) groups_[group_of(key)];
    for (const auto& [name, group] : groups_)
      if (const auto later = first_later(name); later && !group.place && later->first <= now)
        awake.emplace_back(later->first, name);
    std::ranges::sort(awake);
    for (const auto& [when, name] : awake) take_place(name, now);
  }
  bool move_one(const std::string& name, Time now) {
    const auto later = first_later(name);
    if (!later || later->first > now) return false;
    keys_[later->second].later.reset();
    add(later->second, now);
    return true;
  }

  std::map<std::string, Key> keys_;
  std::map<std::string, Group> groups_;
  std::uint64_t clock_ = 0;
  std::uint64_t last_place_ = 0;
};

// Operations at random, on few keys so that they meet, and at times on many at once.
TEST(WorkQueueProperty, IsWhatTheNaiveQueueIs) {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
    WorkQueue queue;
    NaiveQueue naive;
    Time now{seconds{100}};
    const auto key = [&] {
      const std::uint32_t name_space = pick(5);
      return name_space == 0 ? fmt::format("n{}", pick(6))
                             : fmt::format("{}/{}", name_space, pick(6));
    };
    for (int step = 0; step < 400; ++step) {
      SCOPED_TRACE(fmt::format("seed {} step {}", seed, step));
      const std::string one = key();
      switch (pick(10)) {
        case 0:
        case 1:
          queue.add(one, now);
          naive.add(one, now);
          break;
        case 2: {
          const Time when = now + milliseconds{pick(200)};
          queue.add_at(when, one);
          naive.add_at(when, one);
          break;
        }
        case 3:
          queue.retry(one, now);
          naive.retry(one, now);
          break;
        case 4:
          queue.forget_failures(one);
          naive.forget_failures(one);
          break;
        case 5:
          queue.hold(one);
          naive.hold(one);
          break;
        case 6:
          if (!queue.is_held(one)) break;
          queue.release(one, now);
          naive.release(one);
          break;
        case 7: now += milliseconds{pick(100)}; break;
        case 8:
          if (pick(20) == 0)
            for (int i = 0; i < 100; ++i) {
              queue.add_at(now + milliseconds{i % 3}, fmt::format("crowd/{}", i));
              naive.add_at(now + milliseconds{i % 3}, fmt::format("crowd/{}", i));
            }
          break;
        default: {
          const auto popped = queue.pop(now);
          ASSERT_EQ(popped, naive.pop(now));
          if (!popped) break;
          const std::uint64_t cost = pick(4) * WorkQueue::kChargeUnit;
          queue.charge(*popped, cost);
          naive.charge(*popped, cost);
          break;
        }
      }
      ASSERT_EQ(queue.is_held(one), naive.is_held(one));
      const auto deadline = queue.next_deadline();
      ASSERT_EQ(deadline && *deadline <= now ? Time{} : deadline, naive.next_deadline(now));
    }
  }
}

TEST_F(WorkQueueTest, CountsUnderUpstreamsNames) {
  add({"a", "b", "a"});
  now_ += seconds{5};
  popped(1);
  work_.retry("a", now_);
  const std::string text = metrics_.text();
  EXPECT_THAT(text, HasSubstr("workqueue_adds_total{name=\"test\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_depth{name=\"test\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_retries_total{name=\"test\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_queue_duration_seconds_sum{name=\"test\"} 5\n"));
}

TEST_F(WorkQueueTest, SaysHowLongCallsHaveBeenUnderWay) {
  Metrics metrics;
  WorkQueue queue("test", &metrics);
  const Time start{std::chrono::seconds{1'700'000'000}};
  const auto gauges = [&] {
    const std::string text = metrics.text();
    const auto value = [&](std::string_view name) {
      const std::string line = fmt::format("workqueue_{}{{name=\"test\"}} ", name);
      const std::size_t at = text.find(line);
      return at == std::string::npos
                 ? std::string("missing")
                 : text.substr(at + line.size(), text.find('\n', at) - at - line.size());
    };
    return value("unfinished_work_seconds") + " " + value("longest_running_processor_seconds");
  };
  queue.add("a", start);
  queue.pop(start);
  queue.hold("a");
  EXPECT_EQ(gauges(), "0 0");
  queue.add("b", start + std::chrono::seconds{3});
  queue.pop(start + std::chrono::seconds{3});
  queue.hold("b");
  queue.pop(start + std::chrono::seconds{5});
  EXPECT_EQ(gauges(), "7 5");
  queue.release("a", start + std::chrono::seconds{6});
  EXPECT_EQ(gauges(), "3 3");
  queue.release("b", start + std::chrono::seconds{6});
  EXPECT_EQ(gauges(), "0 0");
}

}  // namespace
}  // namespace muster::client
