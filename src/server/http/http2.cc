#include "server/http/http2.h"

#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"

namespace muster::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;

// A client with more to ask opens another connection; kube-apiserver's number.
constexpr std::uint32_t kStreamsMax = 100;
constexpr std::uint32_t kStreamWindow = 256U << 10U;
constexpr std::int32_t kConnectionWindow = 1 << 20;
constexpr std::size_t kHeaderBytesMax = 64U << 10U;
constexpr std::size_t kReadBytes = 16U << 10U;
constexpr std::size_t kPullBytes = 256U << 10U;  // of a watch, before they are sent
constexpr std::size_t kOutBytes = 64U << 10U;    // frames gathered for one write
constexpr std::size_t kKeepBytes = 256U << 10U;  // buffers that grew beyond this are given back
constexpr std::size_t kPassingBytesMax = 64U << 20U;
constexpr std::size_t kTurnBytes = 1U << 20U;  // moved before other connections get their turn

// Against floods: frames that cost us more than the client. Beyond these the connection ends.
constexpr std::size_t kAcksMax = 1'000;         // answers to pings and settings, unsent
constexpr std::uint64_t kResetsAtOnce = 1'000;  // streams opened and reset
constexpr std::uint64_t kResetsPerSecond = 33;

constexpr std::chrono::seconds kReceiveTime{60};  // from a request's head to its end
constexpr std::chrono::seconds kIdleTime{180};
constexpr std::chrono::seconds kAnswerTime{60};
constexpr std::chrono::seconds kSendStallTime{60};  // without a byte taken by the client
constexpr std::chrono::seconds kWatchStallTime{300};

Method method_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Method>, 6> kMethods = {
      {{"GET", Method::Get},
       {"HEAD", Method::Head},
       {"POST", Method::Post},
       {"PUT", Method::Put},
       {"PATCH", Method::Patch},
       {"DELETE", Method::Delete}}};
  const auto* const found =
      std::ranges::find(kMethods, name, &std::pair<std::string_view, Method>::first);
  return found == kMethods.end() ? Method::Other : found->second;
}

// Takes a header into the request; those we never read are left out.
void take_header(std::string_view name, std::string_view value, HttpRequest& into) {
  if (name == ":method") {
    into.method = method_of(value);
    into.method_name = value;
  } else if (name == ":path") {
    into.target = value;
  } else if (name == ":authority" || name == "host") {
    into.host = value;
  } else if (name == "accept") {
    if (!into.accept.empty()) into.accept += ',';
    into.accept += value;
  } else if (name == "accept-encoding") {
    into.accept_encoding = value;
  } else if (name == "authorization") {
    into.authorization = value;
  } else if (name == "content-type") {
    into.content_type = value;
  } else if (name == "if-none-match") {
    into.if_none_match = value;
  } else if (name == "user-agent") {
    into.user_agent = value;
  } else {
    into.take_impersonation(name, value);
  }
}

// The headers of a response as HTTP/2 wants them; holds the text they point to.
class HeaderBlock {
 public:
  HeaderBlock(const HttpResponse& response, std::string_view date, bool streams) {
    add(":status", std::to_string(response.code));
    add("date", date);
    // 304 has no body, and its headers speak of the one the client already holds.
    if (response.code != 304) add("content-type", response.content_type);
    bool cache_control = false;
    for (const auto& [name, value] : response.headers) {
      add(name, value);
      cache_control = cache_control || name == "Cache-Control";
    }
    if (!cache_control) add("cache-control", "no-cache, private");
    if (!streams && response.code != 304)
      add("content-length", std::to_string(response.body.size()));
  }

  // Valid while the block lives.
  std::vector<nghttp2_nv> pairs() {
    std::vector<nghttp2_nv> out;
    out.reserve(texts_.size());
    for (auto& [name, value] : texts_)
      out.push_back({.name = reinterpret_cast<std::uint8_t*>(name.data()),
                     .value = reinterpret_cast<std::uint8_t*>(value.data()),
                     .namelen = name.size(),
                     .valuelen = value.size(),
                     .flags = NGHTTP2_NV_FLAG_NONE});
    return out;
  }

 private:
  void add(std::string_view name, std::string_view value) {
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    texts_.emplace_back(std::move(lower), value);
  }

  std::vector<std::pair<std::string, std::string>> texts_;
};

class Session;

// One request and its answer. Owned by its session; the core knows it as a recipient.
//
//   Receive ──▶ Send              (a read, a refusal)
//      ├──▶ Wait ──▶ Send         (a write, until it is answered)
//      └──▶ Watch                 (until it ends or the client leaves)
class Stream final : public Recipient, public std::enable_shared_from_this<Stream> {
 public:
  enum class State : std::uint8_t { Receive, Wait, Send, Watch };

  Stream(Session& session, std::int32_t id) : session_(session), id_(id) {}
  ~Stream() override;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void take_answer(Result<api::Answer> answer) override;
  void take_wake() override;

  // False if the headers are too many.
  bool take_header(std::string_view name, std::string_view value);
  void take_head();
  void take_body(std::string_view bytes);
  void take_end();

  // Gives out up to `into.size()` bytes of the body. `ended` is set with the last of them; 0
  // without it: nothing now.
  std::size_t give_body(std::span<std::uint8_t> into, bool& ended);

  SteadyTime deadline() const { return deadline_; }
  // False if the stream is to be reset.
  bool deadline_passed(SteadyTime now);

 private:
  void begin_exchange();
  void begin_watch(std::unique_ptr<WatchStream> stream);
  void send(HttpResponse response);
  void pull(SteadyTime now);

  Session& session_;
  const std::int32_t id_;
  State state_ = State::Receive;
  HttpRequest request_;
  std::size_t header_bytes_ = 0;
  Exchange exchange_;
  bool judged_ = false;        // the head was admitted
  std::size_t passed_by_ = 0;  // of a body that nobody wants any more

  std::string out_;  // the body from out_at_ on is still to be given out
  std::size_t out_at_ = 0;
  std::unique_ptr<WatchStream> watch_;
  bool watch_ended_ = false;
  bool pull_due_ = false;
  SteadyTime deadline_ = SteadyTime::max();
};

struct SessionDeleter {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
};

// One client. nghttp2 turns bytes into events and back; this class moves the bytes and keeps the
// streams. advance() does what can be done now, and whoever ends the wait calls it again.
class Session final : public std::enable_shared_from_this<Session> {
 public:
  Session(Loop& loop, asio::ip::tcp::socket socket, std::unique_ptr<TlsSession> tls,
          const ConnectionShared& shared);
  ~Session() { pipeline().meter().connections.fetch_sub(1); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void advance();

  const RequestPipeline& pipeline() const { return shared_.pipeline; }
  const PeerCertificate& peer() const { return peer_; }
  std::size_t body_bytes_max() const { return shared_.body_bytes_max; }
  ReturnAddress address_of(Stream& stream) { return {loop_.inbox(), stream.weak_from_this()}; }

  void submit(std::int32_t id, const HttpResponse& response, bool has_body, bool streams);
  void resume(std::int32_t id) { nghttp2_session_resume_data(session_.get(), id); }
  void reset(std::int32_t id, std::uint32_t code) {
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, code);
  }

 private:
  using Callbacks = nghttp2_session_callbacks;
  static Callbacks* callbacks();
  static Session& self(void* user) { return *static_cast<Session*>(user); }
  Stream* find(std::int32_t id);

  bool read_some();
  bool write_some();
  void close();
  void wait_readable();
  void wait_writable();
  SteadyTime next_deadline() const;
  void watch_the_clock();
  void deadline_passed();

  Loop& loop_;
  const ConnectionShared& shared_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
  std::unique_ptr<TlsSession> tls_;
  PeerCertificate peer_;
  std::map<std::int32_t, std::shared_ptr<Stream>> streams_;
  std::unique_ptr<nghttp2_session, SessionDeleter> session_;

  std::string out_;  // from out_at_ on still to be written
  std::size_t out_at_ = 0;
  std::size_t turn_bytes_ = 0;
  bool closed_ = false;
  bool advancing_ = false;
  bool may_read_ = true;
  bool awaits_read_ = false;
  bool awaits_write_ = false;
  SteadyTime quiet_since_ = SteadyClock::now();   // no stream is open
  SteadyTime stalled_since_ = SteadyTime::max();  // bytes wait and the socket takes none
  SteadyTime timer_at_ = SteadyTime::max();
};

// --- A stream.

Stream::~Stream() {
  if (!watch_) return;
  session_.pipeline().meter().watches.fetch_sub(1);
  session_.pipeline().finished(exchange_, 200, SteadyClock::now());
}

bool Stream::take_header(std::string_view name, std::string_view value) {
  header_bytes_ += name.size() + value.size();
  if (header_bytes_ > kHeaderBytesMax) return false;
  server::take_header(name, value, request_);
  return true;
}

// Who may not send a body need not send it.
void Stream::take_head() {
  deadline_ = SteadyClock::now() + kReceiveTime;
  if (auto refusal =
          session_.pipeline().admit(request_, session_.peer(), SteadyClock::now(), exchange_))
    send(*std::move(refusal));
  else
    judged_ = true;
}

void Stream::take_body(std::string_view bytes) {
  if (state_ != State::Receive) {
    // Refused already. The rest passes by, as clients that are cut short may not read the answer.
    passed_by_ += bytes.size();
    if (passed_by_ > kPassingBytesMax) session_.reset(id_, NGHTTP2_NO_ERROR);
    return;
  }
  if (request_.body.size() + bytes.size() > session_.body_bytes_max()) {
    send(session_.pipeline().refuse(
        exchange_, make_error(Reason::RequestEntityTooLarge,
                              "Request entity too large: limit is {}", session_.body_bytes_max())));
    return;
  }
  request_.body += bytes;
}

void Stream::take_end() {
  if (state_ == State::Receive && judged_) begin_exchange();
}

void Stream::begin_exchange() {
  auto outcome = session_.pipeline().run(request_, exchange_, session_.address_of(*this));
  if (auto* response = std::get_if<HttpResponse>(&outcome)) {
    send(std::move(*response));
  } else if (auto* stream = std::get_if<std::unique_ptr<WatchStream>>(&outcome)) {
    begin_watch(std::move(*stream));
  } else {
    state_ = State::Wait;
    deadline_ = std::get<RequestPipeline::Waiting>(outcome).until.value_or(SteadyClock::now() +
                                                                           kAnswerTime);
  }
  request_.body = {};
}

void Stream::take_answer(Result<api::Answer> answer) {
  if (state_ != State::Wait) return;
  send(session_.pipeline().respond(exchange_, answer));
  session_.advance();
}

void Stream::take_wake() {
  if (state_ == State::Wait) {
    auto response = session_.pipeline().resume(exchange_, SteadyClock::now());
    if (!response) return;
    send(*std::move(response));
    session_.advance();
    return;
  }
  if (state_ != State::Watch) return;
  pull_due_ = true;
  session_.resume(id_);
  session_.advance();
}

void Stream::send(HttpResponse response) {
  const SteadyTime now = SteadyClock::now();
  const bool has_body = request_.method != Method::Head && !response.body.empty();
  session_.submit(id_, response, has_body, /*streams=*/false);
  out_ = has_body ? std::move(response.body) : std::string();
  out_at_ = 0;
  state_ = State::Send;
  deadline_ = now + kSendStallTime;
  session_.pipeline().finished(exchange_, response.code, now);
}

void Stream::begin_watch(std::unique_ptr<WatchStream> stream) {
  watch_ = std::move(stream);
  pull_due_ = true;
  state_ = State::Watch;
  deadline_ = watch_->next_deadline();
  session_.pipeline().meter().watches.fetch_add(1);
  session_.submit(id_, session_.pipeline().watch_response(exchange_), /*has_body=*/true,
                  /*streams=*/true);
}

void Stream::pull(SteadyTime now) {
  if (!watch_ || watch_ended_ || !pull_due_ || out_.size() - out_at_ >= kPullBytes) return;
  const WatchStream::State pulled = watch_->pull(now, out_.size() + kPullBytes, out_);
  pull_due_ = pulled == WatchStream::State::More;
  watch_ended_ = pulled == WatchStream::State::Ended;
}

std::size_t Stream::give_body(std::span<std::uint8_t> into, bool& ended) {
  const SteadyTime now = SteadyClock::now();
  pull(now);
  const std::size_t size = std::min(into.size(), out_.size() - out_at_);
  std::memcpy(into.data(), out_.data() + out_at_, size);
  out_at_ += size;
  const bool all = out_at_ == out_.size();
  if (all) {
    out_.clear();
    out_at_ = 0;
    if (out_.capacity() > kKeepBytes || state_ == State::Send) out_ = {};
  }
  ended = all && (state_ == State::Send || watch_ended_);
  if (state_ == State::Watch)
    deadline_ = all && !pull_due_ ? watch_->next_deadline() : now + kWatchStallTime;
  else
    deadline_ = now + kSendStallTime;
  return size;
}

bool Stream::deadline_passed(SteadyTime now) {
  if (now < deadline_) return true;
  switch (state_) {
    case State::Wait: send(session_.pipeline().give_up(exchange_, now)); return true;
    case State::Watch:
      if (out_at_ < out_.size()) return false;  // the client takes nothing
      pull_due_ = true;
      deadline_ = now + kWatchStallTime;
      session_.resume(id_);
      return true;
    case State::Receive:
    case State::Send: break;
  }
  return false;
}

// --- nghttp2's events.

Session::Callbacks* Session::callbacks() {
  static Callbacks* const made = [] {
    Callbacks* out = nullptr;
    CHECK(nghttp2_session_callbacks_new(&out) == 0);
    nghttp2_session_callbacks_set_on_begin_headers_callback(
        out, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
            self(user).streams_.emplace(frame->hd.stream_id,
                                        std::make_shared<Stream>(self(user), frame->hd.stream_id));
          return 0;
        });
    nghttp2_session_callbacks_set_on_header_callback(
        out,
        [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
           std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
           std::uint8_t /*flags*/, void* user) -> int {
          Stream* const stream = self(user).find(frame->hd.stream_id);
          const bool taken =
              stream == nullptr ||
              stream->take_header({reinterpret_cast<const char*>(name), name_size},
                                  {reinterpret_cast<const char*>(value), value_size});
          return taken ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        out, [](nghttp2_session*, std::uint8_t /*flags*/, std::int32_t id,
                const std::uint8_t* bytes, std::size_t size, void* user) {
          if (Stream* stream = self(user).find(id))
            stream->take_body({reinterpret_cast<const char*>(bytes), size});
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        out, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          Stream* const stream = self(user).find(frame->hd.stream_id);
          if (stream == nullptr) return 0;
          if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
            stream->take_head();
          const bool carries_end =
              frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
          if (carries_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->take_end();
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        out, [](nghttp2_session*, std::int32_t id, std::uint32_t /*code*/, void* user) {
          self(user).streams_.erase(id);
          if (self(user).streams_.empty()) self(user).quiet_since_ = SteadyClock::now();
          return 0;
        });
    return out;
  }();
  return made;
}

Stream* Session::find(std::int32_t id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

void Session::submit(std::int32_t id, const HttpResponse& response, bool has_body, bool streams) {
  HeaderBlock block(response, loop_.date(pipeline().clock().now()), streams);
  const std::vector<nghttp2_nv> pairs = block.pairs();
  nghttp2_data_provider body{};
  body.read_callback = [](nghttp2_session*, std::int32_t stream_id, std::uint8_t* into,
                          std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                          void* user) -> ssize_t {
    Stream* const stream = self(user).find(stream_id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    bool ended = false;
    const std::size_t given = stream->give_body({into, size}, ended);
    if (ended) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (given == 0 && !ended) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(given);
  };
  nghttp2_submit_response(session_.get(), id, pairs.data(), pairs.size(),
                          has_body ? &body : nullptr);
}

// --- The connection.

Session::Session(Loop& loop, asio::ip::tcp::socket socket, std::unique_ptr<TlsSession> tls,
                 const ConnectionShared& shared)
    : loop_(loop),
      shared_(shared),
      socket_(std::move(socket)),
      timer_(loop.io()),
      tls_(std::move(tls)),
      peer_(tls_->peer()) {
  pipeline().meter().connections.fetch_add(1);
  nghttp2_option* limits = nullptr;
  CHECK(nghttp2_option_new(&limits) == 0);
  nghttp2_option_set_max_outbound_ack(limits, kAcksMax);
  nghttp2_option_set_stream_reset_rate_limit(limits, kResetsAtOnce, kResetsPerSecond);
  nghttp2_session* made = nullptr;
  CHECK(nghttp2_session_server_new2(&made, callbacks(), this, limits) == 0);
  nghttp2_option_del(limits);
  session_.reset(made);

  const std::array<nghttp2_settings_entry, 3> settings = {
      {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreamsMax},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kHeaderBytesMax}}};
  nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

void Session::advance() {
  // Streams call in from callbacks of this very loop; it goes on as long as there is something.
  if (closed_ || std::exchange(advancing_, true)) return;
  turn_bytes_ = 0;
  bool more = true;
  while (more && !closed_) {
    const bool read = read_some();
    const bool wrote = !closed_ && write_some();
    more = read || wrote;
  }
  advancing_ = false;
  if (closed_) return;
  if (nghttp2_session_want_read(session_.get()) == 0 &&
      nghttp2_session_want_write(session_.get()) == 0 && out_at_ == out_.size()) {
    close();
    return;
  }
  watch_the_clock();
}

// True if bytes came in.
bool Session::read_some() {
  if (!may_read_ && !tls_->has_buffered_input()) {
    wait_readable();
    return false;
  }
  std::array<char, kReadBytes> bytes;
  std::size_t moved = 0;
  switch (tls_->read(bytes, moved)) {
    case Io::Done: break;
    case Io::WantRead:
      may_read_ = false;
      wait_readable();
      return false;
    case Io::WantWrite: wait_writable(); return false;
    case Io::Closed:
    case Io::Failed: close(); return false;
  }
  const ssize_t taken = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), moved);
  if (taken < 0) {
    // Whatever nghttp2 wants to say about it goes out first, as far as the socket takes it.
    nghttp2_session_terminate_session(session_.get(), NGHTTP2_PROTOCOL_ERROR);
    write_some();
    close();
    return false;
  }
  turn_bytes_ += moved;
  if (turn_bytes_ <= kTurnBytes) return true;
  may_read_ = false;  // others first; what lies in the socket wakes us again
  wait_readable();
  return false;
}

// True if bytes went out and more may follow.
bool Session::write_some() {
  if (awaits_write_) return false;
  while (out_.size() - out_at_ < kOutBytes) {
    const std::uint8_t* frames = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &frames);
    if (size < 0) {
      close();
      return false;
    }
    if (size == 0) break;
    out_.append(reinterpret_cast<const char*>(frames), static_cast<std::size_t>(size));
  }
  if (out_at_ == out_.size()) return false;
  std::size_t moved = 0;
  const Io result = tls_->write(std::string_view(out_).substr(out_at_), moved);
  if (result != Io::Done) {
    if (result == Io::Closed || result == Io::Failed) {
      close();
      return false;
    }
    if (stalled_since_ == SteadyTime::max()) stalled_since_ = SteadyClock::now();
    wait_writable();
    return false;
  }
  stalled_since_ = SteadyTime::max();
  turn_bytes_ += moved;
  out_at_ += moved;
  if (out_at_ == out_.size()) {
    out_.clear();
    out_at_ = 0;
    if (out_.capacity() > kKeepBytes) out_.shrink_to_fit();
  }
  if (turn_bytes_ <= kTurnBytes) return true;
  wait_writable();
  return false;
}

void Session::wait_readable() {
  if (std::exchange(awaits_read_, true)) return;
  socket_.async_wait(asio::ip::tcp::socket::wait_read,
                     [self = shared_from_this()](error_code error) {
                       self->awaits_read_ = false;
                       if (error) return;
                       self->may_read_ = true;
                       self->advance();
                     });
}

void Session::wait_writable() {
  if (std::exchange(awaits_write_, true)) return;
  socket_.async_wait(asio::ip::tcp::socket::wait_write,
                     [self = shared_from_this()](error_code error) {
                       self->awaits_write_ = false;
                       if (!error) self->advance();
                     });
}

SteadyTime Session::next_deadline() const {
  SteadyTime out = streams_.empty() ? quiet_since_ + kIdleTime : SteadyTime::max();
  for (const auto& [id, stream] : streams_) out = std::min(out, stream->deadline());
  if (stalled_since_ != SteadyTime::max()) out = std::min(out, stalled_since_ + kSendStallTime);
  return out;
}

// A timer that fires too early just looks again, so it is moved only when it would fire too late.
void Session::watch_the_clock() {
  const SteadyTime when = next_deadline();
  if (when >= timer_at_) return;
  timer_at_ = when;
  timer_.expires_at(when);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error || self->closed_) return;
    self->timer_at_ = SteadyTime::max();
    self->deadline_passed();
  });
}

void Session::deadline_passed() {
  const SteadyTime now = SteadyClock::now();
  if (stalled_since_ != SteadyTime::max() && now >= stalled_since_ + kSendStallTime) {
    close();
    return;
  }
  if (streams_.empty() && now >= quiet_since_ + kIdleTime)
    nghttp2_session_terminate_session(session_.get(), NGHTTP2_NO_ERROR);
  for (const auto& [id, stream] : streams_)
    if (!stream->deadline_passed(now)) reset(id, NGHTTP2_CANCEL);
  advance();
}

void Session::close() {
  if (std::exchange(closed_, true)) return;
  tls_->close_notify();
  streams_.clear();
  timer_.cancel();
  error_code ignored;
  std::ignore = socket_.close(ignored);
}

}  // namespace

void serve_http2(Loop& loop, asio::ip::tcp::socket socket, std::unique_ptr<TlsSession> tls,
                 const ConnectionShared& shared) {
  std::make_shared<Session>(loop, std::move(socket), std::move(tls), shared)->advance();
}

}  // namespace muster::server
