#include "store/engines/loader.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include "base/count_of.h"
#include "base/log.h"
#include "store/engines/ledger.h"
#include "store/engines/record.h"
#include "store/key_map.h"

namespace muster::store {
namespace {

using IteratorPtr = std::unique_ptr<rocksdb::Iterator>;

// The steps of load_database(), in order. They share what one pass over the records finds out.
class Loader {
 public:
  Loader(const Database& database, const Promise& promise)
      : database_(database), promise_(promise) {}

  Result<Loaded> run();

 private:
  Result<void> read_positions();
  Result<void> find_newest();
  Result<void> read_index();
  Result<void> read_records();
  Result<void> read_history(Revision revision, const Record& record);
  Result<void> read_current(Revision revision, const Record& record);
  Result<void> read_recent();
  Result<Change> read_change(Revision revision, const Record& record);
  Result<ObjectPtr> read_object(Revision revision, const Record& record);
  Result<std::string> read_bytes(Revision revision, const Record& record) const;
  Result<ObjectPtr> read_replaced(Revision revision);
  Result<void> find_unnamed_deposits();
  Result<void> check_totals() const;
  std::string first_difference() const;
  void report_unknown() const;

  Result<std::optional<std::string>> read_position(std::string_view name) const;
  template <typename... Args>
  tl::unexpected<Error> broken(fmt::format_string<Args...> format, Args&&... args) const {
    return damaged(database_.store(), fmt::format(format, std::forward<Args>(args)...));
  }

  const Database& database_;
  const Promise promise_;
  Loaded loaded_;
  std::optional<Totals> written_;                                 // by the last commit
  Totals indexed_;                                                // as the index lists them
  Totals recorded_;                                               // as the records tell them
  boost::unordered_flat_map<std::int64_t, std::size_t> current_;  // revision → place in the entries
  std::size_t found_ = 0;                                         // entries with a record
  std::vector<std::pair<Revision, std::uint32_t>> sizes_;         // of the records, in their order
  // What recent changes have replaced, by the revision that wrote it.
  boost::unordered_flat_map<std::int64_t, ObjectPtr> replaced_;
  std::map<std::string, std::size_t> unknown_;  // kinds, with how many objects
};

Result<Loaded> Loader::run() {
  TRY(read_positions());
  TRY(find_newest());
  TRY(read_index());
  TRY(read_records());
  TRY(check_totals());
  TRY(read_recent());
  TRY(find_unnamed_deposits());
  report_unknown();
  loaded_.totals = recorded_;
  loaded_.totals.revision = loaded_.contents.revision;
  return std::move(loaded_);
}

// nullopt if it was never written.
Result<std::optional<std::string>> Loader::read_position(std::string_view name) const {
  std::string text;
  const rocksdb::Status status =
      database_->Get(rocksdb::ReadOptions(), database_.positions(), slice(name), &text);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return broken("{}", status.ToString());
  return text;
}

Result<void> Loader::read_positions() {
  if (const auto text = TRY(read_position(kCompacted))) {
    const std::optional<Revision> compacted = decode_revision(*text);
    if (!compacted) return broken("the compacted revision is unreadable");
    loaded_.compacted = *compacted;
  }
  if (const auto text = TRY(read_position(kTotals))) {
    written_ = decode_totals(*text);
    if (!written_) return broken("the totals are unreadable");
  }
  if (const auto text = TRY(read_position(kWaypoint))) {
    std::int64_t micros = 0;
    Waypoint waypoint;
    if (!decode_numbers(*text, {&micros, &waypoint.revision.value}))
      return broken("the waypoint of compaction is unreadable");
    waypoint.at = Time(Duration(micros));
    loaded_.contents.waypoint = waypoint;
  }
  return {};
}

// How far history reaches.
Result<void> Loader::find_newest() {
  const IteratorPtr records = database_.iterate(database_.rev());
  Revision newest = loaded_.compacted;
  records->SeekToLast();
  if (records->Valid()) {
    const std::optional<Revision> revision = decode_revision(view(records->key()));
    if (!revision) return broken("a revision is unreadable");
    newest = std::max(newest, *revision);
  }
  if (!records->status().ok()) return broken("{}", records->status().ToString());
  if (promise_.acknowledged && newest < *promise_.acknowledged)
    return broken(
        "revision {} was acknowledged, but the log ends at {}: a .log file or the MANIFEST was cut "
        "or changed",
        promise_.acknowledged->value, newest.value);
  loaded_.contents.revision = newest;
  return {};
}

Result<void> Loader::read_index() {
  const IteratorPtr entries = database_.iterate(database_.idx());
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    const std::string_view key = view(entries->key());
    const std::optional<Revision> revision = decode_revision(view(entries->value()));
    if (!revision || revision->value == 0 || *revision > loaded_.contents.revision)
      return broken("the index entry of {} is unreadable", key);
    current_.emplace(revision->value, loaded_.entries.size());
    loaded_.entries.push_back({.key = std::string(key), .revision = *revision, .object = nullptr});
    indexed_.add(key, *revision);
  }
  if (!entries->status().ok()) return broken("{}", entries->status().ToString());
  return {};
}

// One pass over all records in revision order, whatever the index says: history after the compacted
// revision must be without gaps, and every index entry must be met.
Result<void> Loader::read_records() {
  const IteratorPtr records = database_.iterate(database_.rev());
  Revision block_end;
  Revision last;
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    const std::optional<Revision> revision = decode_revision(view(records->key()));
    const std::optional<Record> record = decode(view(records->value()));
    if (!revision || !record) return broken("a record is unreadable");
    ++loaded_.records;
    last = *revision;
    block_end = record->block_end;
    if (record->deposit) loaded_.deposits[revision->value] = record->deposit->number;
    TRY(read_history(*revision, *record));
    TRY(read_current(*revision, *record));
  }
  if (!records->status().ok()) return broken("{}", records->status().ToString());
  if (last > loaded_.compacted && block_end != last)
    return broken("the log ends at revision {}, inside a transaction that ends at {}", last.value,
                  block_end.value);
  if (found_ != loaded_.entries.size()) return broken("objects named in the index are missing");
  return {};
}

// What a record says about the current objects. Compaction keeps of each key the newest record up
// to where it came; so a record from before adds its object, and a later one puts its own in the
// place of the one it supersedes.
Result<void> Loader::read_history(Revision revision, const Record& record) {
  const bool deleted = record.type == Change::Type::Deleted;
  if (!deleted) recorded_.add(record.key, revision);
  const std::uint32_t size = stored_size(record.key, record.object_size());
  sizes_.emplace_back(revision, size);
  loaded_.bytes += size;
  if (revision <= loaded_.compacted) return {};
  const Revision before = loaded_.history.empty() ? loaded_.compacted : loaded_.history.newest();
  if (revision.value != before.value + 1) return broken("revision {} is missing", before.value + 1);
  if (record.supersedes.value != 0) recorded_.remove(record.key, record.supersedes);
  std::uint32_t frees = deleted ? size : 0;
  const auto superseded = std::ranges::lower_bound(sizes_, record.supersedes, {},
                                                   &std::pair<Revision, std::uint32_t>::first);
  if (superseded != sizes_.end() && superseded->first == record.supersedes)
    frees += superseded->second;
  loaded_.history.push(
      {.revision = revision, .supersedes = record.supersedes, .frees = frees, .deleted = deleted});
  return {};
}

Result<void> Loader::read_current(Revision revision, const Record& record) {
  const auto at = current_.find(revision.value);
  if (at == current_.end()) return {};
  Loaded::Entry& entry = loaded_.entries[at->second];
  const bool deleted = record.type == Change::Type::Deleted;
  ObjectPtr object;
  if (!deleted) object = TRY(read_object(revision, record));
  if (deleted || entry.key != record.key)
    return broken("revision {} is not the object its index entry names", revision.value);
  ++found_;
  entry.object = object;
  if (!object) ++unknown_[fmt::format("{}/{} {}", record.group, record.version, record.kind)];
  return {};
}

// The newest changes, as many as may be held: from the end backwards, so that each object is read
// once, as what the change after it has replaced, and counted before the next is read.
Result<void> Loader::read_recent() {
  std::vector<Change>& recent = loaded_.contents.recent;
  const IteratorPtr records = database_.iterate(database_.rev());
  std::size_t changes = 0;
  std::size_t held = 0;
  loaded_.contents.compacted = loaded_.compacted;
  for (records->SeekToLast(); records->Valid(); records->Prev()) {
    const std::optional<Revision> revision = decode_revision(view(records->key()));
    const std::optional<Record> record = decode(view(records->value()));
    if (!revision || !record) return broken("a record is unreadable");
    if (*revision <= loaded_.compacted) break;
    Change change = TRY(read_change(*revision, *record));
    held += memory_held_by(change);
    if (++changes > kRecentChangesMax || held > kRecentBytesMax) {
      loaded_.contents.compacted = *revision;
      break;
    }
    // Of an unknown kind, then: nobody can be watching it.
    if (change.object) recent.push_back(std::move(change));
  }
  if (!records->status().ok()) return broken("{}", records->status().ToString());
  std::ranges::reverse(recent);
  return {};
}

// All changes after it have been read. So its object is known: it is current, or one of them has
// replaced it.
Result<Change> Loader::read_change(Revision revision, const Record& record) {
  ObjectPtr object;
  if (const auto at = current_.find(revision.value); at != current_.end()) {
    object = loaded_.entries[at->second].object;
  } else if (const auto replaced = replaced_.find(revision.value); replaced != replaced_.end()) {
    object = std::move(replaced->second);
    replaced_.erase(replaced);
  }
  ObjectPtr previous;
  if (record.type != Change::Type::Added) {
    previous = TRY(read_replaced(record.supersedes));
    replaced_.emplace(record.supersedes.value, previous);
  }
  return Change{.type = record.type,
                .key = std::string(record.key),
                .revision = revision,
                .block_end = record.block_end,
                .object = record.type == Change::Type::Deleted ? previous : object,
                .previous = previous};
}

// Null if the kind is unknown.
Result<ObjectPtr> Loader::read_object(Revision revision, const Record& record) {
  const api::Kind* kind = api::find_kind(record.group, record.kind);
  if (kind == nullptr) return ObjectPtr();
  Result<std::shared_ptr<Object>> object = Object::parse(*kind, TRY(read_bytes(revision, record)));
  if (!object)
    return broken("{} at revision {}: {}", record.key, revision.value, object.error().message);
  (*object)->assign_revision(revision);
  return ObjectPtr(*std::move(object));
}

Result<std::string> Loader::read_bytes(Revision revision, const Record& record) const {
  if (!record.deposit) return std::string(record.bytes);
  std::string bytes;
  const rocksdb::Status status = database_->Get(rocksdb::ReadOptions(), database_.positions(),
                                                deposit_key(record.deposit->number), &bytes);
  if (!status.ok())
    return broken("the object of revision {} cannot be read, {}", revision.value,
                  status.ToString());
  if (bytes.size() != record.deposit->size || stable_hash(bytes) != record.deposit->hash)
    return broken("the object of revision {} is not the one that was written", revision.value);
  return bytes;
}

Result<ObjectPtr> Loader::read_replaced(Revision revision) {
  rocksdb::PinnableSlice text;
  const rocksdb::Status status =
      database_->Get(rocksdb::ReadOptions(), database_.rev(), encode_revision(revision), &text);
  if (!status.ok())
    return broken("revision {} cannot be read, {}", revision.value, status.ToString());
  const std::optional<Record> record = decode(view(text));
  if (!record) return broken("a record is unreadable");
  return read_object(revision, *record);
}

Result<void> Loader::find_unnamed_deposits() {
  boost::unordered_flat_set<std::int64_t> named;
  for (const auto& [revision, number] : loaded_.deposits) named.insert(number);
  const IteratorPtr entries = database_.iterate(database_.positions());
  for (entries->Seek(slice(kDeposit)); entries->Valid(); entries->Next()) {
    if (!view(entries->key()).starts_with(kDeposit)) break;
    const std::optional<std::int64_t> number = deposit_number(view(entries->key()));
    if (!number) return broken("the name of a deposit is unreadable");
    if (!named.contains(*number)) loaded_.unnamed_deposits.push_back(*number);
  }
  if (!entries->status().ok()) return broken("{}", entries->status().ToString());
  return {};
}

Result<void> Loader::check_totals() const {
  if (indexed_ != recorded_) return broken("{}", first_difference());
  if (!promise_.acknowledged && written_ && !promise_.is_being_upgraded)
    return broken(
        "FORMAT names a layout without totals, but there are some, and MARK is missing: FORMAT was "
        "changed");
  if (!promise_.acknowledged || loaded_.contents.revision.value == 0) return {};
  Totals found = recorded_;
  found.revision = loaded_.contents.revision;
  if (!written_) return broken("the totals are missing");
  if (written_->revision != found.revision)
    return broken("the totals are those of revision {}, but the newest is {}",
                  written_->revision.value, found.revision.value);
  if (*written_ != found)
    return broken("at revision {} there were {} objects, {} are left, or others than there were",
                  found.revision.value, written_->objects, found.objects);
  return {};
}

// A key that the index and the records disagree about. Only a damaged store pays for this.
std::string Loader::first_difference() const {
  std::map<std::string, Revision> newest;
  const IteratorPtr records = database_.iterate(database_.rev());
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    const std::optional<Record> record = decode(view(records->value()));
    if (!record) break;
    if (record->type == Change::Type::Deleted)
      newest.erase(std::string(record->key));
    else
      newest[std::string(record->key)] = decode_revision(view(records->key())).value_or(Revision{});
  }
  for (const Loaded::Entry& entry : loaded_.entries) {
    const auto found = newest.find(entry.key);
    if (found == newest.end())
      return fmt::format("the index lists {}, which was deleted", entry.key);
    if (found->second != entry.revision)
      return fmt::format("the index lists {} at revision {}, but its newest record is {}",
                         entry.key, entry.revision.value, found->second.value);
    newest.erase(found);
  }
  if (newest.empty()) return "records that changes replace are missing";
  return fmt::format("the index lacks {}, whose newest record is revision {}",
                     newest.begin()->first, newest.begin()->second.value);
}

void Loader::report_unknown() const {
  for (const auto& [kind, count] : unknown_)
    log(LogLevel::Warning,
        "the data directory {} holds {} of kind {}, which this version does not know: kept, but "
        "not served",
        database_.store(), count_of(static_cast<std::int64_t>(count), "object"), kind);
}

}  // namespace

Result<Loaded> load_database(const Database& database, const Promise& promise) {
  return Loader(database, promise).run();
}

}  // namespace muster::store
