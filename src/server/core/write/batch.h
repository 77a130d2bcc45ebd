#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/request.h"
#include "base/result.h"
#include "server/core/request/reply.h"
#include "store/store.h"

namespace muster::server {

// What a write request leads to: writes that happen together, and the answer once they are durable.
struct Decision {
  store::Transaction transaction;  // empty: nothing changes, the answer is known already
  api::Answer answer;
  // The answered object is gone and carries the revision of its deletion, not of its last change.
  bool deleted = false;
  // How the client sees the answered object, if not as itself: as a Scale.
  api::DocumentAnswer (*shown_as)(const api::Object& object, api::Revision revision) = nullptr;
  // Writes into the answer what only the commit knows. Not called for a dry run.
  std::function<void(api::Answer& answer, api::Revision block_end)> complete = {};
};

// The answer as the client gets it.
api::Answer answer_of(Decision decision);

// Decisions that become durable with one sync. Filled by the registry's thread; then commit() and
// answer() may run on another, which owns the batch from there on.
class Batch {
 public:
  void add(const api::Request& request, Decision decision, Reply reply);

  // Objects that a later decision, of this batch or another, will write: their bytes are stored in
  // advance (store::Engine::deposit).
  void deposit(std::vector<api::ObjectPtr> objects);

  bool empty() const { return transactions_.empty() && deposits_.empty(); }
  // Of the objects that are written or deposited.
  std::size_t bytes() const { return bytes_; }
  bool writes(std::string_view key) const { return keys_.contains(key) || chains_.contains(key); }
  bool writes_below(std::string_view prefix) const;

  // The newest version of an object that several decisions of the batch replace one after
  // the other, each naming the version before it (store::Write::replaces). Null if there is
  // none.
  api::ObjectPtr newest(std::string_view key) const;
  // Whether anything below the prefix is written in another way.
  bool writes_apart_below(std::string_view prefix) const;

  // The owners that this object names may gain or lose a dependent by this batch.
  void note_owners(const api::Object& object);
  bool touches_dependents(std::string_view owner_uid) const { return owners_.contains(owner_uid); }

  void commit(store::Store& store);
  // Calls the replies, in the order of the requests. Once, after commit().
  void answer();

 private:
  struct Waiting {
    const api::Kind* kind;
    std::string name;
    bool creates;
    Decision decision;  // its writes have gone to transactions_
    Reply reply;
  };
  static Result<api::Answer> outcome(Waiting waiting, const Result<api::Revision>& committed);

  std::vector<api::ObjectPtr> deposits_;
  std::vector<store::Transaction> transactions_;  // one per waiting_, in the same order
  std::vector<Waiting> waiting_;
  std::size_t bytes_ = 0;
  std::set<std::string, std::less<>> keys_;  // of all transactions, except those in chains_
  std::map<std::string, api::ObjectPtr, std::less<>> chains_;  // newest versions, by key
  std::set<std::string, std::less<>> owners_;                  // UIDs
  Result<std::vector<Result<api::Revision>>> outcomes_;
};

}  // namespace muster::server
