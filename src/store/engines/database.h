#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/write_batch.h>
#include <signal.h>  // NOLINT: sigaction is POSIX, not C++

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::store {

// The RocksDB database of a store, in three column families:
//
//   default  "compacted", "totals", "waypoint": one entry each; deposits (deposits.h) by number
//   rev      revision → record (record.h)
//   idx      key → the revision that wrote the object that is current
//
// A commit writes all three in one batch. They are flushed to files one by one, so damage can take
// from one family what it leaves in the others; loader.h detects that.
class Database {
 public:
  // Read neither writes nor locks anything: it works on read-only media, and leaves a damaged
  // database as it was. Create makes the database.
  enum class Access { Read, Write, Create };
  // `store` is the store's directory, with the database in its folder db/. `env` is where files are
  // written; null for the real disk.
  static Result<Database> open(const std::string& store, Access access, rocksdb::Env* env);

  const std::string& store() const { return store_; }
  rocksdb::DB& operator*() const { return *db_; }
  rocksdb::DB* operator->() const { return db_.get(); }
  rocksdb::ColumnFamilyHandle* positions() const { return positions_.get(); }
  rocksdb::ColumnFamilyHandle* rev() const { return rev_.get(); }
  rocksdb::ColumnFamilyHandle* idx() const { return idx_.get(); }

  // Begins to write what is in memory to files, so that room of what was removed becomes free.
  // Waits for nothing.
  void flush() const;
  // How much larger the files are than `stored` bytes, while work is under way that makes them
  // smaller; else 0.
  std::size_t unreclaimed(std::size_t stored) const;
  // For one pass over a whole family.
  std::unique_ptr<rocksdb::Iterator> iterate(rocksdb::ColumnFamilyHandle* family) const;

 private:
  Database() = default;

  std::string store_;
  // The handles must go before the database, so they are declared after it.
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> positions_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> rev_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> idx_;
};

// Used while a store is first read: RocksDB, as Debian builds it, asserts on some of what it reads
// before it has compared checksums (one bit of each table's properties, for example), and an
// assertion ends the process. This prints the sentence about a damaged store before that. One at a
// time.
class AbortSentence {
 public:
  explicit AbortSentence(const std::string& store);
  ~AbortSentence();
  AbortSentence(const AbortSentence&) = delete;
  AbortSentence& operator=(const AbortSentence&) = delete;

 private:
  struct sigaction before_{};
};

// A deposit's key is this and its number.
inline constexpr std::string_view kDeposit = "deposit/";
inline constexpr std::string_view kCompacted = "compacted";
inline constexpr std::string_view kTotals = "totals";
inline constexpr std::string_view kWaypoint = "waypoint";

inline std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
inline rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// For `return`: the one sentence about a store that cannot be trusted. `store` is its
// directory.
tl::unexpected<Error> damaged(const std::string& store, std::string_view what);

}  // namespace muster::store
