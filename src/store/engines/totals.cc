#include "store/engines/totals.h"

#include "store/engines/record.h"

namespace muster::store {
namespace {

// Spreads the last bytes over all bits, which FNV alone does not: revisions of one key differ only
// there.
std::uint64_t mix(std::uint64_t hash) {
  hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31U);
}

std::uint64_t fingerprint(std::string_view key, Revision written) {
  return mix(stable_hash(key) + mix(static_cast<std::uint64_t>(written.value)));
}

}  // namespace

std::uint64_t stable_hash(std::string_view text, std::uint64_t seed) {
  for (const char byte : text) seed = (seed ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  return seed;
}

void Totals::add(std::string_view key, Revision written) {
  ++objects;
  sum += fingerprint(key, written);
}

void Totals::remove(std::string_view key, Revision written) {
  --objects;
  sum -= fingerprint(key, written);
}

std::string encode(const Totals& totals) {
  return encode_numbers({totals.revision.value, static_cast<std::int64_t>(totals.objects),
                         static_cast<std::int64_t>(totals.sum)});
}

std::optional<Totals> decode_totals(std::string_view text) {
  Totals totals;
  std::int64_t objects = 0;
  std::int64_t sum = 0;
  if (!decode_numbers(text, {&totals.revision.value, &objects, &sum})) return std::nullopt;
  totals.objects = static_cast<std::uint64_t>(objects);
  totals.sum = static_cast<std::uint64_t>(sum);
  return totals;
}

}  // namespace muster::store
