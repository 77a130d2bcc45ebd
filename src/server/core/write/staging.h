#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/request.h"
#include "base/result.h"
#include "server/core/write/batch.h"
#include "server/core/write/namespace_feeds.h"
#include "server/core/write/owner_index.h"
#include "server/core/write/service_index.h"
#include "server/core/write/stored_bytes.h"
#include "store/store.h"

namespace muster::server {

// What has been decided but is not durable yet: the batch being filled, and perhaps one that
// another thread is committing. Decisions read through here, so that each sees all before it. There
// is no overlay of uncommitted objects: a read that touches a key of a batch has that batch
// committed first. Requests rarely come that close, an object always has its real revision, and
// nothing is ever decided on a write that turns out to fail. The one exception is what nearly every
// request of a namespace changes, its quotas: they are read as the last decision leaves them, and a
// write that replaces one names that version (store::Write::replaces), so that a decision fails
// with those it was based on. Used by the registry's thread.
class Staging {
 public:
  explicit Staging(store::Store& store)
      : store_(store),
        owners_(store),
        services_(store),
        stored_(store),
        feeds_(store),
        open_(std::make_shared<Batch>()),
        await_([] {}) {}

  // Null if there is none.
  api::ObjectPtr get(const std::string& key);
  std::vector<api::ObjectPtr> list(const std::string& prefix);
  // The same, with versions that are not durable yet and have no revision. A decision based on one
  // must replace that version.
  std::vector<api::ObjectPtr> list_newest(const std::string& prefix);
  // What is durable: the newest revision, keys as Store::keys_after has them, and objects.
  api::Revision revision() const { return store_.revision(); }
  store::Store::Keys keys_after(std::string_view prefix, std::string_view after,
                                std::size_t max) const {
    return store_.keys_after(prefix, after, max);
  }
  store::Store::Page page_after(std::string_view prefix, std::string_view after,
                                std::size_t max) const {
    return store_.page_after(prefix, after, max);
  }
  // Returns once everything decided below the prefix is durable.
  void await_commit(const std::string& prefix);
  // Whether anything names the object as its owner: in its namespace, or anywhere if it has none.
  bool has_dependents(const api::Object& owner);

  // What Services have been given, by everything that was decided.
  const ServiceIndex& services();

  // How much is stored, except what is not durable yet.
  const StoredBytes& stored() const { return stored_; }

  // For requests that go through a namespace in slices.
  NamespaceFeeds& feeds() { return feeds_; }

  // A decision without writes, or of a dry run, is answered by the next deliver().
  void stage(const api::Request& request, Decision decision, Reply reply);
  // The same, but the answer always comes after everything staged so far is durable.
  void stage_in_order(const api::Request& request, Decision decision, Reply reply);
  // Stores in advance the bytes of objects that a later decision will write (Batch::deposit).
  void deposit(std::vector<api::ObjectPtr> objects) { open_->deposit(std::move(objects)); }
  // Hands over an answer that needs no commit.
  void answer(Reply reply, Result<api::Answer> answer);
  // Commits what is staged, here and now. Answers wait until deliver(), so that no reply runs
  // inside a decision.
  void commit_now();
  // Calls the replies that are due. They may stage and commit again.
  void deliver();
  bool empty() const { return open_->empty(); }
  std::size_t bytes() const { return open_->bytes(); }

  // Hands the open batch over, to be committed elsewhere; null if it is empty. One at a time.
  std::shared_ptr<Batch> begin_commit();
  // The batch that was handed over, if any, has been committed.
  void end_commit();
  // How to wait for end_commit().
  void set_await(std::function<void()> await) { await_ = std::move(await); }

  // True once after namespaces were written, or an attempt was made.
  bool pop_namespaces_touched() { return std::exchange(namespaces_touched_, false); }

 private:
  void add(const api::Request& request, Decision decision, Reply reply);
  void await_commit();

  store::Store& store_;
  OwnerIndex owners_;
  ServiceIndex services_;
  StoredBytes stored_;
  NamespaceFeeds feeds_;
  std::shared_ptr<Batch> open_;
  std::shared_ptr<Batch> committing_;  // elsewhere; null if none is
  std::function<void()> await_;
  std::vector<std::shared_ptr<Batch>> committed_;  // answers due, before those of due_
  std::vector<std::pair<Reply, Result<api::Answer>>> due_;
  bool namespaces_touched_ = false;
};

}  // namespace muster::server
