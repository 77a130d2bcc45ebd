#include "server/http/inbox.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace muster::server {
namespace {

class Woken final : public Recipient {
 public:
  explicit Woken(std::size_t& wakes) : wakes_(wakes) {}
  void on_answer(Result<api::Answer> /*answer*/) override {}
  void on_wake() override { ++wakes_; }
  void on_outcome(DelegatedRun& /*run*/) override {}
  void on_exception(std::string_view /*what*/) noexcept override {}

 private:
  std::size_t& wakes_;
};

class InboxTest : public ::testing::Test {
 protected:
  void wake(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      recipients_.push_back(std::make_shared<Woken>(wakes_));
      inbox_.put_wake(recipients_.back(), std::make_shared<std::atomic<bool>>(true));
    }
  }

  Inbox inbox_{[] {}};
  std::vector<std::shared_ptr<Woken>> recipients_;
  std::size_t wakes_ = 0;
};

TEST_F(InboxTest, WakesComeInPortions) {
  wake(7);
  const auto never = [] { return false; };
  EXPECT_TRUE(inbox_.deliver_wakes(3, never));
  EXPECT_EQ(wakes_, 3U);
  EXPECT_TRUE(inbox_.deliver_wakes(3, never));
  EXPECT_FALSE(inbox_.deliver_wakes(3, never));
  EXPECT_EQ(wakes_, 7U);
}

// Each of a hundred watches may look for fields in an object of a megabyte.
TEST_F(InboxTest, AfterOneThatTakesLongOthersGetTheirTurn) {
  wake(7);
  const auto always = [] { return true; };
  for (std::size_t i = 1; i < 7; ++i) {
    EXPECT_TRUE(inbox_.deliver_wakes(100, always));
    EXPECT_EQ(wakes_, i) << "one at least";
  }
  EXPECT_FALSE(inbox_.deliver_wakes(100, always));
  EXPECT_EQ(wakes_, 7U);
}

}  // namespace
}  // namespace muster::server
