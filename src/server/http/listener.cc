#include "server/http/listener.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/thread_name.h"
#include "server/http/connection.h"
#include "server/http/health.h"
#include "server/http/loop.h"
#include "server/http/request_pipeline.h"
#include "server/http/tls.h"
#include "server/http/work_pool.h"

namespace muster::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// After accept() failed because descriptors or memory ran out.
constexpr std::chrono::milliseconds kAcceptPause{100};

// Answers go out at once, and peers that vanished are noticed: a watch may be silent for an hour.
void tune(tcp::socket& socket) {
  error_code ignored;
  std::ignore = socket.set_option(tcp::no_delay(true), ignored);
  std::ignore = socket.set_option(asio::socket_base::keep_alive(true), ignored);
  const int fd = socket.native_handle();
  const auto set = [fd](int option, int value) {
    (void)::setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value);
  };
  set(TCP_KEEPIDLE, 30);
  set(TCP_KEEPINTVL, 15);
  set(TCP_KEEPCNT, 4);
  std::ignore = socket.non_blocking(true, ignored);
}

// Connections catch what their own steps throw; this is for the little that runs beside them.
void run_guarded(asio::io_context& io) {
  while (!io.stopped()) {
    try {
      io.run();
    } catch (const std::exception& error) {
      log(LogLevel::Error, "an exception on an I/O thread: {}", error.what());
    }
  }
}

class HttpsListener final : public Listener {
 public:
  HttpsListener(const ListenOptions& options, const Server& server, const Access& access,
                const Clock& clock, TlsContext tls)
      : tls_(std::move(tls)),
        limits_(options.limits),
        ledger_(limits_.clients),
        pipeline_({.server = server,
                   .access = access,
                   .ledger = ledger_,
                   .clock = clock,
                   .audit = options.audit,
                   .health = health_checks(options.store_health),
                   .meter = options.meter,
                   .more_metrics = options.more_metrics,
                   .before_step = options.before_step},
                  limits_),
        pool_(std::max(options.threads, 1U)),
        shared_{.pipeline = pipeline_,
                .ledger = ledger_,
                .tls = tls_,
                .limits = limits_,
                .pool = pool_} {
    for (unsigned i = 0; i < std::max(options.threads, 1U); ++i)
      loops_.push_back(std::make_unique<Loop>());
    acceptor_.emplace(loops_[0]->io());
    accept_pause_.emplace(loops_[0]->io());
  }

  ~HttpsListener() override {
    for (const auto& loop : loops_) loop->io().stop();
    for (std::thread& thread : threads_) thread.join();
    // Connections, and the watches they hold, go with the loops that own them.
    accept_pause_.reset();
    acceptor_.reset();
  }
  HttpsListener(const HttpsListener&) = delete;
  HttpsListener& operator=(const HttpsListener&) = delete;

  // The error says which step failed.
  Result<void> listen(const ListenOptions& options) {
    error_code error;
    const auto failed = [&](std::string_view step) {
      return fail(Reason::InternalError, "cannot {} {}:{}: {}", step, options.address, options.port,
                  error.message());
    };
    const asio::ip::address address = asio::ip::make_address(options.address, error);
    if (error) return failed("understand the address of");
    const tcp::endpoint endpoint(address, options.port);
    if (acceptor_->open(endpoint.protocol(), error); error) return failed("open a socket for");
    if (acceptor_->set_option(tcp::acceptor::reuse_address(true), error); error)
      return failed("set up");
    if (acceptor_->bind(endpoint, error); error) return failed("listen on");
    if (acceptor_->listen(asio::socket_base::max_listen_connections, error); error)
      return failed("listen on");
    const tcp::endpoint bound = acceptor_->local_endpoint(error);
    if (error) return failed("find the port of");
    address_ = bound.address().is_v6()
                   ? fmt::format("[{}]:{}", bound.address().to_string(), bound.port())
                   : fmt::format("{}:{}", bound.address().to_string(), bound.port());
    return {};
  }

  void run() {
    accept();
    for (const auto& loop : loops_) {
      threads_.emplace_back([&io = loop->io()] {
        name_this_thread("io");
        const auto work = asio::make_work_guard(io);
        run_guarded(io);
      });
    }
  }

  std::string address() const override { return address_; }
  const ClientLedger& ledger() const override { return ledger_; }

 private:
  // On the first loop, as is all that touches acceptor_ once threads run.
  void accept() {
    Loop& loop = *loops_[next_loop_];
    next_loop_ = (next_loop_ + 1) % loops_.size();
    acceptor_->async_accept(loop.io(), [this, &loop](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {
        log(LogLevel::Warning, "cannot accept a connection: {}", error.message());
        accept_pause_->expires_after(kAcceptPause);
        accept_pause_->async_wait([this](error_code stopped) {
          if (!stopped) accept();
        });
        return;
      }
      begin(loop, std::move(socket));
      accept();
    });
  }

  void begin(Loop& loop, tcp::socket socket) {
    error_code error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (error) return;  // gone already
    TicketPtr ticket = ledger_.accept(peer.address().to_string());
    if (!ticket) {
      log_refusal();
      return;  // closes it, before it has cost a handshake
    }
    tune(socket);
    asio::post(loop.io(),
               [this, &loop, moved = std::move(socket), held = std::move(ticket)]() mutable {
                 serve_connection(loop, std::move(moved), std::move(held), shared_);
               });
  }

  // At most once a second: refusals must not fill the log.
  void log_refusal() {
    ++refusals_;
    const SteadyTime now = SteadyClock::now();
    if (now < log_again_) return;
    log_again_ = now + std::chrono::seconds(1);
    log(LogLevel::Warning, "refused {} connections: {} are open", std::exchange(refusals_, 0),
        ledger_.total().used(Resource::Connections));
  }

  const TlsContext tls_;
  const HttpLimits limits_;
  ClientLedger ledger_;
  const RequestPipeline pipeline_;
  WorkPool pool_;
  const ConnectionShared shared_;
  std::string address_;
  std::vector<std::unique_ptr<Loop>>
      loops_;  // connections die with them, so all they use stands above
  std::optional<tcp::acceptor> acceptor_;
  std::optional<asio::steady_timer> accept_pause_;
  std::size_t next_loop_ = 0;
  std::size_t refusals_ = 0;  // not logged yet
  SteadyTime log_again_;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<std::unique_ptr<Listener>> Listener::start(const ListenOptions& options,
                                                  const Server& server, const Access& access,
                                                  const Clock& clock) {
  TlsContext tls =
      TRY(TlsContext::make(options.ca_certificate, options.certificate, options.private_key));
  auto listener = std::make_unique<HttpsListener>(options, server, access, clock, std::move(tls));
  TRY(listener->listen(options));
  listener->run();
  return listener;
}

}  // namespace muster::server
