#pragma once

#include <memory>
#include <vector>

#include "api/gates/gates.h"
#include "api/request.h"
#include "base/result.h"
#include "server/core/read/group_tally.h"
#include "server/core/read/list_reading.h"
#include "server/core/read/paging.h"
#include "server/core/read/watcher.h"
#include "server/core/request/served.h"
#include "store/store.h"
#include "watch/window.h"

namespace muster::server {

// Get, List and Watch, from durable state, on any thread. Does not see what is still being decided.
class Reader {
 public:
  // Counts members of groups from now on, so it must exist before the first commit and outlive the
  // last. The gates say which kinds are served.
  Reader(store::Store& store, watch::Window& window, const api::Gates& gates = {});

  // Get and List. Timeout with the cause ResourceVersionTooLarge if a revision is asked for that
  // the store has not reached.
  Result<api::Answer> read(const api::Request& request) const;
  // A List whose objects are looked for a step at a time. It must not outlive the reader.
  Result<std::unique_ptr<ListReading>> begin_list(const api::Request& request) const;

  // Bytes of the object that a Get asks for, as it is stored; 0 if there is none.
  std::size_t size_of(const api::Request& request) const;

  // Whether read() finds the revision that is asked for.
  bool has_reached(const api::Request& request) const;

  // Opens a watch; `wake` is called (any thread) when Watcher::next may have news.
  struct OpenWatch {
    std::unique_ptr<Watcher> watcher;
    std::unique_ptr<watch::Window::Subscription> subscription;
    // Only while Watcher::unreached(): any change may reach the revision waited for.
    std::unique_ptr<watch::Window::Subscription> any_change = nullptr;
  };
  Result<OpenWatch> watch(const api::Request& request, watch::Window::Wake wake) const;

  // Calls `wake` (any thread) after every change of any kind. To miss nothing, listen first and
  // read after.
  std::unique_ptr<watch::Window::Subscription> listen(watch::Window::Wake wake) const;

  api::Revision revision() const { return store_.revision(); }
  // The kinds that clients may use, by the gates.
  Kinds served() const { return served_; }
  const GroupTally& tally() const { return tally_; }

 private:
  const store::Store& store_;
  watch::Window& window_;
  const std::vector<const api::Kind*> served_;
  const GroupTally tally_;
  mutable PinnedListings pins_;  // has its own lock
};

}  // namespace muster::server
