#include "server/http/http1_connection.h"

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "base/log.h"
#include "server/http/request_facts.h"

namespace muster::server {
namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kReadBytes = 16U << 10U;
constexpr std::size_t kKeepBytes = 8U << 10U;  // buffers that grew beyond this are given back
// Read before other connections get their turn: a stream of input must not hold the thread. A
// request counts more than its size (work_of), as hundreds of them fit into one read.
constexpr std::size_t kTurnBytes = 64U << 10U;
// Input up to this is let in however full the server is, or nobody could say who they are.
constexpr std::size_t kFreeInputBytes = 16U << 10U;

}  // namespace

Error too_many_connections() {
  Error error = make_error(Reason::TooManyRequests, "Too many connections, please close some.");
  error.retry_after_s = 1;
  return error;
}

Http1Connection::Http1Connection(Loop& loop, tcp::socket socket, TicketPtr ticket,
                                 const ConnectionShared& shared)
    : shared_(shared),
      channel_(loop, std::move(socket), nullptr),
      ticket_(std::move(ticket)),
      account_(ticket_->address()),
      bytes_(shared.ledger.hold_bytes(account_, nullptr)),
      stall_(shared.limits.deadlines.watch_stall) {
  channel_.start_tls(shared.tls);
  begin_request();
}

Http1Connection::~Http1Connection() = default;

void Http1Connection::start() {
  ticket_->set_evict([&io = channel_.loop().io(), weak = weak_from_this()] {
    boost::asio::post(io, [weak] {
      if (const auto self = weak.lock()) static_cast<Http1Connection&>(*self).close();
    });
  });
  set_deadline(SteadyClock::now() + shared_.limits.deadlines.handshake);
  channel_.begin(*this);
}

void Http1Connection::on_ready() {
  if (state_ == State::Watch && !read_during_watch()) return;
  advance();
}

void Http1Connection::on_exception(std::string_view what) noexcept {
  log(LogLevel::Error, "a connection ends by an exception: {}", what);
  close();
}

ReturnAddress Http1Connection::return_address() {
  return {.inbox = channel_.loop().inbox(),
          .recipient = std::static_pointer_cast<Http1Connection>(shared_from_this()),
          .connection = nullptr};
}

void Http1Connection::advance() {
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
  count_bytes();
}

bool Http1Connection::step_handshake() {
  const Io result = channel_.tls().handshake();
  if (result == Io::Done && channel_.tls().speaks_http2()) {
    state_ = State::Closed;
    auto [socket, tls] = channel_.release();
    serve_http2(channel_.loop(), std::move(socket), std::move(tls), std::move(ticket_), shared_);
    return false;
  }
  if (result == Io::Done) {
    peer_ = channel_.tls().peer();
    state_ = State::Receive;
    // Who connects has something to ask.
    set_deadline(SteadyClock::now() + shared_.limits.deadlines.head);
    return true;
  }
  if (channel_.tls().saw_plain_http()) {
    constexpr std::string_view kAnswer =
        "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
    (void)::send(channel_.fd(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    state_ = State::Linger;
    return true;
  }
  return wait_for(result);
}

// --- Receiving.

void Http1Connection::begin_request() {
  request_.clear();
  if (request_.body.capacity() > kKeepBytes) request_.body.shrink_to_fit();
  parser_.emplace(request_, shared_.limits.body_bytes);
  head_admitted_ = false;
  must_close_ = false;
}

bool Http1Connection::step_receive() {
  // Also in the middle of what was read: the rest waits in in_.
  if (turn_bytes_ >= kTurnBytes) {
    channel_.yield(*this);
    return false;
  }
  if (in_at_ < in_.size() && !parse_input()) return true;
  in_.erase(0, in_at_);
  in_at_ = 0;

  const bool idle = in_.empty() && !parser_->got_some();
  if (idle && in_.capacity() > kKeepBytes) in_.shrink_to_fit();
  // Read beside in_ first: an idle connection then keeps no room for a read.
  std::array<char, kReadBytes>& bytes = channel_.loop().read_buffer();
  std::size_t moved = 0;
  const Io result = channel_.read(bytes, moved);
  if (result != Io::Done) return wait_for(result);
  in_.append(bytes.data(), moved);
  turn_bytes_ += moved;
  // Not moved again until the head is complete: a byte now and then keeps no connection open.
  if (idle) set_deadline(SteadyClock::now() + shared_.limits.deadlines.head);
  refuse_if_too_much_input();
  return true;
}

void Http1Connection::refuse_if_too_much_input() {
  if (in_.size() + request_.body.size() <= kFreeInputBytes) return;
  count_bytes();
  if (shared_.ledger.has_room(*account_, Resource::Bytes)) return;
  if (!head_admitted_) {
    exchange_ = Exchange{};
    exchange_.started = SteadyClock::now();
    exchange_.labels.verb = "other";
  }
  send(shared_.pipeline.refuse(exchange_, too_many_requests()), After::Close);
}

// True if the request needs more bytes; false if it is complete, refused or broken.
bool Http1Connection::parse_input() {
  error_code error;
  in_at_ += parser_->parse(std::string_view(in_).substr(in_at_), error);
  if (error) {
    refuse_broken(error);
    return false;
  }
  if (parser_->is_done()) {
    begin_exchange();
    return false;
  }
  return !parser_->is_header_done() || head_admitted_ || admit_head();
}

// Judges the head, and whose connection this is.
std::optional<HttpResponse> Http1Connection::admit() {
  head_admitted_ = true;
  const SteadyTime now = SteadyClock::now();
  auto refusal = shared_.pipeline.admit(request_, peer_, now, exchange_);
  turn_bytes_ += work_of(SteadyClock::now() - now);
  head_held_ = held_for_head(request_, exchange_);
  if (exchange_.account == nullptr) return refusal;
  if (exchange_.account != account_) {
    account_ = exchange_.account;
    bytes_ = shared_.ledger.hold_bytes(account_, nullptr);
    count_bytes();
  }
  if (!exchange_.anonymous() && !ticket_->prove(account_)) {
    must_close_ = true;
    return shared_.pipeline.refuse(exchange_, too_many_connections());
  }
  if (refusal || head_held_ == 0) return refusal;
  count_bytes();
  if (shared_.ledger.has_room(*account_, Resource::Bytes)) return std::nullopt;
  return shared_.pipeline.refuse(exchange_, too_many_requests());
}

// The head is here, the body is not: who may not send it need not send it. False if something is to
// be sent.
bool Http1Connection::admit_head() {
  set_deadline(SteadyClock::now() + shared_.limits.deadlines.body);
  if (auto refusal = admit()) {
    send(*std::move(refusal), After::Close);
    return false;
  }
  if (!exchange_.wants_body()) parser_->discard_body(shared_.limits.unwanted_body_bytes);
  if (!parser_->expects_continue() || parser_->is_http_1_0() || in_at_ < in_.size()) return true;
  out_ += "HTTP/1.1 100 Continue\r\n\r\n";
  after_ = After::Continue;
  state_ = State::Send;
  return false;
}

void Http1Connection::begin_exchange() {
  if (!head_admitted_) {
    if (auto refusal = admit()) {
      send(*std::move(refusal), After::Next);
      return;
    }
  }
  if (shared_.pipeline.is_heavy(request_, exchange_)) {
    delegate_run(DelegatedRun::Does::Run);
    return;
  }
  const SteadyTime begun = SteadyClock::now();
  go_on_with(shared_.pipeline.run(request_, exchange_, return_address()));
  turn_bytes_ += work_of(SteadyClock::now() - begun) - kRequestWork;
}

void Http1Connection::delegate_run(DelegatedRun::Does what,
                                   std::optional<Result<api::Answer>> answer) {
  auto run = std::make_shared<DelegatedRun>();
  run->does = what;
  run->answer = std::move(answer);
  run->request = std::move(request_);
  run->exchange = std::move(exchange_);
  run->bytes = shared_.ledger.hold_bytes(account_, nullptr);
  run->bytes.resize(run->request.body.size() + head_held_ +
                    (run->answer ? bytes_kept(*run->answer) : 0));
  is_delegated_ = true;
  state_ = State::Wait;
  set_deadline(SteadyClock::now() + shared_.limits.deadlines.answer);
  delegate(std::move(run), shared_.pipeline, shared_.pool, return_address());
}

void Http1Connection::on_outcome(DelegatedRun& run) {
  if (state_ != State::Wait || !is_delegated_) return;
  is_delegated_ = false;
  exchange_ = std::move(run.exchange);
  if (run.exception) throw std::runtime_error(*run.exception);
  go_on_with(std::move(run.outcome));
  run.bytes.resize(0);
  if (state_ == State::Wait && early_answer_)
    on_answer(*std::exchange(early_answer_, std::nullopt));
  else if (state_ == State::Wait)
    on_wake();  // one may have come before
  else
    advance();
}

void Http1Connection::go_on_with(RequestPipeline::Outcome outcome) {
  if (auto* response = std::get_if<HttpResponse>(&outcome)) {
    send(std::move(*response), After::Next);
  } else if (auto* stream = std::get_if<std::unique_ptr<WatchStream>>(&outcome)) {
    begin_watch(std::move(*stream));
  } else {
    state_ = State::Wait;
    const auto until = std::get<RequestPipeline::Waiting>(outcome).until;
    set_deadline(until.value_or(SteadyClock::now() + shared_.limits.deadlines.answer));
    if (request_.body.capacity() > kKeepBytes) free_memory(request_.body);
  }
  count_bytes();  // before the first byte is written: nobody reads an answer that does not count
}

void Http1Connection::refuse_broken(error_code error) {
  if (error == http::error::body_limit && parser_->discards()) {
    // Nobody wanted this body: the request is answered all the same, and is the last one.
    must_close_ = true;
    begin_exchange();
    return;
  }
  if (error == http::error::body_limit) {
    // Who may not send anything hears that first.
    auto refusal = admit();
    if (!refusal)
      refusal =
          shared_.pipeline.refuse(exchange_, make_error(Reason::RequestEntityTooLarge,
                                                        "Request entity too large: limit is {}",
                                                        shared_.limits.body_bytes));
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

void serve_connection(Loop& loop, tcp::socket socket, TicketPtr ticket,
                      const ConnectionShared& shared) {
  std::make_shared<Http1Connection>(loop, std::move(socket), std::move(ticket), shared)->start();
}

}  // namespace muster::server
