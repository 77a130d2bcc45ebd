#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "store/engine.h"

namespace muster::store {

// Where a deposited object's bytes are (Engine::deposit), and what they must be: record and deposit
// are in different families, and damage may revert one of them.
struct Deposit {
  std::int64_t number = 0;
  std::uint32_t size = 0;
  std::uint64_t hash = 0;  // stable_hash() of the bytes

  bool operator==(const Deposit&) const = default;
};

// One change as it is on disk, under its revision. The texts are views of what it was read from.
//
//   1 | type (1) | block_end (8) | supersedes (8) | key | group | kind | version | bytes
//   2 | type (1) | block_end (8) | supersedes (8) | key | group | kind | version | deposit (8+4+8)
//
// Sizes in bytes; numbers are big-endian; each text is its length (4) and itself. The checksums
// that guard it are RocksDB's, of every block and of every entry of its log.
struct Record {
  Change::Type type = Change::Type::Added;
  Revision block_end = {};
  Revision supersedes = {};  // the revision that wrote the key before; 0 for Added
  std::string_view key = {};
  // How to read the bytes; of a deletion, what was deleted.
  std::string_view group = {};
  std::string_view kind = {};
  std::string_view version = {};
  std::string_view bytes = {};          // of the object; empty for Deleted
  std::optional<Deposit> deposit = {};  // of the object, instead of bytes

  std::size_t object_size() const { return deposit ? deposit->size : bytes.size(); }
};

// About what the record of an object takes on disk, with its deposit if it has one.
constexpr std::uint32_t stored_size(std::string_view key, std::size_t object_size) {
  constexpr std::size_t kHead = 100;  // numbers, texts that name the kind, framing
  return static_cast<std::uint32_t>(std::min<std::size_t>(
      kHead + key.size() + object_size, std::numeric_limits<std::uint32_t>::max()));
}

// Replaces `out`. The record is the head followed by its bytes unchanged: a caller that writes the
// two in turn need not copy the bytes.
void encode(const Record& record, std::string& out);
void encode_head(const Record& record, std::string& out);
// nullopt if the text is not what encode() wrote, to the last byte.
std::optional<Record> decode(std::string_view text);

// Numbers, big-endian, 8 bytes each. decode_numbers() is false if the text is not exactly as many.
std::string encode_numbers(std::initializer_list<std::int64_t> numbers);
bool decode_numbers(std::string_view text, std::initializer_list<std::int64_t*> numbers);

// Revisions as keys that sort in their order.
std::string encode_revision(Revision revision);
std::optional<Revision> decode_revision(std::string_view text);

}  // namespace muster::store
