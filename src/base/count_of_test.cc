#include "base/count_of.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(CountOf, OneOfAThingIsNotSeveral) {
  EXPECT_EQ(count_of(0, "pod"), "0 pods");
  EXPECT_EQ(count_of(1, "pod"), "1 pod");
  EXPECT_EQ(count_of(2, "pod"), "2 pods");
}

TEST(CountOf, AWordThatEndsInSStaysAsItIs) {
  EXPECT_EQ(count_of(1, "pods"), "1 pods");
  EXPECT_EQ(count_of(3, "pods"), "3 pods");
  EXPECT_EQ(plural_of("chassis"), "chassis");
  EXPECT_EQ(plural_of("rack"), "racks");
}

}  // namespace
}  // namespace muster
