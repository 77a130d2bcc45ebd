#include "controllers/statefulset/stateful_plan.h"

#include <gtest/gtest.h>

#include <vector>

#include "controllers/statefulset/stateful_testing.h"

namespace muster::controllers {
namespace {

// What should happen to a set with these pods: "create 1", "scale 2", "update 0", "recreate 0".
struct Case {
  std::string name;
  api::StatefulSetView set;
  std::vector<PodText> pods;
  Texts want;
};

api::StatefulSetView a_set(std::int32_t replicas) {
  api::StatefulSetView set;
  set.replicas = replicas;
  return set;
}
api::StatefulSetView parallel(api::StatefulSetView set) {
  set.parallel = true;
  return set;
}

Texts planned(const Case& test, StatefulPlan* out = nullptr) {
  Roster roster;
  for (const PodText& pod : test.pods) roster.put(pod_object(pod), pod.ordinal);
  roster.arrange(test.set.first_ordinal, test.set.replicas,
                 std::chrono::seconds{test.set.min_ready_s});
  roster.advance(kNow);
  const std::string update = "web-b";
  const StatefulPlan plan =
      plan_stateful({.set = test.set, .roster = roster, .update_revision = update});
  Texts texts;
  for (const std::int32_t ordinal : plan.create) texts.push_back(fmt::format("create {}", ordinal));
  for (const StatefulPlan::Removal& removal : plan.remove)
    texts.push_back(fmt::format("{} {}",
                                removal.why == StatefulPlan::Why::Ended    ? "recreate"
                                : removal.why == StatefulPlan::Why::Scaled ? "scale"
                                                                           : "update",
                                removal.pod->ordinal));
  if (out != nullptr) *out = plan;
  return texts;
}

PodText fresh(std::int32_t ordinal) { return {.ordinal = ordinal, .revision = "web-b"}; }
PodText old(std::int32_t ordinal) { return {.ordinal = ordinal}; }
PodText broken(PodText pod) {
  pod.ready = false;
  return pod;
}
PodText going(PodText pod) {
  pod.deleted = true;
  return pod;
}
PodText failed(PodText pod) {
  pod.phase = "Failed";
  return pod;
}

TEST(PlanStateful, CreatesAndScales) {
  auto started_at_5 = a_set(2);
  started_at_5.first_ordinal = 5;
  auto waits = a_set(2);
  waits.min_ready_s = 10;
  const std::vector<Case> cases{
      {"the first pod alone", a_set(3), {}, {"create 0"}},
      {"the next once all before are ready", a_set(3), {fresh(0)}, {"create 1"}},
      {"none while one is not ready", a_set(3), {broken(fresh(0))}, {}},
      {"none while one is being deleted", a_set(3), {going(fresh(0))}, {}},
      {"none before one was ready for long enough", waits, {fresh(0)}, {}},
      {"a gap is filled first", a_set(3), {fresh(0), fresh(2)}, {"create 1"}},
      {"a gap below one that is not ready", a_set(3), {fresh(0), broken(fresh(2))}, {"create 1"}},
      {"one that failed is made again", a_set(2), {failed(fresh(0)), fresh(1)}, {"recreate 0"}},
      {"ordinals from elsewhere", started_at_5, {fresh(5)}, {"create 6"}},
      {"what is below the first goes", started_at_5, {fresh(0), fresh(5), fresh(6)}, {"scale 0"}},
      {"all at once", parallel(a_set(3)), {broken(fresh(1))}, {"create 0", "create 2"}},
      {"one that failed, all at once",
       parallel(a_set(2)),
       {failed(fresh(1))},
       {"create 0", "recreate 1"}},
      {"the highest goes first", a_set(1), {fresh(0), fresh(1), fresh(2)}, {"scale 2"}},
      {"one after the other", a_set(1), {fresh(0), fresh(1), going(fresh(2))}, {}},
      {"not while one that stays is not well", a_set(1), {broken(fresh(0)), fresh(1)}, {}},
      {"not while a lower one to go is not well",
       a_set(1),
       {fresh(0), broken(fresh(1)), broken(fresh(2))},
       {}},
      {"one that is not well goes if it is the only one",
       a_set(1),
       {fresh(0), broken(fresh(1))},
       {"scale 1"}},
      {"all surplus at once",
       parallel(a_set(1)),
       {fresh(0), fresh(1), fresh(2)},
       {"scale 2", "scale 1"}},
      {"to nothing", a_set(0), {fresh(0)}, {"scale 0"}},
  };
  for (const Case& test : cases) EXPECT_EQ(planned(test), test.want) << test.name;
}

TEST(PlanStateful, UpdatesFromTheTop) {
  auto partitioned = a_set(3);
  partitioned.partition = 2;
  auto on_delete = a_set(2);
  on_delete.on_delete = true;
  auto two = parallel(a_set(4));
  two.unavailable_max = 2;
  auto shifted = a_set(2);
  shifted.first_ordinal = 5;
  shifted.partition = 1;
  const std::vector<Case> cases{
      {"one at a time", a_set(3), {old(0), old(1), old(2)}, {"update 2"}},
      {"the next after it is ready", a_set(3), {old(0), old(1), fresh(2)}, {"update 1"}},
      {"not before", a_set(3), {old(0), old(1), broken(fresh(2))}, {}},
      {"not below the partition", partitioned, {old(0), old(1), fresh(2)}, {}},
      {"down to the partition", partitioned, {old(0), old(1), old(2)}, {"update 2"}},
      {"the partition counts from the first ordinal", shifted, {old(5), old(6)}, {"update 6"}},
      {"only when the user deletes them", on_delete, {old(0), old(1)}, {}},
      {"two at a time", two, {old(0), old(1), old(2), old(3)}, {"update 3", "update 2"}},
      {"one more while one is not ready",
       two,
       {old(0), old(1), old(2), broken(fresh(3))},
       {"update 2"}},
      {"a gap counts as unavailable", two, {old(0), old(1), old(2)}, {"create 3", "update 2"}},
      {"what does not run costs nothing",
       parallel(a_set(3)),
       {old(0), old(1), broken(old(2))},
       {"update 2"}},
      {"nor does it run ahead", parallel(a_set(3)), {old(0), broken(old(1)), broken(fresh(2))}, {}},
      {"one that failed goes once", parallel(a_set(2)), {old(0), failed(old(1))}, {"recreate 1"}},
  };
  for (const Case& test : cases) EXPECT_EQ(planned(test), test.want) << test.name;
}

TEST(PlanStateful, NewPodsBelowThePartitionAreOfTheCurrentRevision) {
  auto set = a_set(3);
  set.partition = 2;
  set.first_ordinal = 5;
  EXPECT_TRUE(is_held_back(set, 6));
  EXPECT_FALSE(is_held_back(set, 7));
  set.on_delete = true;
  EXPECT_FALSE(is_held_back(set, 6));
}

TEST(StatefulStatus, CountsAndEndsTheUpdate) {
  const auto status = [](const api::StatefulSetView& set, const std::vector<PodText>& pods) {
    Roster roster;
    for (const PodText& pod : pods) roster.put(pod_object(pod), pod.ordinal);
    roster.arrange(0, set.replicas, {});
    roster.advance(kNow);
    const std::string update = "web-b";
    return stateful_status({.set = set, .roster = roster, .update_revision = update}, 7,
                           {.current = "web-a", .update = update, .collisions = 2});
  };
  const auto half = status(a_set(3), {old(0), going(old(1)), broken(fresh(2))});
  EXPECT_EQ(half, (api::StatefulSetView::Status{.observed_generation = 7,
                                                .replicas = 3,
                                                .ready = 2,
                                                .available = 2,
                                                .current = 1,
                                                .updated = 1,
                                                .current_revision = "web-a",
                                                .update_revision = "web-b",
                                                .collisions = 2}));
  const auto almost = status(a_set(2), {fresh(0), broken(fresh(1))});
  EXPECT_EQ(almost.updated, 2);
  EXPECT_EQ(almost.current_revision, "web-a") << "one is not ready yet";
  EXPECT_EQ(almost.current, 0);
  const auto surplus = status(a_set(2), {fresh(0), fresh(1), broken(old(2))});
  EXPECT_EQ(surplus.current_revision, "web-a") << "one is still to go";
  const auto done = status(a_set(2), {fresh(0), fresh(1)});
  EXPECT_EQ(done.current_revision, "web-b");
  EXPECT_EQ(done.current, 2);
}

}  // namespace
}  // namespace muster::controllers
