#include "store/compactor.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace muster::store
