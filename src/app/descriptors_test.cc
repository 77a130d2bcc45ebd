#include "app/descriptors.h"

#include <gtest/gtest.h>

namespace muster::app {
namespace {

// S-H3: with 1,024 descriptors a thousand connections once left the store none.
TEST(DescriptorsTest, ConnectionsLeaveTheStoreItsDescriptors) {
  const server::ClientLimits asked;
  for (const std::size_t descriptors : {64U, 1024U, 4096U, 10'000U}) {
    const server::ClientLimits got = within_descriptors(asked, descriptors);
    const std::size_t used = got.connections.total + got.connections.reserved;
    EXPECT_LE(used + std::min<std::size_t>(512, descriptors / 2), descriptors);
    EXPECT_GT(got.connections.total, 0U);
    EXPECT_LT(got.connections_unproven, got.connections.total);
  }
  const server::ClientLimits all = within_descriptors(asked, 1U << 20U);
  EXPECT_EQ(all.connections.total, asked.connections.total);
}

TEST(DescriptorsTest, TheLimitIsRaised) { EXPECT_GE(raise_descriptor_limit(), 64U); }

}  // namespace
}  // namespace muster::app
