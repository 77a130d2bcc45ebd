#include "scheduler/volumes/volume_book.h"

#include "scheduler/volumes/volume_use.h"
#include "scheduler/volumes/volumes_testing.h"

namespace muster::scheduler {
namespace {

struct Book : VolumeBook {
  template <typename... Samples>
  explicit Book(const Samples&... samples) {
    (put(samples.make()), ...);
  }
};

TEST(VolumeNeeds, PodsWithAClaimEachOfOneTemplateAreAlike) {
  const Book book(ClassSample{}, ClaimSample{.name = "a"}, ClaimSample{.name = "b"},
                  ClaimSample{.name = "large", .size = "2Gi"});
  const auto a = book.resolve(*pod_with("pa", {"a"}));
  EXPECT_EQ(a->text, book.resolve(*pod_with("pb", {"b"}))->text);
  EXPECT_NE(a->text, book.resolve(*pod_with("pc", {"large"}))->text);
  ASSERT_EQ(a->delayed.size(), 1U);
  EXPECT_TRUE(a->delayed.front().can_provision);
  EXPECT_TRUE(a->binding_refusal.empty());
}

TEST(VolumeNeeds, AClaimThatOthersUseTooIsToldApart) {
  Book book(ClassSample{}, ClaimSample{.name = "a"}, ClaimSample{.name = "b"});
  const auto one = pod_with("p1", {"a"});
  const auto two = pod_with("p2", {"a"});
  book.count_users(*one, 1);
  const auto alone = book.resolve(*one);
  EXPECT_TRUE(alone->delayed.front().key.empty());
  book.count_users(*two, 1);
  EXPECT_EQ(book.resolve(*one)->delayed.front().key, "default/a");
  EXPECT_EQ(book.resolve(*one)->text, book.resolve(*two)->text);
  EXPECT_NE(book.resolve(*one)->text, book.resolve(*pod_with("p3", {"b"}))->text);
  book.count_users(*two, -1);
  EXPECT_EQ(book.resolve(*one)->text, alone->text);
}

TEST(VolumeNeeds, SaysWhatIsWrongWithClaims) {
  Book book(ClassSample{}, ClassSample{.name = "now", .waits = false},
            ClaimSample{.name = "soon", .storage_class = "now"},
            ClaimSample{.name = "orphan", .volume = "gone"});
  const auto missing = book.resolve(*pod_with("p", {"nope"}));
  EXPECT_EQ(missing->restrictions_refusal, "persistentvolumeclaim \"nope\" not found");
  EXPECT_EQ(missing->binding_refusal, "persistentvolumeclaim \"nope\" not found");
  EXPECT_EQ(missing->limits_refusal,
            "looking up PVC default/nope: persistentvolumeclaim \"nope\" not found");
  const auto immediate = book.resolve(*pod_with("p", {"soon"}));
  EXPECT_EQ(immediate->binding_refusal, "pod has unbound immediate PersistentVolumeClaims");
  EXPECT_EQ(immediate->zone_refusal, "PersistentVolume had no name");
  const auto orphan = book.resolve(*pod_with("p", {"orphan"}));
  EXPECT_TRUE(orphan->lost_volume);
  EXPECT_EQ(orphan->zone_refusal, "persistentvolume \"gone\" not found");
}

TEST(VolumeNeeds, NamesClaimsThatAreLostOrGoing) {
  Book book(ClassSample{});
  const auto put = [&](const char* name, const char* metadata, const char* spec,
                       const char* phase) {
    book.put(object_of(api::kinds::persistent_volume_claim(),
                       R"({"metadata":{"name":")" + std::string(name) +
                           R"(","namespace":"default")" + metadata + R"(},"spec":{)" + spec +
                           R"(},"status":{"phase":")" + phase + R"("}})"));
  };
  put("lost", "", R"("volumeName":"v")", "Lost");
  EXPECT_EQ(book.resolve(*pod_with("p", {"lost"}))->binding_refusal,
            "persistentvolumeclaim \"lost\" bound to non-existent persistentvolume \"v\"");
  put("going", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")", R"("storageClassName":"fast")",
      "Pending");
  EXPECT_EQ(book.resolve(*pod_with("p", {"going"}))->binding_refusal,
            "persistentvolumeclaim \"going\" is being deleted");
  put("classless", "", "", "Pending");
  EXPECT_EQ(book.resolve(*pod_with("p", {"classless"}))->binding_refusal,
            "pod has unbound immediate PersistentVolumeClaims");
  EXPECT_EQ(book.resolve(*pod_with("p", {"classless"}))->zone_refusal,
            "PersistentVolumeClaim had no pv name and storageClass name");
  put("unknown", "", R"("storageClassName":"none")", "Pending");
  EXPECT_EQ(book.resolve(*pod_with("p", {"unknown"}))->zone_refusal,
            "storageclass.storage.k8s.io \"none\" not found");
  book.put(
      object_of(api::kinds::storage_class(), R"({"metadata":{"name":"odd"},"provisioner":"x"})"));
  put("odd", "", R"("storageClassName":"odd")", "Pending");
  for (const auto refusal : {&VolumeNeeds::binding_refusal, &VolumeNeeds::zone_refusal})
    EXPECT_EQ((*book.resolve(*pod_with("p", {"odd"}))).*refusal,
              "VolumeBindingMode not set for StorageClass \"odd\"");
  put("half", "", R"("storageClassName":"fast","volumeName":"v")", "Pending");
  EXPECT_EQ(book.resolve(*pod_with("p", {"half"}))->binding_refusal,
            "pod has unbound immediate PersistentVolumeClaims")
      << "it has a volume, but nobody has said that it is bound";
}

// A label of zones of which one has no name says nothing.
TEST(VolumeNeeds, ZonesWithoutANameAreNone) {
  for (const char* value : {"", "a__", "__a", "a____b"}) {
    const Book book(
        ClassSample{}, ClaimSample{.name = "a", .volume = "v"},
        VolumeSample{.name = "v",
                     .claim = "a",
                     .labels = R"("topology.kubernetes.io/zone":")" + std::string(value) + "\""});
    EXPECT_TRUE(book.resolve(*pod_with("p", {"a"}))->zones.empty()) << value;
  }
}

// What a volume must be like that is given to a claim which waits. All but one of these have a
// fault.
TEST(VolumeBook, AVolumeMustSuitTheClaim) {
  const std::string claim = R"("volumeMode":"Block","volumeAttributesClassName":"gold",)"
                            R"("selector":{"matchLabels":{"tier":"1"}})";
  struct Case {
    const char* fault;
    std::string size = "2Gi";
    std::string modes = R"("ReadWriteOnce","ReadOnlyMany")";
    std::string spec = R"("volumeMode":"Block","volumeAttributesClassName":"gold")";
    std::string metadata = R"("labels":{"tier":"1"})";
    std::string phase = "Available";
  };
  const Case cases[] = {
      {.fault = ""},
      {.fault = "too small", .size = "1Gi"},
      {.fault = "modes", .modes = R"("ReadOnlyMany")"},
      {.fault = "volume mode", .spec = R"("volumeAttributesClassName":"gold")"},
      {.fault = "attributes", .spec = R"("volumeMode":"Block")"},
      {.fault = "selector", .metadata = R"("labels":{"tier":"2"})"},
      {.fault = "going",
       .metadata = R"("labels":{"tier":"1"},"deletionTimestamp":"2026-01-01T00:00:00Z")"},
      {.fault = "phase", .phase = "Released"},
  };
  for (const Case& c : cases) {
    Book book(ClassSample{.provisioner = "kubernetes.io/no-provisioner"},
              ClaimSample{.name = "a", .size = "2Gi", .more = "," + claim});
    book.put(object_of(api::kinds::persistent_volume(),
                       R"({"metadata":{"name":"v",)" + c.metadata +
                           R"(},"spec":{"storageClassName":"fast","capacity":{"storage":")" +
                           c.size + R"("},"accessModes":[)" + c.modes + "]," + c.spec +
                           R"(},"status":{"phase":")" + c.phase + R"("}})"));
    const bool suits = std::string_view(c.fault).empty();
    EXPECT_EQ(book.reserve(*pod_with("p", {"a"}), *host("n1")).reservation != nullptr, suits)
        << c.fault;
  }
}

TEST(VolumeNeeds, AnEphemeralClaimMustBelongToThePod) {
  Book book(ClassSample{}, ClaimSample{.name = "p-v0"});
  const auto pod = object_of(api::kinds::pod(), R"({"metadata":{"name":"p","namespace":"default",
      "uid":"u"},"spec":{"volumes":[{"name":"v0","ephemeral":{}}]}})");
  EXPECT_EQ(book.resolve(*pod)->binding_refusal,
            "PVC default/p-v0 was not created for pod default/p (pod is not owner)");
  book.remove(*ClaimSample{.name = "p-v0"}.make());
  EXPECT_EQ(book.resolve(*pod)->binding_refusal,
            "waiting for ephemeral volume controller to create the persistentvolumeclaim "
            "\"p-v0\"");
}

TEST(VolumeNeeds, BoundVolumesBringTheirNodesAndZones) {
  const Book book(ClassSample{}, ClaimSample{.name = "a", .volume = "v"},
                  VolumeSample{.name = "v",
                               .claim = "a",
                               .host = "n1",
                               .labels = R"("topology.kubernetes.io/zone":"z1__z2")"});
  const auto needs = book.resolve(*pod_with("p", {"a"}));
  ASSERT_EQ(needs->affinities.size(), 1U);
  ASSERT_EQ(needs->zones.size(), 1U);
  EXPECT_EQ(needs->zones.front().values, (std::vector<std::string>{"z1", "z2"}));
  EXPECT_TRUE(needs->delayed.empty());
  ASSERT_EQ(needs->attached.size(), 1U);
  EXPECT_EQ(needs->attached.front().driver, "csi.example.com");
  EXPECT_EQ(needs->attached.front().own, 1);
}

// --- reservations ---

TEST(VolumeBook, ReservesTheSmallestVolumeThatTheNodeReaches) {
  Book book(ClassSample{.provisioner = "kubernetes.io/no-provisioner"}, ClaimSample{.name = "a"},
            ClaimSample{.name = "b"}, VolumeSample{.name = "v1", .size = "5Gi", .host = "n1"},
            VolumeSample{.name = "v2", .size = "2Gi", .host = "n1"},
            VolumeSample{.name = "v3", .size = "1Gi", .host = "n2"});
  const auto pa = pod_with("pa", {"a"});
  const auto pb = pod_with("pb", {"b"});
  const auto first = book.reserve(*pa, *host("n1"));
  ASSERT_NE(first.reservation, nullptr) << first.refusal;
  EXPECT_EQ(first.reservation->matches.front().volume->meta().name, "v2");
  const auto second = book.reserve(*pb, *host("n1"));
  ASSERT_NE(second.reservation, nullptr) << second.refusal;
  EXPECT_EQ(second.reservation->matches.front().volume->meta().name, "v1");
  book.release("uid-pa");
  book.release("uid-pb");
  EXPECT_EQ(book.reserve(*pb, *host("n1")).reservation->matches.front().volume->meta().name, "v2");
}

TEST(VolumeBook, PodsThatShareAClaimHoldItsVolumeUntilTheLastLetsGo) {
  Book book(ClassSample{.provisioner = "kubernetes.io/no-provisioner"}, ClaimSample{.name = "a"},
            ClaimSample{.name = "b"}, VolumeSample{.name = "v"});
  const auto other = pod_with("other", {"b"});
  ASSERT_NE(book.reserve(*pod_with("one", {"a"}), *host("n1")).reservation, nullptr);
  ASSERT_NE(book.reserve(*pod_with("two", {"a"}), *host("n1")).reservation, nullptr);
  book.release("uid-one");
  EXPECT_EQ(book.reserve(*other, *host("n1")).refusal, kNoVolume) << "the second holds it";
  book.release("uid-two");
  EXPECT_NE(book.reserve(*other, *host("n1")).reservation, nullptr);
}

TEST(VolumeBook, PodsThatShareAClaimKeepItToTheirNodeUntilTheLastLetsGo) {
  Book book(ClassSample{}, ClaimSample{.name = "a"});
  const auto other = pod_with("other", {"a"});
  ASSERT_NE(book.reserve(*pod_with("one", {"a"}), *host("n1")).reservation, nullptr);
  ASSERT_NE(book.reserve(*pod_with("two", {"a"}), *host("n1")).reservation, nullptr);
  book.release("uid-one");
  EXPECT_EQ(book.reserve(*other, *host("n2")).refusal, kNoVolume) << "made for the second on n1";
  book.release("uid-two");
  EXPECT_NE(book.reserve(*other, *host("n2")).reservation, nullptr);
}

TEST(VolumeBook, TheSmallestClaimOfAPodChoosesFirst) {
  Book book(ClassSample{.provisioner = "kubernetes.io/no-provisioner"},
            ClaimSample{.name = "large", .size = "3Gi"}, ClaimSample{.name = "small"},
            VolumeSample{.name = "v4", .size = "4Gi"}, VolumeSample{.name = "v3", .size = "3Gi"});
  const auto reserved = book.reserve(*pod_with("p", {"large", "small"}), *host("n1"));
  ASSERT_NE(reserved.reservation, nullptr) << reserved.refusal;
  std::vector<std::string> matches;
  for (const VolumeReservation::Match& match : reserved.reservation->matches)
    matches.push_back(match.claim->meta().name + " " + match.volume->meta().name);
  EXPECT_EQ(matches, (std::vector<std::string>{"small v3", "large v4"}));
}

TEST(VolumeBook, NothingIsMadeForAClaimWhoseVolumeIsElsewhere) {
  Book book(ClassSample{}, ClaimSample{.name = "a"},
            VolumeSample{.name = "mine", .claim = "a", .host = "n1"});
  EXPECT_EQ(book.reserve(*pod_with("p", {"a"}), *host("n2")).refusal, kNoVolume);
  EXPECT_NE(book.reserve(*pod_with("p", {"a"}), *host("n1")).reservation, nullptr);
}

TEST(VolumeBook, SaysWhenNoVolumeIsLeft) {
  Book book(ClassSample{.provisioner = "kubernetes.io/no-provisioner"}, ClaimSample{.name = "a"},
            ClaimSample{.name = "b"}, VolumeSample{.name = "v", .host = "n1"});
  EXPECT_EQ(book.reserve(*pod_with("pa", {"a"}), *host("n2")).refusal, kNoVolume);
  EXPECT_NE(book.reserve(*pod_with("pa", {"a"}), *host("n1")).reservation, nullptr);
  EXPECT_EQ(book.reserve(*pod_with("pb", {"b"}), *host("n1")).refusal, kNoVolume);
}

TEST(VolumeBook, AProvisionerIsAskedWhereNoVolumeWillDo) {
  Book book(ClassSample{.more = R"(,"allowedTopologies":[{"matchLabelExpressions":[
                {"key":"zone","values":["a"]}]}])"},
            ClaimSample{.name = "c", .size = "3Gi"}, VolumeSample{.name = "small"});
  const auto pod = pod_with("p", {"c"});
  EXPECT_EQ(book.reserve(*pod, *host("n1", R"("zone":"b")")).refusal, kNoVolume);
  const auto reserved = book.reserve(*pod, *host("n1", R"("zone":"a")"));
  ASSERT_NE(reserved.reservation, nullptr);
  EXPECT_EQ(reserved.reservation->provisioned.front()->meta().name, "c");
  // From now on the claim is for that node alone.
  EXPECT_EQ(book.resolve(*pod)->delayed.front().selected_node, "n1");
  book.release("uid-p");
  EXPECT_EQ(book.resolve(*pod)->delayed.front().selected_node, "");
}

TEST(VolumeBook, AVolumeThatNamesTheClaimIsTakenBeforeSmallerOnes) {
  Book book(ClassSample{.provisioner = "kubernetes.io/no-provisioner"}, ClaimSample{.name = "a"},
            VolumeSample{.name = "mine", .size = "9Gi", .claim = "a"},
            VolumeSample{.name = "small"});
  const auto reserved = book.reserve(*pod_with("p", {"a"}), *host("n1"));
  ASSERT_NE(reserved.reservation, nullptr);
  EXPECT_EQ(reserved.reservation->matches.front().volume->meta().name, "mine");
}

TEST(VolumeBook, CapacityThatDriversReportIsRespected) {
  Book book(ClassSample{}, ClaimSample{.name = "a", .size = "3Gi"});
  book.put(object_of(api::kinds::csi_driver(), R"({"metadata":{"name":"csi.example.com"},
      "spec":{"storageCapacity":true}})"));
  const auto pod = pod_with("p", {"a"});
  EXPECT_EQ(book.reserve(*pod, *host("n1")).refusal, kNoCapacity);
  const auto capacity = [&](const char* name, const char* zone, const char* size) {
    book.put(object_of(api::kinds::csi_storage_capacity(),
                       R"({"metadata":{"name":")" + std::string(name) +
                           R"(","namespace":"x"},"storageClassName":"fast","capacity":")" + size +
                           R"(","nodeTopology":{"matchLabels":{"zone":")" + zone + R"("}}})"));
  };
  capacity("k1", "a", "2Gi");
  EXPECT_EQ(book.reserve(*pod, *host("n1", R"("zone":"a")")).refusal, kNoCapacity);
  capacity("k1", "a", "4Gi");
  EXPECT_EQ(book.reserve(*pod, *host("n1", R"("zone":"b")")).refusal, kNoCapacity);
  EXPECT_NE(book.reserve(*pod, *host("n1", R"("zone":"a")")).reservation, nullptr);
}

TEST(VolumeBook, WhatManyChooseFromChangesTheTextOfAll) {
  Book book(ClassSample{}, ClaimSample{.name = "a"});
  const auto pod = pod_with("p", {"a"});
  const std::string before = book.resolve(*pod)->text;
  book.put(VolumeSample{.name = "other", .storage_class = "slow"}.make());
  EXPECT_EQ(book.resolve(*pod)->text, before) << "a volume of another class";
  book.put(VolumeSample{.name = "theirs", .claim = "b"}.make());
  EXPECT_EQ(book.resolve(*pod)->text, before) << "a volume of another claim";
  book.put(VolumeSample{.name = "open"}.make());
  EXPECT_NE(book.resolve(*pod)->text, before);
}

// --- use ---

TEST(VolumeUse, CountsEachVolumeOnceOnANode) {
  const Book book(ClassSample{}, ClaimSample{.name = "a"}, ClaimSample{.name = "b"});
  VolumeUse use;
  const auto one = pod_with("p1", {"a"});
  const auto two = pod_with("p2", {"a", "b"});
  use.add_pod(one, 3, book);
  use.add_pod(two, 3, book);
  EXPECT_EQ(use.attached(3, "csi.example.com"), 2);
  EXPECT_EQ(use.users_of("default/a"), 2);
  use.remove_pod(*two);
  EXPECT_EQ(use.attached(3, "csi.example.com"), 1);
  use.remove_pod(*one);
  EXPECT_EQ(use.attached(3, "csi.example.com"), 0);
  EXPECT_EQ(use.users_of("default/a"), 0);
}

TEST(VolumeUse, AClaimThatGetsItsVolumeIsTheSameVolume) {
  Book book(ClassSample{}, ClaimSample{.name = "a"});
  VolumeUse use;
  const auto pod = pod_with("p", {"a"});
  use.add_pod(pod, 1, book);
  book.put(VolumeSample{.name = "v", .claim = "a"}.make());
  book.put(ClaimSample{.name = "a", .volume = "v"}.make());
  EXPECT_EQ(use.recount("default/a", book), std::vector<VolumeUse::Row>{1});
  use.set_attachment("attachment", 1, "csi.example.com", "handle-v");
  EXPECT_EQ(use.attached(1, "csi.example.com"), 1);
  use.remove_pod(*pod);
  EXPECT_EQ(use.attached(1, "csi.example.com"), 1) << "still attached";
  EXPECT_EQ(use.remove_attachment("attachment"), 1U);
  EXPECT_EQ(use.attached(1, "csi.example.com"), 0);
}

TEST(VolumeUse, WhatExpectedPodsBringIsCountedApart) {
  Book book(ClassSample{}, ClaimSample{.name = "a"}, ClaimSample{.name = "b"});
  using Counting = VolumeUse::Counting;
  VolumeUse use;
  const auto expected = pod_with("p1", {"a", "b"});
  const auto present = pod_with("p2", {"a"});
  use.add_pod(expected, 1, book, VolumeUse::Presence::Expected);
  EXPECT_EQ(use.attached(1, "csi.example.com"), 0);
  EXPECT_EQ(use.attached(1, "csi.example.com", Counting::WithExpected), 2);
  EXPECT_EQ(use.users_of("default/a"), 0);
  EXPECT_TRUE(use.is_expected(1, "default/a"));
  EXPECT_FALSE(use.is_expected(2, "default/a"));
  use.add_pod(present, 1, book);
  EXPECT_EQ(use.attached(1, "csi.example.com"), 1);
  EXPECT_EQ(use.attached(1, "csi.example.com", Counting::WithExpected), 2) << "each once";
  // A claim of one that is expected gets its volume.
  book.put(VolumeSample{.name = "v", .claim = "b"}.make());
  book.put(ClaimSample{.name = "b", .volume = "v"}.make());
  EXPECT_EQ(use.recount("default/b", book), std::vector<VolumeUse::Row>{1});
  EXPECT_FALSE(use.is_attached(1, "csi.example.com", "handle-v"));
  EXPECT_TRUE(use.is_attached(1, "csi.example.com", "handle-v", Counting::WithExpected));
  use.remove_pod(*expected, VolumeUse::Presence::Expected);
  EXPECT_EQ(use.attached(1, "csi.example.com", Counting::WithExpected), 1);
  EXPECT_FALSE(use.is_expected(1, "default/a"));
}

TEST(VolumeDraft, GivesAwayVolumesAndTakesThemBackLastFirst) {
  const Book book(ClassSample{.provisioner = "kubernetes.io/no-provisioner"},
                  ClaimSample{.name = "a"}, VolumeSample{.name = "v1"}, VolumeSample{.name = "v2"});
  const auto needs = book.resolve(*pod_with("p", {"a"}));
  const auto everywhere = [](const VolumeCandidate&) { return true; };
  VolumeDraft draft;
  const auto chosen = [&] {
    const auto choice = choose_on(draft, *needs, 0, everywhere);
    const api::ObjectPtr& volume = choice->volumes.front().volume;
    return volume == nullptr ? std::string("none") : volume->meta().name;
  };
  EXPECT_EQ(chosen(), "v1");
  draft.place(*needs, 0, everywhere);
  EXPECT_EQ(chosen(), "v2");
  draft.place(*needs, 1, everywhere);
  EXPECT_EQ(chosen(), "none");
  draft.unplace(*needs, 1);
  EXPECT_EQ(chosen(), "v2");
  draft.unplace(*needs, 0);
  EXPECT_EQ(chosen(), "v1");
  // A pod that runs is removed and comes back: it had no volume of the draft.
  draft.unplace(*needs, 0);
  draft.place(*needs, 0, everywhere);
  EXPECT_EQ(chosen(), "v1");
}

}  // namespace
}  // namespace muster::scheduler
