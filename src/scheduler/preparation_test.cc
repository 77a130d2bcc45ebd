#include <gtest/gtest.h>

#include <set>
#include <string>

#include "scheduler/plugins/default_profile.h"
#include "scheduler/scheduler_testing.h"

// What happens between a decision and its binding: plugins hold what pods need, and may say no.
namespace muster::scheduler {
namespace {

using std::chrono::seconds;
using testing::World;

// What the plugin below knows: a locker for every pod, until one is refused or the desk closes.
struct Lockers {
  std::set<std::string> held;  // by these pods
  std::string refused;         // this pod gets none
  bool is_closed = false;
};

class LockerPlugin final : public Reserve, public Permit {
 public:
  static constexpr std::string_view kName = "Lockers";
  explicit LockerPlugin(Lockers* lockers) : lockers_(lockers) {}

  Answer reserve(const api::ObjectPtr& pod, std::string_view, Cluster&) const override {
    const std::string& name = pod->meta().name;
    if (name == lockers_->refused) return {.refusal = "node(s) had no locker", .is_held = false};
    lockers_->held.insert(name);
    return {.refusal = "", .is_held = true};
  }
  void unreserve(const api::ObjectPtr& pod, Cluster&) const override {
    lockers_->held.erase(pod->meta().name);
  }
  Progress permit(const api::ObjectPtr&, std::string_view, const Cluster&) const override {
    if (lockers_->is_closed) return {Progress::State::Failed, "the desk is closed"};
    return {};
  }

 private:
  Lockers* lockers_;
};

class Preparation : public ::testing::Test {
 protected:
  Preparation() : world_(options(lockers_)) {
    world_.node("n1");
    world_.gang("g", 2);
    world_.pod("a", {.group = "g"});
    world_.pod("b", {.group = "g"});
    world_.synced();
  }
  static SchedulerOptions options(Lockers& lockers) {
    SchedulerOptions options;
    Profile profile = default_profile();
    profile.add<LockerPlugin>(1, &lockers);
    options.profiles = profile;
    options.group_bindings = true;
    return options;
  }
  bool is_bound() const { return !world_.node_of("a").empty() && !world_.node_of("b").empty(); }
  std::string group_says() {
    const auto told = world_.requests("podgroups/ns/g/status");
    return told.empty() ? "" : told.back();
  }

  Lockers lockers_;
  World world_;
};

using Names = std::set<std::string>;

TEST_F(Preparation, WhatIsHeldIsGivenBackOnceThePodsAreBound) {
  world_.run();
  EXPECT_EQ(lockers_.held, (Names{"a", "b"}));
  world_.answer();
  EXPECT_TRUE(is_bound());
  EXPECT_EQ(lockers_.held, Names{});
}

TEST_F(Preparation, IfOnePodIsRefusedTheOthersGiveTheirsBackAndAreTriedAgain) {
  lockers_.refused = "b";
  world_.settle();
  EXPECT_FALSE(is_bound());
  EXPECT_EQ(lockers_.held, Names{});
  EXPECT_NE(group_says().find("0/1 nodes are available: 1 node(s) had no locker."),
            std::string::npos)
      << group_says();
  lockers_.refused = "";
  world_.now += seconds{30};
  world_.settle();
  EXPECT_TRUE(is_bound()) << "nothing else has happened meanwhile";
}

TEST_F(Preparation, ALonePodThatIsRefusedIsUnschedulable) {
  lockers_.refused = "lone";
  world_.pod("lone");
  world_.settle();
  const auto told = world_.requests("pods/ns/lone/status");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find(R"("reason":"Unschedulable")"), std::string::npos) << told[0];
  EXPECT_NE(told[0].find("0/1 nodes are available: 1 node(s) had no locker."), std::string::npos)
      << told[0];
}

TEST_F(Preparation, ThatFailsGivesBackWhatIsHeldAndIsTriedAgain) {
  lockers_.is_closed = true;
  world_.settle();
  EXPECT_FALSE(is_bound());
  EXPECT_EQ(lockers_.held, Names{});
  EXPECT_NE(group_says().find("the desk is closed"), std::string::npos) << group_says();
  lockers_.is_closed = false;
  world_.now += seconds{30};
  world_.settle();
  EXPECT_TRUE(is_bound());
  EXPECT_EQ(lockers_.held, Names{});
}

}  // namespace
}  // namespace muster::scheduler
