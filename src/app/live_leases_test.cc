#include "app/live_leases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "client/client.h"
#include "client/https/site_testing.h"

namespace muster::app {
namespace {

using std::chrono::seconds;
using Texts = std::vector<std::string>;

class LiveLeasesTest : public ::testing::Test {
 protected:
  void hold(const std::string& name, const std::string& holder, int duration_s) {
    const auto document = api::parse_json(fmt::format(
        R"({{"metadata":{{"name":"{}"}},"spec":{{"holderIdentity":"{}","leaseDurationSeconds":{}}}}})",
        name, holder, duration_s));
    ASSERT_TRUE(
        client_.call(client::create_request(api::kinds::lease(), "kube-system", document->value)));
  }
  void renew(const std::string& name) {
    const auto patch = api::parse_json(
        fmt::format(R"({{"spec":{{"renewTime":"2026-01-01T00:00:{:02}.000000Z"}}}})", ++renewals_));
    ASSERT_TRUE(client_.call(client::patch_request(api::kinds::lease(), "kube-system", name, "",
                                                   api::PatchType::Merge, patch->value)));
  }
  // Those that are alive, while `meanwhile` happens at each look; counts the seconds.
  Texts live(const std::function<void(seconds)>& meanwhile) {
    const std::array<std::string_view, 2> names{"one", "other"};
    const auto found = live_leases(client_, "kube-system", names, [&](seconds time) {
      waited_ += time;
      meanwhile(waited_);
      return true;
    });
    EXPECT_TRUE(found);
    return found.value_or(Texts{});
  }

  const server::testing::Site site_;
  client::HttpsClient client_ = client::HttpsClient::open(client::config_for(site_), {}).value();
  seconds waited_{};
  int renewals_ = 0;
};

TEST_F(LiveLeasesTest, NobodyIsWaitedForWhereNothingIsHeld) {
  hold("one", "", 15);
  EXPECT_EQ(live([](seconds) {}), Texts{});
  EXPECT_EQ(waited_, seconds{0});
}

TEST_F(LiveLeasesTest, OneThatIsRenewedIsAlive) {
  hold("one", "a", 15);
  EXPECT_EQ(live([this](seconds) { renew("one"); }), Texts{"one"});
  EXPECT_EQ(waited_, seconds{5});
}

// A leader that was killed, and whose lease nobody has taken over yet.
TEST_F(LiveLeasesTest, OneThatIsNotRenewedWasLeftBehindAfterItsDuration) {
  hold("one", "a", 15);
  EXPECT_EQ(live([](seconds) {}), Texts{});
  EXPECT_EQ(waited_, seconds{15});
}

TEST_F(LiveLeasesTest, OneThatIsTakenOverJustInTimeIsAlive) {
  hold("one", "a", 15);
  hold("other", "a", 1'000'000);
  EXPECT_EQ(live([this](seconds time) {
              if (time == seconds{15}) renew("one");
            }),
            Texts{"one"});
  EXPECT_EQ(waited_, seconds{60}) << "nobody waits longer, whatever a lease says";
}

TEST_F(LiveLeasesTest, WhoMustEndKnowsNothing) {
  hold("one", "a", 15);
  const std::array<std::string_view, 1> names{"one"};
  EXPECT_FALSE(live_leases(client_, "kube-system", names, [](seconds) { return false; }));
}

}  // namespace
}  // namespace muster::app
