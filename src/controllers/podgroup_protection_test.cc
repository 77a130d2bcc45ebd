#include "controllers/podgroup_protection.h"

#include <fmt/format.h>

#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

constexpr Time kStart{std::chrono::hours{24}};
const std::string kPatch = R"( {"metadata":{"uid":"u1","$deleteFromPrimitiveList/finalizers":)"
                           R"(["scheduling.k8s.io/podgroup-protection"]}})";

class PodGroupProtectionTest : public testing::Test {
 protected:
  const api::Kind& kind_ = api::kinds::pod_group();
  Sent sent_;
  PodGroupProtection controller_{sent_.context()};
  Time now_ = kStart;

  void tell(client::Input input) { controller_.apply(std::move(input), now_); }
  Texts run() {
    while (controller_.run_once(now_, 1) > 0) {
    }
    return sent_.new_texts();
  }
  void group(Type type, std::string_view more, std::string_view uid = "u1") {
    tell(client::Event{type, object(kind_, fmt::format(R"({{"metadata":{{"name":"train",)"
                                                       R"("namespace":"lab","uid":"{}"{}}}}})",
                                                       uid, more))});
  }
  void deleting_group() {
    group(Type::Modified,
          R"(,"deletionTimestamp":"2026-08-20T10:00:00Z","finalizers":["example.com/other",)"
          R"("scheduling.k8s.io/podgroup-protection"])");
  }
  void pod(Type type, std::string_view name, std::string_view group, std::string_view phase,
           std::string_view name_space = "lab") {
    tell(client::Event{
        type, object(api::kinds::pod(),
                     fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}","uid":"p-{}"}},)"
                                 R"("spec":{{"schedulingGroup":{{"podGroupName":"{}"}}}},)"
                                 R"("status":{{"phase":"{}"}}}})",
                                 name, name_space, name, group, phase))});
  }
  void answer(Result<api::Answer> outcome) {
    tell(client::Called{sent_.requests.back().second, std::move(outcome)});
  }
};

TEST_F(PodGroupProtectionTest, LetsAnUnusedGroupGo) {
  deleting_group();
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{"lab/train" + kPatch});
  const api::Request& request = sent_.requests.back().first;
  EXPECT_EQ(request.verb, api::Verb::Patch);
  EXPECT_EQ(request.patch_type, api::PatchType::StrategicMerge);
  EXPECT_EQ(request.subresource, "");
  EXPECT_EQ(request.kind, &kind_);
}

TEST_F(PodGroupProtectionTest, DecidesNothingBeforeItKnowsAllPods) {
  deleting_group();
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(controller_.next_deadline(), std::nullopt);
  pod(Type::Added, "a", "train", "Running");
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{});
}

TEST_F(PodGroupProtectionTest, LooksOnlyAtGroupsThatAreBeingDeletedAndProtected) {
  tell(client::Synced{});
  group(Type::Added, R"(,"finalizers":["scheduling.k8s.io/podgroup-protection"])");
  EXPECT_EQ(run(), Texts{});
  group(Type::Modified, R"(,"deletionTimestamp":"2026-08-20T10:00:00Z","finalizers":["a/b"])");
  EXPECT_EQ(run(), Texts{});
}

TEST_F(PodGroupProtectionTest, WaitsUntilTheLastPodHasEnded) {
  tell(client::Synced{});
  pod(Type::Added, "a", "train", "Running");
  pod(Type::Added, "b", "train", "Pending");
  pod(Type::Added, "c", "train", "Succeeded");
  pod(Type::Added, "stranger", "other", "Running");
  pod(Type::Added, "far", "train", "Running", "elsewhere");
  deleting_group();
  EXPECT_EQ(run(), Texts{});
  pod(Type::Modified, "a", "train", "Failed");
  EXPECT_EQ(run(), Texts{});
  pod(Type::Modified, "late", "train", "Pending");
  pod(Type::Deleted, "b", "train", "Pending");
  EXPECT_EQ(run(), Texts{});
  pod(Type::Deleted, "late", "train", "Pending");
  EXPECT_EQ(run(), Texts{"lab/train" + kPatch});
}

TEST_F(PodGroupProtectionTest, APodThatIsReplacedUnderItsNameNoLongerUsesTheOldGroup) {
  tell(client::Synced{});
  pod(Type::Added, "a", "train", "Running");
  deleting_group();
  EXPECT_EQ(run(), Texts{});
  pod(Type::Modified, "a", "other", "Pending");
  EXPECT_EQ(run(), Texts{"lab/train" + kPatch});
}

TEST_F(PodGroupProtectionTest, AsksOnceWhileThePatchIsUnderWayOrAccepted) {
  tell(client::Synced{});
  deleting_group();
  EXPECT_EQ(run().size(), 1U);
  deleting_group();
  EXPECT_EQ(run(), Texts{});
  answer(api::Answer{});
  deleting_group();  // told late: the feed is behind the patch
  EXPECT_EQ(run(), Texts{});
  group(Type::Deleted, "");
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(controller_.next_deadline(), std::nullopt);
}

TEST_F(PodGroupProtectionTest, TriesAgainLaterAndLater) {
  tell(client::Synced{});
  deleting_group();
  EXPECT_EQ(run().size(), 1U);
  for (const int wait_ms : {50, 100, 200}) {
    answer(fail(Reason::Conflict, "the object has been modified"));
    EXPECT_EQ(run(), Texts{});
    const auto at = now_ + std::chrono::milliseconds{wait_ms};
    EXPECT_EQ(controller_.next_deadline(), at);
    now_ = at;
    EXPECT_EQ(run(), Texts{"lab/train" + kPatch});
  }
  answer(fail(Reason::NotFound, "podgroups \"train\" not found"));
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(controller_.next_deadline(), std::nullopt);
}

TEST_F(PodGroupProtectionTest, AGroupThatIsUsedAgainBeforeTheRetryIsKept) {
  tell(client::Synced{});
  deleting_group();
  EXPECT_EQ(run().size(), 1U);
  answer(fail(Reason::Conflict, "the object has been modified"));
  pod(Type::Added, "a", "train", "Pending");
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(run(), Texts{});
}

TEST_F(PodGroupProtectionTest, ANewGroupOfTheSameNameIsLeftAlone) {
  tell(client::Synced{});
  deleting_group();
  EXPECT_EQ(run().size(), 1U);
  group(Type::Modified, "", "u2");
  answer(fail(Reason::Conflict, "Precondition failed: UID in precondition: u1"));
  now_ += std::chrono::seconds{1};
  EXPECT_EQ(run(), Texts{});
}

}  // namespace
}  // namespace muster::controllers
