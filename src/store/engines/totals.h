#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/engine.h"

namespace muster::store {

// A fingerprint of the current objects: how many there are, and the sum of a hash of each key with
// the revision that wrote it. It is written with every commit and computed again from what is found
// on disk, so that a missing or resurrected object is noticed even if every remaining file reads
// without errors. It guards against damage, not against malice.
struct Totals {
  Revision revision;          // the commit they were written with
  std::uint64_t objects = 0;  // as are the sums, modulo 2^64
  std::uint64_t sum = 0;

  void add(std::string_view key, Revision written);
  void remove(std::string_view key, Revision written);

  bool operator==(const Totals&) const = default;
};

std::string encode(const Totals& totals);
// nullopt if the text is not what encode() wrote.
std::optional<Totals> decode_totals(std::string_view text);

// FNV-1a, 64 bits: the same on every machine and in every version, since it is stored on disk.
std::uint64_t stable_hash(std::string_view text, std::uint64_t seed = 14695981039346656037ULL);

}  // namespace muster::store
