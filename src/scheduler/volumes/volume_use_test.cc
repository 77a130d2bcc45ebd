#include "scheduler/volumes/volume_use.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/volumes/volumes_testing.h"

namespace muster::scheduler {
namespace {

using Counting = VolumeUse::Counting;
using Presence = VolumeUse::Presence;
using Rows = std::vector<VolumeUse::Row>;
constexpr const char* kDriver = "csi.example.com";

api::ObjectPtr pod_with_disks(const std::string& name, const std::string& volumes) {
  return object_of(api::kinds::pod(), R"({"metadata":{"name":")" + name +
                                          R"(","namespace":"default","uid":"uid-)" + name +
                                          R"("},"spec":{"volumes":[)" + volumes + "]}}");
}
constexpr const char* kGce = R"({"name":"d","gcePersistentDisk":{"pdName":"disk"}})";
constexpr const char* kRbd = R"({"name":"e","rbd":{"image":"i"}})";

// --- disks ---

TEST(VolumeUseDisks, EveryPodsDisksAreOnItsNodeUntilItLeaves) {
  const VolumeBook book;
  VolumeUse use;
  const auto disks = [&](VolumeUse::Row row) {
    const auto* held = use.disks_on(row);
    return held == nullptr ? std::size_t{0} : held->size();
  };
  EXPECT_EQ(use.disks_on(1), nullptr);
  const auto one = pod_with_disks("p1", kGce);
  const auto two = pod_with_disks("p2", std::string(kGce) + "," + kRbd);
  use.add_pod(one, 1, book);
  use.add_pod(two, 1, book, Presence::Expected);
  EXPECT_EQ(disks(1), 3U) << "expected ones too";
  EXPECT_EQ(disks(2), 0U);
  EXPECT_EQ(use.attached(1, "pd.csi.storage.gke.io"), 1);
  use.remove_pod(*two, Presence::Expected);
  ASSERT_EQ(disks(1), 1U);
  EXPECT_EQ(use.disks_on(1)->front().id, "disk");
  use.remove_pod(*one);
  EXPECT_EQ(use.disks_on(1), nullptr);
  EXPECT_EQ(use.attached(1, "pd.csi.storage.gke.io"), 0);
}

TEST(VolumeUseDisks, TentativeMovesBringTheirDisks) {
  VolumeUse use;
  const auto pod = pod_with_disks("p", kRbd);
  const api::PodNeeds& needs = pod->view<api::PodView>().needs;
  use.place({}, needs, 4, 1);
  ASSERT_NE(use.disks_on(4), nullptr);
  EXPECT_EQ(use.disks_on(4)->front().id, "rbd/i");
  use.place({}, needs, 4, -1);
  EXPECT_EQ(use.disks_on(4), nullptr);
}

// --- attachments ---

TEST(VolumeUseAttachments, AnAttachmentIsOnOneNode) {
  VolumeUse use;
  EXPECT_EQ(use.remove_attachment("t"), std::nullopt);
  use.set_attachment("t", 1, kDriver, "h");
  use.set_attachment("t", 2, kDriver, "h");
  EXPECT_EQ(use.attached(1, kDriver), 0);
  EXPECT_EQ(use.attached(2, kDriver), 1);
  use.set_attachment("t", 2, "another", "h");
  EXPECT_EQ(use.attached(2, kDriver), 0);
  EXPECT_TRUE(use.is_attached(2, "another", "h"));
  EXPECT_FALSE(use.is_attached(2, "another", "i"));
  EXPECT_FALSE(use.is_attached(1, "another", "h"));
  EXPECT_EQ(use.remove_attachment("t"), 2U);
  EXPECT_EQ(use.remove_attachment("t"), std::nullopt);
  EXPECT_FALSE(use.is_attached(2, "another", "h"));
}

TEST(VolumeUseAttachments, OnlyRowsWhereSomethingChangedAreRecounted) {
  VolumeBook book;
  book.put(ClassSample{}.make());
  book.put(ClaimSample{.name = "a"}.make());
  VolumeUse use;
  use.add_pod(pod_with("p1", {"a"}), 1, book);
  use.add_pod(pod_with("p2", {"a"}), 2, book);
  EXPECT_EQ(use.recount("default/unknown", book), Rows{});
  EXPECT_EQ(use.recount("default/a", book), Rows{});
  book.put(VolumeSample{.name = "v", .claim = "a"}.make());
  book.put(ClaimSample{.name = "a", .volume = "v"}.make());
  EXPECT_EQ(use.recount("default/a", book), (Rows{1, 2}));
  EXPECT_EQ(use.recount("default/a", book), Rows{});
  EXPECT_EQ(use.attached(1, kDriver), 1);
  EXPECT_TRUE(use.is_attached(1, kDriver, "handle-v"));
  EXPECT_FALSE(use.is_attached(1, kDriver, "claim default/a"));
}

TEST(VolumeUseAttachments, WhatTwoPodsUseStaysUntilBothHaveLeft) {
  VolumeBook book;
  book.put(ClassSample{}.make());
  book.put(ClaimSample{.name = "a"}.make());
  VolumeUse use;
  const auto one = pod_with("p1", {"a"});
  const auto two = pod_with("p2", {"a"});
  use.add_pod(one, 1, book);
  use.add_pod(two, 1, book);
  EXPECT_EQ(use.attached(1, kDriver), 1);
  use.remove_pod(*one);
  EXPECT_EQ(use.attached(1, kDriver), 1);
  EXPECT_EQ(use.users_of("default/a"), 1);
  book.put(VolumeSample{.name = "v"}.make());
  book.put(ClaimSample{.name = "a", .volume = "v"}.make());
  EXPECT_EQ(use.recount("default/a", book), Rows{1}) << "the one that is left";
  use.remove_pod(*two);
  EXPECT_EQ(use.attached(1, kDriver), 0);
  EXPECT_EQ(use.recount("default/a", book), Rows{});
}

// --- tentative moves ---

TEST(VolumeUseMoves, CountWhatAPodBrings) {
  VolumeUse use;
  VolumeNeeds needs;
  needs.attached = {{kDriver, 2, {"h", "i"}}, {"another", 1, {}}};
  needs.exclusive = {"default/a"};
  use.set_attachment("t", 1, kDriver, "h");
  use.place(needs, {}, 1, 1);
  use.place(needs, {}, 1, 1);
  EXPECT_EQ(use.attached(1, kDriver), 6) << "two of each pod's own, and two that they share";
  EXPECT_EQ(use.attached(1, "another"), 2);
  EXPECT_TRUE(use.is_attached(1, kDriver, "i"));
  EXPECT_EQ(use.users_of("default/a"), 2);
  use.place(needs, {}, 1, -1);
  EXPECT_EQ(use.attached(1, kDriver), 4);
  use.place(needs, {}, 1, -1);
  EXPECT_EQ(use.attached(1, kDriver), 1);
  EXPECT_EQ(use.attached(1, "another"), 0);
  EXPECT_FALSE(use.is_attached(1, kDriver, "i"));
  EXPECT_EQ(use.users_of("default/a"), 0);
}

TEST(VolumeUseMoves, ARunningPodThatADraftRemovesComesBack) {
  VolumeBook book;
  book.put(ClassSample{}.make());
  book.put(ClaimSample{.name = "a"}.make());
  VolumeUse use;
  use.add_pod(pod_with("p", {"a"}), 1, book);
  VolumeNeeds needs;
  needs.attached = {{kDriver, 0, {"claim default/a"}}};
  needs.exclusive = {"default/a"};
  use.place(needs, {}, 1, -1);
  EXPECT_EQ(use.attached(1, kDriver), 0);
  EXPECT_EQ(use.users_of("default/a"), 0);
  use.place(needs, {}, 1, 1);
  EXPECT_EQ(use.attached(1, kDriver), 1);
  EXPECT_EQ(use.users_of("default/a"), 1);
}

// --- expected pods ---

TEST(VolumeUseExpected, AClaimIsExpectedWhereItsPodIs) {
  const VolumeBook book;
  VolumeUse use;
  EXPECT_FALSE(use.expects_any());
  const auto present = pod_with("p0", {"a"});
  const auto one = pod_with("p1", {"a"});
  const auto two = pod_with("p2", {"a"});
  use.add_pod(present, 3, book);
  EXPECT_FALSE(use.expects_any());
  EXPECT_FALSE(use.is_expected(3, "default/a")) << "it is there";
  use.add_pod(one, 1, book, Presence::Expected);
  use.add_pod(two, 2, book, Presence::Expected);
  EXPECT_TRUE(use.expects_any());
  EXPECT_TRUE(use.is_expected(1, "default/a"));
  EXPECT_TRUE(use.is_expected(2, "default/a"));
  EXPECT_FALSE(use.is_expected(3, "default/a"));
  EXPECT_FALSE(use.is_expected(1, "default/b"));
  EXPECT_EQ(use.users_of("default/a"), 1);
  use.remove_pod(*one, Presence::Expected);
  EXPECT_FALSE(use.is_expected(1, "default/a"));
  EXPECT_TRUE(use.is_expected(2, "default/a"));
  use.remove_pod(*two, Presence::Expected);
  EXPECT_FALSE(use.expects_any());
  EXPECT_EQ(use.users_of("default/a"), 1);
}

// --- drafts ---

struct Draft : VolumeDraft {
  VolumeBook book;
  std::vector<std::shared_ptr<const VolumeNeeds>> kept;

  template <typename... Samples>
  explicit Draft(const Samples&... samples) {
    (book.put(samples.make()), ...);
  }
  const VolumeNeeds& needs(std::initializer_list<std::string_view> claims) {
    return *kept.emplace_back(book.resolve(*pod_with("p", claims)));
  }
  static bool everywhere(const VolumeCandidate&) { return true; }
  static bool nowhere(const VolumeCandidate&) { return false; }
  std::vector<std::string> last_names() const {
    std::vector<std::string> names;
    for (const api::Object* volume : last()) names.push_back(volume->meta().name);
    return names;
  }
};
using Names = std::vector<std::string>;

TEST(VolumeDraftMoves, SayWhichVolumesTheLastOneTookOrGaveBack) {
  Draft draft(ClassSample{}, ClaimSample{.name = "a"}, ClaimSample{.name = "b", .size = "2Gi"},
              VolumeSample{.name = "v"}, VolumeSample{.name = "w", .size = "2Gi"});
  const VolumeNeeds& both = draft.needs({"a", "b"});
  const VolumeNeeds& none = draft.needs({});
  draft.place(both, 0, Draft::everywhere);
  EXPECT_EQ(draft.last_names(), (Names{"v", "w"}));
  EXPECT_TRUE(draft.is_taken(*draft.book.volume("v")));
  draft.place(none, 0, Draft::everywhere);
  EXPECT_EQ(draft.last_names(), Names{});
  draft.unplace(none, 0);
  EXPECT_EQ(draft.last_names(), Names{});
  draft.unplace(both, 0);
  EXPECT_EQ(draft.last_names(), (Names{"v", "w"}));
  EXPECT_FALSE(draft.is_taken(*draft.book.volume("v")));
  draft.unplace(both, 0);
  EXPECT_EQ(draft.last_names(), Names{}) << "it was running: the draft gave it nothing";
  draft.place(both, 0, Draft::everywhere);
  EXPECT_EQ(draft.last_names(), Names{});
  draft.place(both, 0, Draft::everywhere);
  EXPECT_EQ(draft.last_names(), (Names{"v", "w"}));
}

TEST(VolumeDraftMoves, ARunningPodComesBackWhereItWas) {
  Draft draft(ClassSample{}, ClaimSample{.name = "a"}, VolumeSample{.name = "v"});
  const VolumeNeeds& needs = draft.needs({"a"});
  draft.unplace(needs, 1);
  draft.place(needs, 2, Draft::everywhere);
  EXPECT_EQ(draft.last_names(), Names{"v"}) << "this is another pod";
  draft.unplace(needs, 1);
  EXPECT_EQ(draft.last_names(), Names{}) << "the last move was made on node 2";
  EXPECT_TRUE(draft.is_taken(*draft.book.volume("v")));
  draft.unplace(needs, 2);
  EXPECT_EQ(draft.last_names(), Names{"v"});
}

// Two pods of a draft use claim "a": what the first is given is the second's too.
struct SharedClaim : testing::Test {
  static constexpr const char* kKey = "default/a";
  Draft draft{ClassSample{}, ClaimSample{.name = "a"}};
  const VolumeNeeds& needs() {
    for (const char* user : {"p", "q"}) draft.book.count_users(*pod_with(user, {"a"}), 1);
    return draft.needs({"a"});
  }
};

TEST_F(SharedClaim, IsMadeOnOneNode) {
  const VolumeNeeds& shared = needs();
  EXPECT_EQ(draft.given(kKey), nullptr);
  draft.place(shared, 1, Draft::everywhere);
  ASSERT_NE(draft.given(kKey), nullptr);
  EXPECT_EQ(draft.given(kKey)->row, 1U);
  EXPECT_EQ(draft.given(kKey)->volume.volume, nullptr) << "it is to be made";
  EXPECT_TRUE(choose_on(draft, shared, 1, Draft::everywhere));
  EXPECT_FALSE(choose_on(draft, shared, 2, Draft::everywhere));
  draft.place(shared, 2, Draft::everywhere);
  EXPECT_EQ(draft.given(kKey)->row, 1U) << "the first decides";
  EXPECT_EQ(draft.given(kKey)->pods, 2);
  draft.unplace(shared, 2);
  EXPECT_FALSE(choose_on(draft, shared, 2, Draft::everywhere));
  draft.unplace(shared, 1);
  EXPECT_EQ(draft.given(kKey), nullptr);
  EXPECT_TRUE(choose_on(draft, shared, 2, Draft::everywhere));
}

TEST_F(SharedClaim, KeepsItsVolumeUntilTheLastPodIsTakenBack) {
  draft.book.put(VolumeSample{.name = "v"}.make());
  draft.book.put(VolumeSample{.name = "w"}.make());
  const VolumeNeeds& shared = needs();
  draft.place(shared, 1, Draft::everywhere);
  draft.place(shared, 2, Draft::everywhere);
  EXPECT_EQ(draft.last_names(), Names{"v"}) << "the same for both";
  EXPECT_FALSE(draft.is_taken(*draft.book.volume("w")));
  EXPECT_EQ(choose_on(draft, shared, 3, Draft::everywhere)->volumes.front().volume->meta().name,
            "v");
  EXPECT_FALSE(choose_on(draft, shared, 3, Draft::nowhere)) << "where v is not reached";
  draft.unplace(shared, 2);
  EXPECT_TRUE(draft.is_taken(*draft.book.volume("v")));
  draft.unplace(shared, 1);
  EXPECT_FALSE(draft.is_taken(*draft.book.volume("v")));
}

}  // namespace
}  // namespace muster::scheduler
