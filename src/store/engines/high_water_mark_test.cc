#include "store/engines/high_water_mark.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "store/engines/testing.h"

namespace muster::store {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class HighWaterMarkTest : public ::testing::Test {
 protected:
  HighWaterMarkTest() {
    EXPECT_TRUE(HighWaterMark::create(path_, {7}));
    const auto mark = HighWaterMark::open(path_).value();
    for (const std::int64_t revision : {8, 9}) EXPECT_TRUE(mark->raise({revision}));
  }

  const testing::TemporaryDirectory temporary_;
  const std::string path_ = temporary_.path() + "/MARK";
};

TEST_F(HighWaterMarkTest, IsWhatWasRaisedLast) {
  EXPECT_EQ(HighWaterMark::read(path_).value(), Revision{9});
  const auto mark = HighWaterMark::open(path_).value();
  ASSERT_TRUE(mark->raise({12'345'678'901}));
  EXPECT_EQ(HighWaterMark::read(path_).value(), Revision{12'345'678'901})
      << "others see it at once";
}

TEST_F(HighWaterMarkTest, FallsBackToTheOtherSlotAndNoFurther) {
  const std::string text = read_text(path_);
  int behind = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x04);
    std::ofstream(path_, std::ios::binary) << flipped;
    const Result<Revision> revision = HighWaterMark::read(path_);
    ASSERT_TRUE(revision) << at;
    ASSERT_TRUE(revision->value == 8 || revision->value == 9) << at;
    if (revision->value == 8) ++behind;
  }
  EXPECT_GT(behind, 30) << "every byte of a slot counts";
}

TEST_F(HighWaterMarkTest, SaysThatItIsMissingOrUnreadable) {
  std::filesystem::resize_file(path_, 20);
  EXPECT_EQ(HighWaterMark::read(path_).error().message, path_ + " is unreadable");
  std::filesystem::remove(path_);
  EXPECT_EQ(HighWaterMark::read(path_).error().message,
            path_ + " cannot be read: No such file or directory");
  EXPECT_FALSE(HighWaterMark::open(path_)) << "it is never made by accident";
}

}  // namespace
}  // namespace muster::store
