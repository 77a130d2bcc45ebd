#include "server/http/connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <tuple>

#include "base/check.h"
#include "base/log.h"
#include "server/http/http2.h"

namespace muster::server {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;

constexpr std::uint32_t kHeaderBytesMax = 64U << 10U;
constexpr std::size_t kReadBytes = 16U << 10U;
constexpr std::size_t kPullBytes = 256U << 10U;  // of a watch, per write
constexpr std::size_t kFlattenBytes =
    64U << 10U;  // bodies up to this are sent in one piece with the head
constexpr std::size_t kKeepBytes = 256U << 10U;  // buffers that grew beyond this are given back
constexpr std::size_t kTurnBytes = 1U << 20U;    // written before other connections get their turn
constexpr std::size_t kLingerBytesMax = 64U
                                        << 20U;  // read and thrown away so that a refusal is seen

constexpr std::chrono::seconds kHandshakeTime{10};
constexpr std::chrono::seconds kReceiveTime{60};  // from a request's first byte to its last
constexpr std::chrono::seconds kIdleTime{180};
constexpr std::chrono::seconds kAnswerTime{60};
constexpr std::chrono::seconds kSendStallTime{60};  // without a byte taken by the client
constexpr std::chrono::seconds kWatchStallTime{300};
constexpr std::chrono::seconds kLingerTime{5};

Method to_method(http::verb verb) {
  switch (verb) {
    case http::verb::get: return Method::Get;
    case http::verb::head: return Method::Head;
    case http::verb::post: return Method::Post;
    case http::verb::put: return Method::Put;
    case http::verb::patch: return Method::Patch;
    case http::verb::delete_: return Method::Delete;
    default: return Method::Other;
  }
}

std::string_view to_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

constexpr boost::beast::string_view kImpersonate = "Impersonate-";

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Beast's parser, filling our own request: no table of all headers is built, and strings are
// reused.
class RequestParser final : public http::basic_parser<true> {
 public:
  RequestParser(HttpRequest& into, std::size_t body_bytes_max) : into_(into) {
    header_limit(kHeaderBytesMax);
    body_limit(body_bytes_max);
    eager(true);
  }
  bool expects_continue() const { return expects_continue_; }
  bool is_http_1_0() const { return version_ < 11; }

 private:
  void on_request_impl(http::verb verb, boost::beast::string_view verb_text,
                       boost::beast::string_view target, int version, error_code&) override {
    into_.method = to_method(verb);
    into_.method_name = to_std(verb_text);
    into_.target = to_std(target);
    version_ = version;
  }
  void on_response_impl(int, boost::beast::string_view, int, error_code&) override {}
  void on_field_impl(http::field name, boost::beast::string_view name_text,
                     boost::beast::string_view value, error_code&) override {
    switch (name) {
      case http::field::unknown:
        if (boost::beast::iequals(name_text.substr(0, kImpersonate.size()), kImpersonate))
          into_.take_impersonation(lower_case(to_std(name_text)), to_std(value));
        break;
      case http::field::host: into_.host = to_std(value); break;
      case http::field::accept:
        if (!into_.accept.empty()) into_.accept += ',';
        into_.accept += to_std(value);
        break;
      case http::field::accept_encoding: into_.accept_encoding = to_std(value); break;
      case http::field::authorization: into_.authorization = to_std(value); break;
      case http::field::content_type: into_.content_type = to_std(value); break;
      case http::field::if_none_match: into_.if_none_match = to_std(value); break;
      case http::field::user_agent: into_.user_agent = to_std(value); break;
      case http::field::expect:
        expects_continue_ = boost::beast::iequals(value, "100-continue");
        break;
      default: break;
    }
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
    if (length)
      into_.body.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(*length, kFlattenBytes)));
  }
  std::size_t on_body_impl(boost::beast::string_view bytes, error_code&) override {
    into_.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, boost::beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, boost::beast::string_view bytes,
                                 error_code&) override {
    into_.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(error_code&) override {}

  HttpRequest& into_;
  int version_ = 11;
  bool expects_continue_ = false;
};

// One client of HTTP/1.1. A state machine over a non-blocking socket: advance() takes steps until
// one has to wait for the socket, the core or the clock, and whoever ends the wait calls it again.
//
//   Handshake ──▶ Receive ──▶ Send ──▶ Receive …      (a read, a refusal)
//                  │  ▲        ▲ └────▶ Linger ──▶ Closed
//                  │  └────────┼──────┐
//                  ├──▶ Wait ──┘      │        (a write, until it is answered; a read ahead of its
//                  │                  │         time)
//                  └──▶ Watch ────────┘        (until it ends or the client leaves)
//
// Requests of one connection are answered one after the other; what a client pipelines waits in the
// buffer.
class Connection final : public Recipient, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Loop& loop, asio::ip::tcp::socket socket, const ConnectionShared& shared)
      : loop_(loop),
        shared_(shared),
        socket_(std::move(socket)),
        timer_(loop.io()),
        tls_(std::make_unique<TlsSession>(shared.tls, socket_.native_handle())) {
    shared_.pipeline.meter().connections.fetch_add(1);
    begin_request();
  }
  ~Connection() override {
    if (stream_) shared_.pipeline.meter().watches.fetch_sub(1);
    shared_.pipeline.meter().connections.fetch_sub(1);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() {
    set_deadline(SteadyClock::now() + kHandshakeTime);
    advance();
  }

  void take_answer(Result<api::Answer> answer) override {
    if (state_ != State::Wait) return;
    send(shared_.pipeline.respond(exchange_, answer), After::Next);
    advance();
  }
  void take_wake() override {
    if (state_ == State::Wait) {
      auto response = shared_.pipeline.resume(exchange_, SteadyClock::now());
      if (!response) return;
      send(*std::move(response), After::Next);
      advance();
      return;
    }
    if (state_ != State::Watch) return;
    pull_due_ = true;
    if (!awaits_write_) advance();
  }

 private:
  enum class State : std::uint8_t { Handshake, Receive, Wait, Send, Watch, Linger, Closed };
  // What follows when everything is sent.
  enum class After : std::uint8_t { Next, Close, Continue };

  void advance();
  // Steps: true if another can be taken at once, false if something has to be waited for.
  bool step_handshake();
  bool step_receive();
  bool step_send();
  bool step_watch();
  bool step_linger();

  void begin_request();
  bool parse_input();
  bool judge_head();
  void begin_exchange();
  void refuse_broken(error_code error);
  void send(HttpResponse response, After after);
  void go_on();
  void begin_watch(std::unique_ptr<WatchStream> stream);
  void end_watch();
  bool read_during_watch();
  Io write_out();
  void close();

  bool wait_for(Io wanted);
  void wait_readable();
  void wait_writable();
  void set_deadline(SteadyTime when);
  void arm_timer(SteadyTime when);
  void deadline_passed();

  Loop& loop_;
  const ConnectionShared& shared_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
  std::unique_ptr<TlsSession> tls_;  // null once the socket is HTTP/2's
  PeerCertificate peer_;
  State state_ = State::Handshake;

  // Input: bytes of the socket that the parser has not taken are in_[in_at_, end).
  std::string in_;
  std::size_t in_at_ = 0;
  HttpRequest request_;
  std::optional<RequestParser> parser_;
  bool head_judged_ = false;
  Exchange exchange_;

  // Output: out_ from out_at_ on, then tail_.
  std::string out_;
  std::size_t out_at_ = 0;
  std::string tail_;
  After after_ = After::Next;
  std::unique_ptr<WatchStream> stream_;
  bool stream_ended_ = false;
  bool pull_due_ = false;       // the stream may have news
  std::size_t turn_bytes_ = 0;  // moved since the last wait
  bool lingers_ = false;
  std::size_t linger_bytes_ = 0;

  bool may_read_ = false;  // the socket said so and was not yet found empty
  bool awaits_read_ = false;
  bool awaits_write_ = false;
  SteadyTime deadline_ = SteadyTime::max();
  SteadyTime timer_at_ = SteadyTime::max();  // when the timer fires; never later than the deadline
};

void Connection::advance() {
  turn_bytes_ = 0;
  bool more = true;
  while (more) {
    switch (state_) {
      case State::Handshake: more = step_handshake(); break;
      case State::Receive: more = step_receive(); break;
      case State::Send: more = step_send(); break;
      case State::Watch: more = step_watch(); break;
      case State::Linger: more = step_linger(); break;
      case State::Wait:
      case State::Closed: more = false; break;
    }
  }
}

bool Connection::step_handshake() {
  const Io result = tls_->handshake();
  if (result == Io::Done && tls_->speaks_http2()) {
    state_ = State::Closed;
    timer_.cancel();
    serve_http2(loop_, std::move(socket_), std::move(tls_), shared_);
    return false;
  }
  if (result == Io::Done) {
    peer_ = tls_->peer();
    state_ = State::Receive;
    set_deadline(SteadyClock::now() + kIdleTime);
    return true;
  }
  if (tls_->saw_plain_http()) {
    constexpr std::string_view kAnswer =
        "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
    (void)::send(socket_.native_handle(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    state_ = State::Linger;
    return true;
  }
  return wait_for(result);
}

// --- Receiving.

void Connection::begin_request() {
  request_.clear();
  if (request_.body.capacity() > kKeepBytes) request_.body.shrink_to_fit();
  parser_.emplace(request_, shared_.body_bytes_max);
  head_judged_ = false;
}

bool Connection::step_receive() {
  if (in_at_ < in_.size() && !parse_input()) return true;
  in_.erase(0, in_at_);
  in_at_ = 0;

  const bool idle = in_.empty() && !parser_->got_some();
  if (idle && !may_read_ && !tls_->has_buffered_input()) {
    // The usual case: the last request is answered and the next is not here yet. The socket is not
    // asked in vain.
    if (in_.capacity() > kKeepBytes) in_.shrink_to_fit();
    set_deadline(SteadyClock::now() + kIdleTime);
    return wait_for(Io::WantRead);
  }
  const std::size_t size = in_.size();
  in_.resize(size + kReadBytes);
  std::size_t moved = 0;
  const Io result = tls_->read(std::span(in_).subspan(size), moved);
  in_.resize(size + moved);
  if (result != Io::Done) return wait_for(result);
  // Not moved again until the request is complete: a byte now and then keeps no connection open.
  if (idle) set_deadline(SteadyClock::now() + kReceiveTime);
  return true;
}

// True if the request needs more bytes; false if it is complete, refused or broken.
bool Connection::parse_input() {
  while (in_at_ < in_.size()) {
    error_code error;
    const std::size_t taken =
        parser_->put(asio::buffer(in_.data() + in_at_, in_.size() - in_at_), error);
    in_at_ += taken;
    if (error && error != http::error::need_more) {
      refuse_broken(error);
      return false;
    }
    if (parser_->is_done()) {
      begin_exchange();
      return false;
    }
    if (parser_->is_header_done() && !head_judged_ && !judge_head()) return false;
    if (taken == 0) break;
  }
  return true;
}

// The head is here, the body is not: who may not send it need not send it. False if something is to
// be sent.
bool Connection::judge_head() {
  head_judged_ = true;
  if (auto refusal = shared_.pipeline.admit(request_, peer_, SteadyClock::now(), exchange_)) {
    send(*std::move(refusal), After::Close);
    return false;
  }
  if (!parser_->expects_continue() || parser_->is_http_1_0() || in_at_ < in_.size()) return true;
  out_ += "HTTP/1.1 100 Continue\r\n\r\n";
  after_ = After::Continue;
  state_ = State::Send;
  return false;
}

void Connection::begin_exchange() {
  if (!head_judged_) {
    if (auto refusal = shared_.pipeline.admit(request_, peer_, SteadyClock::now(), exchange_)) {
      send(*std::move(refusal), After::Next);
      return;
    }
  }
  auto outcome = shared_.pipeline.run(request_, exchange_, {loop_.inbox(), weak_from_this()});
  if (auto* response = std::get_if<HttpResponse>(&outcome)) {
    send(std::move(*response), After::Next);
  } else if (auto* stream = std::get_if<std::unique_ptr<WatchStream>>(&outcome)) {
    begin_watch(std::move(*stream));
  } else {
    state_ = State::Wait;
    set_deadline(std::get<RequestPipeline::Waiting>(outcome).until.value_or(SteadyClock::now() +
                                                                            kAnswerTime));
  }
}

void Connection::refuse_broken(error_code error) {
  if (error == http::error::body_limit) {
    // Whoever may not send anything hears that first.
    auto refusal = shared_.pipeline.admit(request_, peer_, SteadyClock::now(), exchange_);
    if (!refusal)
      refusal = shared_.pipeline.refuse(
          exchange_, make_error(Reason::RequestEntityTooLarge,
                                "Request entity too large: limit is {}", shared_.body_bytes_max));
    send(*std::move(refusal), After::Close);
    return;
  }
  exchange_ = Exchange{};
  exchange_.started = SteadyClock::now();
  exchange_.labels.verb = "other";
  HttpResponse response;
  response.code = error == http::error::header_limit ? 431 : 400;
  response.content_type = "text/plain; charset=utf-8";
  response.body = fmt::format("{} {}", response.code, reason_phrase(response.code));
  send(std::move(response), After::Close);
}

// --- Sending.

void Connection::send(HttpResponse response, After after) {
  const bool keep_alive = after == After::Next && parser_->keep_alive();
  const SteadyTime now = SteadyClock::now();
  write_head(response,
             {.keep_alive = keep_alive,
              .http_1_0 = parser_->is_http_1_0(),
              .streams = false,
              .date = loop_.date(shared_.pipeline.clock().now())},
             out_);
  if (request_.method == Method::Head)
    response.body.clear();
  else if (response.body.size() <= kFlattenBytes)
    out_ += response.body;
  else
    tail_ = std::move(response.body);
  after_ = keep_alive ? After::Next : After::Close;
  state_ = State::Send;
  set_deadline(now + kSendStallTime);
  shared_.pipeline.finished(exchange_, response.code, now);
}

bool Connection::step_send() {
  if (const Io result = write_out(); result != Io::Done) return wait_for(result);
  go_on();
  return true;
}

// Everything is sent.
void Connection::go_on() {
  switch (after_) {
    case After::Next:
      begin_request();
      may_read_ = false;
      state_ = State::Receive;
      break;
    case After::Continue: state_ = State::Receive; break;
    case After::Close: state_ = State::Linger; break;
  }
}

Io Connection::write_out() {
  while (true) {
    if (out_at_ == out_.size() && !tail_.empty()) {
      out_ = std::exchange(tail_, {});
      out_at_ = 0;
    }
    if (out_at_ == out_.size()) break;
    if (turn_bytes_ > kTurnBytes) return Io::WantWrite;
    std::size_t moved = 0;
    const Io result = tls_->write(std::string_view(out_).substr(out_at_), moved);
    if (result != Io::Done) {
      set_deadline(SteadyClock::now() +
                   (state_ == State::Watch ? kWatchStallTime : kSendStallTime));
      return result;
    }
    out_at_ += moved;
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
bool Connection::step_linger() {
  if (!lingers_) {
    lingers_ = true;
    tls_->close_notify();
    error_code ignored;
    std::ignore = socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    set_deadline(SteadyClock::now() + kLingerTime);
  }
  std::array<char, kReadBytes> nowhere{};
  const ssize_t got = ::recv(socket_.native_handle(), nowhere.data(), nowhere.size(), MSG_DONTWAIT);
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

void Connection::begin_watch(std::unique_ptr<WatchStream> stream) {
  stream_ = std::move(stream);
  stream_ended_ = false;
  pull_due_ = true;
  shared_.pipeline.meter().watches.fetch_add(1);
  const bool streams_on = !parser_->is_http_1_0() && parser_->keep_alive();
  after_ = streams_on ? After::Next : After::Close;
  write_head(shared_.pipeline.watch_response(exchange_),
             {.keep_alive = streams_on,
              .http_1_0 = parser_->is_http_1_0(),
              .streams = true,
              .date = loop_.date(shared_.pipeline.clock().now())},
             out_);
  // Most of a watch's life is waiting; let it wait lean.
  in_.erase(0, std::exchange(in_at_, 0));
  in_.shrink_to_fit();
  request_.body.shrink_to_fit();
  state_ = State::Watch;
  wait_readable();
}

bool Connection::step_watch() {
  if (pull_due_ && !stream_ended_ && out_.size() - out_at_ < kPullBytes) {
    const bool chunked = !parser_->is_http_1_0();
    const std::size_t opened = chunked ? open_chunk(out_) : 0;
    const WatchStream::State pulled =
        stream_->pull(SteadyClock::now(), out_.size() + kPullBytes, out_);
    if (chunked) close_chunk(out_, opened);
    pull_due_ = pulled == WatchStream::State::More;
    stream_ended_ = pulled == WatchStream::State::Ended;
    if (stream_ended_ && chunked) out_ += kLastChunk;
  }
  if (const Io result = write_out(); result != Io::Done) return wait_for(result);
  if (stream_ended_) {
    end_watch();
    go_on();
    return true;
  }
  if (!pull_due_) set_deadline(stream_->next_deadline());
  return pull_due_;
}

void Connection::end_watch() {
  if (!stream_) return;
  stream_.reset();
  shared_.pipeline.meter().watches.fetch_sub(1);
  shared_.pipeline.finished(exchange_, 200, SteadyClock::now());
}

// During a watch the client has nothing to say; reading tells when it leaves. False if it has.
bool Connection::read_during_watch() {
  std::array<char, 1024> bytes;
  while (true) {
    std::size_t moved = 0;
    const Io result = tls_->read(bytes, moved);
    if (result != Io::Done) {
      wait_for(result);
      return state_ != State::Closed;
    }
    // The next request, sent early. It waits until the watch is over.
    in_.append(bytes.data(), moved);
    if (in_.size() > kHeaderBytesMax) return wait_for(Io::Failed);
  }
}

// --- Waiting.

// Always false, for a step to return.
bool Connection::wait_for(Io wanted) {
  switch (wanted) {
    case Io::WantRead: wait_readable(); break;
    case Io::WantWrite: wait_writable(); break;
    case Io::Done:
    case Io::Closed:
    case Io::Failed: close(); break;
  }
  return false;
}

void Connection::wait_readable() {
  if (std::exchange(awaits_read_, true)) return;
  socket_.async_wait(asio::ip::tcp::socket::wait_read,
                     [self = shared_from_this()](error_code error) {
                       self->awaits_read_ = false;
                       if (error || self->state_ == State::Closed) return;
                       self->may_read_ = true;
                       if (self->state_ == State::Watch && !self->read_during_watch()) return;
                       self->advance();
                     });
}

void Connection::wait_writable() {
  if (std::exchange(awaits_write_, true)) return;
  socket_.async_wait(asio::ip::tcp::socket::wait_write,
                     [self = shared_from_this()](error_code error) {
                       self->awaits_write_ = false;
                       if (!error) self->advance();
                     });
}

void Connection::set_deadline(SteadyTime when) {
  deadline_ = when;
  // Deadlines mostly move away. A timer that fires too early just looks again, so it is seldom
  // touched.
  if (when < timer_at_) arm_timer(when);
}

void Connection::arm_timer(SteadyTime when) {
  timer_at_ = when;
  timer_.expires_at(when);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error || self->state_ == State::Closed) return;
    self->timer_at_ = SteadyTime::max();
    if (SteadyClock::now() < self->deadline_)
      self->arm_timer(self->deadline_);
    else
      self->deadline_passed();
  });
}

void Connection::deadline_passed() {
  if (state_ == State::Wait) {
    // The answer to a write may still come, and must not meet the next request.
    const After after = exchange_.parked ? After::Next : After::Close;
    send(shared_.pipeline.give_up(exchange_, SteadyClock::now()), after);
    advance();
  } else if (state_ == State::Watch && !awaits_write_) {
    pull_due_ = true;
    advance();
  } else {
    close();
  }
}

void Connection::close() {
  if (state_ == State::Closed) return;
  if (state_ == State::Receive) tls_->close_notify();
  state_ = State::Closed;
  end_watch();
  timer_.cancel();
  error_code ignored;
  std::ignore = socket_.close(ignored);
}

}  // namespace

void serve_connection(Loop& loop, asio::ip::tcp::socket socket, const ConnectionShared& shared) {
  std::make_shared<Connection>(loop, std::move(socket), shared)->start();
}

}  // namespace muster::server
