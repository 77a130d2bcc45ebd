#pragma once

#include <functional>
#include <memory>

#include "api/request.h"
#include "server/core/read/watcher.h"
#include "server/core/write/registry.h"
#include "store/store.h"
#include "watch/window.h"

namespace muster::server {

// The door into the core, for any thread: HTTP connections and loopback clients use the same one.
// Reads are answered on the calling thread from durable state; writes travel to the registry's
// thread.
class Server {
 public:
  // Hands a write to the registry's thread; false if its mailbox is full. In a simulation it
  // simply calls Registry::submit.
  using Post = std::function<bool(api::Request&&, Reply&&)>;

  Server(const Registry& registry, const store::Store& store, watch::Window& window, Post post)
      : registry_(registry), store_(store), window_(window), post_(std::move(post)) {}

  // Get and List, answered on the calling thread. Timeout with the cause ResourceVersionTooLarge
  // if a revision is asked for that the store has not reached.
  Result<api::Answer> read(const api::Request& request) const { return registry_.read(request); }

  // Answers every verb but Watch. `reply` is called exactly once: at once for reads, later on the
  // registry's thread for writes. A full mailbox is TooManyRequests with retry_after_s 1.
  void handle(api::Request request, Reply reply) const;

  // Opens a watch; `wake` is called (any thread) when Watcher::next may have news.
  struct OpenWatch {
    std::unique_ptr<Watcher> watcher;
    std::unique_ptr<watch::Window::Subscription> subscription;
    // Only while Watcher::unreached(): any change may bring the revision that is waited for.
    std::unique_ptr<watch::Window::Subscription> any_change = nullptr;
  };
  Result<OpenWatch> watch(const api::Request& request, watch::Window::Wake wake) const;

  // Calls `wake` (any thread) after every change of any kind. To miss nothing, listen first and
  // read after.
  std::unique_ptr<watch::Window::Subscription> listen(watch::Window::Wake wake) const {
    return window_.subscribe("", std::move(wake));
  }

  api::Revision revision() const { return store_.revision(); }
  Kinds served() const { return registry_.served(); }
  const GroupTally& tally() const { return registry_.tally(); }

 private:
  const Registry& registry_;
  const store::Store& store_;
  watch::Window& window_;
  Post post_;
};

}  // namespace muster::server
