#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/time.h"
#include "server/access/permission.h"
#include "server/core/server.h"
#include "server/http/channel.h"
#include "server/http/client_ledger.h"
#include "server/http/render.h"

namespace muster::server {

// One open watch as a source of bytes: the owner of the connection pulls when it has room, so a
// slow reader costs a cursor and nothing else. Belongs to one I/O thread.
//
//   pull() → Idle:  nothing more now; again on wake, or at next_deadline()
//          → More:  again as soon as the bytes are written
//          → Busy:  the same, but others get their turn before: it has looked at many changes, of
//                   which few are for this client, or has written events that took long
//          → Ended: the timeout passed, the right to watch is gone or the watch failed (the ERROR
//                   event is in the bytes)
class WatchStream {
 public:
  struct Options {
    Rendering rendering;
    bool bookmarks = false;
    SteadyTime started;
    std::chrono::seconds timeout{1800};
    // How long the watch may wait for the revision it asked for.
    std::chrono::milliseconds unreached_max{3000};
    // How often it is checked whether the client may still watch.
    std::chrono::milliseconds access_check{30'000};
  };
  // What it holds of the ledger: a place among the watches, and bytes.
  struct Holds {
    Hold place;
    Hold bytes;
  };
  WatchStream(Server::OpenWatch watch, const Options& options, Holds holds,
              std::unique_ptr<Permission> permission, const Clock& clock);

  enum class State : std::uint8_t { Idle, More, Busy, Ended };
  // Appends events, each one JSON value and a line end, until there are no more or `out` has grown
  // beyond `bytes_max`, which one event may do.
  State pull(SteadyTime now, std::size_t bytes_max, std::string& out);
  // There is news. A client that reads nothing may have missed too much (Watcher::expire()).
  void on_news();
  SteadyTime next_deadline() const {
    return std::min({next_bookmark_, next_check_, end_, reach_by_});
  }

 private:
  // What is wrong with the watch itself, if anything.
  std::optional<Error> refusal(SteadyTime now);
  bool append_next(std::string& out);  // false if that ended the watch
  void append(const Watcher::Item& item, std::string& out);
  bool first_event();  // true once, for the first event of a Table stream
  void count_bytes();
  std::uint32_t form_number() const;

  // The watcher is used until the subscription ends, so it is declared first.
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<watch::Window::Subscription> subscription_;
  std::unique_ptr<watch::Window::Subscription> any_change_;
  Holds holds_;
  const std::unique_ptr<Permission> permission_;
  std::deque<Watcher::Message> read_;  // not sent yet
  bool more_ = true;                   // the watcher may have more
  const Rendering rendering_;
  const bool bookmarks_;
  const Clock& clock_;
  const std::uint32_t form_;
  bool columns_sent_ = false;
  const SteadyTime end_;
  const std::chrono::milliseconds access_check_;
  SteadyTime next_check_;
  SteadyTime next_bookmark_;
  SteadyTime reach_by_;  // never, once the revision asked for is reached
};

}  // namespace muster::server
