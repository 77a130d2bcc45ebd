#include "server/http/request_pipeline.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "api/tables/scale_table.h"
#include "base/check.h"
#include "base/entropy.h"
#include "server/access/impersonation.h"
#include "server/core/read/paging.h"
#include "server/core/request/status.h"
#include "server/http/body.h"
#include "server/http/compress.h"
#include "server/http/health.h"
#include "server/http/negotiate.h"
#include "server/http/openid.h"
#include "server/http/options.h"
#include "server/http/warnings.h"

namespace muster::server {
namespace {

// As upstream; below it the gain is not worth the time.
constexpr std::size_t kGzipBytesMin = 128U << 10U;
constexpr std::int64_t kWatchSecondsMin = 1800;
// Longer is for ever, and must not overflow a clock.
constexpr std::int64_t kWatchSecondsMax = 31'536'000;

// Audit ids and the jitter of watch timeouts are no decisions of a component, so this room draws
// them itself.
Entropy& entropy() {
  thread_local SeededEntropy of_this_thread = [] {
    SystemEntropy system;
    return SeededEntropy(system.next());
  }();
  return of_this_thread;
}

std::string_view metric_verb(const Route& route) {
  switch (route.request.verb) {
    case api::Verb::Get: return "GET";
    case api::Verb::List: return "LIST";
    case api::Verb::Watch: return "WATCH";
    case api::Verb::Create: return "POST";
    case api::Verb::Update: return "PUT";
    case api::Verb::Patch: return "PATCH";
    case api::Verb::Delete: return "DELETE";
    case api::Verb::DeleteCollection: return "DELETECOLLECTION";
  }
  return "";
}

// Only names from our own tables become labels: a client must not be able to invent series.
RequestMeter::Labels metric_labels(const Route& route) {
  RequestMeter::Labels labels;
  const api::Request& request = route.request;
  if (route.endpoint != Endpoint::Resource || route.error || request.kind == nullptr) {
    labels.verb = route.endpoint == Endpoint::Unknown || route.error ? "other" : "GET";
    if (route.endpoint == Endpoint::Health)
      labels.subresource = route.key == "healthz" ? "/healthz"
                           : route.key == "livez" ? "/livez"
                                                  : "/readyz";
    if (route.endpoint == Endpoint::Metrics) labels.subresource = "/metrics";
    return labels;
  }
  labels.verb = metric_verb(route);
  labels.group = request.kind->group;
  labels.version = *std::ranges::find(request.kind->versions, request.version);
  labels.resource = request.kind->plural;
  if (const api::Subresource* sub = request.kind->subresource(request.subresource))
    labels.subresource = sub->name;
  labels.scope = !request.name.empty()         ? "resource"
                 : !request.name_space.empty() ? "namespace"
                                               : "cluster";
  return labels;
}

bool wants_indent(const Query& query, std::string_view user_agent) {
  if (query.find("pretty") != nullptr) return query.flag("pretty");
  constexpr std::array<std::string_view, 3> kHumans = {"curl", "Wget", "Mozilla/5.0"};
  return std::ranges::any_of(kHumans,
                             [&](std::string_view human) { return user_agent.starts_with(human); });
}

Result<api::IncludeObject> include_object(const Query& query) {
  const std::string text = query.text("includeObject");
  if (text.empty() || text == "Metadata") return api::IncludeObject::Metadata;
  if (text == "Object") return api::IncludeObject::Object;
  if (text == "None") return api::IncludeObject::None;
  return fail(Reason::BadRequest, "unrecognized includeObject value: {:?}", text);
}

// The object that `fieldSelector=metadata.name=x` is about; empty without it.
std::string name_selected(const Query& query) {
  constexpr std::string_view kName = "metadata.name=";
  const std::string selector = query.text("fieldSelector");
  if (!selector.starts_with(kName) || selector.find(',') != std::string::npos) return "";
  std::string_view name = std::string_view(selector).substr(kName.size());
  if (name.starts_with('=')) name.remove_prefix(1);
  return std::string(name);
}

// The pods a GroupBinding is about, for the audit log.
std::vector<std::string> pods_bound(const api::Request& request) {
  std::vector<std::string> out;
  if (request.kind == nullptr || request.kind->kind != "GroupBinding") return out;
  const api::Json* const pods = api::find_path(request.body, "spec.pods");
  if (pods == nullptr || !pods->is_array()) return out;
  for (const api::Json& pod : pods->get_array()) out.emplace_back(api::find_string(pod, "name"));
  return out;
}

bool is_write(api::Verb verb) {
  return verb != api::Verb::Get && verb != api::Verb::List && verb != api::Verb::Watch;
}

// Whom the request's headers name.
Identity identity_wanted(const HttpRequest& request) {
  Identity out{.user = {.name = request.impersonate_user, .groups = request.impersonate_groups},
               .uid = request.impersonate_uid};
  for (const auto& [key, value] : request.impersonate_extra)
    out.extra[percent_decode(key, false).value_or(key)].push_back(value);
  return out;
}

// Whether a read asked for a revision that the store has not reached.
bool is_unreached(const Result<api::Answer>& answer) {
  return !answer && answer.error().reason == Reason::Timeout;
}

// Wakes that come while one is on its way say nothing new. The flag goes down before news are
// looked for (Recipient::take_wake runs after it), so none is lost.
watch::Window::Wake wake_of(const ReturnAddress& from) {
  return [from, on_its_way = std::make_shared<std::atomic<bool>>(false)] {
    if (!on_its_way->exchange(true)) from.inbox->put_wake(from.recipient, on_its_way);
  };
}

Error too_many_requests() {
  Error error = make_error(Reason::TooManyRequests, "Too many requests, please try again later.");
  error.retry_after_s = 1;
  return error;
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

std::optional<HttpResponse> RequestPipeline::admit(const HttpRequest& request,
                                                   const PeerCertificate& peer, SteadyTime now,
                                                   Exchange& exchange) const {
  exchange = Exchange{};
  exchange.started = now;
  exchange.audit_id = random_uuid(entropy());
  if (audit_ != nullptr)
    exchange.audit = std::make_unique<AuditRecord>(AuditRecord{.id = exchange.audit_id,
                                                               .target = request.target,
                                                               .user_agent = request.user_agent,
                                                               .user = {},
                                                               .impersonated = {},
                                                               .asked = {},
                                                               .code = 0,
                                                               .received = clock_.now(),
                                                               .finished = {},
                                                               .pods = {}});
  exchange.gzip = accepts_gzip(request.accept_encoding);
  auto routed = route(request, server_.served());
  if (!routed) return refuse(exchange, routed.error());
  exchange.route = *std::move(routed);
  const Route& found = exchange.route;
  exchange.labels = metric_labels(found);
  exchange.pretty = wants_indent(found.query, request.user_agent);

  auto who = access_.authenticator().authenticate(peer, request.authorization, clock_.now());
  if (!who) return refuse(exchange, who.error());
  if (exchange.audit) exchange.audit->user = who->user;
  if (request.impersonates()) {
    who = impersonate(access_.authorizer(), who->user, identity_wanted(request));
    if (!who) return refuse(exchange, who.error());
    if (exchange.audit) exchange.audit->impersonated = who->user;
  }
  exchange.who = *std::move(who);
  if (const auto allowed = authorize(exchange); !allowed) return refuse(exchange, allowed.error());
  if (found.endpoint == Endpoint::Unknown) return finish(exchange, page_not_found());
  if (found.error) return refuse(exchange, *found.error);
  if (found.endpoint != Endpoint::Resource) return std::nullopt;

  const bool is_list =
      found.request.verb == api::Verb::List || found.request.verb == api::Verb::DeleteCollection;
  const auto form = negotiate_form(request.accept, is_list ? Shape::List : Shape::Object);
  if (!form) return refuse(exchange, form.error());
  exchange.rendering = {.kind = found.request.kind,
                        .version = found.request.version,
                        .form = *form,
                        .groups = &server_.tally()};
  return std::nullopt;
}

// A list or watch of one object by its name is judged as if it named the object.
Result<void> RequestPipeline::authorize(const Exchange& exchange) const {
  const Attributes& asked = exchange.route.attributes;
  const bool lists = asked.verb == "list" || asked.verb == "watch";
  if (!lists || !asked.name.empty() || is_master(exchange.who.user))
    return access_.authorizer().authorize(exchange.who.user, asked);
  Attributes named = asked;
  named.name = name_selected(exchange.route.query);
  return access_.authorizer().authorize(exchange.who.user, named);
}

RequestPipeline::Outcome RequestPipeline::run(const HttpRequest& request, Exchange& exchange,
                                              const ReturnAddress& from) const {
  if (exchange.route.endpoint == Endpoint::Resource) return run_resource(request, exchange, from);
  return finish(exchange, answer_other(request, exchange));
}

RequestPipeline::Outcome RequestPipeline::run_resource(const HttpRequest& request,
                                                       Exchange& exchange,
                                                       const ReturnAddress& from) const {
  if (const auto read = read_request(request, exchange); !read)
    return refuse(exchange, read.error());
  api::Request& asked = exchange.route.request;
  exchange.labels.dry_run = asked.dry_run;
  if (exchange.audit) exchange.audit->pods = pods_bound(asked);

  if (asked.verb == api::Verb::Watch) {
    auto stream = open_watch(exchange, from);
    if (!stream) return refuse(exchange, stream.error());
    return *std::move(stream);
  }
  if (Reviews::handles(asked))
    return respond(exchange,
                   access_.reviews().answer(asked, exchange.who, clock_.now(), entropy()));
  if (!is_write(asked.verb)) return run_read(exchange, from);
  const auto in_flight_max = static_cast<std::int64_t>(options_.requests_in_flight_max);
  if (meter_->requests_in_flight.fetch_add(1) >= in_flight_max) {
    meter_->requests_in_flight.fetch_sub(1);
    return refuse(exchange, too_many_requests());
  }
  // The answer may come when connection and listener are long gone; it holds on to what it needs.
  server_.handle(std::move(asked), [from, meter = meter_](Result<api::Answer> answer) {
    meter->requests_in_flight.fetch_sub(1);
    from.inbox->put_answer(from.recipient, std::move(answer));
  });
  return Waiting{};
}

RequestPipeline::Outcome RequestPipeline::run_read(Exchange& exchange,
                                                   const ReturnAddress& from) const {
  const Result<api::Answer> answer = server_.read(exchange.route.request);
  if (!is_unreached(answer)) return respond_to_read(exchange, answer);
  exchange.parked = ParkedRead{.any_change = server_.listen(wake_of(from)),
                               .until = exchange.started + options_.unreached_max};
  // The revision may have come before we listened.
  if (auto response = resume(exchange, exchange.started)) return *std::move(response);
  return Waiting{.until = exchange.parked->until};
}

std::optional<HttpResponse> RequestPipeline::resume(Exchange& exchange, SteadyTime now) const {
  if (!exchange.parked) return std::nullopt;
  const Result<api::Answer> answer = server_.read(exchange.route.request);
  if (is_unreached(answer) && now < exchange.parked->until) return std::nullopt;
  exchange.parked.reset();
  return respond_to_read(exchange, answer);
}

HttpResponse RequestPipeline::give_up(Exchange& exchange, SteadyTime now) const {
  if (auto response = resume(exchange, now)) return *std::move(response);
  return refuse(
      exchange,
      make_error(Reason::Timeout, "Timeout: request did not complete within the allotted timeout"));
}

// An expired page says how to go on.
HttpResponse RequestPipeline::respond_to_read(const Exchange& exchange,
                                              const Result<api::Answer>& answer) const {
  const std::string& token = exchange.route.request.list.continue_token;
  if (!answer && answer.error().reason == Reason::Expired && !token.empty())
    return finish(exchange, status_response(answer.error(), renewed_token(token)));
  return respond(exchange, answer);
}

Result<void> RequestPipeline::read_request(const HttpRequest& request, Exchange& exchange) const {
  const Query& query = exchange.route.query;
  api::Request& asked = exchange.route.request;
  asked.user = exchange.who.user;
  exchange.rendering.include_object = TRY(include_object(query));
  if (asked.verb == api::Verb::Patch) asked.patch_type = TRY(patch_type(request.content_type));
  TRY(read_options(query, request.user_agent, asked));
  if (!is_write(asked.verb)) return {};
  const bool deletes = asked.verb == api::Verb::Delete || asked.verb == api::Verb::DeleteCollection;
  if (!deletes) return read_body(request.content_type, request.body, asked);
  if (request.body.empty())
    exchange.delete_reply = TRY(read_delete_options(query, asked));
  else
    exchange.delete_reply = TRY(read_deletion(request.content_type, request.body, asked));
  return {};
}

Result<std::unique_ptr<WatchStream>> RequestPipeline::open_watch(Exchange& exchange,
                                                                 const ReturnAddress& from) const {
  const api::Request& asked = exchange.route.request;
  if (meter_->watches.load() >= static_cast<std::int64_t>(options_.watches_max))
    return fail(too_many_requests());
  auto opened = TRY(server_.watch(asked, wake_of(from)));
  const std::int64_t asked_s = asked.list.timeout_s.value_or(0);
  const std::int64_t timeout_s =
      asked_s > 0 ? asked_s
                  : kWatchSecondsMin + static_cast<std::int64_t>(entropy().below(kWatchSecondsMin));
  const std::chrono::seconds timeout(std::min(timeout_s, kWatchSecondsMax));
  return std::make_unique<WatchStream>(
      std::move(opened),
      WatchStream::Options{.rendering = exchange.rendering,
                           .bookmarks = asked.list.allow_bookmarks,
                           .started = exchange.started,
                           .timeout = timeout,
                           .unreached_max = options_.unreached_max},
      clock_);
}

HttpResponse RequestPipeline::answer_other(const HttpRequest& request,
                                           const Exchange& exchange) const {
  const Route& found = exchange.route;
  if (found.endpoint == Endpoint::Health) {
    // Serving at all means that the store is open and the registry runs.
    constexpr std::array kChecks = {HealthCheck{"ping"}, HealthCheck{"log"}, HealthCheck{"store"}};
    return answer_health({.endpoint = found.key, .check = found.check}, found.query, kChecks);
  }
  if (found.endpoint == Endpoint::Metrics) {
    HttpResponse response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = meter_->text();
    return response;
  }
  if (found.endpoint == Endpoint::OpenIdConfiguration || found.endpoint == Endpoint::OpenIdKeys)
    return answer_openid(found.endpoint, access_.token_key(), request.host);
  auto answer = documents_.answer(found, request, clock_.now());
  return answer ? *std::move(answer) : status_response(answer.error());
}

HttpResponse RequestPipeline::respond(const Exchange& exchange,
                                      const Result<api::Answer>& answer) const {
  if (!answer) return refuse(exchange, answer.error());
  HttpResponse response;
  const Rendering& how = exchange.rendering;
  const Time now = how.form == Form::Table ? clock_.now() : Time{};
  if (const auto* object = std::get_if<api::ObjectAnswer>(&answer->what)) {
    response.code = object->created ? 201 : 200;
    // An object that is gone carries the revision of its deletion instead of its own.
    if (exchange.delete_reply.tells_pending && object->revision == object->object->revision())
      response.code = 202;
    write_object(how, *object->object, object->revision, now, response.body);
  } else if (const auto* list = std::get_if<api::ListAnswer>(&answer->what)) {
    write_list(how, *list, now, response.body);
  } else if (const auto* status = std::get_if<api::StatusAnswer>(&answer->what)) {
    response.code = status->code;
    response.body = status_json(*status);
  } else {
    const auto& document = std::get<api::DocumentAnswer>(answer->what);
    response.code = document.code;
    if (how.form == Form::Table && api::find_string(document.document, "kind") == "Scale")
      api::append_scale_table(document.document, {.now = now, .include = how.include_object},
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
      response.headers.emplace_back("Content-Encoding", "gzip");
      response.headers.emplace_back("Vary", "Accept-Encoding");
    }
  }
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
  record.finished = clock_.now();
  audit_->write(record);
}

}  // namespace muster::server
