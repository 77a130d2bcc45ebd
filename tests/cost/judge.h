#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cost/cases.h"
#include "cost/work.h"

// Whether what a request costs grows no faster than the request.
namespace muster::cost {

// The whole run is for a build that only counts steps, the preset `cost`: where addresses are
// checked it takes too long, and stays small.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kIsSlow = true;
#else
inline constexpr bool kIsSlow = false;
#endif
inline bool is_long() { return !kIsSlow && std::getenv("MUSTER_TEST_LONG") != nullptr; }

// How many entries the smaller of two requests has; the larger one has four times as many.
inline std::size_t entry_count() { return is_long() ? 1'500 : 64; }

// All descriptions in the long run; else each fifth, beginning at `first`.
inline std::vector<Target> some_targets(std::size_t first) {
  std::vector<Target> all = targets(/*of_every_kind=*/false);
  if (is_long()) return all;
  std::vector<Target> some;
  for (std::size_t i = first; i < all.size(); i += 5) some.push_back(std::move(all[i]));
  return some;
}

// For what knows nothing but JSON: one list of each form, in the long run every description.
inline std::vector<Target> forms() {
  return is_long() ? targets(/*of_every_kind=*/false) : one_of_each_form();
}

struct Measured {
  Work work;
  std::size_t bytes = 0;

  double growth_from(const Measured& smaller) const {
    return static_cast<double>(work.total()) /
           static_cast<double>(std::max<std::uint64_t>(smaller.work.total(), 1));
  }
  std::uint64_t per_byte() const { return work.total() / std::max<std::size_t>(bytes, 1); }
};

// Judges one kind of request after the other, and says at the end which came closest.
class Judge {
 public:
  explicit Judge(std::string_view what) : what_(what) {}
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  ~Judge() {
    fmt::print("{}: {} cases, {} failed; most growth: {:.2f} ({}); most per byte: {} ({})\n", what_,
               cases_, failures_, growth_, growth_at_, per_byte_, per_byte_at_);
  }

  // `measured(count)` carries out the request with so many entries.
  template <typename Measure>
  void judge(const std::string& case_name, Measure&& measured, std::size_t count = entry_count()) {
    ++cases_;
    (void)measured(4);  // what is made only once is made now
    Measured small = measured(count);
    Measured large = measured(4 * count);
    // What a limit bounds may grow faster until it meets the limit, and not beyond.
    if (!holds(small, large)) small = std::exchange(large, measured(16 * count));
    note(case_name, small, large);
    if (holds(small, large) || ++failures_ > kFailuresShown) return;
    ADD_FAILURE() << case_name << ": " << text(small) << "; " << text(large);
  }

 private:
  // Twice the entries, at most 2.2 times the work: sorting is let through, comparing all with all
  // is not.
  static constexpr double kGrowthMax = 2.2 * 2.2;
  // Below this, what a request costs whatever its size hides the rest.
  static constexpr std::uint64_t kNoise = 30'000;
  // The dearest entries say nothing in two bytes and get a dozen defaults each.
  static constexpr std::uint64_t kWorkPerByteMax = 4'000;
  static constexpr int kFailuresShown = 40;

  static bool holds(const Measured& small, const Measured& large) {
    return large.work.total() <= kNoise ||
           (large.growth_from(small) <= kGrowthMax && large.per_byte() <= kWorkPerByteMax);
  }
  static std::string text(const Measured& one) {
    return fmt::format("{} bytes cost {} steps, {} bytes allocated, {} moved", one.bytes,
                       one.work.steps, one.work.bytes_allocated, one.work.bytes_moved);
  }
  void note(const std::string& case_name, const Measured& small, const Measured& large) {
    if (large.work.total() <= kNoise) return;
    if (large.growth_from(small) > growth_) {
      growth_ = large.growth_from(small);
      growth_at_ = case_name;
    }
    if (large.per_byte() > per_byte_) {
      per_byte_ = large.per_byte();
      per_byte_at_ = case_name;
    }
  }

  const std::string what_;
  std::size_t cases_ = 0;
  int failures_ = 0;
  double growth_ = 0;
  std::string growth_at_;
  std::uint64_t per_byte_ = 0;
  std::string per_byte_at_;
};

}  // namespace muster::cost
