#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/request.h"
#include "base/result.h"
#include "base/time.h"
#include "store/store.h"
#include "watch/window.h"

namespace muster::server {

// One watch request, as a cursor: next() gives what the client should see now, already filtered by
// its selectors (an object that stops matching is Deleted, one that starts is Added). Belongs to
// one connection; never blocks.
class Watcher {
 public:
  // What to send. Bytes are shared between watchers of the same form wherever no selector had to
  // change the event's type.
  struct Item {
    store::Change::Type type;
    api::ObjectPtr object;
    api::Revision revision;
    std::shared_ptr<const watch::Entry> entry;  // null for initial objects and for changed types
  };
  struct Bookmark {
    api::Revision revision;
    bool initial_events_end = false;
  };
  using Message = std::variant<Item, Bookmark, Error>;  // an Error ends the watch

  // Checks the request (selectors, resourceVersion, sendInitialEvents).
  static Result<std::unique_ptr<Watcher>> open(const api::Request& request,
                                               const store::Store& store,
                                               const watch::Window& window);

  // Up to `max` messages, whose objects have about `bytes_max` together, after looking at no more
  // than `max` changes. `more` is true if next() should be called again: there may be more, even if
  // none of those it looked at was for this client.
  struct Next {
    std::vector<Message> messages;
    bool more = false;
  };
  Next next(std::size_t max, std::size_t bytes_max = SIZE_MAX);
  // How many conditions each change is asked about.
  std::size_t terms() const;

  // What the list of initial objects that are not sent yet costs. The objects themselves are
  // the store's or, once they are replaced, the window's: see expire().
  std::size_t held_bytes() const;
  // Drops the initial objects if the window has lost a change that comes after them: the watch must
  // fail anyway (next() says so), and objects that nobody else holds need not be kept for it. For
  // watches whose client does not read; cheap.
  void expire();
  // The error for a watch that asked for a revision the store has not reached; null once it has.
  // Until then next() gives nothing; how long to wait is up to the caller.
  std::optional<Error> unreached() const;
  // The revision up to which everything has been sent: for periodic bookmarks.
  api::Revision position() const;

  virtual ~Watcher();

 private:
  struct State;
  explicit Watcher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace muster::server
