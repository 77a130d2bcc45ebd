#include "server/http/http2_session.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "server/http/http2_headers.h"

namespace muster::server {
namespace {

using boost::asio::ip::tcp;

// A client with more to ask opens another connection; kube-apiserver's number.
constexpr std::uint32_t kStreamsMax = 100;
constexpr std::uint32_t kStreamWindow = 256U << 10U;
constexpr std::int32_t kConnectionWindow = 1 << 20;
constexpr std::uint32_t kHeaderBytesMax = 64U << 10U;
constexpr std::size_t kOutBytes = 64U << 10U;   // frames gathered for one write
constexpr std::size_t kKeepBytes = 64U << 10U;  // buffers that grew beyond this are given back
// Moved before other connections get their turn: a stream of input must not hold the thread.
// Headers count as long as they are, not as short as they are sent, and a request as what it takes
// to judge it (work_of).
constexpr std::size_t kTurnBytes = 128U << 10U;

// Against floods: frames that cost us more than the client. Beyond these the connection ends.
constexpr std::size_t kAcksMax = 1'000;         // answers to pings and settings, unsent
constexpr std::uint64_t kResetsAtOnce = 1'000;  // streams opened and reset
constexpr std::uint64_t kResetsPerSecond = 33;

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// Trailers come in HEADERS too; they are never headers of the request.
bool opens_request(const nghttp2_frame& frame) {
  return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST;
}

}  // namespace

// --- nghttp2's events.

template <typename Call>
int Http2Session::guard(void* user, Call&& call) {
  try {
    return call(self(user));
  } catch (const std::exception& error) {
    log(LogLevel::Error, "a connection ends by an exception: {}", error.what());
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
}

void Http2Session::set_input_callbacks(nghttp2_session_callbacks* out) {
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      out, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return guard(user, [&](Http2Session& session) {
          const std::int32_t id = frame->hd.stream_id;
          if (opens_request(*frame))
            session.streams_.emplace(id, std::make_shared<Http2Stream>(session, id));
          return 0;
        });
      });
  nghttp2_session_callbacks_set_on_header_callback(
      out, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
              std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
              std::uint8_t /*flags*/, void* user) {
        return guard(user, [&](Http2Session& session) -> int {
          Http2Stream* const stream = session.find(frame->hd.stream_id);
          if (stream == nullptr || !opens_request(*frame)) return 0;
          session.turn_bytes_ += name_size + value_size;
          if (!stream->on_header(text_of(name, name_size), text_of(value, value_size)))
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
          session.paused_ = session.turn_bytes_ > kTurnBytes;
          return session.paused_ ? NGHTTP2_ERR_PAUSE : 0;
        });
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      out, [](nghttp2_session*, std::uint8_t /*flags*/, std::int32_t id, const std::uint8_t* bytes,
              std::size_t size, void* user) {
        return guard(user, [&](Http2Session& session) {
          if (Http2Stream* stream = session.find(id)) stream->on_body(text_of(bytes, size));
          return 0;
        });
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      out, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return guard(user, [&](Http2Session& session) {
          Http2Stream* const stream = session.find(frame->hd.stream_id);
          if (stream == nullptr) return 0;
          const SteadyTime begun = SteadyClock::now();
          if (opens_request(*frame)) stream->on_head();
          const bool carries_end =
              frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
          if (carries_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->on_end();
          if (opens_request(*frame)) session.turn_bytes_ += kRequestWork;
          session.charge_since(begun);
          return 0;
        });
      });
}

nghttp2_session_callbacks* Http2Session::callbacks() {
  static nghttp2_session_callbacks* const made = [] {
    nghttp2_session_callbacks* out = nullptr;
    CHECK(nghttp2_session_callbacks_new(&out) == 0);
    set_input_callbacks(out);
    nghttp2_session_callbacks_set_on_stream_close_callback(
        out, [](nghttp2_session*, std::int32_t id, std::uint32_t /*code*/, void* user) {
          return guard(user, [&](Http2Session& session) {
            session.streams_.erase(id);
            if (session.streams_.empty())
              session.quiet_until_ = SteadyClock::now() + session.shared_.limits.deadlines.idle;
            return 0;
          });
        });
    return out;
  }();
  return made;
}

Http2Stream* Http2Session::find(std::int32_t id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

// --- What streams ask for.

ReturnAddress Http2Session::address_of(Http2Stream& stream) {
  return {.inbox = channel_.loop().inbox(),
          .recipient = stream.weak_from_this(),
          .connection = account_};
}

bool Http2Session::prove(const Exchange& exchange) {
  if (ticket_->prove(exchange.account)) return true;
  refused_ = true;
  return false;
}

void Http2Session::submit(std::int32_t id, const HttpResponse& response, bool has_body,
                          bool streams) {
  HeaderBlock block(response, channel_.loop().date(shared_.pipeline.clock().now()), streams);
  const std::vector<nghttp2_nv> pairs = block.pairs();
  nghttp2_data_provider body{};
  body.read_callback = [](nghttp2_session*, std::int32_t stream_id, std::uint8_t* into,
                          std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                          void* user) -> ssize_t {
    return guard(user, [&](Http2Session& session) -> int {
      Http2Stream* const stream = session.find(stream_id);
      if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
      bool ended = false;
      const std::size_t given = stream->fill_body({into, size}, ended);
      if (ended) *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (given == 0 && !ended) return NGHTTP2_ERR_DEFERRED;
      return static_cast<int>(given);  // at most a frame
    });
  };
  nghttp2_submit_response(session_.get(), id, pairs.data(), pairs.size(),
                          has_body ? &body : nullptr);
}

// --- The connection.

Http2Session::Http2Session(Loop& loop, tcp::socket socket, std::unique_ptr<TlsSession> tls,
                           TicketPtr ticket, const ConnectionShared& shared)
    : shared_(shared),
      channel_(loop, std::move(socket), std::move(tls)),
      ticket_(std::move(ticket)),
      account_(std::make_shared<Account>()),
      peer_(channel_.tls().peer()),
      stall_(shared.limits.deadlines.send),
      // Who connects has something to ask.
      quiet_until_(SteadyClock::now() + shared.limits.deadlines.head) {
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

Http2Session::~Http2Session() = default;

void Http2Session::start() {
  ticket_->set_evict([&io = channel_.loop().io(), weak = weak_from_this()] {
    boost::asio::post(io, [weak] {
      if (const auto self = weak.lock()) static_cast<Http2Session&>(*self).close();
    });
  });
  channel_.begin(*this);
}

void Http2Session::on_exception(std::string_view what) noexcept {
  log(LogLevel::Error, "a connection ends by an exception: {}", what);
  close();
}

void Http2Session::advance() {
  // Streams call in from callbacks of this very loop; it goes on as long as there is something.
  if (closed_ || std::exchange(advancing_, true)) return;
  turn_bytes_ = 0;
  bool more = true;
  while (more && !closed_) {
    // A client that does not read is not read from either: the answers to its pings and resets,
    // which are not streams, would pile up.
    is_cut_short_ = false;
    const bool read = !channel_.awaits_write() && read_some();
    const bool wrote = !closed_ && write_some();
    more = read || wrote || is_cut_short_;
    if (more && turn_bytes_ > kTurnBytes) {
      channel_.yield(*this);
      more = false;
    }
  }
  advancing_ = false;
  if (closed_) return;
  const bool done = nghttp2_session_want_read(session_.get()) == 0 &&
                    nghttp2_session_want_write(session_.get()) == 0;
  if ((done || (refused_ && streams_.empty())) && out_at_ == out_.size()) {
    close();
    return;
  }
  channel_.set_deadline(*this, next_deadline());
}

// True if bytes came in.
bool Http2Session::read_some() {
  if (std::exchange(paused_, false)) return receive(std::exchange(unread_, {}));
  auto& bytes = channel_.loop().read_buffer();
  std::size_t moved = 0;
  switch (channel_.read(bytes, moved)) {
    case Io::Done: break;
    case Io::WantRead: channel_.wait_readable(*this); return false;
    case Io::WantWrite: channel_.wait_writable(*this); return false;
    case Io::Closed:
    case Io::Failed: close(); return false;
  }
  turn_bytes_ += moved;
  return receive({bytes.data(), moved});
}

// A hundred requests may come in one read. What the turn is too short for is kept; paused, nghttp2
// may have an end of headers to report even if no byte is left.
bool Http2Session::receive(std::string_view bytes) {
  const ssize_t used = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used >= 0) {
    if (paused_) unread_ = bytes.substr(static_cast<std::size_t>(used));
    return true;
  }
  // What nghttp2 wants to say about it goes out first, as far as the socket takes it.
  nghttp2_session_terminate_session(session_.get(), NGHTTP2_PROTOCOL_ERROR);
  write_some();
  close();
  return false;
}

// Gathers frames for one write, as long as the turn lasts: a hundred watches may have something to
// say. False if nghttp2 gave up.
bool Http2Session::fill_output() {
  while (out_.size() - out_at_ < kOutBytes) {
    is_cut_short_ = turn_bytes_ > kTurnBytes;
    if (is_cut_short_) return true;
    const std::uint8_t* frames = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &frames);
    if (size < 0) return false;
    if (size == 0) return true;
    out_.append(text_of(frames, static_cast<std::size_t>(size)));
  }
  return true;
}

// True if bytes went out and more may follow.
bool Http2Session::write_some() {
  if (channel_.awaits_write()) return false;
  if (!fill_output()) {
    close();
    return false;
  }
  if (out_at_ == out_.size()) return false;
  std::size_t moved = 0;
  const Io result = channel_.tls().write(std::string_view(out_).substr(out_at_), moved);
  if (result == Io::Closed || result == Io::Failed) {
    close();
    return false;
  }
  sent_ += moved;
  turn_bytes_ += moved;
  out_at_ += moved;
  stall_.note(SteadyClock::now(), sent_, out_.size() - out_at_);
  if (result != Io::Done) {
    channel_.wait_writable(*this);
    return false;
  }
  if (out_at_ == out_.size()) {
    out_.clear();
    out_at_ = 0;
    if (out_.capacity() > kKeepBytes) out_.shrink_to_fit();
  }
  return true;
}

SteadyTime Http2Session::next_deadline() const {
  SteadyTime out = std::min(stall_.until(), streams_.empty() ? quiet_until_ : SteadyTime::max());
  for (const auto& [id, stream] : streams_) out = std::min(out, stream->deadline());
  return out;
}

void Http2Session::on_deadline() {
  const SteadyTime now = SteadyClock::now();
  if (now >= stall_.until()) {
    close();
    return;
  }
  if (streams_.empty() && now >= quiet_until_) {
    quiet_until_ = SteadyTime::max();
    nghttp2_session_terminate_session(session_.get(), NGHTTP2_NO_ERROR);
  }
  for (const auto& [id, stream] : streams_) {
    const Http2Stream::Late late = stream->on_deadline(now);
    if (late == Http2Stream::Late::Close) {
      close();
      return;
    }
    if (late == Http2Stream::Late::Reset) reset(id, NGHTTP2_CANCEL);
  }
  advance();
}

void Http2Session::close() {
  if (std::exchange(closed_, true)) return;
  channel_.tls().close_notify();
  streams_.clear();
  channel_.close();
  ticket_.reset();
}

void serve_http2(Loop& loop, tcp::socket socket, std::unique_ptr<TlsSession> tls, TicketPtr ticket,
                 const ConnectionShared& shared) {
  std::make_shared<Http2Session>(loop, std::move(socket), std::move(tls), std::move(ticket), shared)
      ->start();
}

}  // namespace muster::server
