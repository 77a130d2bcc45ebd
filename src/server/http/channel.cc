#include "server/http/channel.h"

#include <boost/asio/post.hpp>
#include <sys/socket.h>

#include <exception>
#include <tuple>

namespace muster::server {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

}  // namespace

void Channel::call(Owner& owner, void (Owner::*what)()) {
  if (closed_) return;
  try {
    (owner.*what)();
  } catch (const std::exception& error) {
    owner.on_exception(error.what());
  }
}

Io Channel::read(std::span<char> into, std::size_t& moved) {
  moved = 0;
  if (!may_read()) return Io::WantRead;
  const Io result = tls_->read(into, moved);
  if (result == Io::WantRead) may_read_ = false;
  return result;
}

void Channel::wait_readable(Owner& owner) {
  if (closed_ || std::exchange(awaits_read_, true)) return;
  socket_.async_wait(tcp::socket::wait_read,
                     [this, self = owner.shared_from_this()](error_code error) {
                       awaits_read_ = false;
                       if (error) return;
                       may_read_ = true;
                       call(*self, &Owner::on_ready);
                     });
}

void Channel::wait_writable(Owner& owner) {
  if (closed_ || std::exchange(awaits_write_, true)) return;
  socket_.async_wait(tcp::socket::wait_write,
                     [this, self = owner.shared_from_this()](error_code error) {
                       awaits_write_ = false;
                       if (!error) call(*self, &Owner::on_ready);
                     });
}

void Channel::begin(Owner& owner) {
  boost::asio::post(loop_.io(),
                    [this, self = owner.shared_from_this()] { call(*self, &Owner::on_ready); });
}

void Channel::yield(Owner& owner) {
  if (closed_ || std::exchange(awaits_turn_, true)) return;
  loop_.run_later([this, self = owner.shared_from_this()] {
    awaits_turn_ = false;
    call(*self, &Owner::on_ready);
  });
}

void Channel::set_deadline(Owner& owner, SteadyTime when) {
  deadline_ = when;
  if (when < timer_at_) arm_timer(owner, when);
}

void Channel::arm_timer(Owner& owner, SteadyTime when) {
  timer_at_ = when;
  timer_.expires_at(when);
  timer_.async_wait([this, self = owner.shared_from_this()](error_code error) {
    if (error || closed_) return;
    timer_at_ = SteadyTime::max();
    if (SteadyClock::now() >= deadline_)
      call(*self, &Owner::on_deadline);
    else if (deadline_ != SteadyTime::max())
      arm_timer(*self, deadline_);
  });
}

void Channel::close_sending() {
  tls_->close_notify();
  error_code ignored;
  std::ignore = socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void Channel::close() {
  if (std::exchange(closed_, true)) return;
  timer_.cancel();
  error_code ignored;
  std::ignore = socket_.close(ignored);
}

std::pair<tcp::socket, std::unique_ptr<TlsSession>> Channel::release() {
  closed_ = true;
  timer_.cancel();
  return {std::move(socket_), std::move(tls_)};
}

}  // namespace muster::server
