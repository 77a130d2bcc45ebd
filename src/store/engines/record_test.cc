#include "store/engines/record.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace muster::store {
namespace {

Record sample() {
  return {.type = Change::Type::Modified,
          .block_end = {7},
          .supersedes = {3},
          .key = std::string_view("pods/default/a\0b", 16),
          .group = "scheduling.k8s.io",
          .kind = "PodGroup",
          .version = "v1beta1",
          .bytes = R"({"metadata":{"name":"a"}})"};
}

TEST(Record, ReadsBackWhatItWrote) {
  std::string text;
  encode(sample(), text);
  const std::optional<Record> read = decode(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->type, Change::Type::Modified);
  EXPECT_EQ(read->block_end, Revision{7});
  EXPECT_EQ(read->supersedes, Revision{3});
  EXPECT_EQ(read->key, sample().key);
  EXPECT_EQ(read->group, "scheduling.k8s.io");
  EXPECT_EQ(read->kind, "PodGroup");
  EXPECT_EQ(read->version, "v1beta1");
  EXPECT_EQ(read->bytes, sample().bytes);
}

Record deposited() {
  Record record = sample();
  record.bytes = {};
  record.deposit = {.number = 12, .size = 25, .hash = ~std::uint64_t{0}};
  return record;
}

TEST(Record, NamesADepositInsteadOfItsBytes) {
  std::string text;
  encode(deposited(), text);
  const std::optional<Record> read = decode(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->key, sample().key);
  EXPECT_EQ(read->version, "v1beta1");
  EXPECT_EQ(read->bytes, "");
  EXPECT_EQ(read->deposit, deposited().deposit);
  EXPECT_EQ(read->object_size(), 25U);
  EXPECT_EQ(sample().object_size(), 25U);
}

TEST(Record, RefusesEveryTextThatIsCutOrTooLong) {
  for (const Record& record : {sample(), deposited()}) {
    std::string text;
    encode(record, text);
    for (std::size_t size = 0; size < text.size(); ++size)
      EXPECT_FALSE(decode(std::string_view(text).substr(0, size))) << size;
    EXPECT_FALSE(decode(text + "x"));
  }
}

TEST(Record, RefusesFormatsAndTypesItDoesNotKnow) {
  std::string text;
  encode(sample(), text);
  std::string newer = text;
  newer[0] = 3;
  EXPECT_FALSE(decode(newer));
  std::string strange = text;
  strange[1] = 3;
  EXPECT_FALSE(decode(strange));
}

TEST(Record, RevisionsSortAsTheirTexts) {
  std::string before;
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{255}, std::int64_t{256},
        std::int64_t{1} << 40U, std::numeric_limits<std::int64_t>::max()}) {
    const std::string text = encode_revision({value});
    EXPECT_TRUE(value == 0 || before < text) << value;
    EXPECT_EQ(decode_revision(text), Revision{value});
    before = text;
  }
  EXPECT_FALSE(decode_revision("short"));
  EXPECT_FALSE(decode_revision("too long!"));
  EXPECT_FALSE(decode_revision("\xff\xff\xff\xff\xff\xff\xff\xff")) << "negative";
}

}  // namespace
}  // namespace muster::store
