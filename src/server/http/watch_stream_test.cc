#include "server/http/watch_stream.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class StillClock final : public Clock {
 public:
  Time now() const override { return Time(std::chrono::hours{24}); }
};

class WatchStreamTest : public CoreTest {
 protected:
  // A watch of all pods that counts what it holds in account_.
  std::unique_ptr<WatchStream> open(const std::string& version = {}) {
    return open(version, {.kind = &pods(), .version = "v1"});
  }
  std::unique_ptr<WatchStream> open(const std::string& version, Rendering rendering) {
    return open_as(version, {.rendering = std::move(rendering), .started = {}});
  }
  std::unique_ptr<WatchStream> open_as(const std::string& version,
                                       const WatchStream::Options& options) {
    Request asked = request(Verb::Watch, *options.rendering.kind, "default");
    asked.list.resource_version = version;
    auto opened = server_.watch(asked, [] {});
    EXPECT_TRUE(opened.has_value());
    return std::make_unique<WatchStream>(
        std::move(*opened), options,
        WatchStream::Holds{.place = {}, .bytes = Hold(Resource::Bytes, {account_})},
        std::make_unique<Permission>(access_, Identity{}, Attributes{}, 0), clock_);
  }
  std::int64_t held() const { return account_->used(Resource::Bytes); }

  const StillClock clock_;
  // Rights are not judged here; who wants to hear of them must come before the first commit.
  const std::unique_ptr<store::Store> rights_ =
      store::Store::open(store::make_memory_engine()).value();
  const Access access_{*rights_, std::nullopt};
  const AccountPtr account_ = std::make_shared<Account>();
};

TEST_F(WatchStreamTest, WhatIsStillToBeSentOfItsListIsCounted) {
  constexpr int kPods = 50;
  constexpr auto kPointer = static_cast<std::int64_t>(sizeof(api::ObjectPtr));
  for (int i = 0; i < kPods; ++i) ASSERT_TRUE(create_pod("p" + std::to_string(i)));
  const auto listing = open();
  EXPECT_GE(held(), kPods * kPointer) << "before the first byte is asked for";
  const auto another = open();
  EXPECT_GE(held(), 2 * (kPods * kPointer)) << "each has a list of its own";
  const std::int64_t both = held();
  std::string out;
  EXPECT_EQ(listing->pull({}, 1, out), WatchStream::State::More);
  EXPECT_NE(out.find("\"p0\""), std::string::npos);
  while (listing->pull({}, 1U << 20U, out) != WatchStream::State::Idle) {
  }
  EXPECT_LE(held(), both - kPods * kPointer) << "sent, and let go of";
}

TEST_F(WatchStreamTest, AWatchThatBeginsAtARevisionHoldsNoList) {
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(create_pod("p" + std::to_string(i)));
  const auto stream = open(std::to_string(store_->revision().value));
  EXPECT_EQ(held(), 0);
}

TEST_F(WatchStreamTest, WhoLeavesHoldsNothing) {
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(create_pod("p" + std::to_string(i)));
  open().reset();
  EXPECT_EQ(held(), 0);
}

// A client that is cut off goes on from there.
TEST_F(WatchStreamTest, SaysHowFarItIsEveryMinuteAndBeforeItsEnd) {
  const auto stream = open_as(std::to_string(store_->revision().value),
                              {.rendering = {.kind = &pods(), .version = "v1"},
                               .bookmarks = true,
                               .started = {},
                               .timeout = std::chrono::seconds{150},
                               .access_check = std::chrono::hours{1}});
  std::vector<std::int64_t> told;  // seconds since the start
  SteadyTime now;
  for (auto state = WatchStream::State::Idle; state != WatchStream::State::Ended;
       now = stream->next_deadline()) {
    std::string out;
    state = stream->pull(now, 1U << 20U, out);
    if (out.find("BOOKMARK") != std::string::npos)
      told.push_back(
          std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
  }
  EXPECT_EQ(told, (std::vector<std::int64_t>{60, 120, 148}));
}

// However short an event is: what it took to write it is not to be seen.
TEST_F(WatchStreamTest, OthersHaveTheirTurnBetweenEventsThatTakeLong) {
  class Slow final : public api::GroupCounter {
   public:
    std::optional<api::GroupCounts> count(const api::Object& /*group*/) const override {
      ++asked;
      std::this_thread::sleep_for(std::chrono::milliseconds{3});
      return std::nullopt;
    }
    mutable int asked = 0;
  };
  const api::Kind& groups = api::kinds::pod_group();
  constexpr int kGroups = 40;
  for (int i = 0; i < kGroups; ++i)
    ASSERT_TRUE(create(groups, "default",
                       R"({"metadata":{"name":"g)" + std::to_string(i) +
                           R"("},"spec":{"schedulingPolicy":{"basic":{}}}})"));
  const Slow slow;
  const auto stream =
      open({}, {.kind = &groups, .version = "v1beta1", .form = Form::Table, .groups = &slow});
  std::string out;
  EXPECT_EQ(stream->pull({}, 1U << 20U, out), WatchStream::State::Busy);
  EXPECT_EQ(slow.asked, 1);
  while (stream->pull({}, 1U << 20U, out) != WatchStream::State::Idle) {
  }
  EXPECT_EQ(slow.asked, kGroups);
}

}  // namespace
}  // namespace muster::server
