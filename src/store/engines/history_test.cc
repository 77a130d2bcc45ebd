#include "store/engines/history.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "store/engines/totals.h"

namespace muster::store {
namespace {

// Changes 11, 12, 13 and 14, which keep 10, 20, 30 and 40 bytes.
History four_changes() {
  History history;
  for (std::int64_t i = 1; i <= 4; ++i)
    history.push({.revision = {10 + i},
                  .supersedes = {i},
                  .frees = static_cast<std::uint32_t>(10 * i),
                  .deleted = false});
  return history;
}

TEST(History, KnowsWhatItsChangesKeep) {
  History history = four_changes();
  EXPECT_EQ(history.size(), 4U);
  EXPECT_EQ(history.bytes(), 100U);
  EXPECT_EQ(history.newest(), Revision{14});
  EXPECT_EQ(history[0].revision, Revision{11});
  history.drop(0);
  EXPECT_EQ(history.size(), 4U);
  history.drop(2);
  EXPECT_EQ(history.size(), 2U);
  EXPECT_EQ(history.bytes(), 70U);
  EXPECT_EQ(history[0].revision, Revision{13});
  history.drop(2);
  EXPECT_TRUE(history.empty());
  EXPECT_EQ(history.bytes(), 0U);
}

// The newest change that must go, so that those after it are within the limits.
TEST(History, KnowsWhatMustGoSoThatTheRestFits) {
  const History history = four_changes();
  const auto leaves = [&](std::size_t changes, std::size_t bytes) {
    return history.revision_that_leaves({.changes = changes, .bytes = bytes}, {10}).value;
  };
  EXPECT_EQ(leaves(4, 100), 10) << "all of them fit";
  EXPECT_EQ(leaves(3, 100), 11);
  EXPECT_EQ(leaves(1, 100), 13);
  EXPECT_EQ(leaves(0, 100), 14);
  EXPECT_EQ(leaves(4, 99), 11);
  EXPECT_EQ(leaves(4, 90), 11);
  EXPECT_EQ(leaves(4, 89), 12);
  EXPECT_EQ(leaves(4, 40), 13);
  EXPECT_EQ(leaves(4, 39), 14);
}

TEST(Totals, AreTheSameInWhateverOrder) {
  Totals one;
  one.add("pods/default/a", {1});
  one.add("pods/default/b", {2});
  one.add("pods/default/c", {3});
  one.remove("pods/default/b", {2});
  Totals other;
  other.add("pods/default/c", {3});
  other.add("pods/default/a", {1});
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.objects, 2U);
  other.remove("pods/default/a", {1});
  other.add("pods/default/a", {4});
  EXPECT_EQ(other.objects, 2U);
  EXPECT_NE(one, other) << "it was written by another commit";
}

TEST(Totals, AreReadAsTheyWereWritten) {
  Totals totals{.revision = {7}};
  totals.add("nodes/n", {5});
  EXPECT_EQ(decode_totals(encode(totals)), totals);
  EXPECT_EQ(decode_totals(encode(totals) + "x"), std::nullopt);
  EXPECT_EQ(decode_totals(""), std::nullopt);
}

// They are on disks: another hash would take every store for a damaged one.
TEST(Totals, AreMadeOfAHashThatNeverChanges) {
  EXPECT_EQ(stable_hash(""), 0xcbf29ce484222325U);
  EXPECT_EQ(stable_hash("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(stable_hash("foobar"), 0x85944171f73967e8U);
  EXPECT_EQ(stable_hash("\xff"), 0xaf64724c8602eb6eU);
  EXPECT_EQ(stable_hash("bar", stable_hash("foo")), stable_hash("foobar"));
}

}  // namespace
}  // namespace muster::store
