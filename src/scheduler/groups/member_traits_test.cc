#include "scheduler/groups/member_traits.h"

#include <gtest/gtest.h>

#include "api/kinds/kind.h"

namespace muster::scheduler {
namespace {

api::ObjectPtr pod(const std::string& group, const std::string& scheduler, int priority,
                   const std::string& phase = "Pending") {
  api::JsonObject spec{{"schedulerName", scheduler}, {"priority", priority}};
  if (!group.empty()) spec["schedulingGroup"] = api::JsonObject{{"podGroupName", group}};
  return api::Object::make(
      api::kinds::pod(),
      api::JsonObject{{"metadata", api::JsonObject{{"name", "p"}, {"namespace", "ns"}}},
                      {"spec", std::move(spec)},
                      {"status", api::JsonObject{{"phase", phase}}}});
}

TEST(TraitsBook, TellsEachCombinationOnceWhileAMemberHasIt) {
  TraitsBook book;
  const MemberTraits plain{"default-scheduler", 0, false};
  const MemberTraits other{"other", 5, false};
  const auto a = pod("g", "default-scheduler", 0);
  const auto b = pod("g", "other", 5);
  book.change(nullptr, a.get());
  book.change(nullptr, a.get());
  book.change(nullptr, b.get());
  EXPECT_EQ(book.of("ns", "g"), (std::vector<MemberTraits>{plain, other}));
  book.change(a.get(), nullptr);
  EXPECT_EQ(book.of("ns", "g"), (std::vector<MemberTraits>{plain, other}));
  book.change(b.get(), pod("g", "other", 5, "Succeeded").get());
  EXPECT_EQ(book.of("ns", "g"), std::vector<MemberTraits>{plain});
  book.change(a.get(), nullptr);
  EXPECT_EQ(book.groups(), 0U) << "what nobody is in is forgotten";
}

TEST(TraitsBook, SaysWhenAMemberAsksForSomethingElse) {
  TraitsBook book;
  const auto a = pod("g", "default-scheduler", 0);
  const auto b = pod("g", "default-scheduler", 5);
  EXPECT_TRUE(book.change(nullptr, a.get())) << "the first to ask";
  EXPECT_FALSE(book.change(nullptr, a.get()));
  EXPECT_FALSE(book.change(a.get(), a.get()));
  EXPECT_TRUE(book.change(a.get(), b.get()));
  EXPECT_TRUE(book.change(a.get(), nullptr)) << "the last to ask";
}

TEST(TraitsBook, MembersAgreeIfAllAskForWhatTheirTreeHas) {
  TraitsBook book;
  const GroupKey key{GroupKind::PodGroup, "ns", "g"};
  GroupSpec root;
  EXPECT_TRUE(book.agree(key, root)) << "nobody disagrees";
  const auto plain = pod("g", "default-scheduler", 0);
  book.change(nullptr, plain.get());
  EXPECT_TRUE(book.agree(key, root));
  const auto other = pod("g", "other", 0);
  book.change(nullptr, other.get());
  EXPECT_FALSE(book.agree(key, root)) << "they differ from each other";
  book.change(other.get(), nullptr);
  root.priority = 1;
  EXPECT_FALSE(book.agree(key, root));
  root.priority = 0;
  root.never_preempts = true;
  EXPECT_FALSE(book.agree(key, root));
}

TEST(TraitsBook, AGroupThatNamesNoPreemptionPolicyHasThatOfItsPods) {
  TraitsBook book;
  const GroupKey key{GroupKind::PodGroup, "ns", "g"};
  const auto never = api::Object::make(
      api::kinds::pod(),
      api::JsonObject{
          {"metadata", api::JsonObject{{"name", "p"}, {"namespace", "ns"}}},
          {"spec", api::JsonObject{{"preemptionPolicy", "Never"},
                                   {"schedulingGroup", api::JsonObject{{"podGroupName", "g"}}}}}});
  book.change(nullptr, never.get());
  GroupSpec root;
  EXPECT_TRUE(book.agree(key, root));
  root.never_preempts = false;
  EXPECT_FALSE(book.agree(key, root));
}

TEST(TraitsBook, LonePodsAreNobodysMembers) {
  TraitsBook book;
  book.change(nullptr, pod("", "other", 1).get());
  EXPECT_EQ(book.groups(), 0U);
}

}  // namespace
}  // namespace muster::scheduler
