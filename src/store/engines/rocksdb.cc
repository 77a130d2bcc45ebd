#include "store/engines/rocksdb.h"

#include <rocksdb/utilities/checkpoint.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/log.h"
#include "store/engines/data_directory.h"
#include "store/engines/database.h"
#include "store/engines/high_water_mark.h"
#include "store/engines/ledger.h"
#include "store/engines/loader.h"
#include "store/engines/record.h"
#include "store/engines/totals.h"

namespace muster::store {
namespace {

enum class Sync { Yes, No };

// What the store must hold at least, by its mark; nullopt if it was made before there were marks.
Result<std::optional<Revision>> acknowledged_in(const DataDirectory& directory) {
  std::error_code error;
  // An upgrade that was cut short may have left a mark already, of a store with totals.
  if (!directory.has_mark() && !std::filesystem::exists(directory.mark(), error))
    return std::nullopt;
  const Result<Revision> mark = HighWaterMark::read(directory.mark());
  if (!mark) return damaged(directory.path(), mark.error().message);
  return *mark;
}

class RocksdbEngine final : public Engine {
 public:
  RocksdbEngine(DataDirectory directory, rocksdb::Env* env)
      : directory_(std::move(directory)), env_(env) {}
  // For reading only, unless the store is new: load() opens for writing once everything has been
  // read and found whole, so that a damaged directory stays as it was.
  Result<void> open();

  Result<Contents> load() override;
  Result<std::vector<Result<Revision>>> commit(std::span<Transaction> batch) override;
  void set_sink(Sink sink) override { sink_ = std::move(sink); }
  Result<Revision> compact(Revision revision) override;
  Result<void> remember(Waypoint waypoint) override;
  Result<void> probe() override;
  Result<void> copy_to(const std::string& directory) override;
  Result<Revision> skip_to(Revision revision);

 private:
  Result<void> open_for_writing(const Loaded& loaded);
  Result<void> upgrade();
  Totals totals_after(const Ledger::Decision& decision) const;
  void acknowledge(Revision revision);
  Result<void> write(rocksdb::WriteBatch& batch, Sync sync);
  Result<void> recover();

  DataDirectory directory_;
  rocksdb::Env* const env_;
  std::optional<Database> database_;
  std::unique_ptr<HighWaterMark> mark_;  // null until the database is open for writing

  Ledger ledger_;
  Totals totals_;             // of the ledger's objects
  std::deque<Past> history_;  // every change after compacted_
  Revision compacted_;
  std::atomic<std::int64_t> acknowledged_ = 0;  // for copy_to(), which any thread may call
  Sink sink_;
  bool loaded_ = false;
  bool doubtful_ = false;  // the last write failed; recover() must find out where we are
};

Result<void> RocksdbEngine::open() {
  const AbortSentence sentence(directory_.path());
  const Database::Access access =
      directory_.is_new() ? Database::Access::Create : Database::Access::Read;
  database_ = TRY(Database::open(directory_.path(), access, env_));
  if (!directory_.is_new()) return {};
  TRY(HighWaterMark::create(directory_.mark(), {}));
  TRY(directory_.finish());
  mark_ = TRY(HighWaterMark::open(directory_.mark()));
  return {};
}

Result<Contents> RocksdbEngine::load() {
  const std::optional<Revision> acknowledged = TRY(acknowledged_in(directory_));
  const AbortSentence sentence(directory_.path());
  Loaded loaded = TRY(load_database(*database_, acknowledged));
  if (!mark_) TRY(open_for_writing(loaded));
  ledger_.restart(loaded.contents.revision);
  for (Loaded::Entry& entry : loaded.entries) {
    ledger_.restore(entry.key, entry.revision, entry.object);
    if (entry.object)
      loaded.contents.objects.emplace_back(std::move(entry.key), std::move(entry.object));
  }
  totals_ = loaded.totals;
  history_ = std::move(loaded.history);
  compacted_ = loaded.compacted;
  if (!directory_.has_mark()) TRY(upgrade());
  if (!mark_) mark_ = TRY(HighWaterMark::open(directory_.mark()));
  acknowledge(loaded.contents.revision);
  loaded_ = true;
  return std::move(loaded.contents);
}

// RocksDB replays its log once more here. It must come to the state that was checked.
Result<void> RocksdbEngine::open_for_writing(const Loaded& loaded) {
  database_.reset();
  database_ = TRY(Database::open(directory_.path(), Database::Access::Write, env_));
  const std::unique_ptr<rocksdb::Iterator> records = database_->iterate(database_->rev());
  records->SeekToLast();
  const std::optional<Revision> newest =
      records->Valid() ? decode_revision(view(records->key())) : loaded.compacted;
  if (!records->status().ok() || !newest ||
      std::max(*newest, loaded.compacted) != loaded.contents.revision)
    return damaged(directory_.path(), "it changed while it was being opened");
  return {};
}

// Totals first, then the mark, then the format that promises both.
Result<void> RocksdbEngine::upgrade() {
  rocksdb::WriteBatch writes;
  writes.Put(database_->positions(), slice(kTotals), encode(totals_));
  TRY(write(writes, Sync::Yes));
  TRY(HighWaterMark::create(directory_.mark(), ledger_.revision()));
  return directory_.upgrade();
}

Result<std::vector<Result<Revision>>> RocksdbEngine::commit(std::span<Transaction> batch) {
  CHECK_THAT(loaded_, "commit before load");
  TRY(recover());
  Ledger::Decision decision = ledger_.decide(batch);
  if (decision.changes.empty()) return std::move(decision.outcomes);

  rocksdb::WriteBatch writes(room_for(decision.changes));
  std::string head;
  for (std::size_t i = 0; i < decision.changes.size(); ++i) {
    const Change& change = decision.changes[i];
    const bool deleted = change.type == Change::Type::Deleted;
    const api::Kind& kind = change.object->kind();
    const Record record{.type = change.type,
                        .block_end = change.block_end,
                        .supersedes = decision.supersedes[i],
                        .key = change.key,
                        .group = kind.group,
                        .kind = kind.kind,
                        .version = kind.stored_version,
                        .bytes = deleted ? std::string_view() : change.object->bytes()};
    encode_head(record, head);
    const std::string revision = encode_revision(change.revision);
    const rocksdb::Slice name = revision;
    const std::array<rocksdb::Slice, 2> parts = {rocksdb::Slice(head), slice(record.bytes)};
    writes.Put(database_->rev(), rocksdb::SliceParts(&name, 1),
               rocksdb::SliceParts(parts.data(), static_cast<int>(parts.size())));
    if (deleted)
      writes.Delete(database_->idx(), change.key);
    else
      writes.Put(database_->idx(), change.key, revision);
  }
  const Totals totals = totals_after(decision);
  writes.Put(database_->positions(), slice(kTotals), encode(totals));
  TRY(write(writes, Sync::Yes));

  acknowledge(totals.revision);
  ledger_.accept(decision);
  totals_ = totals;
  for (std::size_t i = 0; i < decision.changes.size(); ++i)
    history_.push_back({.revision = decision.changes[i].revision,
                        .supersedes = decision.supersedes[i],
                        .deleted = decision.changes[i].type == Change::Type::Deleted});
  if (sink_) sink_(decision.changes);
  return std::move(decision.outcomes);
}

Totals RocksdbEngine::totals_after(const Ledger::Decision& decision) const {
  Totals totals = totals_;
  for (std::size_t i = 0; i < decision.changes.size(); ++i) {
    const Change& change = decision.changes[i];
    if (decision.supersedes[i].value != 0) totals.remove(change.key, decision.supersedes[i]);
    if (change.type != Change::Type::Deleted) totals.add(change.key, change.revision);
  }
  totals.revision = decision.changes.back().revision;
  return totals;
}

// What the log holds durably goes into the mark, before anybody hears of it.
void RocksdbEngine::acknowledge(Revision revision) {
  if (const Result<void> raised = mark_->raise(revision); !raised)
    log(LogLevel::Warning, "{}; damage to the last writes would go unseen", raised.error().message);
  acknowledged_ = revision.value;
}

// Removes what the changes up to `revision` replaced, and those of them that are deletions. So each
// key keeps its newest record up to there: the one that is current, or that a later change will
// name as `previous`. The position moves in the same write, so that a crash leaves a smaller
// compaction, not half of one; nothing depends on it, so it is not synced.
Result<Revision> RocksdbEngine::compact(Revision revision) {
  CHECK_THAT(loaded_, "compact before load");
  if (revision > ledger_.revision())
    return fail(Reason::BadRequest, "cannot compact to revision {}: the newest is {}",
                revision.value, ledger_.revision().value);
  TRY(recover());
  if (compacted_ >= revision) return compacted_;
  rocksdb::WriteBatch writes;
  std::size_t forgotten = 0;
  for (; forgotten < std::min(history_.size(), kCompactionSlice); ++forgotten) {
    const Past& past = history_[forgotten];
    if (past.revision > revision) break;
    if (past.supersedes.value != 0)
      writes.Delete(database_->rev(), encode_revision(past.supersedes));
    if (past.deleted) writes.Delete(database_->rev(), encode_revision(past.revision));
  }
  const Revision step = forgotten == kCompactionSlice ? history_[forgotten - 1].revision : revision;
  writes.Put(database_->positions(), slice(kCompacted), encode_revision(step));
  TRY(write(writes, Sync::No));
  compacted_ = step;
  history_.erase(history_.begin(), history_.begin() + static_cast<std::ptrdiff_t>(forgotten));
  return compacted_;
}

Result<void> RocksdbEngine::remember(Waypoint waypoint) {
  CHECK_THAT(loaded_, "remember before load");
  TRY(recover());
  rocksdb::WriteBatch writes;
  writes.Put(database_->positions(), slice(kWaypoint),
             encode_numbers({waypoint.at.time_since_epoch().count(), waypoint.revision.value}));
  return write(writes, Sync::No);
}

// Writes the totals that are there already, as durably as a commit.
Result<void> RocksdbEngine::probe() {
  CHECK_THAT(loaded_, "probe before load");
  TRY(recover());
  rocksdb::WriteBatch writes;
  writes.Put(database_->positions(), slice(kTotals), encode(totals_));
  return write(writes, Sync::Yes);
}

// The mark of the copy is taken before the copy is made: it promises no more than is in there.
Result<void> RocksdbEngine::copy_to(const std::string& directory) {
  const Revision acknowledged{acknowledged_.load()};
  std::error_code error;
  if (!std::filesystem::create_directory(directory, error))
    return fail(Reason::InternalError, "cannot make the folder {}: {}", directory,
                error ? error.message() : "it exists already");
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(&**database_, &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok())
    status = checkpoint->CreateCheckpoint(std::filesystem::absolute(directory).string() + "/db");
  if (!status.ok())
    return fail(Reason::InternalError, "cannot copy the store in {} to {}: {}", directory_.path(),
                directory, status.ToString());
  TRY(HighWaterMark::create(directory + "/MARK", acknowledged));
  return DataDirectory::seal(directory);
}

// An empty stretch of revisions is one that was compacted.
Result<Revision> RocksdbEngine::skip_to(Revision revision) {
  totals_.revision = revision;
  rocksdb::WriteBatch writes;
  writes.Put(database_->positions(), slice(kCompacted), encode_revision(revision));
  writes.Put(database_->positions(), slice(kTotals), encode(totals_));
  TRY(write(writes, Sync::Yes));
  compacted_ = revision;
  acknowledge(revision);
  return revision;
}

Result<void> RocksdbEngine::write(rocksdb::WriteBatch& batch, Sync sync) {
  rocksdb::WriteOptions options;
  options.sync = sync == Sync::Yes;
  const rocksdb::Status status = (*database_)->Write(options, &batch);
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
  const rocksdb::Status status = (*database_)->Resume();
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
  const std::unique_ptr<rocksdb::Iterator> records = database_->iterate(database_->rev());
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

Result<std::unique_ptr<Engine>> open_rocksdb_engine(const std::string& directory,
                                                    rocksdb::Env* env) {
  auto engine = std::make_unique<RocksdbEngine>(TRY(DataDirectory::open(directory)), env);
  TRY(engine->open());
  return engine;
}

Result<Inspection> inspect_rocksdb_store(const std::string& directory) {
  const DataDirectory opened = TRY(DataDirectory::open_for_reading(directory));
  const std::optional<Revision> acknowledged = TRY(acknowledged_in(opened));
  const AbortSentence sentence(opened.path());
  const Database database =
      TRY(Database::open(opened.path(), Database::Access::Read, /*env=*/nullptr));
  Loaded loaded = TRY(load_database(database, acknowledged));
  Inspection inspection{.contents = std::move(loaded.contents),
                        .records = loaded.records,
                        .index_entries = loaded.entries.size(),
                        .has_mark = acknowledged.has_value()};
  for (Loaded::Entry& entry : loaded.entries)
    if (entry.object)
      inspection.contents.objects.emplace_back(std::move(entry.key), std::move(entry.object));
  return inspection;
}

Result<Revision> skip_revisions(const std::string& directory, std::int64_t count) {
  RocksdbEngine engine(TRY(DataDirectory::open(directory)), nullptr);
  TRY(engine.open());
  const Revision newest = TRY(engine.load()).revision;
  while (TRY(engine.compact(newest)) < newest) {
  }
  return engine.skip_to({newest.value + count});
}

}  // namespace muster::store
