#pragma once

#include <rocksdb/write_batch.h>

#include <cstddef>

#include "store/engines/database.h"
#include "store/engines/deposits.h"
#include "store/engines/ledger.h"

namespace muster::store {

// Makes the one write of each commit. It reuses its memory: a commit of megabytes would otherwise
// spend much of its time on fresh pages.
class CommitBatch {
 public:
  // The records and index entries of a decision. For objects that were deposited, only the deposit
  // is named. Good until the next call.
  rocksdb::WriteBatch& make(const Database& database, const Ledger::Decision& decision,
                            const Deposits& deposits);

 private:
  rocksdb::WriteBatch batch_;
  std::size_t room_ = 0;  // bytes that batch_ has
};

}  // namespace muster::store
