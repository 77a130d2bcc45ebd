// The logs by which what is derived from the table catches up, and sets of rows.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "scheduler/cache/label_column.h"
#include "scheduler/cache/node_set.h"
#include "scheduler/cache/pod_log.h"
#include "scheduler/cache/row_log.h"
#include "scheduler/cache/row_set.h"

namespace muster::scheduler {
namespace {

NodeId row(std::size_t number) { return static_cast<NodeId>(number); }

TEST(RowLog, ReachesAsFarBackAsItHasRoom) {
  RowLog log;
  log.grow(10);
  EXPECT_TRUE(log.reaches(0)) << "nothing has happened";
  for (std::size_t i = 0; i < 1024; ++i) log.add(row(i % 10), RowLog::What::Usage);
  EXPECT_TRUE(log.reaches(0));
  log.add(row(3), RowLog::What::Usage);
  EXPECT_FALSE(log.reaches(0));
  EXPECT_TRUE(log.reaches(1));
  EXPECT_EQ(log.end(), 1025U);
  EXPECT_EQ(log.at(1).node, row(1));
  EXPECT_EQ(log.at(1024).node, row(3));
}

TEST(RowLog, KeepsWhatItHasWhenItGrows) {
  RowLog log;
  log.grow(10);
  for (std::size_t i = 0; i < 1500; ++i)
    log.add(row(i % 7), i % 2 == 0 ? RowLog::What::Usage : RowLog::What::Node);
  log.grow(1024);
  EXPECT_TRUE(log.reaches(1500 - 1024)) << "there is room enough";
  log.grow(1025);
  EXPECT_TRUE(log.reaches(1500 - 1024));
  EXPECT_FALSE(log.reaches(1500 - 1025)) << "what was overwritten does not come back";
  for (std::uint64_t at = 1500 - 1024; at < 1500; ++at) {
    ASSERT_EQ(log.at(at).node, row(at % 7));
    ASSERT_EQ(log.at(at).what, at % 2 == 0 ? RowLog::What::Usage : RowLog::What::Node);
  }
  for (std::size_t i = 0; i < 1024; ++i) log.add(row(1024), RowLog::What::Usage);
  EXPECT_TRUE(log.reaches(1500 - 1024)) << "twice as many have room";
  log.add(row(0), RowLog::What::Usage);
  EXPECT_FALSE(log.reaches(1500 - 1024));
  EXPECT_TRUE(log.is_outdated(2522));
  EXPECT_FALSE(log.is_outdated(2523));
}

TEST(RowLog, AFewEntriesAreKeptWhenItGrowsEarly) {
  RowLog log;
  log.grow(1);
  for (int i = 0; i < 3; ++i) log.add(row(0), RowLog::What::Usage);
  log.grow(5000);
  EXPECT_TRUE(log.reaches(0));
  log.add(row(4999), RowLog::What::Node);
  EXPECT_EQ(log.at(3).node, row(4999));
  EXPECT_TRUE(log.is_outdated(0));
  EXPECT_FALSE(log.is_outdated(2));
}

TEST(RowLog, TellsWhetherNodesChangedOrOnlyWhatIsFree) {
  RowLog log;
  log.grow(2);
  EXPECT_FALSE(log.has_nodes_since(0));
  log.add(row(0), RowLog::What::Usage);
  EXPECT_FALSE(log.has_nodes_since(0));
  log.add(row(1), RowLog::What::Node);
  log.add(row(0), RowLog::What::Usage);
  EXPECT_TRUE(log.has_nodes_since(0));
  EXPECT_TRUE(log.has_nodes_since(1));
  EXPECT_FALSE(log.has_nodes_since(2));
}

TEST(PodLog, GivesBackTheOldestWhenItIsFull) {
  constexpr std::uint64_t kSize = 4096;
  PodLog log;
  const auto entry = [](std::uint64_t number) {
    return PodLog::Entry{static_cast<ClassId>(number), row(number), number % 2 == 0};
  };
  for (std::uint64_t i = 0; i < kSize; ++i) {
    EXPECT_FALSE(log.is_full());
    log.add(entry(i));
  }
  EXPECT_TRUE(log.is_full());
  EXPECT_TRUE(log.reaches(0));
  EXPECT_EQ(log.oldest().pods, ClassId{0});
  log.add(entry(kSize));
  EXPECT_FALSE(log.reaches(0));
  EXPECT_TRUE(log.reaches(1));
  EXPECT_EQ(log.oldest().pods, ClassId{1});
  EXPECT_EQ(log.at(kSize).node, row(kSize));
  EXPECT_TRUE(log.at(kSize).came);
  EXPECT_FALSE(log.at(1).came);
  const std::vector<ClassId> gone = log.clear();
  ASSERT_EQ(gone.size(), kSize);
  EXPECT_EQ(gone.front(), ClassId{1});
  EXPECT_EQ(gone.back(), ClassId{kSize});
  EXPECT_FALSE(log.is_full());
  EXPECT_TRUE(log.reaches(log.end()));
  EXPECT_FALSE(log.reaches(log.end() - 1));
  EXPECT_TRUE(log.clear().empty());
}

TEST(NodeSet, HoldsRowsAcrossWords) {
  NodeSet set(130);
  EXPECT_TRUE(set.empty());
  for (const std::size_t at : {0U, 63U, 64U, 129U}) set.insert(row(at));
  EXPECT_EQ(set.count(), 4U);
  EXPECT_FALSE(set.empty());
  EXPECT_TRUE(set.contains(row(63)));
  EXPECT_FALSE(set.contains(row(62)));
  set.remove(row(63));
  set.set(row(1), true);
  set.set(row(0), false);
  std::vector<NodeId> members;
  set.for_each([&](NodeId node) { members.push_back(node); });
  EXPECT_EQ(members, (std::vector<NodeId>{row(1), row(64), row(129)}));
  set.keep_if([](NodeId node) { return node != row(64); });
  EXPECT_EQ(set.count(), 2U);
  EXPECT_FALSE(set.contains(row(64)));
  NodeSet other(130);
  EXPECT_FALSE(set == other);
  set.clear();
  EXPECT_TRUE(set == other);
}

TEST(RowSet, HoldsEachRowOnceInTheOrderTheyCame) {
  RowSet set;
  set.resize(100);
  EXPECT_TRUE(set.empty());
  for (const std::size_t at : {70U, 3U, 70U, 5U, 3U}) set.insert(row(at));
  EXPECT_EQ(std::vector<NodeId>(set.rows().begin(), set.rows().end()),
            (std::vector<NodeId>{row(70), row(3), row(5)}));
  EXPECT_EQ(set.size(), 3U);
  set.clear();
  EXPECT_TRUE(set.empty());
  set.insert(row(70));
  EXPECT_EQ(set.size(), 1U) << "it was forgotten";
}

TEST(LabelValues, TakeNoMemoryWhileNobodyHasOne) {
  const LabelValueId one{1};
  const LabelValueId two{2};
  LabelValues values;
  values.resize(10);
  EXPECT_EQ(values[row(7)], LabelValueId::Absent);
  EXPECT_EQ(values.set(row(7), one), LabelValueId::Absent);
  values.resize(200);
  EXPECT_EQ(values[row(7)], one);
  EXPECT_EQ(values[row(199)], LabelValueId::Absent);
  EXPECT_EQ(values.set(row(199), two), LabelValueId::Absent);
  EXPECT_EQ(values.set(row(7), two), one);
  EXPECT_EQ(values.set(row(7), two), two);
  EXPECT_EQ(values.set(row(7), LabelValueId::Absent), two);
  EXPECT_EQ(values[row(7)], LabelValueId::Absent);
  EXPECT_EQ(values[row(199)], two);
  EXPECT_EQ(values.set(row(199), LabelValueId::Absent), two);
  EXPECT_EQ(values[row(199)], LabelValueId::Absent);
  EXPECT_EQ(values.set(row(150), one), LabelValueId::Absent);
  EXPECT_EQ(values[row(150)], one);
  EXPECT_EQ(values[row(199)], LabelValueId::Absent);
}

}  // namespace
}  // namespace muster::scheduler
