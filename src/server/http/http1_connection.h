#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/http/channel.h"
#include "server/http/connection.h"
#include "server/http/delegated_run.h"
#include "server/http/http1_parser.h"
#include "server/http/inbox.h"

namespace muster::server {

// One client of HTTP/1.1. A state machine over a non-blocking socket: advance() takes steps until
// one has to wait for the socket, the core or the clock, and what ends the wait calls it again.
//
//   Handshake ──▶ Receive ──▶ Send ──▶ Receive …      (a read, a refusal)
//                  │  ▲        ▲ └────▶ Linger ──▶ Closed
//                  │  └────────┼──────┐
//                  ├──▶ Wait ──┘      │        (a write, until it is answered; a read ahead of its
//                  │                  │         time)
//                  └──▶ Watch ────────┘        (until it ends or the client leaves)
//
// A heavy request waits for the pool first.
//
// Requests of one connection are answered one after the other; pipelined ones wait in the buffer.
// Every state has a deadline (Deadlines), and every byte held is on the ledger.
class Http1Connection final : public Channel::Owner, public Recipient {
 public:
  Http1Connection(Loop& loop, boost::asio::ip::tcp::socket socket, TicketPtr ticket,
                  const ConnectionShared& shared);
  ~Http1Connection() override;
  Http1Connection(const Http1Connection&) = delete;
  Http1Connection& operator=(const Http1Connection&) = delete;

  void start();

  void on_ready() override;
  void on_deadline() override;
  void on_answer(Result<api::Answer> answer) override;
  void on_wake() override;
  void on_outcome(DelegatedRun& run) override;
  void on_exception(std::string_view what) noexcept override;

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

  // Receiving (http1_connection.cc).
  void begin_request();
  bool parse_input();
  bool admit_head();
  std::optional<HttpResponse> admit();
  void begin_exchange();
  void delegate_run(DelegatedRun::Does what,
                    std::optional<Result<api::Answer>> answer = std::nullopt);
  void go_on_with(RequestPipeline::Outcome outcome);
  void refuse_broken(boost::system::error_code error);
  void refuse_if_too_much_input();

  // Answering (http1_answer.cc).
  void send(HttpResponse response, After after);
  void go_on();
  void begin_watch(std::unique_ptr<WatchStream> stream);
  void pull_watch();
  void end_watch();
  bool read_during_watch();
  Io write_out();
  void count_bytes();
  void close();
  bool wait_for(Io wanted);

  ReturnAddress return_address();
  void set_deadline(SteadyTime when) { channel_.set_deadline(*this, when); }
  std::size_t unsent() const { return out_.size() - out_at_ + tail_.size(); }

  const ConnectionShared& shared_;
  Channel channel_;
  TicketPtr ticket_;
  AccountPtr account_;  // whose bytes those of this connection are
  Hold bytes_;
  PeerCertificate peer_;
  State state_ = State::Handshake;

  // Input: bytes of the socket that the parser has not used are in_[in_at_, end).
  std::string in_;
  std::size_t in_at_ = 0;
  HttpRequest request_;
  std::optional<Http1Parser> parser_;
  bool head_admitted_ = false;
  std::size_t head_held_ = 0;  // of bytes_, while the request is not answered
  bool must_close_ = false;    // after this answer: the rest of the request was not read
  Exchange exchange_;
  bool is_delegated_ = false;  // request and exchange are with the pool; we wait for them
  std::optional<Result<api::Answer>> early_answer_;  // came before they were back

  // Output: out_ from out_at_ on, then tail_.
  std::string out_;
  std::size_t out_at_ = 0;
  std::string tail_;
  std::shared_ptr<void> large_;  // HttpResponse::large
  After after_ = After::Next;
  std::uint64_t sent_ = 0;
  std::unique_ptr<WatchStream> stream_;
  std::function<void()> look_again_;  // at the stream, when others had their turn
  StallClock stall_;
  bool stream_ended_ = false;
  bool pull_due_ = false;       // the stream may have news
  std::size_t turn_bytes_ = 0;  // moved since the last wait
  bool lingers_ = false;
  std::size_t linger_bytes_ = 0;
};

}  // namespace muster::server
