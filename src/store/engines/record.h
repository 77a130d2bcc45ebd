#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/engine.h"

namespace muster::store {

// One change as it is on disk, under its revision. The texts are views of what it was read from.
//
//   format (1) | type (1) | block_end (8) | supersedes (8) | key | group | kind | version | bytes
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
  std::string_view bytes = {};  // of the object; empty for Deleted
};

// Replaces `out`. The record is the head and then its bytes as they are: who writes the two one
// after the other need not copy the bytes.
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

// Bytes that a write of these changes takes at most, index and framing included. A batch that has
// the room from the start does not grow and move meanwhile: ten thousand pods are twelve megabytes.
std::size_t room_for(std::span<const Change> changes);

}  // namespace muster::store
