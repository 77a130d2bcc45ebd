#include "store/engines/database.h"

#include <rocksdb/convenience.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/log.h"

namespace muster::store {
namespace {

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
rocksdb::DBOptions database_options(Database::Access access, rocksdb::Env* env) {
  rocksdb::DBOptions options;
  if (env != nullptr) options.env = env;
  options.create_if_missing = access == Database::Access::Create;
  options.create_missing_column_families = access == Database::Access::Create;
  options.max_background_jobs = 2;
  options.allow_concurrent_memtable_write = false;  // one thread commits; unordered tables need it
  options.max_open_files = 256;
  options.max_total_wal_size = 64U << 20U;
  // Deposits are on their way to the disk when the commit comes that waits until they are there.
  options.wal_bytes_per_sync = 512U << 10U;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log = std::make_shared<DatabaseLog>();
  // An unfinished record at the end of the log was never acknowledged: it is dropped, so that a
  // killed process starts unasked. Damage in the middle is refused here; the default would silently
  // go back to the state before it. Damage that reads like an unfinished end is found by the
  // high-water mark.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  return options;
}

rocksdb::ColumnFamilyOptions family_options(Database::Access access) {
  rocksdb::ColumnFamilyOptions options;
  // What is written is not read before it has become a file, but for a look at the last record
  // after a failed write: so it need not be kept in order meanwhile. A commit of 20,000 entries
  // takes half the time. Reading wants the order.
  if (access != Database::Access::Read)
    options.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  options.compression = compression();
  options.write_buffer_size = 16U << 20U;
  options.arena_block_size = 256U << 10U;  // a commit touches few fresh pages at a time
  options.max_write_buffer_number = 4;     // commits go on while full ones become files
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 16U << 10U;
  table.block_cache = rocksdb::NewLRUCache(4U << 20U);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  // Removed records are whole objects, and their removal a few bytes: a file of which a quarter is
  // removals is merged downwards until it has met what it removes, though it is small. Otherwise
  // that waits until the levels above are full.
  constexpr std::size_t kWindow = 1024;
  constexpr double kRemovals = 0.25;
  options.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(kWindow, kWindow / 2, kRemovals));
  return options;
}

// What the process says if RocksDB ends it; only async-signal-safe calls are allowed then.
std::array<char, 1024> last_words;

void say_last_words(int) {
  static_cast<void>(::write(STDERR_FILENO, last_words.data(), ::strlen(last_words.data())));
  ::_exit(1);
}

}  // namespace

AbortSentence::AbortSentence(const std::string& store) {
  const std::string sentence = fmt::format(
      "muster: {}\n", damaged(store, "RocksDB cannot read one of its files").value().message);
  last_words = {};
  sentence.copy(last_words.data(), last_words.size() - 1);
  struct sigaction action{};
  action.sa_handler = say_last_words;
  ::sigaction(SIGABRT, &action, &before_);
}

AbortSentence::~AbortSentence() { ::sigaction(SIGABRT, &before_, nullptr); }

tl::unexpected<Error> damaged(const std::string& store, std::string_view what) {
  return fail(Reason::InternalError,
              "the data directory {} is damaged ({}): restore it from a backup with `muster store "
              "restore`, or give another directory",
              store, what);
}

Result<Database> Database::open(const std::string& store, Access access, rocksdb::Env* env) {
  const std::string path = store + "/db";
  std::error_code error;
  // RocksDB makes a missing directory even where it is asked only to read.
  if (access != Access::Create && !std::filesystem::is_directory(path, error))
    return damaged(store, "its folder db is missing");
  const rocksdb::ColumnFamilyOptions family = family_options(access);
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, family}, {"rev", family}, {"idx", family}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::DBOptions options = database_options(access, env);
  const rocksdb::Status status =
      access == Access::Read ? rocksdb::DB::OpenForReadOnly(options, path, families, &handles, &db)
                             : rocksdb::DB::Open(options, path, families, &handles, &db);
  if (status.IsIOError() && !status.IsPathNotFound())
    return fail(Reason::InternalError,
                "the data directory {} cannot be opened ({}): check the disk and the directory's "
                "permissions",
                store, status.ToString());
  if (!status.ok()) return damaged(store, status.ToString());
  Database database;
  database.store_ = store;
  database.db_.reset(db);
  database.positions_.reset(handles[0]);
  database.rev_.reset(handles[1]);
  database.idx_.reset(handles[2]);
  return database;
}

// A failure shows at the next write.
void Database::flush() const {
  rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;  // otherwise it waits until there is none
  static_cast<void>(db_->Flush(options, {rev_.get(), positions_.get(), idx_.get()}));
}

std::size_t Database::unreclaimed(std::size_t stored) const {
  using Properties = rocksdb::DB::Properties;
  const auto ask = [this](const auto& family, const std::string& what) {
    std::uint64_t value = 0;
    return db_->GetIntProperty(family.get(), what, &value) ? value : 0;
  };
  std::uint64_t files = 0;
  std::uint64_t working =
      ask(rev_, Properties::kNumRunningCompactions) + ask(rev_, Properties::kNumRunningFlushes);
  for (const auto* family : {&positions_, &rev_, &idx_}) {
    files += ask(*family, Properties::kLiveSstFilesSize);
    working += ask(*family, Properties::kCompactionPending);
  }
  return working == 0 || files < stored ? 0 : files - stored;
}

std::unique_ptr<rocksdb::Iterator> Database::iterate(rocksdb::ColumnFamilyHandle* family) const {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = 1U << 20U;
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options, family));
}

}  // namespace muster::store
