#include "api/values/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <limits>

namespace muster::api {
namespace {

using Format = Quantity::Format;

Quantity quantity(std::string_view text) {
  Result<Quantity> parsed = Quantity::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(Quantity());
}

// Numbers computed by upstream's own code (A1 to A12, the first twelve), and their neighbours.
TEST(Quantity, A1ToA12ReadsAndPrintsAsUpstreamDoes) {
  struct Case {
    std::string_view input;
    std::string_view text;
    std::int64_t value;
    std::int64_t milli;
    Format format;
  };
  const Case cases[] = {
      {"0.1", "100m", 1, 100, Format::DecimalSI},
      {"1.5", "1500m", 2, 1500, Format::DecimalSI},
      {"1000m", "1", 1, 1000, Format::DecimalSI},
      {"1Ki", "1Ki", 1024, 1024000, Format::BinarySI},
      {"1024Ki", "1Mi", 1048576, 1048576000, Format::BinarySI},
      {"1.5Gi", "1536Mi", 1610612736, 1610612736000, Format::BinarySI},
      {"1.1Mi", "1153433600m", 1153434, 1153433600, Format::BinarySI},
      {"0.3Ki", "307200m", 308, 307200, Format::BinarySI},
      {"0.0000000001", "1n", 1, 1, Format::DecimalSI},
      {"100u", "100u", 1, 1, Format::DecimalSI},
      {"1e3", "1e3", 1000, 1000000, Format::DecimalExponent},
      {"1.500", "1.500", 2, 1500, Format::DecimalSI},

      {"0", "0", 0, 0, Format::DecimalSI},
      {"0Ki", "0", 0, 0, Format::BinarySI},
      {"-0", "0", 0, 0, Format::DecimalSI},
      {"+5", "+5", 5, 5000, Format::DecimalSI},
      {"007", "007", 7, 7000, Format::DecimalSI},
      {"5.", "5.", 5, 5000, Format::DecimalSI},
      {".5", "500m", 1, 500, Format::DecimalSI},
      {".500", "500m", 1, 500, Format::DecimalSI},
      {"-1.5", "-1500m", -2, -1500, Format::DecimalSI},
      {"-1Ki", "-1Ki", -1024, -1024000, Format::BinarySI},
      {"1000Ki", "1000Ki", 1024000, 1024000000, Format::BinarySI},
      {"512Ki", "512Ki", 524288, 524288000, Format::BinarySI},
      {"0.5Ki", "512", 512, 512000, Format::BinarySI},
      {"0.0001Ki", "102400u", 1, 103, Format::DecimalSI},
      {"1000", "1k", 1000, 1000000, Format::DecimalSI},
      {"1000000", "1M", 1000000, 1000000000, Format::DecimalSI},
      {"1234567", "1234567", 1234567, 1234567000, Format::DecimalSI},
      {"1E", "1E", 1000000000000000000, 0, Format::DecimalSI},
      {"1E3", "1E3", 1000, 1000000, Format::DecimalExponent},
      {"1e4", "10e3", 10000, 10000000, Format::DecimalExponent},
      {"1e-3", "1e-3", 1, 1, Format::DecimalExponent},
      {"1e+3", "1e+3", 1000, 1000000, Format::DecimalExponent},
      {"5n", "5n", 1, 1, Format::DecimalSI},
      {"-0.0000000001", "-1n", -1, -1, Format::DecimalSI},
      {"1.0000000001", "1000000001n", 2, 1001, Format::DecimalSI},
  };
  for (const Case& c : cases) {
    const Quantity q = quantity(c.input);
    EXPECT_EQ(q.text(), c.text) << c.input;
    EXPECT_EQ(q.value(), c.value) << c.input;
    EXPECT_EQ(q.milli_value(), c.milli) << c.input;
    EXPECT_EQ(q.format(), c.format) << c.input;
  }
}

TEST(Quantity, RefusesWhatUpstreamRefuses) {
  constexpr std::string_view kFormat =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  constexpr std::string_view kSuffix = "unable to parse quantity's suffix";
  struct Case {
    std::string_view input;
    std::string_view message;
  };
  const Case cases[] = {
      {"", kFormat},        {"-", kFormat},
      {".", kFormat},       {"1.1.M", kFormat},
      {"1+1.0M", kFormat},  {"0.1am", kFormat},
      {"aoeu", kFormat},    {" 1", kFormat},
      {"1 ", kFormat},      {"0.1mi", kSuffix},
      {".5i", kSuffix},     {"1i", kSuffix},
      {"-3.01i", kSuffix},  {"1e", kSuffix},
      {"-3.01e-", kSuffix}, {"1KiB", kFormat},
      {"1ki", kSuffix},     {"1K", kSuffix},
      {"1Mi3", kSuffix},    {"1e99999999999999999999", kSuffix},
  };
  for (const Case& c : cases) {
    const Result<Quantity> parsed = Quantity::parse(c.input);
    ASSERT_FALSE(parsed) << c.input;
    EXPECT_EQ(parsed.error().message, c.message) << c.input;
    EXPECT_EQ(parsed.error().reason, Reason::BadRequest);
  }
}

TEST(Quantity, EachSuffixIsAPower) {
  EXPECT_EQ(quantity("1000n"), quantity("1u"));
  EXPECT_EQ(quantity("1000u"), quantity("1m"));
  EXPECT_EQ(quantity("1000m"), quantity("1"));
  struct Case {
    std::string_view text;
    std::int64_t value;
  };
  constexpr std::int64_t kThousand = 1000;
  constexpr std::int64_t kBillion = 1'000'000'000;
  const Case cases[] = {
      {"1k", kThousand},
      {"1M", kThousand * kThousand},
      {"1G", kBillion},
      {"1T", kBillion * kThousand},
      {"1P", kBillion * kThousand * kThousand},
      {"9E", kBillion * kBillion * 9},
      {"1Ki", std::int64_t{1} << 10},
      {"1Mi", std::int64_t{1} << 20},
      {"1Gi", std::int64_t{1} << 30},
      {"1Ti", std::int64_t{1} << 40},
      {"1Pi", std::int64_t{1} << 50},
      {"1Ei", std::int64_t{1} << 60},
      {"2e9", kBillion * 2},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(quantity(c.text).value(), c.value) << c.text;
    EXPECT_EQ((quantity(c.text) + Quantity()).text(), c.text);
  }
}

TEST(Quantity, SmallOnesArePrintedAsTheyWereWritten) {
  struct Case {
    std::string_view input;
    std::string_view text;
  };
  const Case cases[] = {
      {"+1.000000001", "+1.000000001"},
      {"+1.0000000011", "1000000002n"},
      {"+123456789012345678", "+123456789012345678"},    // 18 digits
      {"+1234567890123456789", "1234567890123456789"},   // 19
      {"+123456789012345.678", "+123456789012345.678"},  // 18
      {"+123456789012345.6781", "123456789012345678100u"},
      {"+5Ki", "+5Ki"},
      {"+8Ki", "8Ki"},
      {"+12345678901Ki", "+12345678901Ki"},  // 15 digits of binary ones
      {"+123456789011Ki", "123456789011Ki"},
      {"+5.0Ki", "5Ki"},
      {"1.000", "1"},
      {"+15e2", "1500"},
      {"1.50", "1500m"},
      {"+0.001", "1m"},
      {"1000P", "1E"},
      {"+1e-9", "+1e-9"},
      {"+1e-12", "1e-9"},
  };
  for (const Case& c : cases) EXPECT_EQ(quantity(c.input).text(), c.text) << c.input;
}

TEST(Quantity, BinaryAmountsBelowOneKiAreDecimal) {
  const auto text = [](std::int64_t units) {
    return Quantity::of_units(units, Format::BinarySI).text();
  };
  EXPECT_EQ(text(1023), "1023");
  EXPECT_EQ(text(1024), "1Ki");
  EXPECT_EQ(text(1025), "1025");
  EXPECT_EQ(text(-1023), "-1023");
  EXPECT_EQ(text(-1024), "-1Ki");
  EXPECT_EQ(text(1000), "1k");
  EXPECT_EQ(text(2000), "2000");
  EXPECT_EQ(text(3 << 20), "3Mi");
  EXPECT_EQ(text(std::int64_t{7} << 60), "7Ei");
  Quantity large = Quantity::of_units(std::int64_t{1} << 62, Format::BinarySI);
  for (int i = 0; i < 12; ++i) large += large;
  EXPECT_EQ(large.text(), "16384Ei") << "there is no larger suffix";
}

TEST(Quantity, CapsBinaryAmountsAtSixtyThreeBits) {
  EXPECT_EQ(quantity("0.0000000000000000001Ki").text(), "1n") << "beyond 18 digits";
  EXPECT_EQ(quantity("0.0009765625Ki").text(), "1");
  EXPECT_EQ(quantity("0009223372036854775807.0Ki").value(),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(quantity("8Ei").text(), "9223372036854775807");
  EXPECT_EQ(quantity("100000000000000000000000Ei").value(),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(quantity("7.9999999999Ei").value(), 9223372036739483658);
  EXPECT_EQ(quantity("-8Ei").value(), -std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(quantity("1Ei").text(), "1Ei");
}

TEST(Quantity, HoldsHugeAndTinyDecimals) {
  EXPECT_EQ(quantity("1e30").text(), "1e30");
  EXPECT_EQ(quantity("1e30").value(), 0) << "small form, as upstream";
  EXPECT_EQ(quantity("99999999999999999999").value(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(quantity("1e-1000000").text(), "1e-9");
  EXPECT_EQ((quantity("1000E") + Quantity()).text(), "1e21");
  EXPECT_GT(quantity("1e30"), quantity("1E"));
  EXPECT_EQ(quantity("9e28"), quantity("1e28")) << "held at 10^28";
  EXPECT_LT(quantity("9e27"), quantity("1e28"));
  EXPECT_EQ(quantity("123456789e19"), quantity("1234567890000000000e9"));
  EXPECT_EQ(quantity("1e28") + quantity("1e28"), quantity("1e28"));
  EXPECT_EQ(quantity("-1e28") - quantity("1e28"), quantity("-1e28"));
  EXPECT_EQ(quantity("15e-10"), quantity("2n"));
  EXPECT_EQ(quantity("10e-10"), quantity("1n"));
  EXPECT_EQ(quantity("9e-10"), quantity("1n"));
  EXPECT_EQ(quantity("-99999999999999999999").value(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(quantity("9223372036854775807").value(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(quantity("9223372036854775807").milli_value(),
            std::numeric_limits<std::int64_t>::max());
}

TEST(Quantity, ComparesByValueWhateverTheFormat) {
  EXPECT_EQ(quantity("1Ki"), quantity("1024"));
  EXPECT_EQ(quantity("1"), quantity("1000m"));
  EXPECT_LT(quantity("1G"), quantity("1Gi"));
  EXPECT_GT(quantity("-1"), quantity("-2"));
}

TEST(Quantity, AddsAndTakesAwayInTheReceiversFormat) {
  EXPECT_EQ((quantity("1Gi") + quantity("512Mi")).text(), "1536Mi");
  EXPECT_EQ((quantity("1") - quantity("100m")).text(), "900m");
  EXPECT_EQ((Quantity() + quantity("1Ki")).text(), "1Ki");
  EXPECT_EQ((quantity("1Ki") - quantity("1024")).text(), "0");
  EXPECT_EQ((quantity("1Ki") + quantity("1")).text(), "1025");
  EXPECT_EQ((Quantity::of_units(2048, Format::BinarySI)).text(), "2Ki");
  EXPECT_EQ(Quantity::of_milli(2500).text(), "2500m");
  EXPECT_EQ((Quantity() - quantity("1Ki")).text(), "-1Ki");
  EXPECT_EQ((quantity("1.500") + Quantity()).text(), "1500m") << "no longer as it was written";
  EXPECT_EQ((-quantity("1.500")).text(), "-1500m");
  EXPECT_EQ((quantity("99999999999999999999") + quantity("1E")).value(),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ((quantity("1e30") + quantity("99999999999999999999")).value(),
            std::numeric_limits<std::int64_t>::max())
      << "no longer in the small form";
}

TEST(Quantity, KnowsWholeAndNegative) {
  EXPECT_TRUE(quantity("2000m").is_whole());
  EXPECT_FALSE(quantity("2001m").is_whole());
  EXPECT_TRUE(quantity("-1m").is_negative());
  EXPECT_EQ(quantity("0").sign(), 0);
  EXPECT_EQ(quantity("-1n").sign(), -1);
  EXPECT_EQ(quantity("1n").sign(), 1);
  EXPECT_FALSE(quantity("0").is_negative());
  EXPECT_TRUE(quantity("-0").is_zero());
  EXPECT_FALSE(quantity("1n").is_zero());
}

// Texts as users write them: any sign, digits, fraction and suffix.
rc::Gen<std::string> quantity_texts() {
  static constexpr std::array<std::string_view, 19> kSuffixes = {
      "",   "n",  "u",  "m",  "k",  "M",  "G",  "T",   "P",  "E",
      "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e-5", "E+7"};
  return rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<bool>(), rc::gen::inRange(0, 2000000),
                                     rc::gen::inRange(0, 1000000), rc::gen::inRange(0, 3),
                                     rc::gen::inRange<std::size_t>(0, kSuffixes.size())),
                      [](const auto& parts) {
                        const auto& [negative, whole, fraction, form, suffix] = parts;
                        std::string text = negative ? "-" : "";
                        text += std::to_string(whole);
                        if (form > 0)
                          text += fmt::format(".{:06}", fraction).substr(0, form == 1 ? 3 : 7);
                        return text.append(kSuffixes[suffix]);
                      });
}

RC_GTEST_PROP(QuantityProperty, TextReadsBackToTheSameValue, ()) {
  const Quantity q = quantity(*quantity_texts());
  RC_ASSERT(quantity(q.text()) == q);
  const Quantity sum = q + Quantity();
  RC_ASSERT(quantity(sum.text()) == q);
  RC_ASSERT(quantity(sum.text()).text() == sum.text());
}

RC_GTEST_PROP(QuantityProperty, OrderFollowsTheDifference, ()) {
  const Quantity a = quantity(*quantity_texts());
  const Quantity b = quantity(*quantity_texts());
  const Quantity difference = a - b;
  RC_ASSERT((a < b) == difference.is_negative());
  RC_ASSERT((a == b) == difference.is_zero());
}

RC_GTEST_PROP(QuantityProperty, TakingAwayUndoesAdding, ()) {
  const Quantity a = quantity(*quantity_texts());
  const Quantity b = quantity(*quantity_texts());
  RC_ASSERT((a + b) - b == a);
  RC_ASSERT(a + b == b + a);
}

RC_GTEST_PROP(QuantityProperty, RoundsAwayFromZero, ()) {
  const Quantity q = quantity(*quantity_texts());
  const Quantity units = Quantity::of_units(q.value());
  RC_PRE(units.sign() == q.sign());  // not beyond 64 bits
  if (q.is_negative())
    RC_ASSERT(units <= q);
  else
    RC_ASSERT(units >= q);
}

// Arbitrary bytes never crash, and what is accepted prints to something that is accepted.
RC_GTEST_PROP(QuantityProperty, AnyTextIsReadOrRefused, ()) {
  const auto letters = *rc::gen::container<std::string>(
      rc::gen::element('0', '1', '9', '.', '-', '+', 'e', 'E', 'K', 'M', 'i', 'n', 'm', 'x', ' '));
  const Result<Quantity> parsed = Quantity::parse(letters);
  if (parsed) RC_ASSERT(quantity(parsed->text()) == *parsed);
}

}  // namespace
}  // namespace muster::api
