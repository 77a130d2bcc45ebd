#include "store/engines/rocksdb.h"

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <deque>
#include <map>
#include <utility>

#include "base/log.h"
#include "store/engines/data_directory.h"
#include "store/engines/ledger.h"
#include "store/engines/record.h"

namespace muster::store {
namespace {

constexpr std::string_view kCompacted = "compacted";  // in the default column family
constexpr int kCompactionStep = 1'000;                // changes forgotten per write

std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// RocksDB's warnings in our log, and no LOG files in the directory.
class DatabaseLog final : public rocksdb::Logger {
 public:
  DatabaseLog() : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}
  using rocksdb::Logger::Logv;
  void LogHeader(const char*, va_list) override {}  // NOLINT(readability-identifier-naming)
  void Logv(const char* format,
            va_list arguments) override {  // NOLINT(readability-identifier-naming)
    char line[1024];
    if (std::vsnprintf(line, sizeof(line), format, arguments) > 0)
      log(LogLevel::Warning, "rocksdb: {}", static_cast<const char*>(line));
  }
};

rocksdb::CompressionType compression() {
  const std::vector<rocksdb::CompressionType> supported = rocksdb::GetSupportedCompressions();
  return std::ranges::find(supported, rocksdb::kLZ4Compression) != supported.end()
             ? rocksdb::kLZ4Compression
             : rocksdb::kNoCompression;
}

// Sized for a small machine: the current objects live in our memory, so the database is read only
// when it is opened, and needs no cache to speak of.
rocksdb::DBOptions database_options(bool is_new) {
  rocksdb::DBOptions options;
  options.create_if_missing = is_new;
  options.create_missing_column_families = is_new;
  options.max_background_jobs = 2;
  options.max_open_files = 256;
  options.max_total_wal_size = 64U << 20U;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log = std::make_shared<DatabaseLog>();
  // An unfinished record at the end of the log was never acknowledged. Any other damage in it would
  // lose writes that were, so it must be refused; the default would silently go back to the state
  // before.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  return options;
}

rocksdb::ColumnFamilyOptions family_options() {
  rocksdb::ColumnFamilyOptions options;
  options.compression = compression();
  options.write_buffer_size = 16U << 20U;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 16U << 10U;
  table.block_cache = rocksdb::NewLRUCache(4U << 20U);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

class RocksdbEngine final : public Engine {
 public:
  explicit RocksdbEngine(DataDirectory directory) : directory_(std::move(directory)) {}
  // For reading only, unless the store is new: load() opens for writing once everything has been
  // read and found whole, so that a damaged directory stays as it was.
  Result<void> open();

  Result<Contents> load() override;
  Result<std::vector<Result<Revision>>> commit(std::span<Transaction> batch) override;
  void set_sink(Sink sink) override { sink_ = std::move(sink); }
  Result<void> compact(Revision revision) override;
  Result<void> probe() override;
  Result<Revision> skip_to(Revision revision);

 private:
  using IteratorPtr = std::unique_ptr<rocksdb::Iterator>;

  // What compaction must know of a change, so that it need not read the disk.
  struct Past {
    Revision revision;
    Revision supersedes;
    bool deleted = false;
  };
  // The pieces of load(), in order. They share what one pass over the records finds out.
  struct Loading {
    Contents contents;
    std::vector<std::pair<std::string, Revision>> index;           // by key
    boost::unordered_flat_map<std::int64_t, std::size_t> current;  // revision → place in the index
    std::vector<ObjectPtr> objects;  // by place; null if not (yet) found
    std::size_t found = 0;
    Revision recent_after;                                      // changes after this one are told
    boost::unordered_flat_map<std::int64_t, ObjectPtr> recent;  // their objects, by revision
    std::map<std::string, std::size_t> unknown;                 // kinds, with how many objects
  };
  Result<void> read_positions(Loading& loading);
  Result<void> read_index(Loading& loading);
  Result<void> read_records(Loading& loading);
  Result<void> read_record(Revision revision, const Record& record, Loading& loading);
  Result<ObjectPtr> read_object(Revision revision, const Record& record, Loading& loading);
  Result<ObjectPtr> read_previous(Revision revision, Loading& loading);

  enum class Access { Read, Write };
  Result<void> open_database(Access access);
  IteratorPtr iterate(rocksdb::ColumnFamilyHandle& family) const;
  Result<void> write(rocksdb::WriteBatch& batch, bool sync);
  Result<void> recover();
  tl::unexpected<Error> damaged(std::string_view what) const;

  DataDirectory directory_;
  // The handles go before the database, hence stand after it.
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> positions_;  // the default family
  std::unique_ptr<rocksdb::ColumnFamilyHandle> rev_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> idx_;

  Ledger ledger_;
  std::deque<Past> history_;  // every change after compacted_
  Revision compacted_;
  Sink sink_;
  bool writable_ = false;
  bool loaded_ = false;
  bool doubtful_ = false;  // the last write failed; recover() must find out where we stand
};

tl::unexpected<Error> RocksdbEngine::damaged(std::string_view what) const {
  return fail(
      Reason::InternalError,
      "the data directory {} is damaged ({}): restore it from a backup, or give another directory",
      directory_.path(), what);
}

Result<void> RocksdbEngine::open() {
  if (!directory_.is_new()) return open_database(Access::Read);
  if (auto opened = open_database(Access::Write); !opened) return opened;
  return directory_.finish();
}

Result<void> RocksdbEngine::open_database(Access access) {
  idx_.reset();
  rev_.reset();
  positions_.reset();
  db_.reset();
  const rocksdb::ColumnFamilyOptions family = family_options();
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, family}, {"rev", family}, {"idx", family}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::DBOptions options = database_options(directory_.is_new());
  const std::string path = directory_.database();
  const rocksdb::Status status =
      access == Access::Read ? rocksdb::DB::OpenForReadOnly(options, path, families, &handles, &db)
                             : rocksdb::DB::Open(options, path, families, &handles, &db);
  if (status.IsIOError() && !status.IsPathNotFound())
    return fail(Reason::InternalError,
                "the data directory {} cannot be opened ({}): check the disk and the directory's "
                "permissions",
                directory_.path(), status.ToString());
  if (!status.ok()) return damaged(status.ToString());
  db_.reset(db);
  positions_.reset(handles[0]);
  rev_.reset(handles[1]);
  idx_.reset(handles[2]);
  writable_ = access == Access::Write;
  return {};
}

RocksdbEngine::IteratorPtr RocksdbEngine::iterate(rocksdb::ColumnFamilyHandle& family) const {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = 1U << 20U;
  return IteratorPtr(db_->NewIterator(options, &family));
}

Result<Contents> RocksdbEngine::load() {
  Loading loading;
  if (auto done = read_positions(loading); !done) return fail(std::move(done).error());
  if (auto done = read_index(loading); !done) return fail(std::move(done).error());
  history_.clear();
  ledger_.restart(loading.contents.revision);
  if (auto done = read_records(loading); !done) return fail(std::move(done).error());

  for (std::size_t i = 0; i < loading.index.size(); ++i) {
    auto& [key, revision] = loading.index[i];
    ledger_.restore(key, revision, loading.objects[i]);
    if (loading.objects[i])
      loading.contents.objects.emplace_back(std::move(key), std::move(loading.objects[i]));
  }
  for (const auto& [kind, count] : loading.unknown)
    log(LogLevel::Warning,
        "the data directory {} holds {} object(s) of kind {}, which this version does not know: "
        "they "
        "are kept, but not served",
        directory_.path(), count, kind);
  if (!writable_)
    if (auto done = open_database(Access::Write); !done) return fail(std::move(done).error());
  loaded_ = true;
  return std::move(loading.contents);
}

// How far history reaches: the newest revision, what is compacted, and from where changes are told.
Result<void> RocksdbEngine::read_positions(Loading& loading) {
  std::string text;
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), positions_.get(), slice(kCompacted), &text);
  if (!status.ok() && !status.IsNotFound()) return damaged(status.ToString());
  const std::optional<Revision> compacted = status.ok() ? decode_revision(text) : Revision{};
  if (!compacted) return damaged("the compacted revision is unreadable");
  compacted_ = *compacted;

  const IteratorPtr records = iterate(*rev_);
  std::size_t changes = 0;
  std::size_t bytes = 0;
  Revision newest = compacted_;
  loading.recent_after = compacted_;
  for (records->SeekToLast(); records->Valid(); records->Prev()) {
    const std::optional<Revision> revision = decode_revision(view(records->key()));
    if (!revision) return damaged("a revision is unreadable");
    if (changes == 0) newest = std::max(newest, *revision);
    if (*revision <= compacted_) break;
    if (++changes > kRecentChangesMax || (bytes += records->value().size()) > kRecentBytesMax) {
      loading.recent_after = *revision;
      break;
    }
  }
  if (!records->status().ok()) return damaged(records->status().ToString());
  loading.contents.revision = newest;
  loading.contents.compacted = loading.recent_after;
  return {};
}

Result<void> RocksdbEngine::read_index(Loading& loading) {
  const IteratorPtr entries = iterate(*idx_);
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    const std::optional<Revision> revision = decode_revision(view(entries->value()));
    if (!revision || revision->value == 0 || *revision > loading.contents.revision)
      return damaged(fmt::format("the index entry of {} is unreadable", view(entries->key())));
    loading.current.emplace(revision->value, loading.index.size());
    loading.index.emplace_back(entries->key().ToString(), *revision);
  }
  if (!entries->status().ok()) return damaged(entries->status().ToString());
  loading.objects.resize(loading.index.size());
  return {};
}

// An empty stretch of revisions is one that was compacted.
Result<Revision> RocksdbEngine::skip_to(Revision revision) {
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status status =
      db_->Put(options, positions_.get(), slice(kCompacted), slice(encode_revision(revision)));
  if (!status.ok())
    return fail(Reason::InternalError, "cannot write to {}: {}", directory_.path(),
                status.ToString());
  compacted_ = revision;
  return revision;
}

// One pass over all records in revision order, whatever the index says: history after the compacted
// revision must be without gaps, and every index entry must be met.
Result<void> RocksdbEngine::read_records(Loading& loading) {
  const IteratorPtr records = iterate(*rev_);
  Revision newest = compacted_;
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    const std::optional<Revision> revision = decode_revision(view(records->key()));
    const std::optional<Record> record = decode(view(records->value()));
    if (!revision || !record) return damaged("a record is unreadable");
    if (*revision > compacted_) {
      if (revision->value != newest.value + 1)
        return damaged(fmt::format("revision {} is missing", newest.value + 1));
      newest = *revision;
      history_.push_back({.revision = *revision,
                          .supersedes = record->supersedes,
                          .deleted = record->type == Change::Type::Deleted});
    }
    if (auto done = read_record(*revision, *record, loading); !done) return done;
  }
  if (!records->status().ok()) return damaged(records->status().ToString());
  if (loading.found != loading.index.size())
    return damaged("objects named in the index are missing");
  return {};
}

Result<void> RocksdbEngine::read_record(Revision revision, const Record& record, Loading& loading) {
  const auto at = loading.current.find(revision.value);
  const bool is_current = at != loading.current.end();
  const bool is_recent = revision > loading.recent_after;
  if (!is_current && !is_recent) return {};

  ObjectPtr object;
  if (record.type != Change::Type::Deleted) object = TRY(read_object(revision, record, loading));
  if (is_current) {
    if (record.type == Change::Type::Deleted || loading.index[at->second].first != record.key)
      return damaged(
          fmt::format("revision {} is not the object its index entry names", revision.value));
    ++loading.found;
    loading.objects[at->second] = object;
    if (!object)
      ++loading.unknown[fmt::format("{}/{} {}", record.group, record.version, record.kind)];
  }
  if (is_recent) {
    if (object) loading.recent.emplace(revision.value, object);
    ObjectPtr previous;
    if (record.type != Change::Type::Added)
      previous = TRY(read_previous(record.supersedes, loading));
    Change change{.type = record.type,
                  .key = std::string(record.key),
                  .revision = revision,
                  .block_end = record.block_end,
                  .object = record.type == Change::Type::Deleted ? previous : object,
                  .previous = previous};
    // Of an unknown kind, then: nobody can be watching it.
    if (change.object) loading.contents.recent.push_back(std::move(change));
  }
  return {};
}

// Null if the kind is unknown.
Result<ObjectPtr> RocksdbEngine::read_object(Revision revision, const Record& record,
                                             Loading& loading) {
  if (const auto known = loading.recent.find(revision.value); known != loading.recent.end())
    return known->second;
  const api::Kind* kind = api::find_kind(record.group, record.kind);
  if (kind == nullptr) return ObjectPtr();
  Result<std::shared_ptr<Object>> object = Object::parse(*kind, std::string(record.bytes));
  if (!object)
    return damaged(
        fmt::format("{} at revision {}: {}", record.key, revision.value, object.error().message));
  (*object)->assign_revision(revision);
  return ObjectPtr(*std::move(object));
}

// The object a recent change replaced: a recent one itself, or one whose record compaction had to
// keep.
Result<ObjectPtr> RocksdbEngine::read_previous(Revision revision, Loading& loading) {
  if (const auto known = loading.recent.find(revision.value); known != loading.recent.end())
    return known->second;
  rocksdb::PinnableSlice text;
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), rev_.get(), encode_revision(revision), &text);
  if (!status.ok())
    return damaged(
        fmt::format("revision {} cannot be read, {}", revision.value, status.ToString()));
  const std::optional<Record> record = decode(view(text));
  if (!record) return damaged("a record is unreadable");
  return read_object(revision, *record, loading);
}

Result<std::vector<Result<Revision>>> RocksdbEngine::commit(std::span<Transaction> batch) {
  CHECK_THAT(loaded_, "commit before load");
  if (auto recovered = recover(); !recovered) return fail(std::move(recovered).error());
  Ledger::Decision decision = ledger_.decide(batch);
  if (decision.changes.empty()) return std::move(decision.outcomes);

  rocksdb::WriteBatch writes;
  std::string text;
  for (std::size_t i = 0; i < decision.changes.size(); ++i) {
    const Change& change = decision.changes[i];
    const bool deleted = change.type == Change::Type::Deleted;
    const api::Kind& kind = change.object->kind();
    encode({.type = change.type,
            .block_end = change.block_end,
            .supersedes = decision.supersedes[i],
            .key = change.key,
            .group = kind.group,
            .kind = kind.kind,
            .version = kind.stored_version,
            .bytes = deleted ? std::string_view() : change.object->bytes()},
           text);
    const std::string revision = encode_revision(change.revision);
    writes.Put(rev_.get(), revision, text);
    if (deleted)
      writes.Delete(idx_.get(), change.key);
    else
      writes.Put(idx_.get(), change.key, revision);
  }
  if (auto written = write(writes, true); !written) return fail(std::move(written).error());

  ledger_.accept(decision);
  for (std::size_t i = 0; i < decision.changes.size(); ++i)
    history_.push_back({.revision = decision.changes[i].revision,
                        .supersedes = decision.supersedes[i],
                        .deleted = decision.changes[i].type == Change::Type::Deleted});
  if (sink_) sink_(decision.changes);
  return std::move(decision.outcomes);
}

// Removes what the changes up to `revision` replaced, and those of them that are deletions. So each
// key keeps its newest record up to there: the one that is current, or that a later change will
// name as `previous`.
Result<void> RocksdbEngine::compact(Revision revision) {
  CHECK_THAT(loaded_, "compact before load");
  if (revision > ledger_.revision())
    return fail(Reason::BadRequest, "cannot compact to revision {}: the newest is {}",
                revision.value, ledger_.revision().value);
  if (auto recovered = recover(); !recovered) return recovered;
  while (compacted_ < revision) {
    // The position moves with each step, so that a crash leaves a smaller compaction, not half of
    // one.
    rocksdb::WriteBatch writes;
    const Revision step{std::min(revision.value, compacted_.value + kCompactionStep)};
    std::size_t forgotten = 0;
    for (; forgotten < history_.size() && history_[forgotten].revision <= step; ++forgotten) {
      const Past& past = history_[forgotten];
      if (past.supersedes.value != 0) writes.Delete(rev_.get(), encode_revision(past.supersedes));
      if (past.deleted) writes.Delete(rev_.get(), encode_revision(past.revision));
    }
    writes.Put(positions_.get(), slice(kCompacted), encode_revision(step));
    if (auto written = write(writes, step == revision); !written) return written;
    compacted_ = step;
    history_.erase(history_.begin(), history_.begin() + static_cast<std::ptrdiff_t>(forgotten));
  }
  return {};
}

// Writes the position that is there already, as durably as a commit.
Result<void> RocksdbEngine::probe() {
  CHECK_THAT(loaded_, "probe before load");
  if (auto recovered = recover(); !recovered) return recovered;
  rocksdb::WriteBatch writes;
  writes.Put(positions_.get(), slice(kCompacted), encode_revision(compacted_));
  return write(writes, true);
}

Result<void> RocksdbEngine::write(rocksdb::WriteBatch& batch, bool sync) {
  rocksdb::WriteOptions options;
  options.sync = sync;
  const rocksdb::Status status = db_->Write(options, &batch);
  if (status.ok()) return {};
  doubtful_ = true;
  return fail(
      Reason::InternalError,
      "the store in {} cannot be written ({}): free space or repair the disk; nothing is accepted "
      "until then",
      directory_.path(), status.ToString());
}

// After a failed write: lets the database recover, which drops what failed, and makes sure that it
// did.
Result<void> RocksdbEngine::recover() {
  if (!doubtful_) return {};
  const rocksdb::Status status = db_->Resume();
  if (status.IsBusy())  // at it by itself, as it is once a full disk has room again
    return fail(
        Reason::ServiceUnavailable,
        "the store in {} has not recovered from a failed write yet: free space if the disk is "
        "full, then try again",
        directory_.path());
  if (!status.ok())
    return fail(
        Reason::InternalError,
        "the store in {} cannot be written ({}): free space or repair the disk, then restart "
        "Muster",
        directory_.path(), status.ToString());
  const IteratorPtr records = iterate(*rev_);
  records->SeekToLast();
  const std::optional<Revision> newest =
      records->Valid() ? decode_revision(view(records->key())) : Revision{};
  if (!records->status().ok() || !newest || *newest > ledger_.revision())
    return fail(Reason::InternalError,
                "the store in {} may hold writes that were reported as failed: restart Muster",
                directory_.path());
  doubtful_ = false;
  return {};
}

}  // namespace

Result<std::unique_ptr<Engine>> open_rocksdb_engine(const std::string& directory) {
  auto engine = std::make_unique<RocksdbEngine>(TRY(DataDirectory::open(directory)));
  if (auto opened = engine->open(); !opened) return fail(std::move(opened).error());
  return engine;
}

Result<Revision> skip_revisions(const std::string& directory, std::int64_t count) {
  RocksdbEngine engine(TRY(DataDirectory::open(directory)));
  TRY(engine.open());
  const Revision newest = TRY(engine.load()).revision;
  TRY(engine.compact(newest));
  return engine.skip_to({newest.value + count});
}

}  // namespace muster::store
