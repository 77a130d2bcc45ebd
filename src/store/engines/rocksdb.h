#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store/engine.h"

namespace muster::store {

// Opens, or makes, a store in a directory of its own; data_directory.h says which are refused.
// Column family `rev` holds revision -> record (record.h), `idx` holds key -> revision, and the
// default one how far history is compacted. A commit is one synced write.
//
// A failed write leaves the store readable and refuses further writes until the database has
// recovered (space was freed) or the process is restarted. Objects of kinds this version does not
// know stay on disk as they are; they are reported to the log and not loaded.
Result<std::unique_ptr<Engine>> open_rocksdb_engine(const std::string& directory);

// Leaves out the next `count` revisions and forgets the history before them; returns the newest
// now. For a store restored from a backup: revisions that were handed out after the backup was made
// must not come again with another meaning, and every watcher must list again.
Result<Revision> skip_revisions(const std::string& directory, std::int64_t count);

}  // namespace muster::store
