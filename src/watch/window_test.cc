#include "watch/window.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/engines/testing.h"

namespace muster::watch {
namespace {

using store::testing::make_node;
using store::testing::make_pod;

Change pod_change(std::int64_t revision, std::int64_t block_end = 0, std::string_view text = "") {
  const std::shared_ptr<api::Object> pod = make_pod("p", text);
  pod->assign_revision({revision});
  return {.type = Change::Type::Added,
          .key = store::testing::pod_key("p"),
          .revision = {revision},
          .block_end = {block_end == 0 ? revision : block_end},
          .object = pod,
          .previous = nullptr};
}
Change node_change(std::int64_t revision, std::int64_t block_end = 0) {
  Change change = pod_change(revision, block_end);
  change.key = "nodes/n";
  change.object = make_node("n");
  return change;
}
void append(Window& window, std::vector<Change> changes) { window.append(changes); }

// A read in short: "3 4 > 4 more", "> 9", or the error.
std::string brief(const Result<Window::Batch>& batch) {
  if (!batch) return batch.error().message;
  std::string text;
  for (const auto& entry : batch->entries)
    text += fmt::format("{} ", entry->change().revision.value);
  return text + fmt::format("> {}{}", batch->next.value, batch->more ? " more" : "");
}
std::string read(const Window& window, std::string_view prefix, std::int64_t after,
                 std::size_t max = 100) {
  return brief(window.read(std::string(prefix), {after}, max));
}

TEST(Window, GivesEachKindItsOwnChangesAndMovesIdleCursorsOn) {
  Window window;
  append(window, {pod_change(1), node_change(2), pod_change(3)});
  EXPECT_EQ(read(window, "pods", 0), "1 3 > 3");
  EXPECT_EQ(read(window, "pods", 1), "3 > 3");
  EXPECT_EQ(read(window, "nodes", 0), "2 > 3");
  EXPECT_EQ(read(window, "nodes", 2), "> 3");
  EXPECT_EQ(read(window, "leases", 0), "> 3");
  EXPECT_EQ(window.newest(), Revision{3});
}

TEST(Window, StopsAtTheMaximumAndSaysWhereToGoOn) {
  Window window;
  append(window, {pod_change(1), pod_change(2), node_change(3), pod_change(4), node_change(5)});
  EXPECT_EQ(read(window, "pods", 0, 2), "1 2 > 2 more");
  EXPECT_EQ(read(window, "pods", 2, 2), "4 > 5");
  EXPECT_EQ(read(window, "pods", 0, 3), "1 2 4 > 5");
  EXPECT_EQ(read(window, "pods", 0, 0), "> 0 more");
  EXPECT_EQ(read(window, "pods", 4, 0), "> 5");
}

TEST(Window, ResumesACursorInsideABlockWithTheRestOfIt) {
  Window window;
  append(window, {pod_change(1, 4), pod_change(2, 4), pod_change(3, 4), pod_change(4, 4)});
  EXPECT_EQ(read(window, "pods", 2), "3 4 > 4");
}

TEST(Window, NeverSendsACursorBack) {
  Window window;
  window.start({5});
  EXPECT_EQ(read(window, "pods", 9), "> 9") << "a watch from the future waits";
  append(window, {pod_change(6)});
  EXPECT_EQ(read(window, "pods", 9), "> 9");
}

TEST(Window, ExpiresCursorsBeforeItsFloor) {
  Window window;
  window.start({10});
  EXPECT_EQ(window.newest(), Revision{10});
  EXPECT_EQ(read(window, "pods", 9), "too old resource version: 9 (10)");
  EXPECT_EQ(window.read("pods", {9}, 1).error().reason, Reason::Expired);
  EXPECT_EQ(read(window, "pods", 10), "> 10");
  append(window, {pod_change(11)});
  EXPECT_EQ(read(window, "pods", 9), "too old resource version: 9 (10)");
  EXPECT_EQ(read(window, "nodes", 9), "too old resource version: 9 (10)");
  EXPECT_EQ(read(window, "pods", 10), "11 > 11");
}

TEST(Window, ExpiresOnlyCursorsThatMissAChangeOfTheirKind) {
  Window window({.changes_max = 2});
  append(window, {node_change(1), pod_change(2), pod_change(3), pod_change(4), pod_change(5)});
  EXPECT_EQ(read(window, "pods", 2), "too old resource version: 2 (3)") << "3 was dropped";
  EXPECT_EQ(read(window, "pods", 3), "4 5 > 5");
  EXPECT_EQ(read(window, "nodes", 0), "1 > 5") << "nodes have lost nothing";
}

TEST(Window, DropsTheOldestOfAllKindsWhenItsBytesAreSpent) {
  const auto big_pod = [](std::int64_t revision) {
    Change change = pod_change(revision, revision);
    change.type = Change::Type::Modified;
    change.previous = make_pod("p", std::string(1000, 'x'));
    return change;
  };
  const std::size_t pod = store::memory_held_by(big_pod(1));
  const std::size_t node = store::memory_held_by(node_change(1));
  ASSERT_LT(node, pod);
  Window window({.changes_max = 100, .bytes_max = 2 * pod + node});
  append(window, {big_pod(1), node_change(2), big_pod(3)});
  EXPECT_EQ(read(window, "pods", 0), "1 3 > 3");
  append(window, {big_pod(4)});
  EXPECT_EQ(read(window, "pods", 0), "too old resource version: 0 (1)");
  EXPECT_EQ(read(window, "pods", 1), "3 4 > 4");
  EXPECT_EQ(read(window, "nodes", 0), "2 > 4");
  append(window, {big_pod(5)});
  EXPECT_EQ(read(window, "nodes", 0), "too old resource version: 0 (2)");
  EXPECT_EQ(read(window, "nodes", 2), "> 5") << "nothing newer was lost";
  EXPECT_EQ(read(window, "pods", 1), "too old resource version: 1 (3)")
      << "the node alone did not make room for a pod";
}

TEST(Window, CountsEachObjectThatWasReplacedOnce) {
  const Change added = pod_change(1, 1, std::string(5000, 'x'));
  Change modified = pod_change(2, 2, std::string(5000, 'y'));
  modified.type = Change::Type::Modified;
  modified.previous = added.object;
  Change deleted = modified;
  deleted.type = Change::Type::Deleted;
  deleted.revision = deleted.block_end = {3};
  deleted.previous = modified.object;
  const std::size_t both = added.object->memory() + modified.object->memory();
  const std::size_t alone = store::memory_held_by(added);
  EXPECT_LT(alone, 1'000U) << "what is current is in the store anyhow";
  Window window({.changes_max = 100, .bytes_max = both + 3 * alone});
  append(window, {added, modified, deleted});
  EXPECT_EQ(read(window, "pods", 0), "1 2 3 > 3");
  append(window, {pod_change(4)});
  EXPECT_EQ(read(window, "pods", 1), "2 3 4 > 4");
  EXPECT_EQ(read(window, "pods", 0), "too old resource version: 0 (1)") << "it takes room, too";
}

// Twenty thousand annotations of ten bytes are a megabyte and a half once they are parsed: a few
// hundred versions of such an object took 700 MiB.
TEST(Window, CountsWhatObjectsTakeInMemory) {
  api::JsonObject annotations;
  for (int i = 0; i < 1'000; ++i) annotations[std::to_string(i)] = "";
  Change change = pod_change(2);
  change.type = Change::Type::Modified;
  change.previous = api::Object::make(
      api::kinds::pod(), {{"metadata", {{"name", "p"}, {"annotations", std::move(annotations)}}}});
  ASSERT_LT(change.previous->bytes().size(), 20'000U);
  Window window({.changes_max = 100, .bytes_max = 50'000});
  append(window, {pod_change(1), change, pod_change(3)});
  EXPECT_EQ(read(window, "pods", 2), "3 > 3");
  EXPECT_EQ(read(window, "pods", 1), "too old resource version: 1 (2)");
}

TEST(Window, SurvivesAChangeThatIsLargerThanItself) {
  Window window({.changes_max = 100, .bytes_max = 10});
  append(window, {pod_change(1)});
  EXPECT_EQ(read(window, "pods", 0), "too old resource version: 0 (1)");
  EXPECT_EQ(read(window, "pods", 1), "> 1");
}

TEST(Entry, EncodesEachFormOnce) {
  const Entry entry(pod_change(7), std::make_shared<Texts>(1U << 20U));
  int encoded = 0;
  const Entry::Encode encode = [&](const Change& change) {
    return fmt::format("{} number {}", change.revision.value, ++encoded);
  };
  const std::shared_ptr<const std::string> first = entry.bytes(1, encode);
  EXPECT_EQ(*first, "7 number 1");
  EXPECT_EQ(*entry.bytes(2, encode), "7 number 2");
  EXPECT_EQ(entry.bytes(1, encode), first);
  EXPECT_EQ(encoded, 2);
}

TEST(Entry, EncodesOnceForManyThreads) {
  const Entry entry(pod_change(7), std::make_shared<Texts>(1U << 20U));
  std::atomic<int> encoded = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (std::uint32_t form = 0; form < 50; ++form)
        EXPECT_EQ(*entry.bytes(form,
                               [&](const Change&) {
                                 ++encoded;
                                 return std::to_string(form);
                               }),
                  std::to_string(form));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(encoded, 50);
}

// A reader of history in many forms must not make the window grow beyond its bytes.
TEST(Texts, AreKeptUpToTheirBytesTheYoungestSurely) {
  constexpr std::size_t kBytes = 100'000;
  constexpr std::size_t kText = 1'000;
  const auto texts = std::make_shared<Texts>(kBytes);
  const Entry entry(pod_change(7), texts);
  std::vector<std::weak_ptr<const std::string>> seen;
  for (std::uint32_t form = 0; form < 1'000; ++form)
    seen.push_back(entry.bytes(form, [](const Change&) { return std::string(kText, 'x'); }));
  const auto kept = std::ranges::count_if(seen, [](const auto& text) { return !text.expired(); });
  EXPECT_LE(kept, kBytes / kText);
  EXPECT_GE(kept, kBytes / kText / 3);
  EXPECT_FALSE(seen.back().expired());
  EXPECT_TRUE(seen.front().expired());
  EXPECT_EQ(*entry.bytes(0, [](const Change&) { return std::string("again"); }), "again");
  EXPECT_EQ(*entry.bytes(0, [](const Change&) { return std::string("no"); }), "again");
}

TEST(Subscription, IsWokenOncePerAppendOfItsKind) {
  Window window;
  int pods = 0;
  int nodes = 0;
  const auto for_pods = window.subscribe("pods", [&] { ++pods; });
  auto for_nodes = window.subscribe("nodes", [&] { ++nodes; });
  append(window, {pod_change(1), pod_change(2)});
  append(window, {pod_change(3), node_change(4)});
  EXPECT_EQ(pods, 2);
  EXPECT_EQ(nodes, 1);
  for_nodes.reset();
  append(window, {node_change(5)});
  EXPECT_EQ(nodes, 1);
}

TEST(Subscription, ToNothingInParticularIsWokenOncePerAppend) {
  Window window;
  int any = 0;
  auto to_any = window.subscribe("", [&] { ++any; });
  append(window, {pod_change(1), node_change(2)});
  append(window, {node_change(3)});
  EXPECT_EQ(any, 2);
  append(window, {});
  EXPECT_EQ(any, 2);
  to_any.reset();
  append(window, {pod_change(4)});
  EXPECT_EQ(any, 2);
  EXPECT_EQ(read(window, "pods", 0), "1 4 > 4");
}

TEST(Subscription, SeesTheChangesItIsWokenFor) {
  Window window;
  std::string seen;
  const auto subscription = window.subscribe("pods", [&] { seen = read(window, "pods", 0); });
  append(window, {pod_change(1)});
  EXPECT_EQ(seen, "1 > 1");
}

TEST(Subscription, MayBeDroppedInsideAWake) {
  Window window;
  std::vector<int> woken;
  std::vector<std::unique_ptr<Window::Subscription>> all(3);
  for (int i = 0; i < 3; ++i)
    all[static_cast<std::size_t>(i)] = window.subscribe("pods", [&, i] {
      woken.push_back(i);
      for (auto& subscription : all) subscription.reset();  // itself, an earlier and a later one
    });
  append(window, {pod_change(1)});
  EXPECT_EQ(woken, std::vector<int>{0}) << "the others were dropped before their turn";
  append(window, {pod_change(2)});
  EXPECT_EQ(woken, std::vector<int>{0});
}

TEST(Subscription, MayBeMadeInsideAWake) {
  Window window;
  int late = 0;
  std::unique_ptr<Window::Subscription> second;
  const auto first = window.subscribe("pods", [&] {
    if (!second) second = window.subscribe("pods", [&] { ++late; });
  });
  append(window, {pod_change(1)});
  EXPECT_EQ(late, 0);
  append(window, {pod_change(2)});
  EXPECT_EQ(late, 1);
}

// Handles come and go on three threads while changes arrive. What a wake captured says whether its
// handle is gone: none may run, or still be running, after that.
TEST(Subscription, IsNeverWokenAfterItWasDropped) {
  struct Receiver {
    std::atomic<bool> dropped = false;
    std::atomic<bool> running = false;
  };
  Window window;
  std::atomic<bool> done = false;
  std::atomic<int> woken = 0;
  std::atomic<int> woken_late = 0;
  std::atomic<int> dropped_early = 0;
  std::vector<std::thread> watchers;
  for (int i = 0; i < 3; ++i)
    watchers.emplace_back([&] {
      while (!done) {
        const auto receiver = std::make_shared<Receiver>();
        auto subscription = window.subscribe("pods", [&, receiver] {
          receiver->running = true;
          if (receiver->dropped) ++woken_late;
          ++woken;
          std::this_thread::yield();
          receiver->running = false;
        });
        std::this_thread::yield();
        subscription.reset();
        receiver->dropped = true;
        if (receiver->running) ++dropped_early;
      }
    });
  for (std::int64_t revision = 1; revision <= 3000 || woken == 0; ++revision)
    append(window, {pod_change(revision)});
  done = true;
  for (std::thread& watcher : watchers) watcher.join();
  EXPECT_GT(woken, 0);
  EXPECT_EQ(woken_late, 0);
  EXPECT_EQ(dropped_early, 0);
}

// The wake waits until the other thread is about to drop the handle, and then takes its time.
TEST(Subscription, ADropWaitsForTheWakeThatRuns) {
  Window window;
  std::atomic<bool> woken = false;
  std::atomic<bool> dropping = false;
  std::atomic<bool> running = false;
  auto subscription = window.subscribe("pods", [&] {
    running = true;
    woken = true;
    while (!dropping) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    running = false;
  });
  std::thread writer([&] { append(window, {pod_change(1)}); });
  while (!woken) std::this_thread::yield();
  dropping = true;
  subscription.reset();
  EXPECT_FALSE(running);
  writer.join();
}

// What a server does: many cursors, woken by subscriptions, while one writer appends blocks.
TEST(Window, LosesAndReordersNothingForReadersThatKeepUp) {
  constexpr std::int64_t kLast = 20'000;
  Window window;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&, i] {
      std::atomic<bool> news = true;
      const auto subscription = window.subscribe("pods", [&news] { news = true; });
      Revision at;
      std::int64_t expected = 1;
      while (at.value < kLast) {
        if (!news.exchange(false)) {
          std::this_thread::yield();
          continue;
        }
        for (bool more = true; more;) {
          const Result<Window::Batch> batch =
              window.read("pods", at, 7 + static_cast<std::size_t>(i));
          ASSERT_TRUE(batch) << batch.error().message;
          for (const auto& entry : batch->entries) {
            if (expected % 10 == 0) ++expected;  // a node's
            ASSERT_EQ(entry->change().revision.value, expected++);
            ASSERT_EQ(*entry->bytes(1, [](const Change& change) { return change.key; }),
                      entry->change().key);
          }
          ASSERT_GE(batch->next, at);
          at = batch->next;
          more = batch->more;
        }
      }
      EXPECT_EQ(expected, kLast);
    });
  for (std::int64_t revision = 1; revision <= kLast; revision += 4) {
    std::vector<Change> block;
    for (std::int64_t at = revision; at < revision + 4; ++at)
      block.push_back(at % 10 == 0 ? node_change(at, revision + 3) : pod_change(at, revision + 3));
    window.append(block);
  }
  for (std::thread& reader : readers) reader.join();
}

TEST(Window, ExpiresTheSlowReaderWhileTheOthersAreFine) {
  Window window({.changes_max = 50});
  Revision fast;
  Revision slow;
  std::optional<std::int64_t> expired_at;
  for (std::int64_t revision = 1; revision <= 1000; ++revision) {
    append(window, {pod_change(revision)});
    const Result<Window::Batch> batch = window.read("pods", fast, 10);
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch->entries.size(), 1U);
    fast = batch->next;
    if (revision % 3 != 0 || expired_at) continue;  // a third of the pace
    if (const Result<Window::Batch> late = window.read("pods", slow, 1)) {
      ASSERT_EQ(late->next.value, slow.value + 1);
      slow = late->next;
    } else {
      EXPECT_EQ(late.error().message,
                fmt::format("too old resource version: {} ({})", slow.value, revision - 50));
      expired_at = revision;
    }
  }
  EXPECT_TRUE(expired_at);
  EXPECT_EQ(fast, Revision{1000});
}

}  // namespace
}  // namespace muster::watch
