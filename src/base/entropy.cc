#include "base/entropy.h"

#include <fmt/format.h>
#include <sys/random.h>

#include "base/check.h"

namespace muster {

std::uint64_t Entropy::below(std::uint64_t bound) {
  CHECK(bound != 0);
  // Draws beyond the largest multiple of `bound` are thrown away, so every number is as likely.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  std::uint64_t draw = next();
  while (draw >= limit) draw = next();
  return draw % bound;
}

std::uint64_t SystemEntropy::next() {
  std::uint64_t number = 0;
  CHECK(getrandom(&number, sizeof number, 0) == static_cast<ssize_t>(sizeof number));
  return number;
}

// SplitMix64.
std::uint64_t SeededEntropy::next() {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t mix = state_;
  mix = (mix ^ (mix >> 30U)) * 0xBF58476D1CE4E5B9U;
  mix = (mix ^ (mix >> 27U)) * 0x94D049BB133111EBU;
  return mix ^ (mix >> 31U);
}

std::string random_uuid(Entropy& entropy) {
  const std::uint64_t high = (entropy.next() & ~std::uint64_t{0xF000}) | 0x4000U;
  const std::uint64_t low = (entropy.next() >> 2U) | (std::uint64_t{1} << 63U);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, (high >> 16U) & 0xFFFFU,
                     high & 0xFFFFU, low >> 48U, low & 0xFFFFFFFFFFFFU);
}

std::string random_suffix(Entropy& entropy, std::size_t length) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix(length, ' ');
  for (char& letter : suffix) letter = kAlphabet[entropy.below(kAlphabet.size())];
  return suffix;
}

}  // namespace muster
