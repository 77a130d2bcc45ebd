#include "base/entropy.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <utility>

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

// Each thread draws a supply, since every number would else be a call of the system. 256 bytes are
// what getrandom() gives without interruption.
std::uint64_t SystemEntropy::next() {
  thread_local std::array<std::uint64_t, 32> supply;
  thread_local std::size_t left = 0;
  if (left == 0) {
    CHECK(getrandom(supply.data(), sizeof supply, 0) == static_cast<ssize_t>(sizeof supply));
    left = supply.size();
  }
  return std::exchange(supply[--left], 0);
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
  constexpr std::string_view kHex = "0123456789abcdef";
  const std::uint64_t high = (entropy.next() & ~std::uint64_t{0xF000}) | 0x4000U;
  const std::uint64_t low = (entropy.next() >> 2U) | (std::uint64_t{1} << 63U);
  std::string uuid(36, '-');
  for (std::size_t at = 0, nibble = 0; at < uuid.size(); ++at) {
    if (at == 8 || at == 13 || at == 18 || at == 23) continue;
    const std::uint64_t half = nibble < 16 ? high : low;
    uuid[at] = kHex[(half >> (60U - 4U * (nibble++ % 16))) & 0xFU];
  }
  return uuid;
}

std::string random_suffix(Entropy& entropy, std::size_t length) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix(length, ' ');
  for (char& letter : suffix) letter = kAlphabet[entropy.below(kAlphabet.size())];
  return suffix;
}

}  // namespace muster
