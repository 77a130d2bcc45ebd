#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/https/exchange.h"

namespace muster::client {

// A request, and who gets its result.
struct Asked {
  HttpCall call;
  Exchange::Sink sink = {};  // not empty: it is a stream
  std::function<void(Result<HttpReply> reply)> done = {};
  Time since = {};
  std::optional<Time> deadline = {};
  int refusals = 0;  // how often a server did not look at it
};

// The requests of one HTTP/2 connection to an API server, any number at once. It does no I/O: it is
// given the bytes that came and says which to send, so that a round of the caller's costs one read
// and one write however many requests it serves.
//
// Notices a server that is gone: while any request is under way, it sends a PING after 30 s of
// silence, and gives the connection up if that is not answered within 15 s. A connection on which a
// request timed out while nothing at all arrived takes no more requests.
class Http2Session {
 public:
  // What became of a request.
  struct Ended {
    Asked asked;
    std::optional<Result<HttpReply>> reply;  // nullopt: never looked at; ask another connection
  };

  // The endpoint must outlive it.
  explicit Http2Session(Endpoint& endpoint);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  void ask(Asked asked);
  // An error from this, write() or expire() means that the connection is unusable and must be
  // closed.
  Result<void> on_bytes(std::string_view bytes);
  // Appends the bytes to send.
  Result<void> write(std::string& out);
  // Ends requests whose time is over. To be called after all that came has been handed over.
  Result<void> expire(Time now);
  // When that is to be done next; may be too early.
  std::optional<Time> next_deadline() const;

  std::vector<Ended> take_ended() { return std::exchange(ended_, {}); }
  // Everything that is not answered, in the order it was asked: the connection is gone.
  std::vector<Asked> take_open();

  // New requests may be asked.
  bool takes_more() const;
  std::size_t open() const { return streams_.size(); }
  std::size_t watches() const { return watches_; }

 private:
  struct Stream {
    Asked asked;
    HttpReply reply;
    std::size_t sent = 0;  // of the body
  };
  using Streams = boost::unordered_flat_map<std::int32_t, std::unique_ptr<Stream>>;

  static nghttp2_session_callbacks* callbacks();
  static Http2Session& self(void* user) { return *static_cast<Http2Session*>(user); }
  static ssize_t read_body(nghttp2_session* session, std::int32_t id, std::uint8_t* out,
                           std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                           void* user);

  Stream* find(std::int32_t id);
  void on_header(std::int32_t id, std::string_view name, std::string_view value);
  void on_headers_end(std::int32_t id);
  void on_data(std::int32_t id, std::string_view bytes);
  void on_close(std::int32_t id, std::uint32_t code);
  void end(std::int32_t id, std::optional<Result<HttpReply>> reply);
  void cancel(std::int32_t id, CURLcode code, std::string_view why);
  void expire_stream(std::int32_t id);
  Result<void> keep_alive(Time now);

  Endpoint& endpoint_;
  nghttp2_session* session_ = nullptr;
  Streams streams_;
  std::deque<std::pair<Time, std::int32_t>> deadlines_;  // of calls, in the order they were asked
  std::set<std::pair<Time, std::int32_t>> stream_deadlines_;  // each has its own
  std::vector<Ended> ended_;
  std::size_t watches_ = 0;
  bool leaving_ = false;             // the server asks no more of this connection
  bool has_read_ = false;            // since expire() was called last
  std::optional<Time> heard_;        // when something had come
  std::optional<Time> quiet_since_;  // that, or when it began
  std::optional<Time> pinged_;       // nothing has come since
};

}  // namespace muster::client
