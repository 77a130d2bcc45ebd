#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/time.h"
#include "server/access/access.h"
#include "server/core/server.h"
#include "server/http/audit.h"
#include "server/http/documents.h"
#include "server/http/inbox.h"
#include "server/http/message.h"
#include "server/http/options.h"
#include "server/http/render.h"
#include "server/http/request_meter.h"
#include "server/http/router.h"
#include "server/http/watch_stream.h"

namespace muster::server {

// A read of a revision that the store has not reached: it is tried again after every change, until
// somebody's patience ends.
struct ParkedRead {
  std::unique_ptr<watch::Window::Subscription> any_change;
  SteadyTime until;
};

// One request on its way from head to answer; kept by the connection meanwhile.
struct Exchange {
  Route route;
  Identity who;
  Rendering rendering;
  RequestMeter::Labels labels;
  std::string audit_id;
  std::unique_ptr<AuditRecord> audit;  // null unless there is an audit log
  SteadyTime started;
  std::optional<ParkedRead> parked;
  DeleteReply delete_reply;
  bool pretty = false;
  bool gzip = false;
};

// Where the core's answers and wakes go.
struct ReturnAddress {
  std::shared_ptr<Inbox> inbox;
  std::weak_ptr<Recipient> recipient;
};

// What happens to a request between the bytes of a connection and the core: who asks, may they,
// what do they mean, and how is it told. Knows neither sockets nor HTTP versions. Any thread.
//
//   admit() → a refusal, or → run() → a response
//                                   → Waiting: the answer comes to the return address, then
//                                     respond(); or, for a read, wakes do, then resume()
//                                   → a watch to be streamed
class RequestPipeline {
 public:
  struct Options {
    std::size_t requests_in_flight_max = 600;
    std::size_t watches_max = 50'000;
    // How long a read or a WatchList waits for a revision that the store has not reached.
    std::chrono::milliseconds unreached_max{3000};
  };
  // `audit` may be null. All outlive the pipeline.
  RequestPipeline(const Server& server, const Access& access, AuditLog* audit, const Clock& clock,
                  Options options)
      : server_(server),
        access_(access),
        audit_(audit),
        clock_(clock),
        options_(options),
        meter_(std::make_shared<RequestMeter>()),
        documents_(server.served()) {}

  // Judges a request by its head alone. The refusal, if there is one: 401, 403, 404, 405, 406.
  std::optional<HttpResponse> admit(const HttpRequest& request, const PeerCertificate& peer,
                                    SteadyTime now, Exchange& exchange) const;

  struct Waiting {
    std::optional<SteadyTime> until;  // a write is waited for as long as its connection likes
  };
  using Outcome = std::variant<HttpResponse, Waiting, std::unique_ptr<WatchStream>>;
  Outcome run(const HttpRequest& request, Exchange& exchange, const ReturnAddress& from) const;

  // The response to a read that waits, once there is one.
  std::optional<HttpResponse> resume(Exchange& exchange, SteadyTime now) const;
  // What a request is told whose wait is over.
  HttpResponse give_up(Exchange& exchange, SteadyTime now) const;

  HttpResponse respond(const Exchange& exchange, const Result<api::Answer>& answer) const;
  HttpResponse refuse(const Exchange& exchange, const Error& error) const;
  // The head of a watch's response.
  HttpResponse watch_response(const Exchange& exchange) const;

  // For the books, once an exchange is over.
  void finished(const Exchange& exchange, int code, SteadyTime now) const;
  RequestMeter& meter() const { return *meter_; }
  const Clock& clock() const { return clock_; }

 private:
  Result<void> authorize(const Exchange& exchange) const;
  Outcome run_resource(const HttpRequest& request, Exchange& exchange,
                       const ReturnAddress& from) const;
  Outcome run_read(Exchange& exchange, const ReturnAddress& from) const;
  HttpResponse respond_to_read(const Exchange& exchange, const Result<api::Answer>& answer) const;
  Result<void> read_request(const HttpRequest& request, Exchange& exchange) const;
  Result<std::unique_ptr<WatchStream>> open_watch(Exchange& exchange,
                                                  const ReturnAddress& from) const;
  HttpResponse answer_other(const HttpRequest& request, const Exchange& exchange) const;
  HttpResponse finish(const Exchange& exchange, HttpResponse response) const;

  const Server& server_;
  const Access& access_;
  AuditLog* const audit_;
  const Clock& clock_;
  const Options options_;
  const std::shared_ptr<RequestMeter> meter_;  // shared with answers that may outlive us
  Documents documents_;
};

// The Status of an error as a response, for where there is no exchange (yet).
HttpResponse status_response(const Error& error, std::string_view continue_token = {});

}  // namespace muster::server
