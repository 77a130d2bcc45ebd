#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/https/exchange.h"
#include "client/remote/http2_session.h"
#include "client/remote/tls_line.h"

namespace muster::client {

// A connection and the requests on it, from connecting to its end.
class Http2Line {
 public:
  enum class State : std::uint8_t {
    Connecting,
    Open,
    Gone,
    Foreign,  // the server does not speak HTTP/2; nothing was sent
  };

  explicit Http2Line(Endpoint& endpoint) : pipe_(endpoint), session_(endpoint) {}

  // Requests may be made as soon as it exists; they wait for the connection.
  void ask(Asked asked) { session_.ask(std::move(asked)); }
  // Continues connecting, or reads all that has arrived, if `readable`, and ends overdue requests.
  void read(Time now, bool readable);
  // Sends what can be sent without waiting.
  void write();
  // Nothing is sent any more, and what is under way has failed with this.
  void break_off(Error error);

  State state() const { return state_; }
  // It need not be kept.
  bool spent() const { return !takes_more() && session_.open() == 0; }
  bool takes_more() const { return !retired_ && session_.takes_more(); }
  // Takes no more requests; those that it has may end.
  void retire() { retired_ = true; }
  // What it waits for, and for how long at most.
  TlsLine::Wait waits_for() const;
  // The last turn read so much that the next need not wait for more.
  bool is_flooded() const;
  std::size_t watches() const { return session_.watches(); }
  // Those that are not watches.
  std::size_t requests() const { return session_.open() - session_.watches(); }
  const std::shared_ptr<const TlsTexts>& texts() const { return pipe_.texts(); }
  std::optional<Time> next_deadline() const { return session_.next_deadline(); }
  std::vector<Http2Session::Ended> take_ended() { return session_.take_ended(); }
  std::vector<Asked> take_open() { return session_.take_open(); }
  // Why it is gone.
  const Error& error() const { return error_; }

 private:
  void connect();
  void read_all();

  TlsLine pipe_;
  Http2Session session_;
  State state_ = State::Connecting;
  curl_socket_t socket_ = CURL_SOCKET_BAD;
  std::string out_;
  Error error_;
  std::size_t last_read_ = 0;  // bytes, in the last turn
  bool has_more_ = false;      // bytes were received that the socket no longer shows
  bool retired_ = false;
};

}  // namespace muster::client
