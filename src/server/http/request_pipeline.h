#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "base/time.h"
#include "server/access/access.h"
#include "server/core/server.h"
#include "server/http/client_ledger.h"
#include "server/http/documents.h"
#include "server/http/exchange.h"
#include "server/http/health.h"
#include "server/http/limits.h"
#include "server/http/list_response.h"
#include "server/http/message.h"
#include "server/http/watch_stream.h"

namespace muster::server {

// What happens to a request between the bytes of a connection and the core: who asks, whether they
// may, what they mean, and how it is answered. Knows neither sockets nor HTTP versions. Any thread.
//
// (delegated_run.h runs the heavy ones elsewhere.)
//
//   admit() → a refusal, or → run() → a response
//                                   → Waiting: the answer comes to the return address, then
//                                     respond(); or, for a read, wakes do, then resume()
//                                   → a list, to be read and then written by go_on()
//                                   → a watch to be streamed
class RequestPipeline {
 public:
  struct Parts {
    const Server& server;
    const Access& access;
    const ClientLedger& ledger;
    const Clock& clock;
    AuditLog* audit = nullptr;  // may be null
    HealthChecks health = {};
    std::shared_ptr<RequestMeter> meter = nullptr;   // null: one of its own
    std::function<std::string()> more_metrics = {};  // what /metrics shows besides the meter
    // For tests: called before each step with its name; what it throws ends the connection.
    std::function<void(std::string_view)> before_step = {};
  };
  // All parts outlive the pipeline.
  RequestPipeline(Parts parts, const HttpLimits& limits);

  // Judges a request by its head alone. The refusal, if there is one: 401, 403, 404, 405, 406.
  std::optional<HttpResponse> admit(const HttpRequest& request, const PeerCertificate& peer,
                                    SteadyTime now, Exchange& exchange) const;

  struct Waiting {
    std::optional<SteadyTime> until;  // writes: as long as the connection allows
  };
  // A list whose objects are looked for.
  struct Reading {
    std::unique_ptr<ListReading> list;
    Hold bytes;
  };
  using Outcome = std::variant<HttpResponse, Waiting, std::unique_ptr<WatchStream>, Reading,
                               std::unique_ptr<ListResponse>>;
  Outcome run(const HttpRequest& request, Exchange& exchange, const ReturnAddress& from) const;
  // Whether run() may take longer than other connections of an I/O thread can be left waiting: it
  // reads a large document, or one that may stand for a large one, or makes a list, that of a
  // watch included, or writes an object that is large and not sent as it is stored, or how a group
  // stands, or a document about the whole API; or it looks through the rights of a user. Only such
  // a request may have a list as its outcome.
  bool is_heavy(const HttpRequest& request, const Exchange& exchange) const;
  // The same of respond().
  static bool is_heavy(const Exchange& exchange, const Result<api::Answer>& answer);

  // Whether a list may be written now: it is short, or it has got a place. If not, read_again()
  // when may_begin_long().
  Outcome read_again(const Exchange& exchange, const ReturnAddress& from) const;
  bool hold_place(const Exchange& exchange, ListResponse& list) const;
  bool may_begin_long(const Exchange& exchange, std::size_t bytes) const {
    return parts_.ledger.has_long_place(*exchange.account, bytes);
  }
  // Looks for more objects of a list: what comes next, once all are found.
  std::optional<Outcome> go_on(const Exchange& exchange, Reading& reading,
                               const ReturnAddress& from) const;
  // Writes the next piece of a list: the response, once that was the last one.
  std::optional<HttpResponse> go_on(const Exchange& exchange, ListResponse& list) const;
  // Counts groups for a while, if the answer shows how they stand. False: there is more to count
  // before it is run, resumed or responded.
  bool catch_up(const Exchange& exchange) const;
  bool catch_up() const;
  // Whether a watch has shown groups without, since there was too much to count.
  bool wants_to_catch_up() const { return parts_.server.tally().pop_request(); }

  // Whether a waiting read can go on: its revision was reached, or its time is up. Cheap, since all
  // that wait ask after every change; resume() is not: a list is large.
  bool is_due(const Exchange& exchange, SteadyTime now) const;
  // The response to such a read, or the watch; Waiting if its revision has not come yet.
  Outcome resume(Exchange& exchange, const ReturnAddress& from, SteadyTime now) const;
  // The answer to a request whose time is up.
  HttpResponse give_up(const Exchange& exchange) const;

  // A list is made only if there is room for more bytes: otherwise a read is refused, and a
  // deletion, which has happened, is answered without one.
  HttpResponse respond(const Exchange& exchange, const Result<api::Answer>& answer,
                       const ReturnAddress& from) const;
  HttpResponse refuse(const Exchange& exchange, const Error& error) const;
  // The head of a watch's response.
  HttpResponse watch_response(const Exchange& exchange) const;
  WatchStream::State pull(WatchStream& stream, SteadyTime now, std::size_t bytes_max,
                          std::string& out) const {
    step("pull");
    return stream.pull(now, bytes_max, out);
  }

  // For metrics and the audit log, once an exchange is over.
  void finished(const Exchange& exchange, int code, SteadyTime now) const;
  const Clock& clock() const { return parts_.clock; }

 private:
  void step(std::string_view name) const {
    if (parts_.before_step) parts_.before_step(name);
  }
  Result<void> identify(const HttpRequest& request, const PeerCertificate& peer,
                        Exchange& exchange) const;
  Outcome run_resource(const HttpRequest& request, Exchange& exchange,
                       const ReturnAddress& from) const;
  Outcome run_write(const HttpRequest& request, Exchange& exchange,
                    const ReturnAddress& from) const;
  Outcome run_read(Exchange& exchange, const ReturnAddress& from) const;
  Outcome run_watch(Exchange& exchange, const ReturnAddress& from, SteadyTime now) const;
  // Lets a read wait for its revision.
  Outcome park(Exchange& exchange, const ReturnAddress& from) const;
  bool has_room(const Exchange& exchange, const ReturnAddress& from) const;
  Result<Outcome> read(const Exchange& exchange, const ReturnAddress& from) const;
  Outcome outcome_of_read(const Exchange& exchange, Result<Outcome> read) const;
  std::unique_ptr<ListResponse> begin_list(const Exchange& exchange, api::Answer answer,
                                           const ReturnAddress& from) const;
  Result<void> read_request(const HttpRequest& request, Exchange& exchange) const;
  std::unique_ptr<WatchStream> open_stream(const Exchange& exchange, const ReturnAddress& from,
                                           Server::OpenWatch opened, Hold place) const;
  HttpResponse answer_other(const HttpRequest& request, const Exchange& exchange) const;
  HttpResponse finish(const Exchange& exchange, HttpResponse response) const;
  HttpResponse sign(const Exchange& exchange, HttpResponse response) const;

  const Parts parts_;
  const HttpLimits& limits_;
  const std::shared_ptr<RequestMeter> meter_;
  Documents documents_;
};

// What an answer of the core keeps in memory until it is written down.
std::size_t bytes_kept(const Result<api::Answer>& answer);

// The Status of an error as a response, for where there is no exchange (yet).
HttpResponse status_response(const Error& error, std::string_view continue_token = {});
// "Too many requests, please try again later."
Error too_many_requests();

}  // namespace muster::server
