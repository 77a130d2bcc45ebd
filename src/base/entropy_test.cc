#include "base/entropy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace muster {
namespace {

TEST(Entropy, SameSeedSameUuid) {
  SeededEntropy one(7), other(7);
  EXPECT_EQ(random_uuid(one), random_uuid(other));
  EXPECT_NE(random_uuid(one), random_uuid(one));
}

TEST(Entropy, ASeedsUuidStaysTheSame) {
  SeededEntropy entropy(1);
  EXPECT_EQ(random_uuid(entropy), "910a2dec-8902-4cc1-afba-e3685963bb19");
}

TEST(Entropy, TheSystemNeverRepeatsItself) {
  SystemEntropy entropy;
  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 1000; ++i) drawn.insert(entropy.next());
  EXPECT_EQ(drawn.size(), 1000U) << "a supply was handed out twice";
}

TEST(Entropy, UuidHasVersionAndVariant) {
  SystemEntropy entropy;
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = random_uuid(entropy);
    ASSERT_EQ(uuid.size(), 36U);
    EXPECT_EQ(uuid[14], '4');
    EXPECT_NE(std::string_view("89ab").find(uuid[19]), std::string_view::npos) << uuid;
  }
}

TEST(Entropy, SuffixUsesTheKubernetesAlphabet) {
  SeededEntropy entropy(1);
  const std::string suffix = random_suffix(entropy, 1000);
  EXPECT_EQ(suffix.find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
}

}  // namespace
}  // namespace muster
