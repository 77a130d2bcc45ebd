#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

// What `muster store` does to a data directory while no Muster runs on it. Each returns what to
// tell the user.
namespace muster::app {

// Reads everything and counts it. Changes nothing; damage is an error that says what and where.
Result<std::string> check_store(const std::string& data_dir);

// Copies a whole, checked data directory (objects and certificates) to a folder that does not exist
// yet. The copy is a data directory itself.
Result<std::string> backup_store(const std::string& data_dir, const std::string& to);

// Makes a data directory, which must not exist yet, from a backup. The next `skip` revisions are
// left out, so that none is ever used twice.
Result<std::string> restore_store(const std::string& from, const std::string& data_dir,
                                  std::int64_t skip);

}  // namespace muster::app
