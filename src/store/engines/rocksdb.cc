#include "store/engines/rocksdb.h"

#include <rocksdb/utilities/checkpoint.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/log.h"
#include "store/engines/commit_batch.h"
#include "store/engines/data_directory.h"
#include "store/engines/database.h"
#include "store/engines/deposits.h"
#include "store/engines/high_water_mark.h"
#include "store/engines/history.h"
#include "store/engines/ledger.h"
#include "store/engines/loader.h"
#include "store/engines/record.h"
#include "store/engines/totals.h"

namespace muster::store {
namespace {

enum class Sync { Yes, No };

class RocksdbEngine final : public Engine {
 public:
  RocksdbEngine(DataDirectory directory, rocksdb::Env* env)
      : directory_(std::move(directory)), env_(env) {}
  // For reading only, unless the store is new: load() opens for writing once everything has been
  // read and found whole, so that a damaged directory stays as it was.
  Result<void> open();

  Result<Contents> load() override;
  Result<std::vector<Result<Revision>>> commit(std::span<Transaction> batch) override;
  Result<void> deposit(std::span<const ObjectPtr> objects) override;
  void set_sink(Sink sink) override { sink_ = std::move(sink); }
  Result<Revision> compact(Revision revision) override;
  HistorySize history() const override {
    return {.changes = history_.size(), .bytes = history_.bytes()};
  }
  Revision revision_that_leaves(const HistorySize& most) const override {
    return history_.revision_that_leaves(most, compacted_);
  }
  std::size_t unreclaimed() const override { return unreclaimed_; }
  Result<void> remember(Waypoint waypoint) override;
  Result<void> probe() override;
  Result<void> copy_to(const std::string& directory) override;
  Result<Revision> skip_to(Revision revision);

 private:
  Result<void> open_for_writing(const Loaded& loaded);
  Result<void> upgrade();
  std::vector<std::int64_t> sweep(std::size_t looks, rocksdb::WriteBatch& writes);
  void remove_record(Revision revision, rocksdb::WriteBatch& writes) const;
  void note_removed(std::size_t bytes, bool is_last);
  Totals totals_after(const Ledger::Decision& decision) const;
  void acknowledge(Revision revision);
  Result<void> write(rocksdb::WriteBatch& batch, Sync sync);
  Result<void> recover();

  DataDirectory directory_;
  rocksdb::Env* const env_;
  std::optional<Database> database_;
  std::unique_ptr<HighWaterMark> mark_;  // null until the database is open for writing

  Ledger ledger_;
  Totals totals_;  // of the ledger's objects
  Deposits deposits_;
  CommitBatch commit_batch_;
  History history_;          // every change after compacted_
  std::size_t stored_ = 0;   // bytes of all records that are kept, as stored_size() counts
  std::size_t removed_ = 0;  // bytes of those that were removed since the last flush
  std::size_t unreclaimed_ = 0;
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
  const Promise promise = TRY(promise_of(directory_));
  const AbortSentence sentence(directory_.path());
  Loaded loaded = TRY(load_database(*database_, promise));
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
  stored_ = loaded.bytes;
  deposits_.restart(std::move(loaded.deposits), loaded.unnamed_deposits);
  if (!directory_.is_newest()) TRY(upgrade());
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

// Totals first, then the mark, then the format that promises both. Format 2 has them.
Result<void> RocksdbEngine::upgrade() {
  if (directory_.has_mark()) return directory_.upgrade();
  TRY(directory_.begin_upgrade());
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

  rocksdb::WriteBatch& writes = commit_batch_.make(*database_, decision, deposits_);
  const Totals totals = totals_after(decision);
  writes.Put(database_->positions(), slice(kTotals), encode(totals));
  TRY(write(writes, Sync::Yes));

  acknowledge(totals.revision);
  ledger_.accept(decision);
  totals_ = totals;
  for (std::size_t i = 0; i < decision.changes.size(); ++i) {
    const Change& change = decision.changes[i];
    const bool deleted = change.type == Change::Type::Deleted;
    const std::uint32_t size = stored_size(change.key, deleted ? 0 : change.object->bytes().size());
    std::uint32_t frees = deleted ? size : 0;
    if (change.previous) frees += stored_size(change.key, change.previous->bytes().size());
    history_.push({.revision = change.revision,
                   .supersedes = decision.supersedes[i],
                   .frees = frees,
                   .deleted = deleted});
    stored_ += size;
    if (decision.written[i] != nullptr) deposits_.mark_named(*decision.written[i], change.revision);
  }
  unreclaimed_ = database_->unreclaimed(stored_);
  if (sink_) sink_(decision.changes);
  return std::move(decision.outcomes);
}

// What earlier deposits have left behind goes with it, faster than it can grow.
Result<void> RocksdbEngine::deposit(std::span<const ObjectPtr> objects) {
  CHECK_THAT(loaded_, "deposit before load");
  TRY(recover());
  rocksdb::WriteBatch writes;
  const auto added = deposits_.add(objects, *database_, writes);
  const std::vector<std::int64_t> abandoned = sweep(2 * objects.size(), writes);
  TRY(write(writes, Sync::No));
  deposits_.add_pending(added);
  deposits_.forget(abandoned);
  return {};
}

// Has deposits removed that nobody can commit any more; who writes it then calls forget().
std::vector<std::int64_t> RocksdbEngine::sweep(std::size_t looks, rocksdb::WriteBatch& writes) {
  std::vector<std::int64_t> abandoned = deposits_.find_abandoned(looks);
  for (const std::int64_t number : abandoned)
    writes.Delete(database_->positions(), deposit_key(number));
  return abandoned;
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
  std::size_t bytes = 0;
  for (; forgotten < std::min(history_.size(), kCompactionSlice); ++forgotten) {
    const Past& past = history_[forgotten];
    if (past.revision > revision) break;
    if (past.supersedes.value != 0) remove_record(past.supersedes, writes);
    if (past.deleted) remove_record(past.revision, writes);
    bytes += past.frees;
  }
  const std::vector<std::int64_t> abandoned = sweep(kCompactionSlice, writes);
  const Revision step = forgotten == kCompactionSlice ? history_[forgotten - 1].revision : revision;
  writes.Put(database_->positions(), slice(kCompacted), encode_revision(step));
  TRY(write(writes, Sync::No));
  compacted_ = step;
  for (std::size_t i = 0; i < forgotten; ++i) deposits_.forget(history_[i].supersedes);
  deposits_.forget(abandoned);
  history_.drop(forgotten);
  note_removed(bytes, step == revision);
  return compacted_;
}

// What was removed gives its room back once the removal itself is in a file and that is merged with
// the files it concerns. RocksDB merges soon (database.cc), but makes the file only when enough
// has been written: so the end of a pass asks for it.
void RocksdbEngine::note_removed(std::size_t bytes, bool is_last) {
  constexpr std::size_t kWorthAFile = std::size_t{4} << 20U;
  stored_ -= std::min(stored_, bytes);
  removed_ += bytes;
  if (is_last && removed_ >= kWorthAFile) {
    database_->flush();
    removed_ = 0;
  }
  unreclaimed_ = database_->unreclaimed(stored_);
}

// With the deposit that it names.
void RocksdbEngine::remove_record(Revision revision, rocksdb::WriteBatch& writes) const {
  writes.Delete(database_->rev(), encode_revision(revision));
  if (const std::optional<std::int64_t> deposit = deposits_.named_by(revision))
    writes.Delete(database_->positions(), deposit_key(*deposit));
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

bool is_rocksdb_store(const std::string& directory) {
  return DataDirectory::is_finished(directory);
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
