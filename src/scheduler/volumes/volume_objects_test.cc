// What the book knows of objects, and what a change of one of them changes for pods.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/volumes/volume_book.h"
#include "scheduler/volumes/volumes_testing.h"

namespace muster::scheduler {
namespace {

using Names = std::vector<std::string>;

Names names_of(const std::vector<api::ObjectPtr>& objects) {
  Names names;
  for (const api::ObjectPtr& object : objects) names.push_back(object->meta().name);
  return names;
}

api::ObjectPtr attachment(const std::string& name, const std::string& node,
                          const std::string& volume,
                          const std::string& attacher = "csi.example.com") {
  return object_of(api::kinds::volume_attachment(),
                   R"({"metadata":{"name":")" + name + R"("},"spec":{"attacher":")" + attacher +
                       R"(","nodeName":")" + node + R"(","source":{"persistentVolumeName":")" +
                       volume + R"("}}})");
}

api::ObjectPtr named(const api::Kind& kind, const std::string& name, const std::string& more = {}) {
  return object_of(kind, R"({"metadata":{"name":")" + name + "\"}" + more + "}");
}

struct Book : VolumeBook {
  Book() {
    put(ClassSample{.provisioner = "kubernetes.io/no-provisioner"}.make());
    put(ClaimSample{.name = "a"}.make());
  }
  // The volume that claim "a" gets on node n1.
  std::string given(const std::string& claim = "a") {
    const Reserved reserved = reserve(*pod_with("p", {claim}), *host("n1"));
    if (reserved.reservation == nullptr) return reserved.refusal;
    release("uid-p");
    return reserved.reservation->matches.front().volume->meta().name;
  }
  std::string text() const { return resolve(*pod_with("p", {"a"}))->text; }
};

TEST(VolumeBookObjects, EveryKindIsKeptAndFound) {
  VolumeBook book;
  const std::vector<api::ObjectPtr> all{
      ClassSample{.name = "class"}.make(),
      VolumeSample{.name = "volume"}.make(),
      ClaimSample{.name = "claim"}.make(),
      named(api::kinds::csi_node(), "node"),
      named(api::kinds::csi_driver(), "driver"),
      object_of(api::kinds::csi_storage_capacity(),
                R"({"metadata":{"name":"capacity","namespace":"x"}})"),
      attachment("attachment", "node", "volume")};
  ASSERT_EQ(VolumeBook::kinds().size(), all.size());
  for (const api::ObjectPtr& object : all) {
    EXPECT_TRUE(VolumeBook::keeps(object->kind()));
    EXPECT_EQ(book.remove(*object), nullptr);
    EXPECT_EQ(book.put(object), nullptr);
  }
  EXPECT_EQ(names_of(book.objects()), names_of(all));
  EXPECT_EQ(book.storage_class("class"), all[0]);
  EXPECT_EQ(book.volume("volume"), all[1]);
  EXPECT_EQ(book.claim("default", "claim"), all[2]);
  EXPECT_EQ(book.claim("other", "claim"), nullptr);
  EXPECT_EQ(book.csi_node("node"), all[3]);
  EXPECT_EQ(book.csi_driver("driver"), all[4]);
  for (const api::ObjectPtr& object : all) {
    EXPECT_EQ(book.put(object), object) << "what it knew before";
    EXPECT_EQ(book.remove(*object), object);
  }
  EXPECT_TRUE(book.objects().empty());
}

TEST(VolumeBookObjects, OtherKindsAreNotKept) {
  VolumeBook book;
  EXPECT_FALSE(VolumeBook::keeps(api::kinds::node()));
  EXPECT_EQ(book.put(host("n1")), nullptr);
  EXPECT_EQ(book.put(host("n1")), nullptr);
  EXPECT_EQ(book.remove(*host("n1")), nullptr);
  EXPECT_TRUE(book.objects().empty());
}

TEST(VolumeBookObjects, AttachmentsAreFoundByNodeAndByVolume) {
  VolumeBook book;
  book.put(attachment("t1", "n1", "v"));
  book.put(attachment("t2", "n1", "w"));
  book.put(attachment("t3", "n2", "v"));
  EXPECT_EQ(names_of(book.attachments_to("n1")), (Names{"t1", "t2"}));
  EXPECT_EQ(names_of(book.attachments_of("v")), (Names{"t1", "t3"}));
  EXPECT_EQ(names_of(book.attachments_to("n3")), Names{});
  book.put(attachment("t1", "n2", "w"));
  EXPECT_EQ(names_of(book.attachments_to("n1")), Names{"t2"});
  EXPECT_EQ(names_of(book.attachments_to("n2")), (Names{"t1", "t3"}));
  EXPECT_EQ(names_of(book.attachments_of("v")), Names{"t3"});
  EXPECT_EQ(names_of(book.attachments_of("w")), (Names{"t1", "t2"}));
  book.remove(*attachment("t3", "n2", "v"));
  EXPECT_EQ(names_of(book.attachments_to("n2")), Names{"t1"});
  EXPECT_EQ(names_of(book.attachments_of("v")), Names{});
}

TEST(VolumeBookObjects, AnAttachmentCountsIfItsVolumeIsOfTheSameDriver) {
  VolumeBook book;
  EXPECT_FALSE(book.attachment_of(*attachment("t", "n1", "v")));
  book.put(VolumeSample{.name = "v"}.make());
  EXPECT_FALSE(book.attachment_of(*attachment("t", "n1", "v", "another")));
  const auto held = book.attachment_of(*attachment("t", "n1", "v"));
  ASSERT_TRUE(held);
  EXPECT_EQ(held->node, "n1");
  EXPECT_EQ(held->driver, "csi.example.com");
  EXPECT_EQ(held->handle, "handle-v");
}

// --- what a pod attaches ---

TEST(VolumeBookObjects, APodAttachesEachVolumeOnce) {
  VolumeBook book;
  book.put(ClassSample{}.make());
  for (const ClaimSample& claim :
       {ClaimSample{.name = "a", .volume = "v"}, ClaimSample{.name = "b", .volume = "v"},
        ClaimSample{.name = "c"}, ClaimSample{.name = "odd", .storage_class = "unknown"}})
    book.put(claim.make());
  book.put(VolumeSample{.name = "v"}.make());
  const auto pod =
      object_of(api::kinds::pod(),
                R"({"metadata":{"name":"p","namespace":"default","uid":"u"},"spec":{"volumes":[
      {"name":"1","persistentVolumeClaim":{"claimName":"c"}},{"name":"2","persistentVolumeClaim":{"claimName":"a"}},
      {"name":"3","persistentVolumeClaim":{"claimName":"b"}},{"name":"4","persistentVolumeClaim":{"claimName":"missing"}},
      {"name":"5","persistentVolumeClaim":{"claimName":"odd"}},{"name":"6","persistentVolumeClaim":{"claimName":"a"}},
      {"name":"7","awsElasticBlockStore":{"volumeID":"disk"}},{"name":"8","rbd":{"image":"i"}}]}})");
  EXPECT_EQ(claim_names(*pod), (Names{"c", "a", "b", "missing", "odd"}));
  const auto attached = [&] {
    Names all;
    for (const VolumeBook::PodAttachment& one : book.attachments(*pod))
      all.push_back(one.driver + " " + one.handle + (one.is_own ? " own" : ""));
    return all;
  };
  EXPECT_EQ(attached(), (Names{"csi.example.com claim default/c own",
                               "csi.example.com handle-v own", "ebs.csi.aws.com disk"}));
  for (const char* user : {"q", "r"}) book.count_users(*pod_with(user, {"b"}), 1);
  EXPECT_EQ(attached(), (Names{"csi.example.com claim default/c own", "csi.example.com handle-v",
                               "ebs.csi.aws.com disk"}))
      << "others use it under one of its claims";
}

TEST(VolumeBookObjects, AClaimIsSharedWhileTwoPodsNameIt) {
  Book book;
  const auto key = [&] { return book.resolve(*pod_with("p", {"a"}))->delayed.front().key; };
  for (const char* user : {"p", "q", "r"}) book.count_users(*pod_with(user, {"a"}), 1);
  book.count_users(*pod_with("q", {"a"}), -1);
  EXPECT_EQ(key(), "default/a");
  book.count_users(*pod_with("r", {"a"}), -1);
  EXPECT_EQ(key(), "");
  book.count_users(*pod_with("p", {"a"}), -1);
  book.count_users(*pod_with("p", {"a"}), 1);
  book.count_users(*pod_with("q", {"a"}), 1);
  EXPECT_EQ(key(), "default/a");
}

// --- volumes that come, change and go ---

TEST(VolumeBookObjects, AVolumeIsGivenAwayAsItIsNow) {
  Book book;
  EXPECT_EQ(book.given(), kNoVolume);
  book.put(VolumeSample{.name = "v"}.make());
  EXPECT_EQ(book.given(), "v");
  book.put(VolumeSample{.name = "v", .storage_class = "slow"}.make());
  EXPECT_EQ(book.given(), kNoVolume) << "it is of another class now";
  book.put(VolumeSample{.name = "v"}.make());
  EXPECT_EQ(book.given(), "v");
  book.put(VolumeSample{.name = "v", .claim = "b"}.make());
  EXPECT_EQ(book.given(), kNoVolume) << "it is another claim's now";
  book.put(VolumeSample{.name = "v", .claim = "a"}.make());
  EXPECT_EQ(book.given(), "v");
  book.remove(*VolumeSample{.name = "v", .claim = "a"}.make());
  EXPECT_EQ(book.given(), kNoVolume);
  book.put(VolumeSample{.name = "v"}.make());
  book.remove(*VolumeSample{.name = "v"}.make());
  EXPECT_EQ(book.given(), kNoVolume);
}

TEST(VolumeBookObjects, OfVolumesOfOneSizeTheFirstByNameIsGiven) {
  Book book;
  for (const char* name : {"b", "c", "a"})
    book.put(VolumeSample{.name = name, .size = "2Gi"}.make());
  EXPECT_EQ(book.given(), "a");
  book.put(VolumeSample{.name = "d"}.make());
  EXPECT_EQ(book.given(), "d") << "the smallest first";
}

// A volume that names a claim is kept for it only if it would do for it.
TEST(VolumeBookObjects, AVolumeIsKeptForTheClaimThatItNames) {
  const auto kept = [](const std::string& spec, const std::string& metadata = {}) {
    Book book;
    book.put(object_of(api::kinds::persistent_volume(),
                       R"({"metadata":{"name":"v")" + metadata +
                           R"(},"spec":{"storageClassName":"fast","capacity":{"storage":"1Gi"},
                       "claimRef":{"namespace":"default","name":"a"})" +
                           spec + R"(},"status":{"phase":"Available"}})"));
    return book.given() == "v";
  };
  EXPECT_TRUE(kept("")) << "whatever its access modes";
  EXPECT_TRUE(kept(R"(,"claimRef":{"namespace":"default","name":"a","uid":"uid-a"})"));
  EXPECT_FALSE(kept(R"(,"claimRef":{"namespace":"default","name":"a","uid":"an-earlier-one"})"));
  EXPECT_FALSE(kept(R"(,"claimRef":{"namespace":"other","name":"a"})"));
  EXPECT_FALSE(kept(R"(,"capacity":{"storage":"100Mi"})"));
  EXPECT_FALSE(kept(R"(,"storageClassName":"slow")"));
  EXPECT_FALSE(kept(R"(,"volumeMode":"Block")"));
  EXPECT_FALSE(kept("", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"));
}

TEST(VolumeBookObjects, OnlyVolumesThatWouldDoSuitAClaim) {
  const api::ObjectPtr claim = ClaimSample{.name = "a", .size = "2Gi"}.make();
  EXPECT_TRUE(suits(claim, VolumeSample{.name = "v", .size = "2Gi"}.make()));
  EXPECT_FALSE(suits(claim, VolumeSample{.name = "v"}.make()));
  EXPECT_FALSE(
      suits(claim, VolumeSample{.name = "v", .storage_class = "slow", .size = "2Gi"}.make()));
}

// --- reservations ---

TEST(VolumeBookObjects, WhatIsReservedIsTheClaimsOwnUntilItIsReleased) {
  Book book;
  book.put(ClaimSample{.name = "b"}.make());
  book.put(VolumeSample{.name = "v"}.make());
  book.put(VolumeSample{.name = "w", .size = "2Gi"}.make());
  const auto pod = pod_with("one", {"a"});
  EXPECT_EQ(book.reservation("uid-one"), nullptr);
  const auto reserved = book.reserve(*pod, *host("n1"));
  ASSERT_NE(reserved.reservation, nullptr);
  EXPECT_EQ(book.reservation("uid-one"), reserved.reservation.get());
  EXPECT_EQ(reserved.reservation->node, "n1");
  EXPECT_EQ(reserved.reservation->matches.front().claim->meta().name, "a");
  EXPECT_TRUE(reserved.reservation->provisioned.empty());
  EXPECT_EQ(book.resolve(*pod)->delayed.front().reserved.volume->meta().name, "v");
  EXPECT_EQ(book.resolve(*pod)->delayed.front().candidates->size(), 1U);
  EXPECT_EQ(book.given("b"), "w");
  book.release("uid-another");
  EXPECT_EQ(book.given("b"), "w");
  book.release("uid-one");
  EXPECT_EQ(book.reservation("uid-one"), nullptr);
  EXPECT_EQ(book.resolve(*pod)->delayed.front().reserved.volume, nullptr);
  EXPECT_EQ(book.given("b"), "v");
}

TEST(VolumeBookObjects, AReservedVolumeThatIsGoneIsNobodys) {
  Book book;
  book.put(VolumeSample{.name = "v"}.make());
  const auto pod = pod_with("one", {"a"});
  ASSERT_NE(book.reserve(*pod, *host("n1")).reservation, nullptr);
  book.remove(*VolumeSample{.name = "v"}.make());
  EXPECT_EQ(book.resolve(*pod)->delayed.front().reserved.volume, nullptr);
}

TEST(VolumeBookObjects, NothingIsHeldForAPodWithoutClaimsThatWait) {
  Book book;
  const auto reserved = book.reserve(*pod_with("p", {}), *host("n1"));
  EXPECT_EQ(reserved.reservation, nullptr);
  EXPECT_EQ(reserved.refusal, "");
  EXPECT_EQ(book.reservation("uid-p"), nullptr);
}

TEST(VolumeBookObjects, APodThatCannotHaveAllItsVolumesHoldsNone) {
  Book book;
  book.put(ClaimSample{.name = "large", .size = "5Gi"}.make());
  book.put(ClaimSample{.name = "b"}.make());
  book.put(VolumeSample{.name = "v"}.make());
  const auto reserved = book.reserve(*pod_with("one", {"a", "large"}), *host("n1"));
  EXPECT_EQ(reserved.refusal, kNoVolume);
  EXPECT_EQ(reserved.reservation, nullptr);
  EXPECT_EQ(book.given("b"), "v");
}

TEST(VolumeBookObjects, TheNodeThatTheApiNamesCountsBeforeTheReservedOne) {
  VolumeBook book;
  book.put(ClassSample{}.make());
  book.put(ClaimSample{.name = "a"}.make());
  const auto pod = pod_with("p", {"a"});
  ASSERT_NE(book.reserve(*pod, *host("n1")).reservation, nullptr);
  EXPECT_EQ(book.resolve(*pod)->delayed.front().selected_node, "n1");
  book.put(ClaimSample{.name = "a", .selected_node = "n2"}.make());
  EXPECT_EQ(book.resolve(*pod)->delayed.front().selected_node, "n2");
}

// --- texts that change ---

// Pods of one text are judged once, so whatever changes the judgement must change the text.
TEST(VolumeBookObjects, WhatChangesTheOfferOfAClassChangesTheText) {
  const auto capacity = [](const std::string& storage_class) {
    return object_of(api::kinds::csi_storage_capacity(),
                     R"({"metadata":{"name":"k","namespace":"x"},"storageClassName":")" +
                         storage_class + R"(","capacity":"5Gi"})");
  };
  Book book;
  std::string before = book.text();
  const auto changed = [&] { return std::exchange(before, book.text()) != book.text(); };
  EXPECT_FALSE(changed());
  book.put(ClassSample{.name = "slow"}.make());
  EXPECT_FALSE(changed()) << "another class";
  book.put(ClassSample{.more = R"(,"allowedTopologies":[])"}.make());
  EXPECT_TRUE(changed()) << "its class";
  book.put(capacity("fast"));
  EXPECT_TRUE(changed()) << "free capacity";
  book.put(capacity("slow"));
  EXPECT_TRUE(changed()) << "capacity that is gone";
  book.remove(*capacity("slow"));
  EXPECT_FALSE(changed()) << "capacity of another class";
  book.put(named(api::kinds::csi_driver(), "any"));
  EXPECT_TRUE(changed()) << "a driver";
  book.put(named(api::kinds::csi_node(), "n1"));
  EXPECT_FALSE(changed()) << "the drivers of a node are asked for each node";
  book.put(VolumeSample{.name = "v"}.make());
  EXPECT_TRUE(changed()) << "a volume";
  book.put(VolumeSample{.name = "v", .storage_class = "slow"}.make());
  EXPECT_TRUE(changed()) << "a volume that went to another class";
  book.put(VolumeSample{.name = "v"}.make());
  EXPECT_TRUE(changed()) << "and came back";
  book.remove(*VolumeSample{.name = "v"}.make());
  EXPECT_TRUE(changed()) << "a volume that is gone";
}

TEST(VolumeBookObjects, AClassThatWasGoneForAWhileHasANewText) {
  Book book;
  const std::string before = book.text();
  book.remove(*ClassSample{}.make());
  book.put(ClassSample{}.make());
  EXPECT_NE(book.text(), before);
}

}  // namespace
}  // namespace muster::scheduler
