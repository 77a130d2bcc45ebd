#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <rocksdb/write_batch.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/engine.h"
#include "store/engines/database.h"
#include "store/engines/record.h"

namespace muster::store {

// The key of a deposit, and the number in one; nullopt if it is another key.
std::string deposit_key(std::int64_t number);
std::optional<std::int64_t> deposit_number(std::string_view key);

// Which deposits a database holds, and for whom (Engine::deposit):
//
//   written ──▶ pending ──commit of its object──▶ named by a record ──compaction──▶ removed
//                  └──────the object is gone, nobody can commit it──────────────────▶ removed
//
// What is still pending when the process ends is found by the next load: no record names it. Only
// keeps track: the engine writes, and reports here what has been written.
class Deposits {
 public:
  using Numbers = boost::unordered_flat_map<std::int64_t, std::int64_t>;  // of records, by revision

  // What was found on disk: the deposits that records name, and all others. Later numbers are
  // larger than all of them.
  void restart(Numbers named, std::span<const std::int64_t> unnamed);

  // Adds the bytes of the objects to a write. Once it has been made, they are pending.
  std::vector<std::pair<ObjectPtr, Deposit>> add(std::span<const ObjectPtr> objects,
                                                 const Database& database,
                                                 rocksdb::WriteBatch& write);
  void add_pending(std::span<const std::pair<ObjectPtr, Deposit>> added);
  // The pending deposit of an object.
  std::optional<Deposit> find(const Object& object) const;
  // A record of this revision now names it.
  void mark_named(const Object& object, Revision revision);

  // Looks at the next `looks` pending ones and returns those that nobody can commit any more.
  std::vector<std::int64_t> find_abandoned(std::size_t looks);
  void forget(std::span<const std::int64_t> abandoned);

  // The deposit that the record of this revision names. It is removed with the record.
  std::optional<std::int64_t> named_by(Revision revision) const;
  void forget(Revision revision) { named_.erase(revision.value); }

 private:
  struct Pending {
    const Object* at = nullptr;
    std::weak_ptr<const Object> object;  // the address alone may be another object's by now
    Deposit deposit;
  };

  std::int64_t last_ = 0;
  std::map<std::int64_t, Pending> pending_;  // by number
  boost::unordered_flat_map<const Object*, std::int64_t> by_object_;
  std::int64_t looked_up_to_ = 0;  // by find_abandoned()
  Numbers named_;
};

}  // namespace muster::store
