#include "server/http/request_pipeline.h"

#include <algorithm>
#include <utility>

#include "server/access/impersonation.h"
#include "server/access/permission.h"
#include "server/core/request/resource_version.h"
#include "server/http/body.h"
#include "server/http/compress.h"
#include "server/http/kubelet_parts.h"
#include "server/http/negotiate.h"
#include "server/http/options.h"
#include "server/http/request_facts.h"

namespace muster::server {
namespace {

constexpr std::int64_t kWatchSecondsMin = 1800;
// Longer is forever, and must not overflow a clock.
constexpr std::int64_t kWatchSecondsMax = 31'536'000;

// Above this it takes milliseconds to pack, indent or convert an object; 50 for a large one.
constexpr std::size_t kPackedBytes = 64U << 10U;

// Whether an object is not sent as it is stored.
bool is_packed(const Exchange& exchange) {
  return exchange.gzip || exchange.pretty || exchange.rendering.form != Form::Full;
}

// Whether the answer shows what is counted rather than stored: how groups stand.
bool shows_groups(const Exchange& exchange) {
  const api::Kind* const kind = exchange.rendering.kind;
  return exchange.rendering.form == Form::Table &&
         (kind == &api::kinds::pod_group() || kind == &api::kinds::composite_pod_group());
}

// Whether a read asked for a revision that the store has not reached.
template <typename Answer>
bool is_unreached(const Result<Answer>& answer) {
  return !answer && answer.error().reason == Reason::Timeout;
}

// Whether a watch begins with all that is there, and so costs what a list does. What is no revision
// is refused before that.
bool begins_with_list(const Query& query) {
  const auto from = parse_resource_version(query.text("resourceVersion"));
  return (from && from->value == 0) || !query.text("sendInitialEvents").empty();
}

// Documents that are made once take tens of milliseconds the first time, and all that are packed or
// indented some more each time.
bool is_large_document(Endpoint endpoint) {
  return endpoint == Endpoint::OpenApiV2 || endpoint == Endpoint::OpenApiV3 ||
         endpoint == Endpoint::CoreVersions || endpoint == Endpoint::Groups ||
         endpoint == Endpoint::Metrics;
}

}  // namespace

RequestPipeline::RequestPipeline(Parts parts, const HttpLimits& limits)
    : parts_(std::move(parts)),
      limits_(limits),
      meter_(parts_.meter ? parts_.meter : std::make_shared<RequestMeter>()),
      documents_(parts_.server.served()) {}

std::optional<HttpResponse> RequestPipeline::admit(const HttpRequest& request,
                                                   const PeerCertificate& peer, SteadyTime now,
                                                   Exchange& exchange) const {
  step("admit");
  exchange = Exchange{};
  exchange.started = now;
  exchange.audit_id = random_uuid(http_entropy());
  if (parts_.audit != nullptr) {
    exchange.audit = std::make_unique<AuditRecord>();
    exchange.audit->id = exchange.audit_id;
    exchange.audit->target = request.target;
    exchange.audit->user_agent = request.user_agent;
    exchange.audit->received = parts_.clock.now();
  }
  exchange.gzip = accepts_gzip(request.accept_encoding);
  auto routed = route(request, parts_.server.served());
  if (!routed) return refuse(exchange, routed.error());
  exchange.route = *std::move(routed);
  const Route& found = exchange.route;
  exchange.labels = metric_labels(found);
  exchange.pretty = wants_indent(found.query, request.user_agent);

  if (const auto timeout = check_timeout(found); !timeout) return refuse(exchange, timeout.error());
  exchange.judged_as_of = parts_.access.authorizer().generation();
  if (const auto known = identify(request, peer, exchange); !known)
    return refuse(exchange, known.error());
  const auto allowed =
      parts_.access.authorizer().authorize(exchange.who.user, attributes_judged(found));
  if (!allowed) return refuse(exchange, allowed.error());
  if (found.endpoint == Endpoint::Unknown) return finish(exchange, page_not_found());
  if (found.error) return refuse(exchange, *found.error);
  if (found.endpoint != Endpoint::Resource) return std::nullopt;

  const auto form = negotiate_form(request.accept, answerable(found.request));
  if (!form) return refuse(exchange, form.error());
  exchange.rendering = {.kind = found.request.kind,
                        .version = found.request.version,
                        .form = form->form,
                        .meta_version = form->meta_version,
                        .groups = &parts_.server.tally()};
  return std::nullopt;
}

// Authenticates, then impersonates. What the request uses is on the real user's account.
Result<void> RequestPipeline::identify(const HttpRequest& request, const PeerCertificate& peer,
                                       Exchange& exchange) const {
  Identity who = TRY(
      parts_.access.authenticator().authenticate(peer, request.authorization, parts_.clock.now()));
  exchange.account = parts_.ledger.user(who.user);
  exchange.known_user = !is_anonymous(who.user);
  if (exchange.audit) exchange.audit->user = who.user;
  if (request.impersonates()) {
    Identity acts_as =
        TRY(impersonate(parts_.access.authorizer(), who.user, identity_wanted(request)));
    acts_as.token = std::move(who.token);  // their right ends with that of the real user
    who = std::move(acts_as);
    if (exchange.audit) exchange.audit->impersonated = who.user;
  }
  exchange.who = std::move(who);
  return {};
}

bool RequestPipeline::is_heavy(const HttpRequest& request, const Exchange& exchange) const {
  constexpr std::size_t kLightBytes = 16U << 10U;
  if (exchange.route.endpoint != Endpoint::Resource)
    return is_large_document(exchange.route.endpoint);
  const api::Request& asked = exchange.route.request;
  if (asked.verb == api::Verb::Get)
    return shows_groups(exchange) ||
           (is_packed(exchange) && parts_.server.size_of(asked) > kPackedBytes);
  if (asked.verb == api::Verb::Watch) return begins_with_list(exchange.route.query);
  if (!exchange.wants_body()) return asked.verb == api::Verb::List;
  // Every type of JSON says so in its name; YAML's aliases stand for more than their size.
  return request.body.size() > kLightBytes || Reviews::handles(asked) ||
         (!request.body.empty() && request.content_type.find("json") == std::string::npos);
}

bool RequestPipeline::is_heavy(const Exchange& exchange, const Result<api::Answer>& answer) {
  constexpr std::size_t kLightItems = 100;
  if (!answer) return false;
  if (const auto* list = std::get_if<api::ListAnswer>(&answer->what))
    return list->items.size() > kLightItems || bytes_kept(answer) > kPackedBytes;
  const auto* object = std::get_if<api::ObjectAnswer>(&answer->what);
  return object != nullptr &&
         (shows_groups(exchange) ||
          (is_packed(exchange) && object->object->bytes().size() > kPackedBytes));
}

bool RequestPipeline::catch_up(const Exchange& exchange) const {
  return !shows_groups(exchange) || catch_up();
}

bool RequestPipeline::catch_up() const {
  constexpr int kSteps = 8;  // a few milliseconds
  for (int i = 0; i < kSteps; ++i)
    if (parts_.server.tally().catch_up()) return true;
  return false;
}

RequestPipeline::Outcome RequestPipeline::run(const HttpRequest& request, Exchange& exchange,
                                              const ReturnAddress& from) const {
  step("run");
  // Health is asked for when there is no room, of all times.
  if (exchange.route.endpoint != Endpoint::Health && !has_room(exchange, from))
    return refuse(exchange, too_many_requests());
  if (exchange.route.endpoint == Endpoint::Resource) return run_resource(request, exchange, from);
  return finish(exchange, answer_other(request, exchange));
}

RequestPipeline::Outcome RequestPipeline::run_resource(const HttpRequest& request,
                                                       Exchange& exchange,
                                                       const ReturnAddress& from) const {
  api::Request& asked = exchange.route.request;
  if (needs_kubelet(asked)) return refuse(exchange, refuse_kubelet_part(parts_.server, asked));
  if (is_write(asked.verb)) return run_write(request, exchange, from);
  if (const auto read = read_request(request, exchange); !read)
    return refuse(exchange, read.error());
  return asked.verb == api::Verb::Watch ? run_watch(exchange, from, exchange.started)
                                        : run_read(exchange, from);
}

// Whether more bytes may be held for this client and on this connection.
bool RequestPipeline::has_room(const Exchange& exchange, const ReturnAddress& from) const {
  const auto connection_max = static_cast<std::int64_t>(parts_.ledger.bytes_per_connection());
  if (from.connection && from.connection->used(Resource::Bytes) >= connection_max) return false;
  return parts_.ledger.has_room(*exchange.account, Resource::Bytes);
}

RequestPipeline::Outcome RequestPipeline::run_write(const HttpRequest& request, Exchange& exchange,
                                                    const ReturnAddress& from) const {
  struct Held {
    Hold place;
    Hold bytes;
  };
  auto place = parts_.ledger.hold_one(exchange.account, Resource::Writes);
  if (!place) return refuse(exchange, too_many_requests());
  auto held = std::make_shared<Held>(*std::move(place),
                                     parts_.ledger.hold_bytes(exchange.account, from.connection));
  const bool about_many = exchange.route.request.verb == api::Verb::DeleteCollection;
  held->bytes.resize(request.body.size() * limits_.body_weight +
                     (about_many ? limits_.collection_bytes : 0));
  if (const auto read = read_request(request, exchange); !read)
    return refuse(exchange, read.error());
  api::Request& asked = exchange.route.request;
  exchange.labels.dry_run = asked.dry_run;
  if (exchange.audit) exchange.audit->pods = pods_bound(asked);
  if (Reviews::handles(asked))
    return respond(
        exchange,
        parts_.access.reviews().answer(asked, exchange.who, parts_.clock.now(), http_entropy()),
        from);
  // The answer may come when connection and listener are long gone; it holds on to what it needs.
  parts_.server.handle(std::move(asked), [from, held](Result<api::Answer> answer) {
    *held = Held{};
    from.inbox->put_answer(from.recipient, std::move(answer));
  });
  return Waiting{};
}

RequestPipeline::Outcome RequestPipeline::run_read(Exchange& exchange,
                                                   const ReturnAddress& from) const {
  Result<Outcome> outcome = read(exchange, from);
  if (is_unreached(outcome)) return park(exchange, from);
  return outcome_of_read(exchange, std::move(outcome));
}

Result<RequestPipeline::Outcome> RequestPipeline::read(const Exchange& exchange,
                                                       const ReturnAddress& from) const {
  const api::Request& asked = exchange.route.request;
  if (asked.verb != api::Verb::List) return respond(exchange, TRY(parts_.server.read(asked)), from);
  Reading reading{.list = TRY(parts_.server.begin_list(asked)),
                  .bytes = parts_.ledger.hold_bytes(exchange.account, from.connection)};
  reading.bytes.resize(reading.list->bytes());
  return reading;
}

RequestPipeline::Outcome RequestPipeline::park(Exchange& exchange,
                                               const ReturnAddress& from) const {
  exchange.parked = ParkedRead{.any_change = parts_.server.listen(wake_of(from)),
                               .until = exchange.started + limits_.unreached};
  // The revision may have come before we listened.
  return resume(exchange, from, exchange.started);
}

bool RequestPipeline::is_due(const Exchange& exchange, SteadyTime now) const {
  return exchange.parked &&
         (now >= exchange.parked->until || parts_.server.has_reached(exchange.route.request));
}

RequestPipeline::Outcome RequestPipeline::resume(Exchange& exchange, const ReturnAddress& from,
                                                 SteadyTime now) const {
  if (!is_due(exchange, now)) return Waiting{.until = exchange.parked->until};
  exchange.parked.reset();
  // There may have been room for one when it came, and hundreds have waited since.
  if (!has_room(exchange, from)) return refuse(exchange, too_many_requests());
  if (exchange.route.request.verb == api::Verb::Watch) return run_watch(exchange, from, now);
  return outcome_of_read(exchange, read(exchange, from));
}

RequestPipeline::Outcome RequestPipeline::read_again(const Exchange& exchange,
                                                     const ReturnAddress& from) const {
  return outcome_of_read(exchange, read(exchange, from));
}

HttpResponse RequestPipeline::give_up(const Exchange& exchange) const {
  return refuse(
      exchange,
      make_error(Reason::Timeout, "Timeout: request did not complete within the allotted timeout"));
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

RequestPipeline::Outcome RequestPipeline::run_watch(Exchange& exchange, const ReturnAddress& from,
                                                    SteadyTime now) const {
  auto place = parts_.ledger.hold_one(exchange.account, Resource::Watches);
  if (!place) return refuse(exchange, too_many_requests());
  auto opened = parts_.server.watch(exchange.route.request, wake_of(from));
  if (!opened) return refuse(exchange, opened.error());
  // It begins with a list of a revision that is still to come: that is waited for outside the
  // stream, so that the list is not made by the thread that sends it.
  if (opened->watcher->unreached() && now < exchange.started + limits_.unreached) {
    place.reset();
    return park(exchange, from);
  }
  return open_stream(exchange, from, *std::move(opened), *std::move(place));
}

std::unique_ptr<WatchStream> RequestPipeline::open_stream(const Exchange& exchange,
                                                          const ReturnAddress& from,
                                                          Server::OpenWatch opened,
                                                          Hold place) const {
  const api::Request& asked = exchange.route.request;
  const std::int64_t asked_s = asked.list.timeout_s.value_or(0);
  const std::int64_t timeout_s =
      asked_s > 0
          ? asked_s
          : kWatchSecondsMin + static_cast<std::int64_t>(http_entropy().below(kWatchSecondsMin));
  const std::chrono::seconds timeout(std::min(timeout_s, kWatchSecondsMax));
  Rendering rendering = exchange.rendering;
  rendering.groups = &parts_.server.tally().at_once();
  return std::make_unique<WatchStream>(
      std::move(opened),
      WatchStream::Options{.rendering = std::move(rendering),
                           .bookmarks = asked.list.allow_bookmarks,
                           .started = exchange.started,
                           .timeout = timeout,
                           .unreached_max = limits_.unreached,
                           .access_check = limits_.deadlines.access_check},
      WatchStream::Holds{.place = std::move(place),
                         .bytes = parts_.ledger.hold_bytes(exchange.account, from.connection)},
      std::make_unique<Permission>(parts_.access, exchange.who, attributes_judged(exchange.route),
                                   exchange.judged_as_of),
      parts_.clock);
}

}  // namespace muster::server
