#include "store/engines/commit_batch.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "store/engines/record.h"

namespace muster::store {
namespace {

constexpr std::size_t kKeptMax = std::size_t{4} << 20U;

Record record_of(const Change& change, Revision supersedes, std::optional<Deposit> deposit) {
  const api::Kind& kind = change.object->kind();
  const bool has_bytes = change.type != Change::Type::Deleted && !deposit;
  return {.type = change.type,
          .block_end = change.block_end,
          .supersedes = supersedes,
          .key = change.key,
          .group = kind.group,
          .kind = kind.kind,
          .version = kind.stored_version,
          .bytes = has_bytes ? change.object->bytes() : std::string_view(),
          .deposit = deposit};
}

std::vector<Record> records_of(const Ledger::Decision& decision, const Deposits& deposits) {
  std::vector<Record> records;
  records.reserve(decision.changes.size());
  for (std::size_t i = 0; i < decision.changes.size(); ++i) {
    const Object* written = decision.written[i].get();
    records.push_back(record_of(decision.changes[i], decision.supersedes[i],
                                written == nullptr ? std::nullopt : deposits.find(*written)));
  }
  return records;
}

// Bytes that a write of these takes at most, index and framing included. A batch that has the room
// from the start does not grow and move meanwhile: ten thousand whole pods are twelve megabytes.
std::size_t room_for(const std::vector<Record>& records) {
  constexpr std::size_t kFraming = 200;
  std::size_t bytes = kFraming;
  for (const Record& record : records)
    bytes += kFraming + 2 * record.key.size() + record.bytes.size();
  return bytes;
}

}  // namespace

rocksdb::WriteBatch& CommitBatch::make(const Database& database, const Ledger::Decision& decision,
                                       const Deposits& deposits) {
  const std::vector<Record> records = records_of(decision, deposits);
  const std::size_t room = room_for(records);
  if (room > room_ || room_ > kKeptMax) {
    batch_ = rocksdb::WriteBatch(room);
    room_ = room;
  } else {
    batch_.Clear();
  }
  std::string head;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    encode_head(record, head);
    const std::string revision = encode_revision(decision.changes[i].revision);
    const rocksdb::Slice name = revision;
    const std::array<rocksdb::Slice, 2> parts = {rocksdb::Slice(head), slice(record.bytes)};
    batch_.Put(database.rev(), rocksdb::SliceParts(&name, 1),
               rocksdb::SliceParts(parts.data(), static_cast<int>(parts.size())));
    if (record.type == Change::Type::Deleted)
      batch_.Delete(database.idx(), slice(record.key));
    else
      batch_.Put(database.idx(), slice(record.key), revision);
  }
  return batch_;
}

}  // namespace muster::store
