#include "server/core/read/group_tally.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class GroupTallyTest : public CoreTest {
 protected:
  void put_pod(const std::string& name, const std::string& group) {
    ASSERT_TRUE(create_pod(name, R"("schedulingGroup":{"podGroupName":")" + group + R"("})"));
  }
  void put_group(const api::Kind& kind, const std::string& name, const std::string& parent) {
    const std::string above =
        parent.empty() ? "" : R"("parentCompositePodGroupName":")" + parent + R"(",)";
    ASSERT_TRUE(create(kind, "default",
                       R"({"metadata":{"name":")" + name + R"("},"spec":{)" + above +
                           R"("workloadRef":{"workloadName":"w","templateName":"t"},)"
                           R"("schedulingPolicy":{"basic":{}}}})"));
  }
  void catch_up() {
    while (!reader_.tally().catch_up()) {
    }
  }
  // "members/scheduled"
  std::string tally(const api::Kind& kind, const std::string& name) {
    const auto object = store_->get(store::make_key(kind, "default", name));
    catch_up();
    const api::GroupCounts counts = reader_.tally().count(*object).value();
    return std::to_string(counts.members) + "/" + std::to_string(counts.scheduled);
  }
  const api::Kind& groups_ = api::kinds::pod_group();
  const api::Kind& composites_ = api::kinds::composite_pod_group();
};

TEST_F(GroupTallyTest, CountsWhatWasThereAndFollowsWhatChanges) {
  put_group(composites_, "g", "");
  put_group(groups_, "g", "g");
  put_pod("a", "g");
  EXPECT_EQ(tally(groups_, "g"), "1/0");
  EXPECT_EQ(tally(composites_, "g"), "1/0") << "of one name, yet another group";
  put_pod("b", "g");
  put_pod("c", "other");
  ASSERT_TRUE(bind("a", "n"));
  EXPECT_EQ(tally(groups_, "g"), "2/1");
  ASSERT_TRUE(remove(pods(), "default", "b"));
  EXPECT_EQ(tally(groups_, "g"), "1/1");
  EXPECT_EQ(tally(composites_, "g"), "1/1") << "a child that has what it needs";
}

TEST_F(GroupTallyTest, FailedPodsDoNotCountAndSucceededOnesDo) {
  put_group(groups_, "g", "");
  for (const char* name : {"a", "b", "c"}) {
    put_pod(name, "g");
    ASSERT_TRUE(bind(name, "n"));
  }
  EXPECT_EQ(tally(groups_, "g"), "3/3");
  for (const auto& [name, phase] : {std::pair("a", "Failed"), std::pair("b", "Succeeded")})
    ASSERT_TRUE(merge(pods(), "default", name,
                      std::string(R"({"status":{"phase":")") + phase + R"("}})", "status"));
  EXPECT_EQ(tally(groups_, "g"), "2/2");
}

TEST_F(GroupTallyTest, NamesTheDomainAndWhatADeletedGroupWaitsFor) {
  ASSERT_TRUE(
      create(api::kinds::node(), "", R"({"metadata":{"name":"n","labels":{"rack":"r7"}}})"));
  ASSERT_TRUE(create(composites_, "default",
                     R"({"metadata":{"name":"all","finalizers":["example.com/stay"]},"spec":{)"
                     R"("workloadRef":{"workloadName":"w","templateName":"t"},)"
                     R"("schedulingConstraints":{"topology":[{"key":"rack"}]},)"
                     R"("schedulingPolicy":{"basic":{}}}})"));
  put_group(groups_, "g", "all");
  put_pod("a", "g");
  ASSERT_TRUE(bind("a", "n"));
  const auto count = [&] {
    return reader_.tally()
        .count(*store_->get(store::make_key(composites_, "default", "all")))
        .value();
  };
  EXPECT_EQ(count().domains, "r7");
  EXPECT_EQ(count().held_by, "");
  ASSERT_TRUE(remove(composites_, "default", "all"));
  EXPECT_EQ(count().held_by, "group g, 1 pod");
}

TEST_F(GroupTallyTest, CountsAnewWhenTooMuchHappened) {
  put_group(groups_, "g", "");
  EXPECT_EQ(tally(groups_, "g"), "0/0");
  put_pod("a", "g");
  for (int i = 0; i < 2'100; ++i)
    ASSERT_TRUE(merge(pods(), "default", "a",
                      R"({"metadata":{"labels":{"i":")" + std::to_string(i) + R"("}}})"));
  put_pod("b", "g");
  EXPECT_EQ(tally(groups_, "g"), "2/0");
}

// Old versions of large pods are kept alive by nobody else.
TEST_F(GroupTallyTest, HoldsOnToAFewMegabytes) {
  constexpr std::size_t kLarge = 200'000;
  put_group(groups_, "g", "");
  EXPECT_EQ(tally(groups_, "g"), "0/0");
  put_pod("a", "g");
  const std::string tail = R"(","x":")" + std::string(kLarge, 'x') + R"("}}})";
  bool was_dropped = false;
  std::size_t most = 0;
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(merge(pods(), "default", "a",
                      R"({"metadata":{"annotations":{"i":")" + std::to_string(i) + tail));
    was_dropped |= reader_.tally().held_bytes() == 0;
    most = std::max(most, reader_.tally().held_bytes());
  }
  EXPECT_GT(most, 100 * kLarge);
  EXPECT_LE(most, std::size_t{64} << 20U);
  EXPECT_TRUE(was_dropped);
  EXPECT_EQ(tally(groups_, "g"), "1/0");
}

TEST_F(GroupTallyTest, CommitsWaitForNoQuestion) {
  put_group(groups_, "g", "");
  EXPECT_EQ(tally(groups_, "g"), "0/0");
  std::future<void> commit;
  reader_.tally().call_while_counting([&] {
    commit = std::async(std::launch::async, [&] { put_pod("a", "g"); });
    EXPECT_EQ(commit.wait_for(std::chrono::seconds{10}), std::future_status::ready);
  });
  commit.get();
  EXPECT_EQ(tally(groups_, "g"), "1/0");
}

// Commits fall before, between and after the lists that a count from the start reads, and into the
// questions that follow it.
TEST_F(GroupTallyTest, CountsWhatIsCommittedMeanwhileOnce) {
  put_group(groups_, "g", "");
  for (int i = 0; i < 200; ++i) put_pod("old" + std::to_string(i), "g");
  const auto object = store_->get(store::make_key(groups_, "default", "g"));
  std::atomic<bool> is_done = false;
  std::thread asking([&] {
    while (!is_done) {
      reader_.tally().catch_up();
      reader_.tally().count(*object);
    }
  });
  for (int i = 0; i < 200; ++i) put_pod("new" + std::to_string(i), "g");
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(remove(pods(), "default", "old" + std::to_string(i)));
  is_done = true;
  asking.join();
  EXPECT_EQ(tally(groups_, "g"), "300/0");
}

TEST_F(GroupTallyTest, CountsWhatWasPutAsideBeforeTheListOnce) {
  put_group(groups_, "g", "");
  reader_.tally().call_before_listing([&] { put_pod("a", "g"); });
  EXPECT_EQ(tally(groups_, "g"), "1/0");
  EXPECT_EQ(tally(groups_, "g"), "1/0") << "the list had it already";
  put_pod("b", "g");
  EXPECT_EQ(tally(groups_, "g"), "2/0");
}

// A caller that cannot wait gets no answer rather than an old one, and asks for a count to be made.
TEST_F(GroupTallyTest, WhoCannotWaitWaitsForNoCount) {
  put_group(groups_, "g", "");
  const auto object = store_->get(store::make_key(groups_, "default", "g"));
  const api::GroupCounter& at_once = reader_.tally().at_once();
  EXPECT_FALSE(at_once.count(*object).has_value()) << "nobody has counted yet";
  EXPECT_TRUE(reader_.tally().pop_request());
  EXPECT_FALSE(reader_.tally().pop_request()) << "once";
  catch_up();
  put_pod("a", "g");
  EXPECT_EQ(at_once.count(*object).value().members, 1) << "little has changed";
  reader_.tally().call_while_counting([&] {
    auto answer = std::async(std::launch::async, [&] { return at_once.count(*object); });
    EXPECT_EQ(answer.wait_for(std::chrono::seconds{10}), std::future_status::ready);
    EXPECT_FALSE(answer.get().has_value()) << "somebody else counts";
  });
  EXPECT_FALSE(reader_.tally().pop_request()) << "that one is at it";
  for (int i = 0; i < 2'100; ++i)
    ASSERT_TRUE(merge(pods(), "default", "a",
                      R"({"metadata":{"labels":{"i":")" + std::to_string(i) + R"("}}})"));
  EXPECT_FALSE(at_once.count(*object).has_value()) << "all must be counted from the start";
  EXPECT_TRUE(reader_.tally().pop_request());
  EXPECT_EQ(reader_.tally().count(*object).value().members, 1) << "as it was";
  catch_up();
  EXPECT_EQ(at_once.count(*object).value().members, 1);
}

TEST_F(GroupTallyTest, CountsEverythingInSteps) {
  put_group(groups_, "g", "");
  for (int i = 0; i < 600; ++i) put_pod("p" + std::to_string(i), "g");
  int steps = 1;
  while (!reader_.tally().catch_up()) ++steps;
  EXPECT_GE(steps, 3);
  EXPECT_EQ(tally(groups_, "g"), "600/0");
  EXPECT_TRUE(reader_.tally().catch_up());
}

// Each time it has to start over it goes faster, or it would never end.
TEST_F(GroupTallyTest, EndsHoweverMuchChanges) {
  put_group(groups_, "g", "");
  for (int i = 0; i < 600; ++i) put_pod("p" + std::to_string(i), "g");
  int steps = 0;
  for (bool is_done = false; !is_done && steps < 10; ++steps) {
    is_done = reader_.tally().catch_up();
    for (int i = 0; i < 2'100 && !is_done; ++i)
      ASSERT_TRUE(merge(pods(), "default", "p0",
                        R"({"metadata":{"labels":{"i":")" + std::to_string(i) + R"("}}})"));
  }
  EXPECT_LT(steps, 10);
}

}  // namespace
}  // namespace muster::server
