#include "server/http/http2_stream.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "server/http/http2_headers.h"
#include "server/http/request_facts.h"

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

Http2Stream::Http2Stream(Owner& session, std::int32_t id)
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
  // As SETTINGS_MAX_HEADER_LIST_SIZE counts: a header costs memory though name and value be short.
  constexpr std::size_t kOverhead = 32;
  header_bytes_ += name.size() + value.size() + kOverhead;
  if (header_bytes_ > kHeaderBytesMax) return false;
  add_header(name, value, request_);
  return true;
}

// Who may not send a body need not send it.
void Http2Stream::on_head() {
  const SteadyTime now = SteadyClock::now();
  state_ = State::Receive;
  deadline_ = now + session_.shared().limits.deadlines.body;
  const ConnectionShared& shared = session_.shared();
  auto refusal = shared.pipeline.admit(request_, session_.peer(), now, exchange_);
  // Strangers have one account in common, but each address its own share.
  auto place = shared.ledger.hold_one(
      exchange_.anonymous() ? session_.address() : exchange_.account, Resource::Streams);
  if (!place) {
    turn_away(now);
    return;
  }
  place_ = *std::move(place);
  head_held_ = held_for_head(request_, exchange_);
  if (exchange_.account) {
    bytes_ = shared.ledger.hold_bytes(exchange_.account, session_.account());
    count_bytes();
    if (!exchange_.anonymous() && !session_.prove(exchange_))
      refusal = shared.pipeline.refuse(exchange_, too_many_connections());
    if (!refusal && head_held_ > 0 && !has_room())
      refusal = shared.pipeline.refuse(exchange_, too_many_requests());
  }
  if (refusal)
    send(*std::move(refusal));
  else
    admitted_ = true;
}

// Too many streams: even an answer would be one more to keep until it is read.
void Http2Stream::turn_away(SteadyTime now) {
  session_.shared().pipeline.finished(exchange_, 429, now);
  forget_request();
  state_ = State::Send;
  deadline_ = SteadyTime::max();
  session_.reset(id_, NGHTTP2_REFUSED_STREAM);
}

// Whether more bytes may be held for this client and on this connection.
bool Http2Stream::has_room() const {
  const ClientLedger& ledger = session_.shared().ledger;
  const auto connection_max = static_cast<std::int64_t>(ledger.bytes_per_connection());
  return session_.account()->used(Resource::Bytes) < connection_max &&
         ledger.has_room(*exchange_.account, Resource::Bytes);
}

// Once it is answered. An answer may wait for its reader, and with it only itself.
void Http2Stream::forget_request() {
  request_.release();
  (void)std::exchange(exchange_, Exchange{});
  head_held_ = 0;
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
  if (!has_room()) refuse(too_many_requests());
}

void Http2Stream::on_end() {
  if (state_ == State::Receive && admitted_) begin_exchange();
}

void Http2Stream::begin_exchange() {
  if (session_.shared().pipeline.is_heavy(request_, exchange_)) {
    // A stream may be reset while its request waits for the pool, and the next one come.
    if (has_room())
      delegate_run(DelegatedRun::Does::Run);
    else
      refuse(too_many_requests());
    return;
  }
  go_on_with(session_.shared().pipeline.run(request_, exchange_, session_.address_of(*this)));
}

void Http2Stream::delegate_run(DelegatedRun::Does what, std::optional<Result<api::Answer>> answer) {
  const ConnectionShared& shared = session_.shared();
  auto run = std::make_shared<DelegatedRun>();
  run->does = what;
  run->answer = std::move(answer);
  run->request = std::move(request_);
  run->exchange = std::move(exchange_);
  run->bytes = shared.ledger.hold_bytes(run->exchange.account, session_.account());
  run->bytes.resize(run->request.body.size() + head_held_ + sizeof(DelegatedRun) +
                    (run->answer ? bytes_kept(*run->answer) : 0));
  is_delegated_ = true;
  state_ = State::Wait;
  deadline_ = SteadyClock::now() + shared.limits.deadlines.answer;
  count_bytes();
  delegate(std::move(run), shared.pipeline, shared.pool, session_.address_of(*this));
}

void Http2Stream::on_outcome(DelegatedRun& run) {
  if (state_ != State::Wait || !is_delegated_) return;
  is_delegated_ = false;
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
  free_memory(request_.body);
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
  if (is_delegated_) {
    early_answer_ = std::move(answer);
    return;
  }
  if (RequestPipeline::is_heavy(exchange_, answer))
    delegate_run(DelegatedRun::Does::Respond, std::move(answer));
  else
    send(session_.shared().pipeline.respond(exchange_, answer, session_.address_of(*this)));
  session_.advance();
}

void Http2Stream::on_wake() {
  if (is_delegated_) return;
  if (state_ == State::Wait) {
    if (!session_.shared().pipeline.is_due(exchange_, SteadyClock::now())) return;
    delegate_run(DelegatedRun::Does::Resume);
    session_.advance();
    return;
  }
  if (state_ != State::Watch) return;
  pull_due_ = true;
  watch_->on_news();
  session_.resume(id_);
  session_.advance();
}

void Http2Stream::refuse(const Error& error) {
  free_memory(request_.body);
  send(session_.shared().pipeline.refuse(exchange_, error));
}

void Http2Stream::send(HttpResponse response) {
  const SteadyTime now = SteadyClock::now();
  const bool has_body = request_.method != Method::Head && !response.body.empty();
  session_.submit(id_, response, has_body, /*streams=*/false);
  out_ = has_body ? std::move(response.body) : std::string();
  large_ = std::move(response.large);
  out_at_ = 0;
  state_ = State::Send;
  deadline_ = session_.shared().limits.deadlines.send_by(now, out_.size());
  session_.shared().pipeline.finished(exchange_, response.code, now);
  forget_request();
  count_bytes();
}

void Http2Stream::begin_watch(std::unique_ptr<WatchStream> stream) {
  watch_ = std::move(stream);
  look_again_ = wake_of(session_.address_of(*this));
  place_ = {};  // watches are counted by themselves
  request_.release();
  pull_due_ = true;
  state_ = State::Watch;
  deadline_ = watch_->next_deadline();
  session_.submit(id_, session_.shared().pipeline.watch_response(exchange_), /*has_body=*/true,
                  /*streams=*/true);
}

void Http2Stream::pull(SteadyTime now) {
  if (!watch_ || watch_ended_ || !pull_due_ || out_.size() - out_at_ >= kPullBytes) return;
  if (!has_room()) return;
  const WatchStream::State pulled =
      session_.shared().pipeline.pull(*watch_, now, out_.size() + kPullBytes, out_);
  session_.charge_since(now);
  catch_up_if_asked(session_.shared().pipeline, session_.shared().pool, exchange_.account);
  pull_due_ = pulled == WatchStream::State::More;
  if (pulled == WatchStream::State::Busy) look_again_();
  watch_ended_ = pulled == WatchStream::State::Ended;
}

std::size_t Http2Stream::fill_body(std::span<std::uint8_t> into, bool& ended) {
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
    if (out_.capacity() > kKeepBytes || state_ == State::Send) free_memory(out_);
    large_.reset();
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
      if (!is_delegated_ && exchange_.parked) {
        delegate_run(DelegatedRun::Does::Resume);
        return Late::GoOn;
      }
      if (std::exchange(is_delegated_, false)) {
        exchange_ = Exchange{};
        exchange_.started = now;
        exchange_.labels.verb = "other";
      }
      send(session_.shared().pipeline.give_up(exchange_));
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
  const std::size_t head = is_delegated_ ? 0 : head_held_;
  const std::size_t held = head + request_.body.capacity() + out_.capacity();
  bytes_.resize(held > kSmall ? held : 0);
}

}  // namespace muster::server
