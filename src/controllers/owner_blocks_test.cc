#include "controllers/owner_blocks.h"

#include <fmt/format.h>

#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

std::vector<bool> blocked(std::string_view metadata) {
  return blocked_owners(*object(
      *api::find_kind("", "ConfigMap"),
      fmt::format(
          R"({{"metadata":{{"name":"a","namespace":"n","uid":"u"{}}},"data":{{"ownerReferences":"x"}}}})",
          metadata)));
}

constexpr std::string_view kOne = R"({"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"1"})";
constexpr std::string_view kBlocked =
    R"({"apiVersion":"v1","kind":"ConfigMap","name":"[{\"}","uid":"2","blockOwnerDeletion":true})";
constexpr std::string_view kUnblocked =
    R"({"apiVersion":"v1","kind":"ConfigMap","name":"p","uid":"3","controller":true,"blockOwnerDeletion":false})";

TEST(BlockedOwners, AreThoseWhoseReferenceSaysSo) {
  using Flags = std::vector<bool>;
  EXPECT_EQ(blocked(""), Flags{});
  EXPECT_EQ(blocked(R"(,"ownerReferences":[])"), Flags{});
  EXPECT_EQ(blocked(fmt::format(R"(,"ownerReferences":[{}])", kOne)), Flags{false});
  EXPECT_EQ(blocked(fmt::format(R"(,"ownerReferences":[{},{},{}])", kOne, kBlocked, kUnblocked)),
            (Flags{false, true, false}));
}

TEST(SameReferences, AreThoseThatReadTheSame) {
  const auto with = [](std::string_view metadata) {
    return object(
        *api::find_kind("", "ConfigMap"),
        fmt::format(R"({{"metadata":{{"name":"a","namespace":"n","uid":"u"{}}}}})", metadata));
  };
  const std::string one = fmt::format(R"(,"ownerReferences":[{}])", kOne);
  EXPECT_TRUE(same_references(*with(""), *with(R"(,"labels":{"a":"b"})")));
  EXPECT_TRUE(same_references(*with(one), *with(R"(,"labels":{"a":"b"})" + one)));
  EXPECT_FALSE(same_references(*with(one), *with("")));
  EXPECT_FALSE(same_references(*with(fmt::format(R"(,"ownerReferences":[{}])", kBlocked)),
                               *with(fmt::format(R"(,"ownerReferences":[{}])", kUnblocked))));
}

// Whatever else the metadata holds, before them and behind.
TEST(BlockedOwners, AreFoundAmongOtherMembers) {
  for (
      const std::string_view other :
      {R"("labels":{"ownerReferences":"x"})",
       R"("annotations":{"a":"\\","b":"\"ownerReferences\":[{\"uid\":\"2\"}]","c":"}]{["})",
       R"("generation":7,"deletionTimestamp":"2026-01-01T00:00:00Z")",
       R"("finalizers":["x/y"],"managedFields":[{"manager":"m","fieldsV1":{"f:ownerReferences":{}}}])"})
    EXPECT_EQ(blocked(fmt::format(R"(,{},"ownerReferences":[{}])", other, kBlocked)),
              std::vector<bool>{true})
        << other;
}

}  // namespace
}  // namespace muster::controllers
