#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/request.h"
#include "base/result.h"
#include "server/core/write/batch.h"
#include "store/store.h"

namespace muster::server {

// What has been decided but is not durable yet: the batch being filled, and perhaps one that
// another thread is committing. Decisions read through here, so that each sees all before it. There
// is no overlay of unborn objects: a read that touches a key of a batch has that batch committed
// first. Requests rarely meet so closely, an object then always has its real revision, and nothing
// is ever decided on a write that turns out to fail. Used by the registry's thread.
class Staging {
 public:
  explicit Staging(store::Store& store)
      : store_(store), open_(std::make_shared<Batch>()), await_([] {}) {}

  // Null if there is none.
  api::ObjectPtr get(const std::string& key);
  std::vector<api::ObjectPtr> list(const std::string& prefix);

  void stage(const api::Request& request, Decision decision, Reply reply);
  // Hands over an answer that needs no commit.
  void answer(Reply reply, Result<api::Answer> answer);
  // Commits what is staged, here and now. Answers wait until deliver(), so that no reply runs
  // inside a decision.
  void settle();
  // Calls the replies that are due. They may stage and settle again.
  void deliver();
  bool empty() const { return open_->empty(); }

  // Hands the open batch to whoever commits it elsewhere; null if it is empty. One at a time.
  std::shared_ptr<Batch> take_batch();
  // The batch taken, if any, has been committed.
  void committed();
  // How to wait until that is so.
  void set_await(std::function<void()> await) { await_ = std::move(await); }

  // True once after namespaces were written, or tried to.
  bool take_namespaces_touched() { return std::exchange(namespaces_touched_, false); }

 private:
  void land();

  store::Store& store_;
  std::shared_ptr<Batch> open_;
  std::shared_ptr<Batch> away_;  // being committed elsewhere; null if none is
  std::function<void()> await_;
  std::vector<std::shared_ptr<Batch>> settled_;  // answers due, before those of due_
  std::vector<std::pair<Reply, Result<api::Answer>>> due_;
  bool namespaces_touched_ = false;
};

}  // namespace muster::server
