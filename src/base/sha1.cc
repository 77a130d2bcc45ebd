#include "base/sha1.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace muster {
namespace {

constexpr std::size_t kBlock = 64;

std::uint32_t word_at(std::string_view block, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i)
    word = (word << 8U) | static_cast<unsigned char>(block[at * 4 + i]);
  return word;
}

void add_block(std::string_view block, std::array<std::uint32_t, 5>& state) {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t i = 0; i < 16; ++i) words[i] = word_at(block, i);
  for (std::size_t i = 16; i < 80; ++i)
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < 80; ++i) {
    std::uint32_t mixed = 0;
    std::uint32_t constant = 0;
    if (i < 20) {
      mixed = (b & c) | (~b & d);
      constant = 0x5A827999U;
    } else if (i < 40) {
      mixed = b ^ c ^ d;
      constant = 0x6ED9EBA1U;
    } else if (i < 60) {
      mixed = (b & c) | (b & d) | (c & d);
      constant = 0x8F1BBCDCU;
    } else {
      mixed = b ^ c ^ d;
      constant = 0xCA62C1D6U;
    }
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + constant + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::string sha1_hex(std::string_view text) {
  std::array<std::uint32_t, 5> state{0x67452301U, 0xEFCDAB89U, 0x98BADCFEU, 0x10325476U,
                                     0xC3D2E1F0U};
  // One bit, zeros, and the length in bits at the end of the last block.
  std::string padded(text);
  padded.push_back(static_cast<char>(0x80));
  padded.append((kBlock + 56 - padded.size() % kBlock) % kBlock, '\0');
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (unsigned shift = 64; shift > 0; shift -= 8)
    padded.push_back(static_cast<char>((bits >> (shift - 8)) & 0xFFU));
  for (std::size_t at = 0; at < padded.size(); at += kBlock)
    add_block(std::string_view(padded).substr(at, kBlock), state);

  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::uint32_t word : state)
    for (unsigned shift = 32; shift > 0; shift -= 4) out += kDigits[(word >> (shift - 4)) & 0xFU];
  return out;
}

}  // namespace muster
