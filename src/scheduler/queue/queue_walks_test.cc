#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/queue/queue_testing.h"

// B4: what one change of a group costs does not grow with what is below it.
namespace muster::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct GroupOptions {
  std::int32_t minimum = 0;  // of a leaf; 0: Basic
  std::string parent = {};
  std::string topology = {};
  std::int32_t priority = 0;
  std::string expected = {};
};

api::ObjectPtr group_object(const std::string& name, bool is_leaf, const GroupOptions& options) {
  std::string spec = R"("schedulingPolicy":{"basic":{}})";
  if (options.minimum > 0)
    spec = fmt::format(R"("schedulingPolicy":{{"gang":{{"{}":{}}}}})",
                       is_leaf ? "minCount" : "minGroupCount", options.minimum);
  spec += fmt::format(R"(,"priority":{})", options.priority);
  if (!options.parent.empty())
    spec += fmt::format(R"(,"parentCompositePodGroupName":"{}")", options.parent);
  if (!options.topology.empty())
    spec += fmt::format(R"(,"schedulingConstraints":{{"topology":[{{"key":"{}"}}]}})",
                        options.topology);
  const std::string annotations = fmt::format(
      R"("annotations":{{"scheduling.muster.dev/expected-pods":"{}"}})", options.expected);
  const auto document = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"group-{0}",{1}}},"spec":{{{2}}},"status":{{}}}})",
      name, annotations, spec));
  return api::Object::make(is_leaf ? api::kinds::pod_group() : api::kinds::composite_pod_group(),
                           document->value);
}

class QueueWalks : public QueueTest {
 protected:
  using QueueTest::QueueTest;
  void put_leaf(const std::string& name, const GroupOptions& options) {
    model_.put(group_object(name, true, options));
  }
  void put_composite(const std::string& name, const GroupOptions& options) {
    model_.put(group_object(name, false, options));
  }
  // Every waiting pod is where it belongs, once what was left over is done.
  void settle() {
    for (int i = 0; i < 10'000 && queue_.has_unfinished(); ++i) {
      now_ = std::max(now_, queue_.next_deadline().value_or(now_));
      const std::string next = pop();
      if (!next.empty()) refuse_all(next);
    }
    EXPECT_FALSE(queue_.has_unfinished());
  }
  void refuse_all(const std::string& popped) {
    const auto colon = popped.find(':');
    const std::string name = popped.substr(0, colon);
    if (colon == std::string::npos) return refuse(name);
    refuse_group(name, pods_of(std::get<Group>(popped_.at(name))));
  }
  static Names pods_of(const Group& tree) {
    Names out;
    for (const PendingPod& pod : tree.pods) out.push_back(pod.pod->meta().name);
    for (const Group& child : tree.children)
      for (std::string& name : pods_of(child)) out.push_back(std::move(name));
    return out;
  }
};

TEST_F(QueueWalks, GroupsWithoutPodsAreNotLookedAt) {
  put_composite("c", {.minimum = 2});
  for (int i = 0; i < 3'000; ++i) put_leaf(fmt::format("leaf-{}", i), {.parent = "c"});
  put("only", {.group = "leaf-7"});
  const std::uint64_t before = queue_.looked_at();
  for (int i = 0; i < 100; ++i) put_composite("c", {.minimum = 2 + i % 7});
  EXPECT_LE(queue_.looked_at() - before, 300U);
}

TEST_F(QueueWalks, PodsAreNotLookedAtForWhatConcernsTheirGroupAlone) {
  put_leaf("web", {});
  for (int i = 0; i < 3'000; ++i) put(fmt::format("web-{}", i), {.group = "web", .class_hash = 1});
  const std::uint64_t before = queue_.looked_at();
  for (int i = 0; i < 100; ++i) put_leaf("web", {.expected = std::to_string(i)});
  EXPECT_LE(queue_.looked_at() - before, 300U);
}

TEST_F(QueueWalks, ATreeDoesNotLookAtItsPodsBecauseOfAnother) {
  for (const char* tree : {"a", "b"}) {
    put_composite(tree, {.minimum = 1});
    put_leaf(fmt::format("{}-leaf", tree), {.minimum = 1, .parent = tree});
  }
  put_running("old", "a-leaf");
  for (int i = 0; i < 100; ++i) put(fmt::format("a-{}", i), {.group = "a-leaf", .class_hash = 1});
  const std::uint64_t before = queue_.looked_at();
  for (int i = 0; i < 100; ++i) {
    put_composite("b", {.minimum = i % 2 == 0 ? 2 : 1});
    put_running("old", "a-leaf");
  }
  EXPECT_LE(queue_.looked_at() - before, 300U);
}

// A composite that becomes ready and stops being ready concerns all pods below it. They are looked
// at no faster than their namespace may, and others are tried meanwhile.
TEST_F(QueueWalks, ATreeThatChangesAllTheTimeHasABoundedShare) {
  constexpr int kLeaves = 2'000;
  put_composite("c", {.minimum = 1});
  for (int i = 0; i < kLeaves; ++i) {
    const std::string leaf = fmt::format("leaf-{}", i);
    put_leaf(leaf, {.minimum = 1, .parent = "c"});
    put_running("old-" + leaf, leaf);
    put("new-" + leaf, {.group = leaf, .class_hash = 1});
  }
  settle();
  now_ += seconds{10};
  const std::uint64_t before = queue_.looked_at();
  const Time start = now_;
  for (int i = 0; i < 200; ++i) {
    now_ += milliseconds{1};
    put_composite("c", {.minimum = i % 2 == 0 ? 2 * kLeaves : 1});
    const std::string other = fmt::format("other-{}", i);
    put(other, {.priority = 1});
    EXPECT_EQ(pop(), other);
    place(other);
  }
  const auto passed = static_cast<std::uint64_t>((now_ - start) / options_.looks.each);
  EXPECT_LE(queue_.looked_at() - before, passed + options_.looks.burst);
  EXPECT_GE(queue_.looked_at() - before, passed / 2) << "and what it is due";
  settle();
}

// The tree is popped with all its pods, also with those that nobody has looked at since it stopped
// being loose; and none of them is popped alone.
TEST_F(QueueWalks, ATreeIsPoppedAsItIsNow) {
  put_leaf("g", {.minimum = 1});
  put_running("old", "g");
  for (int i = 0; i < 3'000; ++i) put(fmt::format("g-{}", i), {.group = "g", .class_hash = 1});
  settle();
  remove_running("old", "g");
  ASSERT_TRUE(queue_.has_unfinished());
  ASSERT_EQ(pop().substr(0, 2), "g:");
  EXPECT_EQ(std::get<Group>(popped_.at("g")).pods.size(), 3'000U);
  refuse_group("g", pods_of(std::get<Group>(popped_.at("g"))));
  settle();
}

TEST_F(QueueWalks, StrandedPodsOfALargeTreeAreReportedOnlyWhileTheyAre) {
  put_composite("c", {.minimum = 1});
  for (int i = 0; i < 600; ++i) {
    put_leaf(fmt::format("leaf-{}", i), {.minimum = 2, .parent = "c"});
    put(fmt::format("p-{}", i), {.group = fmt::format("leaf-{}", i)});
  }
  for (int i = 0; i < 20; ++i) {
    model_.remove(*group_object("c", false, {}));
    put_composite("c", {.minimum = 1});
  }
  now_ += seconds{4};
  EXPECT_TRUE(queue_.drain_stranded(now_).empty());
  settle();
  EXPECT_EQ(queue_.counts().incomplete, 0U);
}

// Looks at one group or pod at a time, and rarely.
QueueOptions slow_looks() {
  QueueOptions options;
  options.looks_at_once = 1;
  options.looks = {.each = milliseconds{5}, .burst = 1};
  return options;
}

class SlowLooks : public QueueWalks {
 protected:
  SlowLooks() : QueueWalks(slow_looks()) {}
};

TEST_F(SlowLooks, APodThatJoinsBeforeItsLeafWasLookedAtWaitsLikeTheOthers) {
  put_composite("c", {});
  for (const char* leaf : {"g0", "g1"}) {
    put_leaf(leaf, {.parent = "c"});
    put_running(std::string("old-") + leaf, leaf);
    put(std::string("new-") + leaf, {.group = leaf, .class_hash = 1});
  }
  settle();
  model_.remove(*group_object("c", false, {}));
  ASSERT_TRUE(queue_.has_unfinished());
  put("late", {.group = "g1", .class_hash = 1});
  EXPECT_EQ(pop(), "");
  settle();
  EXPECT_EQ(pop(), "");
  EXPECT_EQ(queue_.counts().incomplete, 3U);
}

// Whatever changes while much is left over: what is popped is right, and in the end all is.
class SlowWalks : public QueueWalks {
 public:
  SlowWalks() : QueueWalks(slow_looks()) {}
  void TestBody() override {}

  static int any(int below) { return *rc::gen::inRange(0, below); }

  void change() {
    const std::string leaf = fmt::format("g{}", any(3));
    const std::string pod = fmt::format("{}-{}", leaf, any(6));
    switch (any(8)) {
      case 0: {
        GroupOptions options{.minimum = any(4), .priority = any(4) == 0 ? 1 : 0};
        if (any(3) != 0) options.parent = fmt::format("c{}", any(2));
        if (any(4) == 0) options.topology = "rack";
        return put_leaf(leaf, options);
      }
      case 1: {
        GroupOptions options{.minimum = 1 + any(3), .priority = any(4) == 0 ? 1 : 0};
        if (any(4) == 0) options.topology = "rack";
        return put_composite(fmt::format("c{}", any(2)), options);
      }
      case 2:
        if (any(4) == 0) model_.remove(*group_object(fmt::format("c{}", any(2)), false, {}));
        return;
      case 3:
        if (model_.pod("ns", pod) != nullptr) return remove(pod);
        return put_running(pod, leaf);
      case 4: return try_next();
      case 5: now_ += milliseconds{any(3) * 10}; return;
      default:
        if (model_.pod("ns", pod) == nullptr)
          put(pod, {.priority = any(8) == 0 ? 1 : 0, .group = leaf, .class_hash = 1});
    }
  }

  std::string problem() const { return queue_.inconsistency(); }
  void finish_all() { settle(); }

  void try_next() {
    const auto next = queue_.pop(now_);
    if (!next) return;
    const auto& tree = std::get<Group>(*next);
    const Names pods = pods_of(tree);
    RC_ASSERT(tree.priority == model_.forest().find(tree.key)->priority);
    const Group now = model_.build(tree.key);
    if (model_.loose(tree.key))
      RC_ASSERT(pods.size() == 1U);
    else
      RC_ASSERT(pods.size() == pods_of(now).size());
    Plan plan;
    const bool is_placed = any(3) == 0;
    for (const std::string& pod : pods) {
      const api::ObjectPtr known = model_.pod("ns", pod);
      if (is_placed) {
        model_.assume(known, "n1");
        plan.assignments.push_back({known, "n1"});
      } else {
        plan.refusals.push_back({known, Outcome::Unschedulable, "", {"Fit"}});
      }
    }
    plan.groups.push_back(
        {tree.key, nullptr, is_placed ? Outcome::Placed : Outcome::Unschedulable, "", ""});
    queue_.finish(*next, plan, now_);
  }
};

RC_GTEST_PROP(QueueWalksProperty, WhatIsPoppedIsRightWhateverIsLeftOver, ()) {
  SlowWalks walks;
  const int steps = 30 + SlowWalks::any(120);
  for (int step = 0; step < steps; ++step) {
    walks.change();
    RC_ASSERT(walks.problem() == "");
  }
  walks.finish_all();
  RC_ASSERT(walks.problem() == "");
}

}  // namespace
}  // namespace muster::scheduler
