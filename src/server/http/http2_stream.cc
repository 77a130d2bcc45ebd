#include "server/http/http2_stream.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "server/http/delegated_run.h"
#include "server/http/http2_headers.h"
#include "server/http/http2_session.h"

namespace muster::server {
namespace {

constexpr std::size_t kHeaderBytesMax = 64U << 10U;
constexpr std::size_t kPullBytes = 64U << 10U;  // of a watch, before they are sent
constexpr std::size_t kKeepBytes = 8U << 10U;   // buffers that grew beyond this are given back
// A watch that the server has no memory for right now asks again after this.
constexpr std::chrono::milliseconds kPullAgain{100};
// Bodies up to this are let in however full the server is.
constexpr std::size_t kFreeBodyBytes = 16U << 10U;

}  // namespace

Http2Stream::Http2Stream(Http2Session& session, std::int32_t id)
    : session_(session),
      id_(id),
      stall_(session.shared().limits.deadlines.watch_stall),
      deadline_(SteadyClock::now() + session.shared().limits.deadlines.head) {}

Http2Stream::~Http2Stream() {
  if (watch_) session_.shared().pipeline.finished(exchange_, 200, SteadyClock::now());
}

void Http2Stream::on_exception(std::string_view what) noexcept { session_.on_exception(what); }

// --- Receiving.

bool Http2Stream::on_header(std::string_view name, std::string_view value) {
  header_bytes_ += name.size() + value.size();
  if (header_bytes_ > kHeaderBytesMax) return false;
  add_header(name, value, request_);
  return true;
}

// Who may not send a body need not send it.
void Http2Stream::on_head() {
  const SteadyTime now = SteadyClock::now();
  state_ = State::Receive;
  deadline_ = now + session_.shared().limits.deadlines.body;
  auto refusal = session_.shared().pipeline.admit(request_, session_.peer(), now, exchange_);
  if (exchange_.account) {
    bytes_ = session_.shared().ledger.hold_bytes(exchange_.account, session_.account());
    if (!exchange_.anonymous() && !session_.prove(exchange_))
      refusal = session_.shared().pipeline.refuse(exchange_, too_many_connections());
  }
  if (refusal)
    send(*std::move(refusal));
  else
    admitted_ = true;
}

void Http2Stream::on_body(std::string_view bytes) {
  const HttpLimits& limits = session_.shared().limits;
  if (state_ != State::Receive || !exchange_.wants_body()) {
    // Refused already, or never wanted. The rest passes by, as clients that are cut short may not
    // read the answer; but not for long.
    discarded_ += bytes.size();
    if (discarded_ <= limits.unwanted_body_bytes) return;
    if (state_ == State::Receive)
      begin_exchange();
    else if (discarded_ > 2 * limits.unwanted_body_bytes)
      session_.reset(id_, NGHTTP2_NO_ERROR);
    return;
  }
  if (request_.body.size() + bytes.size() > limits.body_bytes) {
    refuse(make_error(Reason::RequestEntityTooLarge, "Request entity too large: limit is {}",
                      limits.body_bytes));
    return;
  }
  request_.body += bytes;
  if (request_.body.size() <= kFreeBodyBytes) return;
  count_bytes();
  const auto connection_max =
      static_cast<std::int64_t>(session_.shared().ledger.bytes_per_connection());
  if (session_.account()->used(Resource::Bytes) > connection_max ||
      !session_.shared().ledger.has_room(*exchange_.account, Resource::Bytes))
    refuse(too_many_requests());
}

void Http2Stream::on_end() {
  if (state_ == State::Receive && admitted_) begin_exchange();
}

void Http2Stream::begin_exchange() {
  if (RequestPipeline::is_heavy(request_, exchange_)) {
    give_away();
    return;
  }
  go_on_with(session_.shared().pipeline.run(request_, exchange_, session_.address_of(*this)));
}

void Http2Stream::give_away() {
  const ConnectionShared& shared = session_.shared();
  auto run = std::make_shared<DelegatedRun>();
  run->request = std::move(request_);
  run->exchange = std::move(exchange_);
  run->bytes = shared.ledger.hold_bytes(run->exchange.account, session_.account());
  run->bytes.resize(run->request.body.size());
  given_away_ = true;
  state_ = State::Wait;
  deadline_ = SteadyClock::now() + shared.limits.deadlines.answer;
  count_bytes();
  delegate(std::move(run), shared.pipeline, shared.pool, session_.address_of(*this));
}

void Http2Stream::on_outcome(DelegatedRun& run) {
  if (state_ != State::Wait || !given_away_) return;
  given_away_ = false;
  exchange_ = std::move(run.exchange);
  if (run.exception) throw std::runtime_error(*run.exception);
  go_on_with(std::move(run.outcome));
  run.bytes.resize(0);
  if (state_ == State::Wait && early_answer_)
    on_answer(*std::exchange(early_answer_, std::nullopt));
  else if (state_ == State::Wait)
    wait_again();
  else
    session_.advance();
}

// A wake may have come before. If it did not help, the deadline is another now.
void Http2Stream::wait_again() {
  on_wake();
  if (state_ == State::Wait) session_.advance();
}

void Http2Stream::go_on_with(RequestPipeline::Outcome outcome) {
  request_.body = {};
  if (auto* response = std::get_if<HttpResponse>(&outcome)) {
    send(std::move(*response));
  } else if (auto* stream = std::get_if<std::unique_ptr<WatchStream>>(&outcome)) {
    begin_watch(std::move(*stream));
  } else {
    state_ = State::Wait;
    const auto until = std::get<RequestPipeline::Waiting>(outcome).until;
    deadline_ = until.value_or(SteadyClock::now() + session_.shared().limits.deadlines.answer);
  }
  count_bytes();
}

// --- Answering.

void Http2Stream::on_answer(Result<api::Answer> answer) {
  if (state_ != State::Wait) return;
  if (given_away_) {
    early_answer_ = std::move(answer);
    return;
  }
  send(session_.shared().pipeline.respond(exchange_, answer));
  session_.advance();
}

void Http2Stream::on_wake() {
  if (given_away_) return;
  if (state_ == State::Wait) {
    auto response = session_.shared().pipeline.resume(exchange_, SteadyClock::now());
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

void Http2Stream::refuse(const Error& error) {
  request_.body = {};
  send(session_.shared().pipeline.refuse(exchange_, error));
}

void Http2Stream::send(HttpResponse response) {
  const SteadyTime now = SteadyClock::now();
  const bool has_body = request_.method != Method::Head && !response.body.empty();
  session_.submit(id_, response, has_body, /*streams=*/false);
  out_ = has_body ? std::move(response.body) : std::string();
  out_at_ = 0;
  state_ = State::Send;
  deadline_ = session_.shared().limits.deadlines.send_by(now, out_.size());
  count_bytes();
  session_.shared().pipeline.finished(exchange_, response.code, now);
}

void Http2Stream::begin_watch(std::unique_ptr<WatchStream> stream) {
  watch_ = std::move(stream);
  pull_due_ = true;
  state_ = State::Watch;
  deadline_ = watch_->next_deadline();
  session_.submit(id_, session_.shared().pipeline.watch_response(exchange_), /*has_body=*/true,
                  /*streams=*/true);
}

void Http2Stream::pull(SteadyTime now) {
  if (!watch_ || watch_ended_ || !pull_due_ || out_.size() - out_at_ >= kPullBytes) return;
  const ClientLedger& ledger = session_.shared().ledger;
  if (session_.account()->used(Resource::Bytes) >=
          static_cast<std::int64_t>(ledger.bytes_per_connection()) ||
      !ledger.has_room(*exchange_.account, Resource::Bytes))
    return;
  const WatchStream::State pulled =
      session_.shared().pipeline.pull(*watch_, now, out_.size() + kPullBytes, out_);
  pull_due_ = pulled == WatchStream::State::More;
  watch_ended_ = pulled == WatchStream::State::Ended;
}

std::size_t Http2Stream::give_body(std::span<std::uint8_t> into, bool& ended) {
  const SteadyTime now = SteadyClock::now();
  pull(now);
  const std::size_t size = std::min(into.size(), out_.size() - out_at_);
  std::memcpy(into.data(), out_.data() + out_at_, size);
  out_at_ += size;
  given_ += size;
  const bool all = out_at_ == out_.size();
  if (all) {
    out_.clear();
    out_at_ = 0;
    if (out_.capacity() > kKeepBytes || state_ == State::Send) out_ = {};
  }
  ended = all && (state_ == State::Send || watch_ended_);
  if (state_ == State::Watch) {
    stall_.note(now, given_, out_.size() - out_at_);
    // Nothing was pulled though it was due: there was no room.
    deadline_ = !all ? stall_.until() : pull_due_ ? now + kPullAgain : watch_->next_deadline();
  }
  count_bytes();
  return size;
}

Http2Stream::Late Http2Stream::on_deadline(SteadyTime now) {
  if (now < deadline_) return Late::GoOn;
  switch (state_) {
    case State::Head: return Late::Close;
    case State::Wait:
      if (std::exchange(given_away_, false)) {
        exchange_ = Exchange{};
        exchange_.started = now;
        exchange_.labels.verb = "other";
      }
      send(session_.shared().pipeline.give_up(exchange_, now));
      return Late::GoOn;
    case State::Watch:
      if (now >= stall_.until()) break;  // the client reads nothing
      pull_due_ = true;
      deadline_ = now + session_.shared().limits.deadlines.watch_stall;
      session_.resume(id_);
      return Late::GoOn;
    case State::Receive:
    case State::Send: break;
  }
  deadline_ = SteadyTime::max();  // once is enough
  return Late::Reset;
}

void Http2Stream::count_bytes() {
  constexpr std::size_t kSmall = 4U << 10U;
  const std::size_t held = request_.body.capacity() + out_.capacity();
  bytes_.resize(held > kSmall ? held : 0);
}

}  // namespace muster::server
