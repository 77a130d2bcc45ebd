#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "store/engine.h"

namespace muster::store {

// The newest acknowledged revision, in a file of its own: a log that was cut reads like one that
// ends earlier, so something outside it must know where it ended.
//
// raise() comes after the log was synced and before the commit is acknowledged. It is one small
// write without a sync, so:
//
//   the process is killed   the kernel has the write: the mark is exact
//   the power fails         the mark is behind by what was written since its last sync (about a
//                           second), never ahead: what it names was in the log before
//
// So a log that ends before its mark has lost acknowledged writes, and one that ends after it has
// not been damaged by the crash. Damage to the last second before a power cut looks like the cut.
//
// The file holds two slots, a page apart, written in turn; each is a line of text with a checksum.
// A write that the power cut tears leaves the other slot, which is one commit older.
class HighWaterMark {
 public:
  // Makes the file, or replaces it, durably.
  static Result<void> create(const std::string& path, Revision revision);
  // The revision in it; an error says that it is missing or that neither slot can be read. Changes
  // nothing.
  static Result<Revision> read(const std::string& path);
  static Result<std::unique_ptr<HighWaterMark>> open(const std::string& path);
  // Syncs what raise() wrote.
  ~HighWaterMark();
  HighWaterMark(const HighWaterMark&) = delete;
  HighWaterMark& operator=(const HighWaterMark&) = delete;

  // By the store's writer. If it fails the commit has still succeeded: the mark stays behind, which
  // is safe, and the next one catches up.
  Result<void> raise(Revision revision);

 private:
  HighWaterMark(std::string path, int file);
  void sync_now_and_then();

  const std::string path_;
  const int file_;
  int next_slot_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;  // something to sync, or stopped
  bool unsynced_ = false;            // under mutex_, as is the next
  bool stopped_ = false;
  std::thread syncer_;
};

}  // namespace muster::store
