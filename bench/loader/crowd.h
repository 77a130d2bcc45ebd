#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "target.h"

namespace muster::loader {

using SteadyClock = std::chrono::steady_clock;
using SteadyTime = SteadyClock::time_point;

// What to ask the server for.
struct Asked {
  std::string method = "GET";
  std::string path;
  std::string body = {};
  std::string content_type = "application/json";
};

// What it said; `body` lives until the call that hands it over returns. Code 0: the connection
// broke.
struct Answered {
  int code = 0;
  std::string_view body = {};
  std::size_t body_bytes = 0;
  SteadyTime sent;
  bool good() const { return code >= 200 && code < 300; }
};

// Many TLS connections to one server, all on the calling thread. A connection carries one request
// at a time (no pipelining) and is kept for the next.
class Crowd {
 public:
  explicit Crowd(Target target);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // One request, waited for.
  struct Reply {
    int code = 0;
    std::string body;
    std::size_t bytes = 0;
    double seconds = 0;
    bool good() const { return code >= 200 && code < 300; }
  };
  Reply ask(const Asked& asked);

  // Keeps `connections` busy with what `next` gives until it gives nothing and all is answered.
  // Overload (429, 5xx, a broken connection) is counted, and asked again a little later; other
  // refusals are counted and final. `done` hears of each request once.
  using Next = std::function<bool(std::size_t number, Asked& asked)>;
  using Done = std::function<void(std::size_t number, const Answered& answered)>;
  void drive(std::size_t connections, const Next& next, const Done& done);

  // Opens watches, each on a connection of its own; they live as long as the crowd or until
  // close_watches. `line` gets each event. The number of those that the server did not refuse.
  std::size_t watch_many(std::size_t count, const std::string& path,
                         const std::function<void(std::size_t watcher, std::string_view)>& line);
  // A watch of what changed after `revision`. Servers end a watch whose reader is slow for a
  // moment: it goes on after the last event that came. False if the server refuses.
  bool follow(const std::string& path, std::uint64_t revision,
              std::function<void(std::string_view line)> line);
  void close_watches();
  std::size_t broken_watches() const { return broken_watches_; }

  // Reads watches until `done` or the deadline; true if done.
  bool wait_until(const std::function<bool()>& done, std::chrono::milliseconds at_most);

  // Answers that were no success, by code, since the last call.
  std::map<int, std::uint64_t> pop_errors() { return std::exchange(errors_, {}); }

 private:
  class Connection;
  using OnAnswer = std::function<void(Connection&, const Answered&)>;
  struct Driven;
  std::unique_ptr<Connection> connect();
  void turn(std::chrono::milliseconds at_most);
  std::size_t open_watches(std::size_t first, std::size_t wanted);
  void give_work(Driven& run, Connection& connection);
  void handle_answer(Driven& run, Connection& connection, const Answered& answered);

  const Target target_;
  int epoll_ = -1;
  std::vector<std::unique_ptr<Connection>> workers_;
  std::vector<std::unique_ptr<Connection>> watches_;
  std::vector<Connection*> ended_;  // of the watches, those that go on
  const OnAnswer on_watch_end_;
  std::size_t broken_watches_ = 0;
  std::map<int, std::uint64_t> errors_;
};

// The first resourceVersion in the text of an object, a list or an event.
std::uint64_t revision_in(std::string_view text);

}  // namespace muster::loader
