#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "store/engine.h"
#include "store/engines/data_directory.h"
#include "store/engines/database.h"
#include "store/engines/deposits.h"
#include "store/engines/history.h"
#include "store/engines/totals.h"

namespace muster::store {

// Everything a database holds.
struct Loaded {
  struct Entry {
    std::string key;
    Revision revision;
    ObjectPtr object;  // null if this version does not know the kind
  };
  Contents contents;           // without its objects: those are the entries
  std::vector<Entry> entries;  // the current objects, by key
  History history;             // every change after `compacted`
  Revision compacted;
  Totals totals;
  Deposits::Numbers deposits;                  // that records name
  std::vector<std::int64_t> unnamed_deposits;  // that were never committed
  std::size_t records = 0;                     // read, older versions included
  std::size_t bytes = 0;                       // of all of them, as stored_size() counts
};

// What the other files of a store say about its database.
struct Promise {
  // The least it must hold, by its mark; nullopt if it was made before there were marks and totals.
  std::optional<Revision> acknowledged;
  // Such a store was being upgraded: it may have totals already.
  bool is_being_upgraded = false;
};
Result<Promise> promise_of(const DataDirectory& directory);

// Reads everything once and proves that nothing is missing, or says what is:
//
//   1. History after the compacted revision has no gap, and ends with a whole block.
//   2. It reaches the acknowledged revision (high_water_mark.h).
//   3. Every index entry names a record of its key, and no record of that key is newer.
//   4. The current objects, by the records and by the index, have the totals
//      that the last commit wrote.
//
// 1 and 2 prove that no change is missing; 3 and 4 that no object is, compacted ones included,
// whichever of the three families lost it. Bytes inside a record are under RocksDB's checksums, and
// those of a deposit (deposits.h) under the record's as well.
//
// For a store that was made before there were marks and totals, 2 and the last part of 4 are left
// out. If it has totals nonetheless, its FORMAT is not the one that was written and its mark is
// lost.
Result<Loaded> load_database(const Database& database, const Promise& promise);

}  // namespace muster::store
