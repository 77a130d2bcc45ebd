#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/engine.h"

namespace rocksdb {
class Env;
}

namespace muster::store {

// Opens, or makes, a store in a directory of its own; data_directory.h says which are refused.
// A commit is one synced write of records, index and totals (database.h), then one write to the
// high-water mark that needs no sync (high_water_mark.h).
//
// What load() does about a directory that is not as we left it:
//
//   the end of the log is torn, what is torn was never acknowledged   starts, without a word
//   a file is missing, cut or changed, and something is lost by it    refused, naming what is lost
//   a file is changed where nothing depends on it                     starts: nothing is lost
//
// It reads everything before it opens the database for writing, so a refused directory stays as it
// was. loader.h lists the checks; docs/store.md says what they cannot tell apart.
//
// A failed write leaves the store readable and refuses further writes until the database has
// recovered (space was freed) or the process is restarted. Objects of kinds this version does not
// know stay on disk as they are; they are reported to the log and not loaded.
//
// `env` is for tests: where the database writes its files, if not on the real disk.
Result<std::unique_ptr<Engine>> open_rocksdb_engine(const std::string& directory,
                                                    rocksdb::Env* env = nullptr);

// Whether a directory holds a store that was finished once, whatever has become of it.
bool is_rocksdb_store(const std::string& directory);

// What a store holds, after all the checks of load(). Writes nothing, does not block other readers,
// and works on read-only media; refused while the store is in use.
struct Inspection {
  Contents contents;
  std::size_t records = 0;        // revisions read, older versions of objects included
  std::size_t index_entries = 0;  // each met by its newest record
  bool has_mark = true;           // false: made before there were marks; its end is not proven
};
Result<Inspection> inspect_rocksdb_store(const std::string& directory);

// Leaves out the next `count` revisions and forgets the history before them; returns the newest
// now. For a store restored from a backup: revisions that were handed out after the backup was made
// must not be reused with another meaning, and every watcher must list again.
Result<Revision> skip_revisions(const std::string& directory, std::int64_t count);

}  // namespace muster::store
