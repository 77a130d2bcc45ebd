// The answering half of RequestPipeline: results, errors and documents become responses.
#include <fmt/format.h>

#include <iterator>
#include <utility>
#include <vector>

#include "api/tables/scale_table.h"
#include "server/core/read/paging.h"
#include "server/core/request/status.h"
#include "server/http/compress.h"
#include "server/http/openid.h"
#include "server/http/request_pipeline.h"
#include "server/http/warnings.h"

namespace muster::server {
namespace {

void write_gauge(std::string_view name, std::string_view help, std::string_view labels,
                 std::int64_t value, std::string& out) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} gauge\n{0}{2} {3}\n", name,
                 help, labels, value);
}

// What all clients hold together, under upstream's names where there are any.
void write_held(const Account& held, std::string& out) {
  write_gauge("apiserver_current_inflight_requests", "Requests being worked on.",
              "{request_kind=\"mutating\"}", held.used(Resource::Writes), out);
  write_gauge("apiserver_longrunning_requests", "Open watches.", "{verb=\"WATCH\"}",
              held.used(Resource::Watches), out);
  write_gauge("muster_http_connections", "Open connections.", "", held.used(Resource::Connections),
              out);
  write_gauge("muster_http_bytes_held", "Bytes of requests and answers in memory.", "",
              held.used(Resource::Bytes), out);
}

}  // namespace

HttpResponse status_response(const Error& error, std::string_view continue_token) {
  HttpResponse response;
  response.code = http_code(error.reason);
  response.body = status_json(error, continue_token);
  response.body += '\n';
  if (error.retry_after_s > 0)
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after_s));
  return response;
}

Error too_many_requests() {
  Error error = make_error(Reason::TooManyRequests, "Too many requests, please try again later.");
  error.retry_after_s = 1;
  return error;
}

// An expired page says how to go on.
RequestPipeline::Outcome RequestPipeline::outcome_of_read(const Exchange& exchange,
                                                          Result<Outcome> read) const {
  if (read) return *std::move(read);
  const std::string& token = exchange.route.request.list.continue_token;
  if (read.error().reason == Reason::Expired && !token.empty())
    return finish(exchange, status_response(read.error(), renewed_token(token)));
  return refuse(exchange, read.error());
}

std::optional<RequestPipeline::Outcome> RequestPipeline::go_on(const Exchange& exchange,
                                                               Reading& reading,
                                                               const ReturnAddress& from) const {
  step("look_on");
  const bool more = reading.list->look_on();
  reading.bytes.resize(reading.list->bytes());
  if (more) return std::nullopt;
  api::Answer answer = reading.list->answer();
  reading = Reading{};  // what it held is the list's from here on
  step("respond");
  if (auto list = begin_list(exchange, std::move(answer), from)) return Outcome(std::move(list));
  return Outcome(refuse(exchange, too_many_requests()));
}

HttpResponse RequestPipeline::answer_other(const HttpRequest& request,
                                           const Exchange& exchange) const {
  const Route& found = exchange.route;
  if (found.endpoint == Endpoint::Health) {
    const std::vector<HealthCheck> checks = parts_.health(found.key);
    return answer_health({.endpoint = found.key, .check = found.check}, found.query, checks);
  }
  if (found.endpoint == Endpoint::Metrics) {
    HttpResponse response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = meter_->text();
    if (parts_.more_metrics) response.body += parts_.more_metrics();
    write_held(parts_.ledger.total(), response.body);
    return response;
  }
  if (found.endpoint == Endpoint::OpenIdConfiguration || found.endpoint == Endpoint::OpenIdKeys)
    return answer_openid(found.endpoint, parts_.access.token_key(), request.host);
  auto answer = documents_.answer(found, request, parts_.clock.now());
  return answer ? *std::move(answer) : status_response(answer.error());
}

HttpResponse RequestPipeline::respond(const Exchange& exchange, const Result<api::Answer>& answer,
                                      const ReturnAddress& from) const {
  step("respond");
  if (!answer) return refuse(exchange, answer.error());
  HttpResponse response;
  const Rendering& how = exchange.rendering;
  const Time now = how.form == Form::Table ? parts_.clock.now() : Time{};
  if (const auto* object = std::get_if<api::ObjectAnswer>(&answer->what)) {
    response.code = object->created ? 201 : 200;
    // An object that is gone carries the revision of its deletion instead of its own.
    if (exchange.delete_reply.tells_pending && object->revision == object->object->revision())
      response.code = 202;
    write_object(how, *object->object, object->revision, now, response.body);
  } else if (std::holds_alternative<api::ListAnswer>(answer->what)) {
    // What was deleted, and no more than a piece.
    if (const auto list = begin_list(exchange, *answer, from)) {
      while (list->write_some()) {
      }
      return sign(exchange, list->response());
    }
    if (exchange.route.request.verb != api::Verb::DeleteCollection)
      return refuse(exchange, too_many_requests());
    response.body = status_json(api::StatusAnswer{});
  } else if (const auto* status = std::get_if<api::StatusAnswer>(&answer->what)) {
    response.code = status->code;
    response.body = status_json(*status);
  } else {
    const auto& document = std::get<api::DocumentAnswer>(answer->what);
    response.code = document.code;
    if (how.form == Form::Table && api::find_string(document.document, "kind") == "Scale")
      api::append_scale_table(
          document.document,
          {.now = now, .include = how.include_object, .meta_version = how.meta_version},
          response.body);
    else
      api::write_json(document.document, response.body);
  }
  response.body += '\n';
  if (!answer->warnings.empty())
    for (std::string& value : warning_headers(answer->warnings))
      response.headers.emplace_back("Warning", std::move(value));
  return finish(exchange, std::move(response));
}

// While a list is written it counts for its client, who cannot have several large ones written at
// once then; for all clients together only what is written counts: they are not kept out by what
// may be packed to a tenth. Null if there is no room, or if it is larger than anybody's share and
// another such is on its way.
std::unique_ptr<ListResponse> RequestPipeline::begin_list(const Exchange& exchange,
                                                          api::Answer answer,
                                                          const ReturnAddress& from) const {
  if (!has_room(exchange, from)) return nullptr;
  const Rendering& how = exchange.rendering;
  const ClientLedger& ledger = parts_.ledger;
  ListResponse::Holds holds{
      .written = ledger.hold_bytes(exchange.account, from.connection),
      .expected = Hold(Resource::Bytes, {exchange.account, from.connection, nullptr})};
  // Of other forms nobody knows before how large they are.
  const std::size_t bytes =
      how.form == Form::Full ? bytes_of(std::get<api::ListAnswer>(answer.what)) : 0;
  if (ClientLedger::is_long(bytes) && !ledger.has_room_for_long(*exchange.account, bytes))
    return nullptr;
  holds.expected.resize(bytes);
  if (ledger.is_large(bytes)) {
    holds.large = ledger.hold_large(*exchange.account);
    if (!holds.large) return nullptr;
  }
  step("list");
  return std::make_unique<ListResponse>(
      std::move(answer),
      ListResponse::Options{.rendering = how,
                            .now = how.form == Form::Table ? parts_.clock.now() : Time{},
                            .indents = exchange.pretty,
                            .packs = exchange.gzip},
      std::move(holds));
}

bool RequestPipeline::hold_place(const Exchange& exchange, ListResponse& list) const {
  const std::size_t bytes = list.bytes_of_objects();
  if (!ClientLedger::is_long(bytes)) return true;
  list.holds().place = parts_.ledger.hold_long_place(*exchange.account, bytes);
  return list.holds().place != nullptr;
}

// There was room when it began, for others that did as well: if all of them together are too much,
// not all are finished.
std::optional<HttpResponse> RequestPipeline::go_on(const Exchange& exchange,
                                                   ListResponse& list) const {
  step("go_on");
  const ClientLedger& ledger = parts_.ledger;
  if (ledger.is_overdrawn()) return refuse(exchange, too_many_requests());
  const bool more = list.write_some();
  ListResponse::Holds& holds = list.holds();
  if (ledger.is_large(list.bytes()) && !holds.large) {
    holds.large = ledger.hold_large(*exchange.account);
    if (!holds.large) return refuse(exchange, too_many_requests());
  }
  if (more) return std::nullopt;
  if (!ledger.is_large(list.bytes())) holds.large.reset();
  return sign(exchange, list.response());
}

std::size_t bytes_kept(const Result<api::Answer>& answer) {
  const auto* list = answer ? std::get_if<api::ListAnswer>(&answer->what) : nullptr;
  return list != nullptr ? bytes_of(*list) : 0;
}

HttpResponse RequestPipeline::refuse(const Exchange& exchange, const Error& error) const {
  return finish(exchange, status_response(error));
}

HttpResponse RequestPipeline::watch_response(const Exchange& exchange) const {
  HttpResponse response;
  response.headers.emplace_back("Audit-Id", exchange.audit_id);
  return response;
}

HttpResponse RequestPipeline::finish(const Exchange& exchange, HttpResponse response) const {
  if (exchange.pretty && response.content_type == "application/json" && !response.body.empty())
    response.body = indent_json(response.body) + "\n";
  if (exchange.gzip && response.body.size() > kGzipBytesMin) {
    if (auto packed = gzip(response.body)) {
      response.body = *std::move(packed);
      set_packed(response);
    }
  }
  return sign(exchange, std::move(response));
}

HttpResponse RequestPipeline::sign(const Exchange& exchange, HttpResponse response) const {
  response.headers.emplace_back("Audit-Id", exchange.audit_id);
  return response;
}

void RequestPipeline::finished(const Exchange& exchange, int code, SteadyTime now) const {
  meter_->count(exchange.labels, code,
                std::chrono::duration_cast<Duration>(now - exchange.started));
  if (!exchange.audit) return;
  AuditRecord& record = *exchange.audit;
  record.asked = exchange.route.attributes;
  record.code = code;
  record.finished = parts_.clock.now();
  parts_.audit->write(record);
}

}  // namespace muster::server
