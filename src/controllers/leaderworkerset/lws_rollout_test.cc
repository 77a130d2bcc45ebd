#include "controllers/leaderworkerset/lws_rollout.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/entropy.h"

namespace muster::controllers {
namespace {

// A replica of one pod, in a letter: new and ready (N), old and ready (O), new and not ready (n),
// old and not ready (o).
api::ObjectPtr leader(std::int32_t index, char letter, std::string_view more_meta = "") {
  const bool ready = letter == 'N' || letter == 'O';
  const bool is_new = letter == 'N' || letter == 'n';
  const auto json = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"llm-{0}","namespace":"ns","uid":"u{0}"{3},"labels":
      {{"leaderworkerset.sigs.k8s.io/template-revision-hash":"{1}"}}}},"spec":{{}},
      "status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"{2}"}}]}}}})",
      index, is_new ? "new" : "old", ready ? "True" : "False", more_meta));
  return api::Object::make(api::kinds::pod(), json->value);
}

LwsTable table_of(const std::string& letters) {
  LwsTable table;
  table.arrange(std::ssize(letters), "new");
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] == '-') continue;
    const auto index = static_cast<std::int32_t>(i);
    table.edit(index).leader = leader(index, letters[i]);
    table.refresh(index);
  }
  return table;
}

struct Case {
  std::string letters;  // replica 0 first; '-': it has no leader
  LwsRollout now, want;
  int replicas = 4, unavailable = 1, surge = 0, partition = 0;
  bool percent = false;  // of the replicas may be unavailable
  bool new_revision = false, resized = false;
};

TEST(NextRollout, GoesStepByStep) {
  const std::vector<Case> cases{
      {.letters = "OOOO", .now = {4, 0}, .want = {4, 4}, .new_revision = true},
      {.letters = "OOOO", .now = {4, 4}, .want = {4, 3}},
      {.letters = "OOOn", .now = {4, 3}, .want = {4, 3}},
      {.letters = "OOON", .now = {4, 3}, .want = {4, 2}},
      {.letters = "ONNN", .now = {4, 1}, .want = {4, 0}},
      {.letters = "NNNN", .now = {4, 0}, .want = {4, 0}},
      // Not more than one at a time, wherever it is.
      {.letters = "oOOO", .now = {4, 4}, .want = {4, 4}},
      // What was let go of is not held back again because another one does not serve.
      {.letters = "oOOO", .now = {4, 3}, .want = {4, 3}},
      // What does not serve is updated for nothing.
      {.letters = "OOOo", .now = {4, 4}, .want = {4, 3}},
      {.letters = "OOOO", .now = {4, 4}, .want = {4, 2}, .unavailable = 2},
      // A part of the replicas is rounded down.
      {.letters = "OOOO", .now = {4, 4}, .want = {4, 3}, .unavailable = 30, .percent = true},
      // A canary stays where it is.
      {.letters = "OOON", .now = {4, 3}, .want = {4, 3}, .partition = 3},
      // One more while updating; it leaves at the end.
      {.letters = "OOOO", .now = {4, 0}, .want = {5, 4}, .surge = 1, .new_revision = true},
      {.letters = "OOOOn", .now = {5, 4}, .want = {5, 3}, .surge = 1},
      {.letters = "OOOOn", .now = {5, 4}, .want = {5, 4}, .unavailable = 0, .surge = 1},
      {.letters = "OOOON", .now = {5, 4}, .want = {5, 2}, .surge = 1},
      {.letters = "ONNNN", .now = {5, 1}, .want = {4, 0}, .surge = 1},
      {.letters = "NNNNN", .now = {5, 0}, .want = {4, 0}, .surge = 1},
      // Another size, at rest and in the middle of an update.
      {.letters = "NNNN", .now = {4, 0}, .want = {6, 0}, .replicas = 6, .resized = true},
      {.letters = "NNNN", .now = {4, 0}, .want = {2, 0}, .replicas = 2, .resized = true},
      {.letters = "OONN", .now = {4, 2}, .want = {3, 2}, .replicas = 3, .resized = true},
      // A replica that is made again is no update.
      {.letters = "NN-N", .now = {4, 0}, .want = {4, 0}, .surge = 1},
  };
  for (const Case& test : cases) {
    api::LeaderWorkerSetView set;
    set.replicas = test.replicas;
    set.unavailable_max = {.value = test.unavailable, .percent = test.percent};
    set.surge_max.value = test.surge;
    set.partition = test.partition;
    const LwsTable table = table_of(test.letters);
    const LwsRollout next = next_rollout({.set = set,
                                          .table = table,
                                          .now = test.now,
                                          .new_revision = test.new_revision,
                                          .resized = test.resized});
    EXPECT_EQ(next, test.want) << test.letters << " from " << test.now.replicas << ", "
                               << test.now.partition << ": " << next.replicas << ", "
                               << next.partition;
  }
}

TEST(LwsTable, AReplicaWhoseLeaderIsGoingIsNotReady) {
  LwsTable table = table_of("N");
  EXPECT_EQ(table.ready(), 1);
  table.edit(0).leader = leader(0, 'N', R"(,"deletionTimestamp":"2026-01-01T00:00:30Z")");
  table.refresh(0);
  EXPECT_EQ(table.ready(), 0);
}

// A pod of replica 0, controlled by the object with this uid.
api::ObjectPtr pod_of(std::string_view uid, std::string_view phase, std::string_view owner,
                      std::string_view annotations = "") {
  const auto json = api::parse_json(fmt::format(
      R"({{"metadata":{{"name":"p","namespace":"ns","uid":"{}","annotations":{{{}}},
      "ownerReferences":[{{"apiVersion":"apps/v1","kind":"StatefulSet","name":"llm","uid":"{}",
      "controller":true}}]}},"spec":{{}},"status":{{"phase":"{}"}}}})",
      uid, annotations, owner, phase));
  return api::Object::make(api::kinds::pod(), json->value);
}

TEST(LwsGroup, HasStartedOnceThePodInPlaceOfAPendingOneRuns) {
  LwsGroup group;
  group.put_leader(pod_of("leader", "Running", "us", R"("leaderworkerset.sigs.k8s.io/size":"3")"));
  group.put_workers(api::Object::make(
      *api::find_kind("apps", "StatefulSet"),
      api::parse_json(R"({"metadata":{"name":"llm-0","namespace":"ns","uid":"workers",
      "ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"llm-0","uid":"leader",
      "controller":true}]},"spec":{"replicas":2}})")
          ->value));
  const api::ObjectPtr first = pod_of("first", "Running", "workers");
  const api::ObjectPtr second = pod_of("second", "Pending", "workers");
  group.put_member(1, first);
  group.put_member(2, second);
  group.remove_member(2, *second);
  EXPECT_FALSE(group.is_broken_after_start()) << "it had not started";
  group.put_member(2, pod_of("third", "Running", "workers"));
  EXPECT_TRUE(group.has_started());
  group.remove_member(1, *first);
  EXPECT_TRUE(group.is_broken_after_start());
}

// What the table keeps up to date must be what a count of all replicas says.
TEST(LwsTable, IsAlwaysWhatACountSays) {
  SeededEntropy entropy(7);
  LwsTable table;
  std::string letters(12, '-');
  table.arrange(10, "new");
  for (int step = 0; step < 2000; ++step) {
    const auto index = static_cast<std::int32_t>(entropy.below(letters.size()));
    const char letter = "NOno-"[entropy.below(5)];
    letters[static_cast<std::size_t>(index)] = letter;
    table.edit(index).leader = letter == '-' ? nullptr : leader(index, letter);
    table.refresh(index);
    const auto end = static_cast<std::int64_t>(entropy.below(11));
    std::int64_t unready = 0, all_unready = 0, unfinished = 0, outdated = 0, tail = 0,
                 lowest = end + 1;
    for (std::int64_t i = 0; i < 10; ++i) {
      const char each = letters[static_cast<std::size_t>(i)];
      if (each != 'N' && each != 'O') ++all_unready;
      if (i < end && each != 'N' && each != 'O') ++unready;
      if (i < end && each != 'N') ++unfinished;
      if (i < end && (each == 'O' || each == 'o')) ++outdated;
      tail = each == 'N' ? tail + 1 : 0;
    }
    while (lowest > 0 && letters[static_cast<std::size_t>(lowest - 1)] != 'O') --lowest;
    ASSERT_EQ(table.unready_between(0, end), unready) << letters;
    ASSERT_EQ(table.unfinished_between(0, end), unfinished) << letters;
    ASSERT_EQ(table.unfinished_between(0, end, 2), std::min<std::int64_t>(unfinished, 2))
        << letters;
    ASSERT_EQ(table.unready_between(end, 10), all_unready - unready) << letters;
    ASSERT_EQ(table.has_outdated_between(0, end), outdated > 0) << letters;
    ASSERT_EQ(table.finished_tail(), tail) << letters;
    ASSERT_EQ(table.lowest_free_to_update(end), lowest) << letters;
  }
}

}  // namespace
}  // namespace muster::controllers
