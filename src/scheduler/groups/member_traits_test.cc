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

TEST(TraitsBook, LonePodsAreNobodysMembers) {
  TraitsBook book;
  book.change(nullptr, pod("", "other", 1).get());
  EXPECT_EQ(book.groups(), 0U);
}

}  // namespace
}  // namespace muster::scheduler
