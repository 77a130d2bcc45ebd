#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

// What `muster store` does to a data directory. Each returns what to print.
namespace muster::app {

// Reads everything, compares records, index, totals and high-water mark, and counts what it read.
// Writes nothing; damage, or a directory that is empty or lacks a part, is an error that says what
// and where. No Muster may run on it.
Result<std::string> check_store(const std::string& data_dir);

// Copies a whole, checked data directory (objects and certificates) to a folder that does not exist
// yet: all of it, on disk, or nothing. The copy is a data directory itself. A Muster may run on
// `data_dir`: it then hands over a copy of its current store.
Result<std::string> backup_store(const std::string& data_dir, const std::string& to);

// Makes a data directory, which must not exist yet, from a backup, which is only read: all of it,
// on disk, or nothing. The next `skip` revisions are left out, so that none is ever used twice.
Result<std::string> restore_store(const std::string& from, const std::string& data_dir,
                                  std::int64_t skip);

}  // namespace muster::app
