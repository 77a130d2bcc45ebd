#include "client/remote/http2_line.h"

#include <array>
#include <utility>

namespace muster::client {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
// Read before others get their turn.
constexpr std::size_t kTurnBytes = std::size_t{4} << 20;
constexpr std::size_t kKeepBytes = std::size_t{64} << 10;  // a buffer that grew is given back
constexpr std::size_t kFloodBytes = std::size_t{32} << 10;
constexpr int kForeverMs = 1'000'000;

}  // namespace

void Http2Line::read(Time now, bool readable) {
  last_read_ = 0;
  if (state_ == State::Connecting)
    connect();
  else if (state_ == State::Open && (readable || has_more_))
    read_all();
  if (state_ == State::Gone) return;
  // What came in time is not late because we were.
  if (Result<void> alive = session_.expire(now); !alive) break_off(std::move(alive).error());
}

void Http2Line::connect() {
  Result<bool> connected = pipe_.connect();
  if (!connected) return break_off(std::move(connected).error());
  if (!*connected) return;
  state_ = pipe_.speaks_http2() ? State::Open : State::Foreign;
  socket_ = pipe_.socket();
  has_more_ = true;
}

void Http2Line::read_all() {
  thread_local std::array<char, kReadBytes> buffer;
  has_more_ = false;
  for (std::size_t total = 0; total < kTurnBytes;) {
    Result<std::size_t> count = pipe_.read(buffer);
    if (!count) return break_off(std::move(count).error());
    if (*count == 0) return;
    total += *count;
    last_read_ = total;
    if (Result<void> done = session_.on_bytes({buffer.data(), *count}); !done)
      return break_off(std::move(done).error());
    if (!pipe_.has_more()) return;
  }
  has_more_ = true;
}

TlsLine::Wait Http2Line::waits_for() const {
  if (state_ == State::Connecting) return pipe_.waits_for();
  const bool waits_to_write = state_ == State::Open && !out_.empty();
  const int events = CURL_WAIT_POLLIN | (waits_to_write ? CURL_WAIT_POLLOUT : 0);
  const bool at_once = has_more_ || state_ == State::Gone;
  return {.on = {.fd = socket_, .events = static_cast<short>(events), .revents = 0},
          .patience_ms = at_once ? 0 : kForeverMs};
}

bool Http2Line::is_flooded() const { return has_more_ || last_read_ >= kFloodBytes; }

void Http2Line::write() {
  if (state_ != State::Open) return;
  if (Result<void> done = session_.write(out_); !done) return break_off(std::move(done).error());
  std::size_t sent = 0;
  while (sent < out_.size()) {
    Result<std::size_t> count = pipe_.write(std::string_view(out_).substr(sent));
    if (!count) return break_off(std::move(count).error());
    if (*count == 0) break;
    sent += *count;
  }
  out_.erase(0, sent);
  if (out_.empty() && out_.capacity() > kKeepBytes) out_ = {};
}

void Http2Line::break_off(Error error) {
  state_ = State::Gone;
  has_more_ = false;
  retired_ = true;
  error_ = std::move(error);
}

}  // namespace muster::client
