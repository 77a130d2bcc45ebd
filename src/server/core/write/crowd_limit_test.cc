#include "server/core/write/crowd_limit.h"

#include <string>

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class CrowdLimitTest : public CoreTest {
 protected:
  Result<Answer> create_quota(const std::string& name, std::size_t bytes,
                              std::string_view name_space = "default") {
    return create(*api::find_kind("", "ResourceQuota"), name_space,
                  fmt::format(R"({{"metadata":{{"name":"{}","annotations":{{"a":"{}"}}}}}})", name,
                              std::string(bytes, 'x')));
  }
};

// A thousand quotas made each pod of the namespace a thousand writes, for all others to wait for.
TEST_F(CrowdLimitTest, WhatIsReadAsAWholeHasALimitAsAWhole) {
  ASSERT_TRUE(create_quota("a", 100'000));
  ASSERT_TRUE(create_quota("b", 100'000));
  const auto refused = create_quota("c", 100'000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::Forbidden);
  EXPECT_NE(refused.error().message.find("all resourcequotas of the namespace"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(create_quota("c", 1'000)) << "a small one still fits";
  EXPECT_TRUE(create_quota("a", 100'000, "kube-system")) << "another namespace is another matter";
}

TEST_F(CrowdLimitTest, OneMayNotGrowBeyondItButShrink) {
  ASSERT_TRUE(create_quota("a", 100'000));
  ASSERT_TRUE(create_quota("b", 100'000));
  const auto patched = [&](std::size_t bytes) {
    return patch(
        *api::find_kind("", "ResourceQuota"), "default", "a", PatchType::Merge,
        fmt::format(R"({{"metadata":{{"annotations":{{"a":"{}"}}}}}})", std::string(bytes, 'x')));
  };
  EXPECT_FALSE(patched(200'000));
  EXPECT_TRUE(patched(150'000)) << "what it was before is not counted beside it";
  EXPECT_TRUE(patched(10));
  EXPECT_TRUE(patched(120'000)) << "there is room again";
}

}  // namespace
}  // namespace muster::server
