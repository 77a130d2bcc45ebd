#include "scheduler/bind/preparer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/kit/fake_api_testing.h"

namespace muster::scheduler {
namespace {

using client::FakeApi;
using client::make_pod;
using std::chrono::seconds;

// A plugin that writes a label to a claim named like the pod, and waits until somebody says it is
// done.
struct Desk {
  std::map<std::string, Progress> progress;  // by pod
  std::vector<std::string> revisions;
};

class DeskPreparation final : public Preparation {
 public:
  DeskPreparation(Desk& desk, std::string pod) : desk_(desk), pod_(std::move(pod)) {}
  std::vector<api::Request> writes() const override {
    return {client::patch_request(api::kinds::persistent_volume_claim(), "ns", pod_, "",
                                  api::PatchType::Merge, api::JsonObject{})};
  }
  Progress progress(const Cluster&) const override {
    const auto at = desk_.progress.find(pod_);
    return at == desk_.progress.end() ? Progress{Progress::State::Waits, {}} : at->second;
  }
  std::vector<std::string> waits_on() const override {
    return {"PersistentVolumeClaim/ns/" + pod_};
  }
  Duration patience() const override { return seconds{600}; }

 private:
  Desk& desk_;
  std::string pod_;
};

class DeskPlugin final : public PreBind {
 public:
  static constexpr std::string_view kName = "Desk";
  explicit DeskPlugin(Desk* desk) : desk_(desk) {}
  std::unique_ptr<Preparation> prepare_binding(const api::ObjectPtr& pod, std::string_view,
                                               const Cluster&) const override {
    if (pod->meta().name.starts_with("plain")) return nullptr;
    return std::make_unique<DeskPreparation>(*desk_, pod->meta().name);
  }

 private:
  Desk* desk_;
};

class WaitingPermit final : public Permit {
 public:
  static constexpr std::string_view kName = "Gatekeeper";
  explicit WaitingPermit(const bool* open, Duration patience = seconds{10})
      : open_(open), patience_(patience) {}
  Progress permit(const api::ObjectPtr&, std::string_view, const Cluster&) const override {
    return {*open_ ? Progress::State::Done : Progress::State::Waits, {}};
  }
  Duration patience() const override { return patience_; }

 private:
  const bool* open_;
  Duration patience_;
};

class PreparerTest : public ::testing::Test {
 protected:
  PreparerTest() { profile_.add<DeskPlugin>(1, &desk_); }

  static GroupKey root() { return {GroupKind::PodGroup, "ns", "g"}; }
  void add(std::initializer_list<const char*> pods, bool tree = false) {
    PreparedBatch batch;
    for (const char* pod : pods) batch.assignments.push_back({make_pod(pod), "n1"});
    if (tree) batch.tree = TreeBinding{root(), nullptr, {}, {}};
    batch.ordered = tree;
    const GroupKey key = root();
    EXPECT_TRUE(preparer_.concerns(batch.assignments, tree ? &key : nullptr, profile_of_));
    preparer_.add(std::move(batch), profile_of_, now_);
  }
  void changed(const std::string& claim) {
    const auto parsed =
        api::parse_json(R"({"metadata":{"name":")" + claim + R"(","namespace":"ns"}})");
    preparer_.object_changed(
        *api::Object::make(api::kinds::persistent_volume_claim(), parsed->value), now_);
  }
  void done(const std::string& pod) {
    desk_.progress[pod] = {};
    changed(pod);
  }
  static std::string names(const PreparedBatch& batch) {
    std::string text;
    for (const Assignment& assignment : batch.assignments)
      text += (text.empty() ? "" : "+") + assignment.pod->meta().name;
    return text;
  }

  Time now_{seconds{100}};
  FakeApi api_;
  Cluster cluster_;
  Desk desk_;
  Profile profile_;
  Preparer::ProfileOf profile_of_ = [this](const api::Object&) -> const Profile& {
    return profile_;
  };
  std::vector<std::string> told_;
  Preparer preparer_{
      cluster_, api_.calls,
      [this](const PreparedBatch& batch, Time) { told_.push_back("ready " + names(batch)); },
      [this](const PreparedBatch& batch, const Preparer::Failure& failure, Time) {
        told_.push_back("failed " + names(batch) + ": " + failure.message);
      }};
};

using Told = std::vector<std::string>;

TEST_F(PreparerTest, APodIsReadyOnceItsWritesAreThereAndTheirEffectToo) {
  add({"p"});
  ASSERT_EQ(api_.sent.size(), 1U);
  done("p");
  EXPECT_TRUE(told_.empty()) << "the write is still under way";
  api_.accept(0, now_);
  EXPECT_EQ(told_, Told{"ready p"});
  EXPECT_EQ(preparer_.pending(), 0U);
  EXPECT_EQ(preparer_.next_deadline(), std::nullopt);
}

TEST_F(PreparerTest, PodsWithoutPreparationAreNoneOfItsBusiness) {
  const std::vector<Assignment> plain{{make_pod("plain"), "n1"}};
  EXPECT_FALSE(preparer_.concerns(plain, nullptr, profile_of_));
}

TEST_F(PreparerTest, OnlyWhoWaitsForAnObjectIsAsked) {
  add({"p"});
  add({"q"});
  api_.accept(0, now_);
  api_.accept(1, now_);
  desk_.progress["p"] = {};
  desk_.progress["q"] = {};
  changed("q");
  EXPECT_EQ(told_, Told{"ready q"});
  changed("p");
  EXPECT_EQ(told_, (Told{"ready q", "ready p"}));
}

TEST_F(PreparerTest, NobodyOfATreeIsReadyBeforeAllAre) {
  add({"a", "plain", "b"}, true);
  api_.accept(0, now_);
  api_.accept(1, now_);
  done("a");
  EXPECT_TRUE(told_.empty());
  done("b");
  EXPECT_EQ(told_, Told{"ready a+plain+b"});
}

TEST_F(PreparerTest, WhatWasDecidedLaterForATreeWaitsForTheEarlierPart) {
  add({"a"}, true);
  add({"plain"}, true);
  EXPECT_TRUE(told_.empty());
  api_.accept(0, now_);
  done("a");
  EXPECT_EQ(told_, (Told{"ready a", "ready plain"}));
}

TEST_F(PreparerTest, AndFallsWithIt) {
  add({"a"}, true);
  add({"plain"}, true);
  api_.accept(0, now_);
  desk_.progress["a"] = {Progress::State::Failed, "no luck"};
  changed("a");
  EXPECT_EQ(told_, (Told{"failed a: running PreBind plugin \"Desk\": no luck",
                         "failed plain: running PreBind plugin \"Desk\": no luck"}));
  EXPECT_EQ(preparer_.pending(), 0U);
}

TEST_F(PreparerTest, ABusyServerIsAskedAgainAndARefusalIsFinal) {
  add({"p"});
  api_.refuse(0, Reason::TooManyRequests, now_);
  ASSERT_TRUE(preparer_.next_deadline());
  now_ = *preparer_.next_deadline();
  preparer_.run(now_);
  ASSERT_EQ(api_.sent.size(), 2U);
  api_.refuse(1, Reason::Conflict, now_);
  EXPECT_EQ(told_, Told{"failed p: running PreBind plugin \"Desk\": no: Conflict"});
}

TEST_F(PreparerTest, PatienceEnds) {
  add({"p"});
  api_.accept(0, now_);
  now_ += seconds{599};
  preparer_.run(now_);
  EXPECT_TRUE(told_.empty());
  now_ += seconds{1};
  preparer_.run(now_);
  EXPECT_EQ(told_, Told{"failed p: running PreBind plugin \"Desk\": context deadline exceeded"});
}

TEST_F(PreparerTest, APodThatGoesIsForgottenOrTakesItsTreeAlong) {
  add({"p"});
  preparer_.cancel("uid-p", now_);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(preparer_.pending(), 0U);
  add({"a", "b"}, true);
  preparer_.cancel("uid-a", now_);
  EXPECT_EQ(told_, Told{"failed b: pod a does not exist any more"});
  api_.accept(0, now_);  // answers that come later find nobody
  api_.accept(1, now_);
  api_.accept(2, now_);
  EXPECT_EQ(preparer_.pending(), 0U);
}

TEST_F(PreparerTest, ANodeThatGoesFailsThoseThatWereToRunThere) {
  add({"p"});
  preparer_.node_vanished("n2", now_);
  EXPECT_TRUE(told_.empty());
  preparer_.node_vanished("n1", now_);
  EXPECT_EQ(told_, Told{"failed p: node \"n1\" was deleted before the pod was bound to it"});
}

TEST_F(PreparerTest, PermitsAreAskedBeforeAnythingIsWritten) {
  bool open = false;
  profile_.add<WaitingPermit>(1, &open);
  std::vector<std::pair<bool, Duration>> waited;
  preparer_.observe_permits(
      [&](bool is_allowed, Duration how_long) { waited.emplace_back(is_allowed, how_long); });
  add({"p"});
  EXPECT_TRUE(api_.sent.empty());
  now_ += seconds{1};
  preparer_.run(now_);
  EXPECT_TRUE(api_.sent.empty());
  open = true;
  now_ += seconds{1};
  EXPECT_TRUE(waited.empty());
  preparer_.run(now_);
  EXPECT_EQ(api_.sent.size(), 1U);
  EXPECT_EQ(waited, (std::vector<std::pair<bool, Duration>>{{true, seconds{2}}}));
}

TEST_F(PreparerTest, L6APermitThatNobodyGivesEndsInARefusal) {
  bool open = false;
  profile_.add<WaitingPermit>(1, &open);
  std::vector<std::pair<bool, Duration>> waited;
  preparer_.observe_permits(
      [&](bool is_allowed, Duration how_long) { waited.emplace_back(is_allowed, how_long); });
  add({"p"});
  now_ += seconds{10};
  preparer_.run(now_);
  EXPECT_EQ(waited, (std::vector<std::pair<bool, Duration>>{{false, seconds{10}}}));
  EXPECT_EQ(told_, Told{"failed p: 0/1 nodes are available: 1 rejected due to timeout after "
                        "waiting 10s at plugin Gatekeeper."});
}

// No plugin holds a pod for longer than a quarter of an hour.
TEST_F(PreparerTest, APermitIsWaitedForFifteenMinutesAtMost) {
  bool open = false;
  profile_.add<WaitingPermit>(1, &open, std::chrono::hours{5});
  add({"p"});
  now_ += std::chrono::minutes{15} - seconds{1};
  preparer_.run(now_);
  EXPECT_TRUE(told_.empty());
  now_ += seconds{1};
  preparer_.run(now_);
  EXPECT_EQ(told_, Told{"failed p: 0/1 nodes are available: 1 rejected due to timeout after "
                        "waiting 15m0s at plugin Gatekeeper."});
}

}  // namespace
}  // namespace muster::scheduler
