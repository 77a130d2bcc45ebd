#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "server/http/http1.h"
#include "server/http/inbox.h"

namespace muster::server {

// One I/O thread's event loop. Connections are dealt out to loops and stay: all that happens to one
// happens on its loop's thread, so connections need no locks.
class Loop {
 public:
  Loop()
      : inbox_(std::make_shared<Inbox>(
            [this] { boost::asio::post(io_, [this] { look_into_inbox(); }); })) {}
  ~Loop() { inbox_->close(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  boost::asio::io_context& io() { return io_; }
  const std::shared_ptr<Inbox>& inbox() const { return inbox_; }

  // Where bytes are read to before somebody keeps them.
  std::array<char, 16384>& read_buffer() { return read_buffer_; }

  // Another turn for a connection that has used one up and has more to do. Connections that just
  // became ready come first: between two such turns everything that is ready is served.
  void run_later(std::function<void()> turn) {
    later_.push_back(std::move(turn));
    if (later_.size() == 1) boost::asio::post(io_, [this] { run_next(); });
  }

  // The Date header's value; made once per second.
  std::string_view date(Time now) {
    const auto second = std::chrono::floor<std::chrono::seconds>(now);
    if (second != date_second_ || date_.empty()) {
      date_second_ = second;
      date_ = http_date(now);
    }
    return date_;
  }

 private:
  using SteadyClock = std::chrono::steady_clock;
  // While changes keep coming, a watch is woken at most this often: one write then carries several
  // events. The first wake after a pause goes through at once.
  static constexpr std::chrono::milliseconds kWakesApart{1};
  // Delivered before connections get their turn: about as long as kWakesApart.
  static constexpr std::size_t kWakesAtOnce = 100;
  static constexpr std::chrono::milliseconds kWakesLast{2};

  void run_next() {
    const std::function<void()> turn = std::move(later_.front());
    later_.pop_front();
    if (!later_.empty()) boost::asio::post(io_, [this] { run_next(); });
    turn();
  }

  void look_into_inbox() {
    inbox_->deliver_answers();
    if (tick_armed_ || !inbox_->has_wakes()) return;
    if (SteadyClock::now() - woke_at_ >= kWakesApart) {
      deliver_wakes();
      return;
    }
    arm_tick();
  }
  void arm_tick() {
    tick_armed_ = true;
    tick_.expires_at(woke_at_ + kWakesApart);
    tick_.async_wait([this](boost::system::error_code error) {
      tick_armed_ = false;
      if (!error) deliver_wakes();
    });
  }
  void deliver_wakes() {
    const SteadyClock::time_point late = SteadyClock::now() + kWakesLast;
    const bool more =
        inbox_->deliver_wakes(kWakesAtOnce, [&] { return SteadyClock::now() >= late; });
    woke_at_ = SteadyClock::now();
    if (more) {
      tick_armed_ = true;
      boost::asio::post(io_, [this] {
        tick_armed_ = false;
        deliver_wakes();
      });
    } else if (inbox_->has_wakes()) {
      arm_tick();  // they arrived meanwhile, and nobody else looks for them
    }
  }

  boost::asio::io_context io_{1};
  std::shared_ptr<Inbox> inbox_;
  boost::asio::steady_timer tick_{io_};
  bool tick_armed_ = false;
  SteadyClock::time_point woke_at_;
  std::chrono::sys_seconds date_second_;
  std::string date_;
  std::array<char, 16384> read_buffer_;
  std::deque<std::function<void()>> later_;  // not empty: run_next() is posted
};

}  // namespace muster::server
