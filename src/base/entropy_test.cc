#include "base/entropy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

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

// Gives the numbers it was made of.
class GivenEntropy final : public Entropy {
 public:
  explicit GivenEntropy(std::vector<std::uint64_t> numbers) : numbers_(std::move(numbers)) {}
  std::uint64_t next() override { return numbers_.at(drawn++); }

  std::size_t drawn = 0;

 private:
  const std::vector<std::uint64_t> numbers_;
};

TEST(Entropy, NumbersBelowABoundAreEquallyLikely) {
  // The largest multiple of 10 is 2^64 - 6.
  GivenEntropy entropy({UINT64_MAX, UINT64_MAX - 5, UINT64_MAX - 6, 27});
  EXPECT_EQ(entropy.below(10), 9U);
  EXPECT_EQ(entropy.drawn, 3U) << "what is beyond is thrown away";
  EXPECT_EQ(entropy.below(10), 7U);
}

TEST(Entropy, ASeedsSuffixStaysTheSame) {
  SeededEntropy entropy(1);
  const std::string suffix = random_suffix(entropy, 10);
  SeededEntropy again(1);
  EXPECT_EQ(random_suffix(again, 5), suffix.substr(0, 5));
  EXPECT_EQ(suffix.size(), 10U);
  EXPECT_NE(random_suffix(again, 5), suffix.substr(0, 5));
}

}  // namespace
}  // namespace muster
