#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/request.h"
#include "base/result.h"
#include "store/store.h"

namespace muster::server {

using Reply = std::function<void(Result<api::Answer>)>;

// What a write request leads to: writes that happen together, and the answer once they are durable.
struct Decision {
  store::Transaction transaction;  // empty: nothing changes, the answer stands already
  api::Answer answer;
  // The answered object is gone and carries the revision of its deletion, not of its last change.
  bool deleted = false;
  // How the client sees the answered object, if not as itself: as a Scale.
  api::DocumentAnswer (*shown_as)(const api::Object& object, api::Revision revision) = nullptr;
  // Writes into the answer what only the commit knows. Not called for a dry run.
  std::function<void(api::Answer& answer, api::Revision block_end)> complete = {};
};

// The batch being decided: what has been decided but is not durable yet. Decisions read through it,
// so that each sees all before it. There is no overlay of unborn objects: a read that touches a key
// of the batch commits the batch first. Requests rarely meet in one batch, an object then always
// has its real revision, and nothing is ever decided on a write that turns out to fail. Used by the
// registry's thread.
class Staging {
 public:
  explicit Staging(store::Store& store) : store_(store) {}

  // Null if there is none.
  api::ObjectPtr get(const std::string& key);
  std::vector<api::ObjectPtr> list(const std::string& prefix);

  void stage(const api::Request& request, Decision decision, Reply reply);
  // Hands over an answer that needs no commit, in order with the others.
  void answer(Reply reply, Result<api::Answer> answer);
  // Commits what is staged. Answers wait until deliver(), so that no reply runs inside a decision.
  void settle();
  // Calls the replies that are due. They may stage and settle again.
  void deliver();

  // True once after writes under `prefix` were committed or tried.
  bool take_touched(const std::string& prefix) { return touched_.erase(prefix) > 0; }

 private:
  struct Staged {
    const api::Kind* kind;
    std::string name;
    bool creates;
    Decision decision;  // its writes have gone to transactions_
    Reply reply;
  };
  bool has_prefix(const std::string& prefix) const;

  store::Store& store_;
  std::vector<store::Transaction> transactions_;  // one per staged_, in the same order
  std::vector<Staged> staged_;
  std::set<std::string, std::less<>> keys_;  // of all transactions
  std::vector<std::pair<Reply, Result<api::Answer>>> due_;
  std::set<std::string, std::less<>> touched_;
};

}  // namespace muster::server
