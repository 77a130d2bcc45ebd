#include "store/store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "store/engines/memory.h"
#include "store/engines/testing.h"

namespace muster::store {
namespace {

using testing::create;
using testing::pod_key;
using testing::remove;
using testing::replace;
using testing::together;

std::vector<Result<Revision>> commit(Store& store, std::vector<Transaction> batch) {
  return store.commit(batch).value();
}
std::vector<std::string> names(const Store::Listing& listing) {
  std::vector<std::string> all;
  for (const ObjectPtr& object : listing.objects) all.push_back(object->meta().name);
  return all;
}
Write write_at(std::string key, std::string_view name) {
  return {.key = std::move(key), .object = testing::make_pod(name), .expected = {}};
}

using Names = std::vector<std::string>;

TEST(Store, MakesKeysThatSortAsListsAreListed) {
  EXPECT_EQ(make_key(api::kinds::pod(), "default", "web"), "pods/default/web");
  EXPECT_EQ(make_key(api::kinds::node(), "", "n1"), "nodes/n1");
}

TEST(Store, FindsObjectsByKey) {
  const auto store = Store::open(make_memory_engine()).value();
  EXPECT_EQ(store->get(pod_key("a")), nullptr);
  commit(*store, {together(create("a"), create("b"))});
  EXPECT_EQ(store->get(pod_key("a"))->revision(), Revision{1});
  EXPECT_EQ(store->revision(), Revision{2});
  commit(*store, {together(remove("a", {1}), replace("b", {2}))});
  EXPECT_EQ(store->get(pod_key("a")), nullptr);
  EXPECT_EQ(store->get(pod_key("b"))->revision(), Revision{4});
}

TEST(Store, ListsAPrefixInKeyOrderAndNothingBesideIt) {
  const auto store = Store::open(make_memory_engine()).value();
  commit(*store, {together(write_at("pods/b/2", "b2"), write_at("pods/a/9", "a9"),
                           write_at("pods/a/10", "a10"), write_at("pods/ab/1", "ab1")),
                  together(write_at("podgroups/a/1", "g"), write_at("podsx/a/1", "x"),
                           write_at("\xff/1", "last"))});
  EXPECT_EQ(names(store->list("pods/")), (Names{"a10", "a9", "ab1", "b2"}));
  EXPECT_EQ(names(store->list("pods/a/")), (Names{"a10", "a9"}));
  EXPECT_EQ(names(store->list("pods/c/")), Names{});
  EXPECT_EQ(names(store->list("\xff")), Names{"last"}) << "a prefix that nothing can follow";
  EXPECT_EQ(names(store->list("")).size(), 7U);
  EXPECT_EQ(store->list("nodes/").revision, Revision{7}) << "of the store, not of the items";
}

TEST(Store, GivesKeysAFewAtATime) {
  const auto store = Store::open(make_memory_engine()).value();
  commit(*store, {together(write_at("pods/a/1", "1"), write_at("pods/a/2", "2"),
                           write_at("pods/a/3", "3"), write_at("pods/ab/1", "4"))});
  const auto keys = [&](std::string_view after, std::size_t max) {
    const Store::Keys found = store->keys_after("pods/a/", after, max);
    std::string text;
    for (const std::string& key : found.keys) text += key.substr(7) + " ";
    return text + (found.more ? "more" : ".");
  };
  EXPECT_EQ(keys("", 2), "1 2 more");
  EXPECT_EQ(keys("", 3), "1 2 3 .");
  EXPECT_EQ(keys("pods/a/2", 2), "3 .");
  EXPECT_EQ(keys("pods/a/3", 2), ".");
  EXPECT_EQ(keys("pods/a/1x", 1), "2 more") << "what it goes on from may be gone";

  const Store::Page page = store->page_after("pods/a/", "pods/a/1", 1);
  ASSERT_EQ(page.objects.size(), 1U);
  EXPECT_EQ(page.objects.front()->meta().name, "2");
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.revision, Revision{4}) << "of the store, not of the objects";
  EXPECT_FALSE(store->page_after("pods/a/", "pods/a/1", 2).more);
}

TEST(Store, ObjectsKnowWhenTheyWereCreated) {
  const auto store = Store::open(make_memory_engine()).value();
  const auto created = [&](std::string_view name) { return store->get(pod_key(name))->created(); };
  commit(*store, {together(create("a"), create("b"))});
  commit(*store, {together(replace("a", {1})), together(replace("a", {3}), remove("b", {2})),
                  together(create("b"))});
  EXPECT_EQ(created("a"), Revision{1});
  EXPECT_EQ(created("b"), Revision{6});
}

TEST(Store, AListEndsBeforeTheTextThatFollowsItsPrefix) {
  const auto store = Store::open(make_memory_engine()).value();
  commit(*store, {together(write_at("pods/z", "z"), write_at("pods0", "beside"))});
  EXPECT_EQ(names(store->list("pods/")), Names{"z"});
}

TEST(Store, ChangesNothingForARefusedTransaction) {
  const auto store = Store::open(make_memory_engine()).value();
  commit(*store, {together(create("a"))});
  const auto outcomes = commit(*store, {together(create("b"), create("a"))});
  EXPECT_EQ(outcomes[0].error().reason, Reason::Conflict);
  EXPECT_EQ(store->get(pod_key("b")), nullptr);
  EXPECT_EQ(store->revision(), Revision{1});
}

TEST(Store, TellsListenersAfterTheObjectsAreUpdated) {
  const auto store = Store::open(make_memory_engine()).value();
  std::vector<std::string> heard;
  for (const char* who : {"first ", "second "})
    store->listen([&, who](std::span<const Change> changes) {
      for (const Change& change : changes) heard.push_back(who + change.key);
      EXPECT_EQ(store->revision(), changes.back().revision);
      EXPECT_EQ(store->get(changes.back().key), changes.back().object);
    });
  commit(*store, {together(create("a"))});
  commit(*store, {together(replace("a", {9}))});
  EXPECT_EQ(heard, (Names{"first pods/default/a", "second pods/default/a"}));
}

TEST(Store, LoadsWhatTheEngineHoldsAndTellsListenersItsRecentChanges) {
  std::unique_ptr<Engine> engine = make_memory_engine();
  std::vector<Transaction> batch{together(create("a")), together(create("b")),
                                 together(remove("a", {1}))};
  ASSERT_TRUE(engine->commit(batch));
  ASSERT_TRUE(engine->compact({1}));
  const auto store = Store::open(std::move(engine)).value();
  EXPECT_EQ(store->revision(), Revision{3});
  EXPECT_EQ(store->compacted(), Revision{1});
  EXPECT_EQ(names(store->list("pods/")), Names{"b"});
  for (int listener = 0; listener < 2; ++listener) {
    std::vector<std::int64_t> heard;
    store->listen([&heard](std::span<const Change> changes) {
      for (const Change& change : changes) heard.push_back(change.revision.value);
    });
    EXPECT_EQ(heard, (std::vector<std::int64_t>{2, 3}));
  }
}

TEST(Store, CompactsItsEngine) {
  const auto store = Store::open(make_memory_engine()).value();
  commit(*store, {together(create("a")), together(replace("a", {1}))});
  ASSERT_TRUE(store->compact({2}));
  EXPECT_EQ(store->compacted(), Revision{2});
  EXPECT_FALSE(store->compact({3}));
  EXPECT_EQ(store->compacted(), Revision{2});
  EXPECT_NE(store->get(pod_key("a")), nullptr);
}

// An engine whose disk is full while `full` says so.
class FillingEngine final : public Engine {
 public:
  explicit FillingEngine(const bool& full) : full_(full) {}
  Result<Contents> load() override { return Contents{}; }
  Result<std::vector<Result<Revision>>> commit(std::span<Transaction>) override {
    TRY(probe());
    return std::vector<Result<Revision>>{};
  }
  void set_sink(Sink) override {}
  Result<Revision> compact(Revision revision) override {
    if (revision.value > 0) return fail(Reason::BadRequest, "the newest is 0");
    TRY(probe());
    return revision;
  }
  Result<void> remember(Waypoint) override { return probe(); }
  Result<void> copy_to(const std::string&) override { return probe(); }
  Result<void> probe() override {
    if (full_) return fail(Reason::InternalError, "disk full");
    return {};
  }

 private:
  const bool& full_;
};

// S-M5: what readyz asks.
TEST(Store, KnowsWhetherItCanBeWritten) {
  bool full = false;
  const auto store = Store::open(std::make_unique<FillingEngine>(full)).value();
  const auto why_not = [&] { return store->health().why_not_writable().value_or(""); };
  EXPECT_EQ(why_not(), "");
  full = true;
  EXPECT_EQ(why_not(), "") << "nobody has tried";
  EXPECT_FALSE(store->commit({}));
  EXPECT_EQ(why_not(), "disk full");
  EXPECT_FALSE(store->probe());
  EXPECT_EQ(why_not(), "disk full");
  full = false;
  EXPECT_TRUE(store->probe());
  EXPECT_EQ(why_not(), "") << "it recovers without a write of a client";
  full = true;
  EXPECT_FALSE(store->compact({0}));
  EXPECT_EQ(why_not(), "disk full");
  full = false;
  EXPECT_TRUE(store->commit({}));
  EXPECT_EQ(why_not(), "");
  EXPECT_FALSE(store->compact({1}));
  EXPECT_EQ(why_not(), "") << "a caller's mistake is not the disk's";
}

TEST(Store, PassesAnEnginesFailureOn) {
  const bool full = true;
  const auto store = Store::open(std::make_unique<FillingEngine>(full)).value();
  std::vector<Transaction> batch{together(create("a"))};
  EXPECT_EQ(store->commit(batch).error().message, "disk full");
  EXPECT_EQ(store->compact({0}).error().message, "disk full");
  EXPECT_EQ(store->revision(), Revision{0});
}

// Pairs are always written together, so a reader must never find one newer than the other.
TEST(Store, ShowsReadersOnlyWholeTransactions) {
  const auto store = Store::open(make_memory_engine()).value();
  commit(*store, {together(create("left"), create("right"))});
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      Revision last;
      while (!done) {
        const Store::Listing listing = store->list("pods/");
        ASSERT_EQ(listing.objects.size(), 2U);
        ASSERT_EQ(listing.objects[0]->revision().value + 1, listing.objects[1]->revision().value);
        ASSERT_EQ(listing.objects[1]->revision(), listing.revision);
        ASSERT_GE(listing.revision, last);
        last = listing.revision;
        ASSERT_NE(store->get(pod_key("left")), nullptr);
      }
    });
  for (std::int64_t at = 0; at < 4000; at += 2)
    ASSERT_TRUE(
        commit(*store, {together(replace("left", {at + 1}), replace("right", {at + 2}))})[0]);
  done = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace muster::store
