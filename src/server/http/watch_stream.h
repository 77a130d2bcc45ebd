#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "base/time.h"
#include "server/core/server.h"
#include "server/http/render.h"

namespace muster::server {

using SteadyTime = std::chrono::steady_clock::time_point;

// One open watch as a source of bytes: whoever owns the connection pulls when it has room, so a
// slow reader costs a cursor and nothing else. Belongs to one I/O thread.
//
//   pull() → Idle:  nothing more now; again on wake, or at next_deadline()
//          → More:  again as soon as the bytes are written
//          → Ended: the timeout passed or the watch failed (the ERROR event is in the bytes)
class WatchStream {
 public:
  struct Options {
    Rendering rendering;
    bool bookmarks = false;
    SteadyTime started;
    std::chrono::seconds timeout{1800};
    // How long the watch may wait for the revision it asked for.
    std::chrono::milliseconds unreached_max{3000};
  };
  WatchStream(Server::OpenWatch watch, const Options& options, const Clock& clock);

  enum class State : std::uint8_t { Idle, More, Ended };
  // Appends events, each one JSON value and a line end, until there are no more or `out` has grown
  // beyond `bytes_max`.
  State pull(SteadyTime now, std::size_t bytes_max, std::string& out);
  SteadyTime next_deadline() const { return std::min({next_bookmark_, end_, reach_by_}); }

 private:
  void append(const Watcher::Item& item, std::string& out);
  bool take_columns();  // true once, for the first event of a Table stream
  std::uint32_t form_number() const;

  // The watcher is used until the subscription ends, so it is declared first.
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<watch::Window::Subscription> subscription_;
  std::unique_ptr<watch::Window::Subscription> any_change_;
  const Rendering rendering_;
  const bool bookmarks_;
  const Clock& clock_;
  const std::uint32_t form_;
  bool columns_told_ = false;
  const SteadyTime end_;
  SteadyTime next_bookmark_;
  SteadyTime reach_by_;  // for ever, once the revision asked for is reached
};

}  // namespace muster::server
