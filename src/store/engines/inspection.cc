#include <filesystem>
#include <optional>
#include <utility>

#include "store/engines/data_directory.h"
#include "store/engines/database.h"
#include "store/engines/high_water_mark.h"
#include "store/engines/loader.h"
#include "store/engines/rocksdb.h"

namespace muster::store {

Result<Promise> promise_of(const DataDirectory& directory) {
  std::error_code error;
  // An upgrade that was cut short may have left a mark already, of a store with totals.
  if (!directory.has_mark() && !std::filesystem::exists(directory.mark(), error))
    return Promise{.acknowledged = std::nullopt,
                   .is_being_upgraded = directory.is_being_upgraded()};
  const Result<Revision> mark = HighWaterMark::read(directory.mark());
  if (!mark) return damaged(directory.path(), mark.error().message);
  return Promise{.acknowledged = *mark};
}

Result<Inspection> inspect_rocksdb_store(const std::string& directory) {
  const DataDirectory opened = TRY(DataDirectory::open_for_reading(directory));
  const Promise promise = TRY(promise_of(opened));
  const AbortSentence sentence(opened.path());
  const Database database =
      TRY(Database::open(opened.path(), Database::Access::Read, /*env=*/nullptr));
  Loaded loaded = TRY(load_database(database, promise));
  Inspection inspection{.contents = std::move(loaded.contents),
                        .records = loaded.records,
                        .index_entries = loaded.entries.size(),
                        .has_mark = promise.acknowledged.has_value()};
  for (Loaded::Entry& entry : loaded.entries)
    if (entry.object)
      inspection.contents.objects.emplace_back(std::move(entry.key), std::move(entry.object));
  return inspection;
}

}  // namespace muster::store
