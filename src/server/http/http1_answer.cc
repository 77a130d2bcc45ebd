// Sending, watching and leaving: what an HTTP/1.1 connection does once a request is understood.
#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "server/http/http1.h"
#include "server/http/http1_connection.h"

namespace muster::server {
namespace {

constexpr std::size_t kHeadBytesMax = 64U << 10U;  // of the next request, sent during a watch
constexpr std::size_t kPullBytes = 64U << 10U;     // of a watch, per write
// Bodies up to this are sent in one piece with the head.
constexpr std::size_t kFlattenBytes = 64U << 10U;
constexpr std::size_t kKeepBytes = 8U << 10U;  // buffers that grew beyond this are given back
constexpr std::size_t kTurnBytes = 1U << 20U;  // written before other connections get their turn
// Read and thrown away so that a refusal is seen.
constexpr std::size_t kLingerBytesMax = 4U << 20U;
// A watch that the server has no memory for right now asks again after this.
constexpr std::chrono::milliseconds kPullAgain{100};

}  // namespace

void Http1Connection::on_answer(Result<api::Answer> answer) {
  if (state_ != State::Wait) return;
  if (is_delegated_) {
    early_answer_ = std::move(answer);
    return;
  }
  if (RequestPipeline::is_heavy(exchange_, answer)) {
    delegate_run(DelegatedRun::Does::Respond, std::move(answer));
    return;
  }
  send(shared_.pipeline.respond(exchange_, answer, return_address()), After::Next);
  advance();
}

void Http1Connection::on_wake() {
  if (is_delegated_) return;
  if (state_ == State::Wait) {
    if (shared_.pipeline.is_due(exchange_, SteadyClock::now()))
      delegate_run(DelegatedRun::Does::Resume);
    return;
  }
  if (state_ != State::Watch) return;
  pull_due_ = true;
  stream_->on_news();
  if (!channel_.awaits_write()) advance();
}

void Http1Connection::on_deadline() {
  if (state_ == State::Wait && !is_delegated_ && exchange_.parked) {
    delegate_run(DelegatedRun::Does::Resume);
    return;
  }
  if (state_ == State::Wait && is_delegated_) {
    is_delegated_ = false;
    exchange_ = Exchange{};
    exchange_.started = SteadyClock::now();
    exchange_.labels.verb = "other";
  }
  if (state_ == State::Wait) {
    // The answer to a write may still come, and must not meet the next request.
    send(shared_.pipeline.give_up(exchange_), After::Close);
    advance();
  } else if (state_ == State::Watch && SteadyClock::now() < stall_.until()) {
    pull_due_ = true;
    advance();
  } else {
    close();
  }
}

// --- Sending.

void Http1Connection::send(HttpResponse response, After after) {
  const bool keep_alive = after == After::Next && !must_close_ && parser_->keep_alive();
  const SteadyTime now = SteadyClock::now();
  write_head(response,
             {.keep_alive = keep_alive,
              .http_1_0 = parser_->is_http_1_0(),
              .streams = false,
              .date = channel_.loop().date(shared_.pipeline.clock().now())},
             out_);
  if (request_.method == Method::Head)
    response.body.clear();
  else if (response.body.size() <= kFlattenBytes)
    out_ += response.body;
  else
    tail_ = std::move(response.body);
  large_ = std::move(response.large);
  after_ = keep_alive ? After::Next : After::Close;
  state_ = State::Send;
  set_deadline(shared_.limits.deadlines.send_by(now, unsent()));
  shared_.pipeline.finished(exchange_, response.code, now);
  if (std::exchange(head_held_, 0) == 0) return;
  // A head of unusual size is not kept while the answer is read, nor for the next request.
  request_.release();
  (void)std::exchange(exchange_, Exchange{});
}

bool Http1Connection::step_send() {
  if (const Io result = write_out(); result != Io::Done) return wait_for(result);
  go_on();
  return true;
}

// Everything is sent.
void Http1Connection::go_on() {
  large_.reset();
  switch (after_) {
    case After::Next:
      begin_request();
      set_deadline(SteadyClock::now() + shared_.limits.deadlines.idle);
      // The usual case: the next request is not here yet. The socket is not asked in vain.
      channel_.expect_nothing();
      state_ = State::Receive;
      break;
    case After::Continue: state_ = State::Receive; break;
    case After::Close: state_ = State::Linger; break;
  }
}

Io Http1Connection::write_out() {
  while (unsent() > 0) {
    if (out_at_ == out_.size()) {
      out_ = std::exchange(tail_, {});
      out_at_ = 0;
    }
    if (turn_bytes_ > kTurnBytes) return Io::WantWrite;
    std::size_t moved = 0;
    const Io result = channel_.tls().write(std::string_view(out_).substr(out_at_), moved);
    if (result != Io::Done) return result;
    out_at_ += moved;
    sent_ += moved;
    turn_bytes_ += moved;
  }
  out_.clear();
  out_at_ = 0;
  if (out_.capacity() > kKeepBytes) out_.shrink_to_fit();
  return Io::Done;
}

// After a refusal the client may still be sending: closing at once would reset the connection, and
// the client would never read the answer. So say that we are done, and let the rest of its bytes
// pass.
bool Http1Connection::step_linger() {
  if (!lingers_) {
    lingers_ = true;
    free_memory(in_);
    free_memory(request_.body);
    channel_.close_sending();
    set_deadline(SteadyClock::now() + shared_.limits.deadlines.linger);
  }
  auto& nowhere = channel_.loop().read_buffer();
  const ssize_t got = ::recv(channel_.fd(), nowhere.data(), nowhere.size(), MSG_DONTWAIT);
  if (got > 0) {
    linger_bytes_ += static_cast<std::size_t>(got);
    turn_bytes_ += static_cast<std::size_t>(got);
    if (linger_bytes_ > kLingerBytesMax) return wait_for(Io::Closed);
    return turn_bytes_ > kTurnBytes ? wait_for(Io::WantRead) : true;
  }
  const bool again = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  return wait_for(again ? Io::WantRead : Io::Closed);
}

// --- Watching.

void Http1Connection::begin_watch(std::unique_ptr<WatchStream> stream) {
  stream_ = std::move(stream);
  look_again_ = wake_of(return_address());
  stream_ended_ = false;
  pull_due_ = true;
  const bool streams_on = !parser_->is_http_1_0() && parser_->keep_alive() && !must_close_;
  after_ = streams_on ? After::Next : After::Close;
  write_head(shared_.pipeline.watch_response(exchange_),
             {.keep_alive = streams_on,
              .http_1_0 = parser_->is_http_1_0(),
              .streams = true,
              .date = channel_.loop().date(shared_.pipeline.clock().now())},
             out_);
  // Most of a watch's life is waiting; let it wait lean.
  in_.erase(0, std::exchange(in_at_, 0));
  in_.shrink_to_fit();
  request_.release();
  state_ = State::Watch;
  channel_.wait_readable(*this);
}

void Http1Connection::pull_watch() {
  const bool chunked = !parser_->is_http_1_0();
  const std::size_t opened = chunked ? open_chunk(out_) : 0;
  const WatchStream::State pulled =
      shared_.pipeline.pull(*stream_, SteadyClock::now(), out_.size() + kPullBytes, out_);
  catch_up_if_asked(shared_.pipeline, shared_.pool, account_);
  if (chunked) close_chunk(out_, opened);
  pull_due_ = pulled == WatchStream::State::More;
  if (pulled == WatchStream::State::Busy) look_again_();
  stream_ended_ = pulled == WatchStream::State::Ended;
  if (stream_ended_ && chunked) out_ += kLastChunk;
  count_bytes();
}

bool Http1Connection::step_watch() {
  const bool due = pull_due_ && !stream_ended_ && unsent() < kPullBytes;
  const bool starved = due && !shared_.ledger.has_room(*account_, Resource::Bytes);
  if (due && !starved) pull_watch();
  const Io result = write_out();
  const SteadyTime now = SteadyClock::now();
  stall_.note(now, sent_, unsent());
  if (result != Io::Done) {
    set_deadline(stall_.until());
    return wait_for(result);
  }
  if (stream_ended_) {
    end_watch();
    go_on();
    return true;
  }
  if (starved) {
    set_deadline(now + kPullAgain);
    return false;
  }
  if (!pull_due_) set_deadline(stream_->next_deadline());
  return pull_due_;
}

void Http1Connection::end_watch() {
  if (!stream_) return;
  stream_.reset();
  look_again_ = nullptr;
  head_held_ = 0;
  shared_.pipeline.finished(exchange_, 200, SteadyClock::now());
}

// During a watch the client has nothing to say; reading shows when it leaves. False if it has.
bool Http1Connection::read_during_watch() {
  auto& bytes = channel_.loop().read_buffer();
  while (true) {
    std::size_t moved = 0;
    const Io result = channel_.read(bytes, moved);
    if (result != Io::Done) {
      wait_for(result);
      return state_ != State::Closed;
    }
    // The next request, sent early. It waits until the watch is over.
    in_.append(bytes.data(), moved);
    if (in_.size() > kHeadBytesMax) return wait_for(Io::Failed);
  }
}

// --- Waiting and leaving.

// Always false, for a step to return.
bool Http1Connection::wait_for(Io wanted) {
  switch (wanted) {
    case Io::WantRead: channel_.wait_readable(*this); break;
    case Io::WantWrite: channel_.wait_writable(*this); break;
    case Io::Done:
    case Io::Closed:
    case Io::Failed: close(); break;
  }
  return false;
}

// Small buffers are not worth the counting; their number is bounded by that of the connections.
void Http1Connection::count_bytes() {
  constexpr std::size_t kSmall = 4U << 10U;
  const std::size_t head = is_delegated_ ? 0 : head_held_;
  const std::size_t held =
      head + in_.capacity() + request_.body.capacity() + out_.capacity() + tail_.capacity();
  bytes_.resize(held > kSmall && state_ != State::Closed ? held : 0);
}

void Http1Connection::close() {
  if (state_ == State::Closed) return;
  if (state_ == State::Receive) channel_.tls().close_notify();
  state_ = State::Closed;
  end_watch();
  exchange_.parked.reset();
  channel_.close();
  ticket_.reset();
  bytes_.resize(0);
  large_.reset();
}

}  // namespace muster::server
