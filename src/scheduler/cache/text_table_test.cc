#include "scheduler/cache/text_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::scheduler {
namespace {

TEST(TextTable, NumbersTextsAsLongAsSomebodyUsesThem) {
  TextTable table;
  const TextTable::Id web = table.use("web");
  EXPECT_EQ(table.use("web"), web);
  const TextTable::Id db = table.use("db");
  EXPECT_NE(db, web);
  table.release(web);
  EXPECT_EQ(table.find("web"), web) << "used twice";
  table.release(web);
  EXPECT_EQ(table.find("web"), TextTable::kNone);
  EXPECT_EQ(table.use("cache"), web) << "a number that became free is given again";
  EXPECT_EQ(table.find("db"), db);
  EXPECT_EQ(table.size(), 2U);
}

// Short texts are kept inside of what holds them, which must not move.
TEST(TextTable, FindsAllOfManyTexts) {
  TextTable table;
  std::vector<TextTable::Id> ids;
  for (int i = 0; i < 5000; ++i) ids.push_back(table.use(std::to_string(i)));
  for (int i = 0; i < 5000; ++i)
    ASSERT_EQ(table.find(std::to_string(i)), ids[static_cast<std::size_t>(i)]);
  for (const TextTable::Id id : ids) table.release(id);
  EXPECT_EQ(table.size(), 0U);
}

}  // namespace
}  // namespace muster::scheduler
