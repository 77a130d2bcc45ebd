#pragma once

#include <nghttp2/nghttp2.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "server/http/channel.h"
#include "server/http/connection.h"
#include "server/http/http2_stream.h"

namespace muster::server {

struct SessionDeleter {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
};

// One client of HTTP/2. nghttp2 turns bytes into events and back; this class moves the bytes and
// keeps the streams. advance() does what can be done now; whatever ends a wait calls it again.
class Http2Session final : public Channel::Owner, public Http2Stream::Owner {
 public:
  Http2Session(Loop& loop, boost::asio::ip::tcp::socket socket, std::unique_ptr<TlsSession> tls,
               TicketPtr ticket, const ConnectionShared& shared);
  ~Http2Session() override;
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  void start();

  void advance() override;
  void on_ready() override { advance(); }
  void on_deadline() override;
  void on_exception(std::string_view what) noexcept override;

  // For its streams.
  const ConnectionShared& shared() const override { return shared_; }
  const PeerCertificate& peer() const override { return peer_; }
  const AccountPtr& account() const override { return account_; }
  const AccountPtr& address() const override { return ticket_->address(); }
  ReturnAddress address_of(Http2Stream& stream) override;
  bool prove(const Exchange& exchange) override;
  void submit(std::int32_t id, const HttpResponse& response, bool has_body, bool streams) override;
  void charge_since(SteadyTime begun) override {
    turn_bytes_ += work_of(SteadyClock::now() - begun) - kRequestWork;
  }
  void resume(std::int32_t id) override { nghttp2_session_resume_data(session_.get(), id); }
  void reset(std::int32_t id, std::uint32_t code) override {
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, code);
  }

 private:
  static nghttp2_session_callbacks* callbacks();
  static void set_input_callbacks(nghttp2_session_callbacks* out);
  static Http2Session& self(void* user) { return *static_cast<Http2Session*>(user); }
  // Runs a callback of nghttp2; an exception must not pass through C.
  template <typename Call>
  static int guard(void* user, Call&& call);
  Http2Stream* find(std::int32_t id);

  bool read_some();
  bool receive(std::string_view bytes);
  bool write_some();
  bool fill_output();
  void close();
  SteadyTime next_deadline() const;

  const ConnectionShared& shared_;
  Channel channel_;
  TicketPtr ticket_;
  const AccountPtr account_;  // what all streams hold together
  PeerCertificate peer_;
  std::map<std::int32_t, std::shared_ptr<Http2Stream>> streams_;
  std::unique_ptr<nghttp2_session, SessionDeleter> session_;

  std::string out_;  // from out_at_ on still to be written
  std::size_t out_at_ = 0;
  std::uint64_t sent_ = 0;
  StallClock stall_;
  std::size_t turn_bytes_ = 0;
  bool paused_ = false;  // in the middle of what was read, of which unread_ is left
  std::string unread_;
  bool is_cut_short_ = false;  // output was: there may be more to write
  bool closed_ = false;
  bool advancing_ = false;
  bool refused_ = false;    // too many connections: goes away after its answers
  SteadyTime quiet_until_;  // then a connection without a stream is closed
};

}  // namespace muster::server
