#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/engine.h"
#include "store/key_map.h"

namespace muster::store {

// How much history Contents::recent holds at most, whichever bound is met first. Bytes are those of
// memory_held_by().
inline constexpr std::size_t kRecentChangesMax = 10'000;
inline constexpr std::size_t kRecentBytesMax = 64U << 20U;

// The current objects as an engine knows them, and the rules by which transactions become changes.
// The engines share it and differ only in where the changes are kept:
//
//   decide() → the engine makes the changes durable → accept() → the engine tells its sink
class Ledger {
 public:
  // The result of a batch. The changes are those of the accepted transactions, in revision order;
  // their objects have no revisions until the decision is accepted.
  struct Decision {
    std::vector<Result<Revision>> outcomes;  // one per transaction
    std::vector<Change> changes;
    // One per change: the revision that wrote the key before (0 if it was free), and the new object
    // (null for Deleted).
    std::vector<Revision> supersedes;
    std::vector<std::shared_ptr<Object>> written;
  };
  Decision decide(std::span<const Transaction> batch) const;
  void accept(const Decision& decision);

  // Restarts from what was found on disk. A null object stands for one whose kind we do not
  // know: its key is taken, and every write to it is refused.
  void restart(Revision newest);
  void restore(std::string_view key, Revision revision, ObjectPtr object);

  Revision revision() const { return revision_; }
  // The current objects in key order.
  std::vector<std::pair<std::string, ObjectPtr>> objects() const;

 private:
  struct Newest {
    Revision revision;  // 0: deleted (only while staged)
    ObjectPtr object;
  };
  // What the transactions before this one did to the keys they wrote.
  using Staged = boost::unordered_flat_map<std::string_view, Newest>;

  Newest newest(std::string_view key, const Staged& staged) const;
  Result<std::vector<Newest>> admit(const Transaction& transaction, const Staged& staged) const;

  KeyMap<Newest> current_;
  Revision revision_;
};

}  // namespace muster::store
