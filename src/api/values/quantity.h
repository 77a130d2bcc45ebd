#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::api {

// An amount of a resource as Kubernetes writes it: "500m", "1.5Gi", "1e3". Exact to 10^-9; finer
// input is rounded away from zero, and magnitudes beyond 10^28 are held there. Compared by value:
// "1Ki" equals "1024".
class Quantity {
 public:
  // How it was written, which is how it is printed.
  enum class Format : std::uint8_t { DecimalSI, BinarySI, DecimalExponent };

  Quantity() = default;  // 0
  static Quantity of_units(std::int64_t units, Format format = Format::DecimalSI);
  static Quantity of_milli(std::int64_t milli_units);
  // Surrounding white space must have been trimmed. BadRequest with the words of upstream.
  static Result<Quantity> parse(std::string_view text);

  // The canonical text; input that upstream would keep as it was written ("1.500") is kept.
  std::string text() const;
  // Whole units and whole thousandths, rounded away from zero. Beyond 64 bits: 0 for what upstream
  // holds in its small form (at most 18 digits), clamped for the rest.
  std::int64_t value() const;
  std::int64_t milli_value() const;

  Format format() const { return format_; }
  int sign() const { return nanos_ < 0 ? -1 : nanos_ > 0 ? 1 : 0; }
  bool is_zero() const { return nanos_ == 0; }
  bool is_negative() const { return nanos_ < 0; }
  bool is_whole() const;

  // A zero takes the format of what is added to it or subtracted from it.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }
  Quantity operator-() const;

  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nanos_ == b.nanos_; }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nanos_ <=> b.nanos_;
  }

 private:
  __extension__ using Int = __int128;

  Int nanos_ = 0;
  std::string kept_;  // the text it was parsed from, where that is printed again
  Format format_ = Format::DecimalSI;
  bool small_ = true;  // upstream would hold it as a 64-bit mantissa and a power of ten
};

}  // namespace muster::api
