#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/http/channel.h"
#include "server/http/connection.h"
#include "server/http/delegated_run.h"
#include "server/http/inbox.h"

namespace muster::server {

// One request and its answer. Owned by its connection; the core knows it as a recipient.
//
//   Head ──▶ Receive ──▶ Send              (a read, a refusal)
//               ├──▶ Wait ──▶ Send         (a write, until it is answered)
//               └──▶ Watch                 (until it ends or the client leaves)
class Http2Stream final : public Recipient, public std::enable_shared_from_this<Http2Stream> {
 public:
  enum class State : std::uint8_t { Head, Receive, Wait, Send, Watch };

  // The connection, as its streams see it.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual const ConnectionShared& shared() const = 0;
    virtual const PeerCertificate& peer() const = 0;
    virtual const AccountPtr& account() const = 0;  // of the connection
    virtual const AccountPtr& address() const = 0;  // of the address it comes from
    virtual ReturnAddress address_of(Http2Stream& stream) = 0;
    // False if its client has too many connections.
    virtual bool prove(const Exchange& exchange) = 0;
    virtual void submit(std::int32_t id, const HttpResponse& response, bool has_body,
                        bool streams) = 0;
    // Counts work for a stream as part of the turn.
    virtual void charge_since(SteadyTime begun) = 0;
    virtual void resume(std::int32_t id) = 0;
    virtual void reset(std::int32_t id, std::uint32_t code) = 0;
    virtual void advance() = 0;
    virtual void on_exception(std::string_view what) noexcept = 0;
  };

  Http2Stream(Owner& session, std::int32_t id);
  ~Http2Stream() override;
  Http2Stream(const Http2Stream&) = delete;
  Http2Stream& operator=(const Http2Stream&) = delete;

  void on_answer(Result<api::Answer> answer) override;
  void on_wake() override;
  void on_outcome(DelegatedRun& run) override;
  void on_exception(std::string_view what) noexcept override;

  // False if the headers are too many.
  bool on_header(std::string_view name, std::string_view value);
  void on_head();
  void on_body(std::string_view bytes);
  void on_end();

  // Gives out up to `into.size()` bytes of the body. `ended` is set with the last of them; 0
  // without it: nothing now.
  std::size_t fill_body(std::span<std::uint8_t> into, bool& ended);

  SteadyTime deadline() const { return deadline_; }
  // What a missed deadline means: go on, end this stream, or, if the head is incomplete, end the
  // whole connection, since nothing else can arrive before the head ends.
  enum class Late : std::uint8_t { GoOn, Reset, Close };
  Late on_deadline(SteadyTime now);

 private:
  void begin_exchange();
  void turn_away(SteadyTime now);
  bool has_room() const;
  void forget_request();
  void delegate_run(DelegatedRun::Does what,
                    std::optional<Result<api::Answer>> answer = std::nullopt);
  void wait_again();
  void go_on_with(RequestPipeline::Outcome outcome);
  void begin_watch(std::unique_ptr<WatchStream> stream);
  void refuse(const Error& error);
  void send(HttpResponse response);
  void pull(SteadyTime now);
  void count_bytes();

  Owner& session_;
  const std::int32_t id_;
  State state_ = State::Head;
  HttpRequest request_;
  std::size_t header_bytes_ = 0;
  Exchange exchange_;
  Hold place_;  // among the streams, unless it is a watch
  Hold bytes_;
  std::size_t head_held_ = 0;  // of bytes_, while the request is not answered
  bool admitted_ = false;
  bool is_delegated_ = false;  // request and exchange are with the pool; we wait for them
  std::optional<Result<api::Answer>> early_answer_;  // came before they were back
  std::size_t discarded_ = 0;                        // of a body that nobody wants

  std::string out_;  // the body from out_at_ on is still to be given out
  std::size_t out_at_ = 0;
  std::shared_ptr<void> large_;  // HttpResponse::large
  std::uint64_t given_ = 0;
  std::unique_ptr<WatchStream> watch_;
  std::function<void()> look_again_;  // at the watch, when others had their turn
  StallClock stall_;
  bool watch_ended_ = false;
  bool pull_due_ = false;
  SteadyTime deadline_;
};

}  // namespace muster::server
