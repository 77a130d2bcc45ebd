#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "server/http/loop.h"
#include "server/http/tls.h"

namespace muster::server {

using SteadyClock = std::chrono::steady_clock;
using SteadyTime = SteadyClock::time_point;

// A socket with TLS on it and one deadline, as both versions of HTTP need it: its owner reads and
// writes without blocking, and is called back when a wait is over. On its loop's thread only.
class Channel {
 public:
  // An exception that leaves on_ready() or on_deadline() ends the connection and nothing else.
  class Owner : public std::enable_shared_from_this<Owner> {
   public:
    virtual ~Owner() = default;
    virtual void on_ready() = 0;  // the socket may be read or written, or it is our turn again
    virtual void on_deadline() = 0;
    virtual void on_exception(std::string_view what) noexcept = 0;  // closes
  };

  Channel(Loop& loop, boost::asio::ip::tcp::socket socket, std::unique_ptr<TlsSession> tls)
      : loop_(loop), socket_(std::move(socket)), timer_(loop.io()), tls_(std::move(tls)) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  Loop& loop() const { return loop_; }
  void start_tls(const TlsContext& context) {
    tls_ = std::make_unique<TlsSession>(context, socket_.native_handle());
  }
  int fd() { return socket_.native_handle(); }
  TlsSession& tls() { return *tls_; }

  // Reads what is there; WantRead also while the socket is known to be empty.
  Io read(std::span<char> into, std::size_t& moved);
  bool may_read() const { return may_read_ || tls_->has_buffered_input(); }
  void expect_nothing() { may_read_ = false; }  // until the socket says otherwise
  bool awaits_write() const { return awaits_write_; }

  void wait_readable(Owner& owner);
  void wait_writable(Owner& owner);
  // Runs the first turn: what it throws ends this connection only.
  void begin(Owner& owner);
  // Other connections of the loop come first, then this one.
  void yield(Owner& owner);

  // Deadlines mostly move away: a timer that fires too early looks again.
  void set_deadline(Owner& owner, SteadyTime when);
  void clear_deadline() { deadline_ = SteadyTime::max(); }

  // Announces that nothing more will be sent, and keeps reading what the client still sends.
  void close_sending();
  void close();
  // For another owner; this channel is closed then.
  std::pair<boost::asio::ip::tcp::socket, std::unique_ptr<TlsSession>> release();

 private:
  void arm_timer(Owner& owner, SteadyTime when);
  void call(Owner& owner, void (Owner::*what)());

  Loop& loop_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  std::unique_ptr<TlsSession> tls_;  // null once released
  bool closed_ = false;
  bool may_read_ = true;  // the socket was not found empty since it was last readable
  bool awaits_read_ = false;
  bool awaits_write_ = false;
  bool awaits_turn_ = false;
  SteadyTime deadline_ = SteadyTime::max();
  SteadyTime timer_at_ = SteadyTime::max();  // when the timer fires; never later than the deadline
};

// Tells a slow reader from one that only pretends to read: within each period it must take what was
// waiting for it when the period began.
class StallClock {
 public:
  explicit StallClock(std::chrono::milliseconds period) : period_(period) {}
  // `sent` counts all bytes ever sent, `pending` those that wait.
  void note(SteadyTime now, std::uint64_t sent, std::uint64_t pending) {
    if (pending == 0) {
      until_ = SteadyTime::max();
    } else if (until_ == SteadyTime::max() || sent >= target_) {
      target_ = sent + pending;
      until_ = now + period_;
    }
  }
  SteadyTime until() const { return until_; }

 private:
  std::chrono::milliseconds period_;
  std::uint64_t target_ = 0;
  SteadyTime until_ = SteadyTime::max();
};

}  // namespace muster::server
