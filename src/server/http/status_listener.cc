#include "server/http/status_listener.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>

#include "base/thread_name.h"

namespace muster::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr std::chrono::seconds kPatience{10};  // for one request and its answer

// "Bearer TOKEN", as RFC 6750 has it.
std::string bearer_in(std::string_view header) {
  constexpr std::string_view kScheme = "bearer ";
  if (header.size() <= kScheme.size() || !beast::iequals(header.substr(0, kScheme.size()), kScheme))
    return {};
  const std::string_view token = header.substr(kScheme.size());
  const std::size_t first = std::min(token.find_first_not_of(' '), token.size());
  return std::string(token.substr(first));
}

}  // namespace

// One connection: handshake, one request after the other, each within kPatience.
class StatusListener::Session final : public std::enable_shared_from_this<Session> {
 public:
  // Asks the listener's handler; the reply comes to write(), on the listener's thread.
  using Ask = std::function<void(const Question&, std::shared_ptr<Session>)>;

  Session(tcp::socket socket, asio::ssl::context& tls, const Ask& ask, std::atomic<int>& open)
      : stream_(std::move(socket), tls), ask_(ask), open_(open) {
    ++open_;
  }
  ~Session() { --open_; }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() {
    beast::get_lowest_layer(stream_).expires_after(kPatience);
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = shared_from_this()](beast::error_code error) {
                              if (!error) self->read();
                            });
  }

 private:
  void read() {
    parser_.emplace();
    parser_->body_limit(1024);
    parser_->header_limit(8192);
    beast::get_lowest_layer(stream_).expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) {
                       if (!error) self->answer();
                     });
  }

  void answer() {
    const http::request<http::string_body>& request = parser_->get();
    if (request.method() != http::verb::get)
      return write({.code = 405, .text = "only GET is served here\n"});
    const std::string_view target = request.target();
    ask_({.path = std::string(target.substr(0, target.find('?'))),
          .bearer = bearer_in(request[http::field::authorization])},
         shared_from_this());
  }

 public:
  void write(const StatusListener::Answer& answer) {
    const http::request<http::string_body>& request = parser_->get();
    reply_ = {};
    reply_.result(static_cast<unsigned>(answer.code));
    reply_.version(request.version());
    reply_.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    reply_.set(http::field::cache_control, "no-cache, no-store");
    reply_.keep_alive(request.keep_alive());
    reply_.body() = answer.text;
    reply_.prepare_payload();
    beast::get_lowest_layer(stream_).expires_after(kPatience);
    http::async_write(stream_, reply_,
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        if (!error && self->reply_.keep_alive()) self->read();
                      });
  }

 private:
  beast::ssl_stream<beast::tcp_stream> stream_;
  const Ask& ask_;
  std::atomic<int>& open_;  // a session may end where its reply was given up
  beast::flat_buffer buffer_{std::size_t{64} * 1024};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> reply_;
};

namespace {

Result<void> set_up(asio::ssl::context& tls, const Credential& credential) {
  beast::error_code error;
  std::ignore =
      tls.set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1, error);
  std::ignore = tls.use_certificate_chain(asio::buffer(credential.certificate), error);
  if (!error)
    std::ignore =
        tls.use_private_key(asio::buffer(credential.private_key), asio::ssl::context::pem, error);
  if (error)
    return fail(Reason::Invalid, "the serving certificate cannot be used: {}", error.message());
  return {};
}

}  // namespace

// Every pending reply holds it: a session must not outlive the context that its socket is of.
struct StatusListener::State : std::enable_shared_from_this<State> {
  explicit State(Handler handler)
      : ask([this, handler = std::move(handler)](const Question& question,
                                                 std::shared_ptr<Session> session) {
          handler(question, [state = shared_from_this(), session](Answer answer) mutable {
            asio::post(state->io, [session = std::move(session), answer = std::move(answer)] {
              session->write(answer);
            });
          });
        }) {}

  Result<void> listen(const Options& options) {
    TRY(set_up(tls, options.certificate));
    beast::error_code error;
    const asio::ip::address address = asio::ip::make_address(options.address, error);
    if (error)
      return fail(Reason::Invalid, "{} is no address to serve on; write e.g. 0.0.0.0",
                  options.address);
    const tcp::endpoint endpoint(address, options.port);
    std::ignore = acceptor.open(endpoint.protocol(), error);
    if (!error) std::ignore = acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) std::ignore = acceptor.bind(endpoint, error);
    if (!error) std::ignore = acceptor.listen(kConnectionsMax, error);
    if (error)
      return fail(Reason::Invalid, "cannot serve on {}:{}: {}; is another one running?",
                  options.address, options.port, error.message());
    port = acceptor.local_endpoint().port();
    return {};
  }

  // Beyond the limit a connection is closed at once: probes come again.
  void accept() {
    acceptor.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error && open < kConnectionsMax)
        std::make_shared<Session>(std::move(socket), tls, ask, open)->start();
      accept();
    });
  }

  const Session::Ask ask;
  std::atomic<int> open = 0;
  std::uint16_t port = 0;
  asio::ssl::context tls{asio::ssl::context::tls_server};
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  std::thread thread;
};

StatusListener::StatusListener(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<StatusListener>> StatusListener::start(const Options& options,
                                                              Handler handler) {
  auto state = std::make_shared<State>(std::move(handler));
  TRY(state->listen(options));
  state->accept();
  state->thread = std::thread([&running = *state] {
    name_this_thread("status");
    running.io.run();
  });
  return std::unique_ptr<StatusListener>(new StatusListener(std::move(state)));
}

StatusListener::~StatusListener() {
  state_->io.stop();
  state_->thread.join();
}

std::uint16_t StatusListener::port() const { return state_->port; }

}  // namespace muster::server
