#include "api/values/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace muster::api {
namespace {

__extension__ using Int = __int128;
using Format = Quantity::Format;

constexpr std::string_view kFormatWrong =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kSuffixWrong = "unable to parse quantity's suffix";
constexpr std::string_view kDigits = "0123456789";

constexpr Int kNanosPerUnit = 1'000'000'000;
constexpr Int kNanosPerMilli = 1'000'000;
constexpr Int kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr Int kInt64Min = std::numeric_limits<std::int64_t>::min();
constexpr int kDigitsMax = 37;      // so that the sum of two still fits an Int
constexpr int kExponentMax = 1000;  // far beyond what is held exactly

constexpr Int power_of_ten(int exponent) {
  Int power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}
constexpr Int kNanosMax = power_of_ten(kDigitsMax);

// Rounds away from zero.
constexpr Int divide_up(Int number, Int by) {
  const Int quotient = number / by;
  const Int rest = number % by;
  return rest == 0 ? quotient : quotient + (number < 0 ? -1 : 1);
}

Int to_int(std::string_view digits) {
  Int number = 0;
  for (const char digit : digits) number = number * 10 + (digit - '0');
  return number;
}

std::string to_text(Int number) {
  std::string digits;
  const bool negative = number < 0;
  do {
    const int digit = static_cast<int>(number % 10);
    digits.push_back(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    number /= 10;
  } while (number != 0);
  if (negative) digits.push_back('-');
  std::ranges::reverse(digits);
  return digits;
}

std::string_view without_leading_zeros(std::string_view digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}
std::string_view without_trailing_zeros(std::string_view digits) {
  return digits.substr(0, digits.find_last_not_of('0') + 1);
}

// A quantity taken apart: -12.50Ki is {negative, "12", "50", "Ki"}.
struct Parts {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view suffix;
};

std::optional<Parts> split(std::string_view text) {
  Parts parts;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const auto take = [&text](std::string_view alphabet) {
    const std::string_view taken = text.substr(0, text.find_first_not_of(alphabet));
    text.remove_prefix(taken.size());
    return taken;
  };
  parts.whole = take(kDigits);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    parts.fraction = take(kDigits);
  }
  if (parts.whole.empty() && parts.fraction.empty()) return std::nullopt;
  parts.suffix = text;
  take("eEinumkKMGTP");
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  take(kDigits);
  if (!text.empty()) return std::nullopt;
  return parts;
}

struct Suffix {
  Format format = Format::DecimalSI;
  int exponent = 0;  // of 10, or of 2 for BinarySI
};

constexpr std::string_view kDecimalSuffixes = "num kMGTPE";  // 10^-9 … 10^18; ' ' is none
constexpr std::string_view kBinarySuffixes = "KMGTPE";       // 2^10 … 2^60

std::optional<Suffix> interpret(std::string_view suffix) {
  if (suffix.empty()) return Suffix{};
  if (suffix.size() == 1) {
    const std::size_t at = kDecimalSuffixes.find(suffix.front());
    if (at == std::string_view::npos) return std::nullopt;
    return Suffix{Format::DecimalSI, static_cast<int>(at) * 3 - 9};
  }
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const std::size_t at = kBinarySuffixes.find(suffix.front());
    if (at == std::string_view::npos) return std::nullopt;
    return Suffix{Format::BinarySI, static_cast<int>(at) * 10 + 10};
  }
  if (suffix.front() != 'e' && suffix.front() != 'E') return std::nullopt;
  suffix.remove_prefix(suffix[1] == '+' ? 2 : 1);
  std::int64_t exponent = 0;
  const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
  if (error != std::errc{} || end != suffix.data() + suffix.size()) return std::nullopt;
  exponent = std::clamp<std::int64_t>(exponent, -kExponentMax, kExponentMax);
  return Suffix{Format::DecimalExponent, static_cast<int>(exponent)};
}

// digits × 10^exponent, in nano-units, rounded up.
Int decimal_nanos(std::string_view digits, std::int64_t exponent) {
  digits = without_leading_zeros(digits);
  const std::string_view significant = without_trailing_zeros(digits);
  if (significant.empty()) return 0;
  const std::int64_t power =
      exponent + 9 + static_cast<std::int64_t>(digits.size() - significant.size());
  const std::int64_t length = static_cast<std::int64_t>(significant.size()) + power;
  if (length > kDigitsMax) return kNanosMax;
  if (length <= 0) return 1;
  if (power >= 0) return to_int(significant) * power_of_ten(static_cast<int>(power));
  return to_int(significant.substr(0, static_cast<std::size_t>(length))) + 1;
}

// whole.fraction × 2^exponent, in nano-units, rounded up, at most 2^63-1 units.
Int binary_nanos(std::string_view whole, std::string_view fraction, int exponent) {
  constexpr std::size_t kFractionDigitsMax = 18;
  constexpr std::size_t kWholeDigitsMax = 19;
  const Int factor = Int{1} << exponent;
  whole = without_leading_zeros(whole);
  if (whole.size() > kWholeDigitsMax) return kInt64Max * kNanosPerUnit;
  const Int units = std::min(to_int(whole) * factor, kInt64Max);

  fraction = without_trailing_zeros(fraction);
  const std::string_view kept = fraction.substr(0, kFractionDigitsMax);
  const Int numerator = to_int(kept) * factor + (kept.size() < fraction.size() ? 1 : 0);
  const int digits = static_cast<int>(kept.size());
  const Int rest = digits < 9 ? numerator * power_of_ten(9 - digits)
                              : divide_up(numerator, power_of_ten(digits - 9));
  return std::min(units * kNanosPerUnit + rest, kInt64Max * kNanosPerUnit);
}

// Whether upstream takes its fast path, which keeps the value in a small form.
bool fits_small_form(const Parts& parts, const Suffix& suffix) {
  const std::string_view whole = without_leading_zeros(parts.whole);
  const int whole_digits = std::max(static_cast<int>(std::min<std::size_t>(whole.size(), 100)), 1);
  const int fraction_digits = static_cast<int>(std::min<std::size_t>(parts.fraction.size(), 100));
  if (suffix.format == Format::BinarySI)
    return fraction_digits == 0 && whole_digits + suffix.exponent * 3 / 10 + 1 <= 15;
  return whole_digits + fraction_digits <= 18 && suffix.exponent - fraction_digits >= -9;
}

// Whether upstream prints a small quantity as it was written.
bool is_kept(const Parts& parts, const Suffix& suffix) {
  const std::string_view whole = without_leading_zeros(parts.whole);
  if (whole.empty()) return false;
  if (suffix.format == Format::BinarySI) return to_int(whole) % 8 != 0;
  if ((suffix.exponent - static_cast<int>(parts.fraction.size())) % 3 != 0) return false;
  return !(std::string(whole) + std::string(parts.fraction)).ends_with("000");
}

std::string decimal_suffix(int exponent, Format format) {
  if (exponent == 0) return "";
  if (format == Format::DecimalExponent || exponent > 18) return fmt::format("e{}", exponent);
  return std::string(1, kDecimalSuffixes[static_cast<std::size_t>((exponent + 9) / 3)]);
}

std::string decimal_text(Int nanos, Format format) {
  int exponent = -9;
  for (; nanos % 1000 == 0; nanos /= 1000) exponent += 3;
  return to_text(nanos) + decimal_suffix(exponent, format);
}

std::string binary_text(Int units) {
  std::size_t steps = 0;
  for (; steps < kBinarySuffixes.size() && units % 1024 == 0; units /= 1024) ++steps;
  std::string text = to_text(units);
  if (steps > 0) {
    text.push_back(kBinarySuffixes[steps - 1]);
    text.push_back('i');
  }
  return text;
}

std::int64_t to_int64(Int number, bool small) {
  if (number >= kInt64Min && number <= kInt64Max) return static_cast<std::int64_t>(number);
  return small ? 0 : static_cast<std::int64_t>(std::clamp(number, kInt64Min, kInt64Max));
}

}  // namespace

Quantity Quantity::of_units(std::int64_t units, Format format) {
  Quantity quantity;
  quantity.nanos_ = Int{units} * kNanosPerUnit;
  quantity.format_ = format;
  return quantity;
}

Quantity Quantity::of_milli(std::int64_t milli_units) {
  Quantity quantity;
  quantity.nanos_ = Int{milli_units} * kNanosPerMilli;
  return quantity;
}

Result<Quantity> Quantity::parse(std::string_view text) {
  const std::optional<Parts> parts = split(text);
  if (!parts) return fail(Reason::BadRequest, "{}", kFormatWrong);
  const std::optional<Suffix> suffix = interpret(parts->suffix);
  if (!suffix) return fail(Reason::BadRequest, "{}", kSuffixWrong);

  Quantity quantity;
  quantity.format_ = suffix->format;
  quantity.small_ = fits_small_form(*parts, *suffix);
  if (suffix->format == Format::BinarySI) {
    quantity.nanos_ = binary_nanos(parts->whole, parts->fraction, suffix->exponent);
    // A fraction of a unit has no binary form.
    if (!quantity.small_ && quantity.nanos_ > 0 && quantity.nanos_ < kNanosPerUnit)
      quantity.format_ = Format::DecimalSI;
  } else {
    const std::string digits = std::string(parts->whole) + std::string(parts->fraction);
    quantity.nanos_ =
        decimal_nanos(digits, suffix->exponent - static_cast<std::int64_t>(parts->fraction.size()));
  }
  if (parts->negative) quantity.nanos_ = -quantity.nanos_;
  if (quantity.small_ && is_kept(*parts, *suffix)) quantity.kept_ = text;
  return quantity;
}

std::string Quantity::text() const {
  if (!kept_.empty()) return kept_;
  if (nanos_ == 0) return "0";
  if (format_ != Format::BinarySI) return decimal_text(nanos_, format_);
  // Below 1Ki and for fractions the decimal form is the exact one.
  const bool below_one_ki = nanos_ > -1024 * kNanosPerUnit && nanos_ < 1024 * kNanosPerUnit;
  if (below_one_ki || !is_whole()) return decimal_text(nanos_, Format::DecimalSI);
  return binary_text(nanos_ / kNanosPerUnit);
}

std::int64_t Quantity::value() const { return to_int64(divide_up(nanos_, kNanosPerUnit), small_); }

std::int64_t Quantity::milli_value() const {
  return to_int64(divide_up(nanos_, kNanosPerMilli), small_);
}

bool Quantity::is_whole() const { return nanos_ % kNanosPerUnit == 0; }

Quantity& Quantity::operator+=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  nanos_ = std::clamp(nanos_ + other.nanos_, -kNanosMax, kNanosMax);
  small_ = small_ && other.small_;
  kept_.clear();
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) { return *this += -other; }

Quantity Quantity::operator-() const {
  Quantity negated = *this;
  negated.nanos_ = -nanos_;
  negated.kept_.clear();
  return negated;
}

}  // namespace muster::api
