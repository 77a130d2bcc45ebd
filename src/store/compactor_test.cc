#include "store/compactor.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "store/engines/memory.h"
#include "store/engines/rocksdb.h"
#include "store/engines/testing.h"

namespace muster::store {
namespace {

using std::chrono::minutes;

constexpr Time kStart = Time(std::chrono::hours{500'000});

// Writes one pod `count` times more.
void write(Store& store, std::int64_t count) {
  std::vector<Transaction> batch;
  const std::int64_t at = store.revision().value;
  for (std::int64_t i = 0; i < count; ++i)
    batch.push_back(testing::together(testing::replace("a", {at + i})));
  const std::vector<Result<Revision>> outcomes = store.commit(batch).value();
  for (const Result<Revision>& outcome : outcomes) ASSERT_TRUE(outcome);
}

// Runs the compactor until it has nothing to do; how many slices that took.
int run(Compactor& compactor, Time now) {
  int slices = 0;
  for (; compactor.due(now); ++slices) EXPECT_TRUE(compactor.run_once(now));
  return slices;
}

TEST(Compactor, ForgetsWhatIsOlderThanFiveMinutes) {
  const auto store = Store::open(make_memory_engine()).value();
  Compactor compactor(*store);
  write(*store, 3);
  run(compactor, kStart);
  EXPECT_EQ(store->compacted(), Revision{0});
  write(*store, 4);
  EXPECT_FALSE(compactor.due(kStart + minutes{5} - Duration{1}));
  run(compactor, kStart + minutes{5});
  EXPECT_EQ(store->compacted(), Revision{3}) << "what was newest five minutes ago";
  run(compactor, kStart + minutes{10});
  EXPECT_EQ(store->compacted(), Revision{7});
}

// S-M8: a pass over 190,000 revisions used to block writes for 446 ms.
TEST(Compactor, LetsCommitsInBetweenSlices) {
  const auto store = Store::open(make_memory_engine()).value();
  constexpr std::int64_t kSlice = kCompactionSlice;
  write(*store, 3 * kSlice + 1);
  Compactor compactor(*store);
  run(compactor, kStart);
  const Time now = kStart + minutes{5};
  for (std::int64_t slice = 1; slice <= 3; ++slice) {
    ASSERT_TRUE(compactor.due(now));
    ASSERT_TRUE(compactor.run_once(now));
    EXPECT_EQ(store->compacted(), Revision{slice * kSlice}) << "no more than a slice at a time";
    write(*store, 1);
  }
  EXPECT_EQ(run(compactor, now), 1);
  EXPECT_EQ(store->compacted(), Revision{3 * kSlice + 1});
}

TEST(Compactor, ForgetsYoungHistoryOfTooManyChanges) {
  const auto store = Store::open(make_memory_engine()).value();
  Compactor compactor(*store, {.changes = 10, .bytes = SIZE_MAX});
  run(compactor, kStart);
  write(*store, 10);
  EXPECT_FALSE(compactor.due(kStart));
  write(*store, 1);
  EXPECT_TRUE(compactor.due(kStart));
  run(compactor, kStart);
  EXPECT_EQ(store->history().changes, 5U) << "half of what may be kept";
  EXPECT_EQ(store->compacted(), Revision{6});
  run(compactor, kStart + minutes{5});
  EXPECT_EQ(store->compacted(), Revision{6}) << "the next pass by time is as it would have been";
}

TEST(Compactor, ForgetsYoungHistoryOfTooManyBytes) {
  const testing::TemporaryDirectory temporary;
  const auto store = Store::open(open_rocksdb_engine(temporary.store()).value()).value();
  write(*store, 11);  // ten of them replace the one before
  const std::size_t max = store->history().bytes;
  ASSERT_GT(max, 0U);
  Compactor compactor(*store, {.changes = SIZE_MAX, .bytes = max});
  run(compactor, kStart);
  EXPECT_FALSE(compactor.due(kStart));
  write(*store, 1);
  EXPECT_TRUE(compactor.due(kStart));
  run(compactor, kStart);
  EXPECT_EQ(store->history().bytes, max / 2);
  EXPECT_EQ(store->compacted(), Revision{7});
  EXPECT_FALSE(compactor.due(kStart));
}

TEST(Compactor, ForgetsAllOfItIfTheLastChangeIsTooMuch) {
  const auto store = Store::open(make_memory_engine()).value();
  Compactor compactor(*store, {.changes = 1, .bytes = 1});
  run(compactor, kStart);
  write(*store, 3);
  run(compactor, kStart);
  EXPECT_EQ(store->history().changes, 0U);
  EXPECT_FALSE(compactor.due(kStart));
}

// An engine whose disk holds so much that was forgotten.
class SlowDisk final : public Engine {
 public:
  explicit SlowDisk(const std::size_t& unreclaimed) : unreclaimed_(unreclaimed) {}
  Result<Contents> load() override { return inner_->load(); }
  Result<std::vector<Result<Revision>>> commit(std::span<Transaction> batch) override {
    return inner_->commit(batch);
  }
  void set_sink(Sink sink) override { inner_->set_sink(std::move(sink)); }
  Result<Revision> compact(Revision revision) override { return inner_->compact(revision); }
  Result<void> remember(Waypoint waypoint) override { return inner_->remember(waypoint); }
  Result<void> probe() override { return inner_->probe(); }
  Result<void> copy_to(const std::string& directory) override { return inner_->copy_to(directory); }
  std::size_t unreclaimed() const override { return unreclaimed_; }

 private:
  const std::size_t& unreclaimed_;
  std::unique_ptr<Engine> inner_ = make_memory_engine();
};

TEST(Compactor, IsBehindWhileTheDiskHoldsTwiceWhatHistoryMay) {
  std::size_t unreclaimed = 0;
  const auto store = Store::open(std::make_unique<SlowDisk>(unreclaimed)).value();
  const Compactor compactor(*store, {.changes = SIZE_MAX, .bytes = 1'000});
  unreclaimed = 2'000;
  write(*store, 1);
  EXPECT_FALSE(compactor.is_behind());
  unreclaimed = 2'001;
  write(*store, 1);
  EXPECT_TRUE(compactor.is_behind());
  unreclaimed = 0;
  ASSERT_TRUE(store->compact({1}));
  EXPECT_FALSE(compactor.is_behind());
}

// S-M8: who was restarted more often than every five minutes never compacted.
TEST(Compactor, RemembersWhenItRanLastAcrossRestarts) {
  const testing::TemporaryDirectory temporary;
  Time now = kStart;
  for (int life = 0; life < 6; ++life, now += minutes{1}) {
    const auto store = Store::open(open_rocksdb_engine(temporary.store()).value()).value();
    Compactor compactor(*store);
    run(compactor, now);
    EXPECT_EQ(store->compacted(), Revision{0}) << life;
    write(*store, 10);
  }
  const auto store = Store::open(open_rocksdb_engine(temporary.store()).value()).value();
  Compactor compactor(*store);
  EXPECT_FALSE(compactor.due(now)) << "the last pass was a minute ago, in another life";
  run(compactor, now + minutes{4});
  EXPECT_EQ(store->compacted(), Revision{50}) << "what was newest at that pass";
}

TEST(Compactor, StartsOverWhenTheClockGoesBack) {
  const auto store = Store::open(make_memory_engine()).value();
  Compactor compactor(*store);
  write(*store, 3);
  run(compactor, kStart);
  EXPECT_EQ(run(compactor, kStart - minutes{60}), 1);
  EXPECT_EQ(store->compacted(), Revision{0});
  run(compactor, kStart - minutes{55});
  EXPECT_EQ(store->compacted(), Revision{3});
}

// A memory engine that cannot be compacted, or cannot remember, for a while.
class StubbornEngine final : public Engine {
 public:
  struct Fault {
    bool compacting = false;
    bool remembering = false;
  };
  explicit StubbornEngine(const Fault& fault) : fault_(fault) {}
  Result<Contents> load() override { return inner_->load(); }
  Result<std::vector<Result<Revision>>> commit(std::span<Transaction> batch) override {
    return inner_->commit(batch);
  }
  void set_sink(Sink sink) override { inner_->set_sink(std::move(sink)); }
  Result<Revision> compact(Revision revision) override {
    if (fault_.compacting) return fail(Reason::InternalError, "disk full");
    return inner_->compact(revision);
  }
  HistorySize history() const override { return inner_->history(); }
  Revision revision_that_leaves(const HistorySize& most) const override {
    return inner_->revision_that_leaves(most);
  }
  Result<void> remember(Waypoint waypoint) override {
    if (fault_.remembering) return fail(Reason::InternalError, "disk full");
    return inner_->remember(waypoint);
  }
  Result<void> probe() override { return inner_->probe(); }
  Result<void> copy_to(const std::string& directory) override { return inner_->copy_to(directory); }

 private:
  const Fault& fault_;
  std::unique_ptr<Engine> inner_ = make_memory_engine();
};

TEST(Compactor, TriesAgainAMinuteAfterAFailure) {
  StubbornEngine::Fault fault;
  const auto store = Store::open(std::make_unique<StubbornEngine>(fault)).value();
  Compactor compactor(*store);
  write(*store, 3);
  run(compactor, kStart);
  Time now = kStart + minutes{5};
  fault.compacting = true;
  EXPECT_EQ(compactor.run_once(now).error().message, "disk full");
  EXPECT_EQ(store->health().why_not_writable(), "disk full");
  EXPECT_FALSE(compactor.due(now));
  EXPECT_FALSE(compactor.due(now + minutes{1} - Duration{1}));
  EXPECT_TRUE(compactor.run_once(now + minutes{1} - Duration{1})) << "it does not even try";
  now += minutes{1};
  EXPECT_TRUE(compactor.due(now));
  EXPECT_FALSE(compactor.run_once(now));
  fault.compacting = false;
  now += minutes{1};
  EXPECT_EQ(run(compactor, now), 1);
  EXPECT_EQ(store->compacted(), Revision{3});
  EXPECT_FALSE(compactor.due(now + minutes{5} - Duration{1}));
  EXPECT_TRUE(compactor.due(now + minutes{5})) << "the next pass is on time";
}

TEST(Compactor, APassThatCannotBeRememberedIsNotOver) {
  StubbornEngine::Fault fault{.remembering = true};
  const auto store = Store::open(std::make_unique<StubbornEngine>(fault)).value();
  Compactor compactor(*store);
  write(*store, 3);
  EXPECT_FALSE(compactor.run_once(kStart));
  EXPECT_EQ(store->health().why_not_writable(), "disk full");
  fault.remembering = false;
  EXPECT_EQ(run(compactor, kStart + minutes{1}), 1);
  EXPECT_EQ(store->health().why_not_writable(), std::nullopt);
  EXPECT_FALSE(compactor.due(kStart + minutes{6} - Duration{1})) << "five minutes after that";
  EXPECT_TRUE(compactor.due(kStart + minutes{6}));
}

TEST(Compactor, ForgetsNoMoreThanThereIsInAStoreThatWasRestored) {
  const testing::TemporaryDirectory temporary;
  {
    const auto before = Store::open(open_rocksdb_engine(temporary.store()).value()).value();
    write(*before, 3);
    ASSERT_TRUE(before->remember({.at = kStart, .revision = {100}}));
  }
  const auto restored = Store::open(open_rocksdb_engine(temporary.store()).value()).value();
  Compactor compactor(*restored);
  EXPECT_EQ(run(compactor, kStart + minutes{5}), 1);
  EXPECT_EQ(restored->compacted(), Revision{3});
}

}  // namespace
}  // namespace muster::store
