#include "client/remote/reflector.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <variant>

#include "api/kept.h"
#include "api/protobuf.h"
#include "api/scratch.h"
#include "base/log.h"
#include "client/remote/watch_event.h"

namespace muster::client {
namespace {

constexpr std::int64_t kPageSize = 500;
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";
constexpr Duration kVeryShort = std::chrono::seconds{1};
// Over which the kinds come back one after the other, of a server that is back.
constexpr std::uint64_t kSpreadMs = 1000;
constexpr Duration kAfterExpiry = std::chrono::milliseconds{800};

std::optional<std::int64_t> revision_of(const api::Json& metadata) {
  const std::string_view text = api::find_string(metadata, "resourceVersion");
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> revision_in(const api::Json& document) {
  const api::Json* const metadata = api::find(document, "metadata");
  return metadata == nullptr ? std::nullopt : revision_of(*metadata);
}

// The server is younger than what we know, as after a restore.
bool is_too_large(const Error& error) {
  return std::ranges::any_of(
      error.causes, [](const Cause& cause) { return cause.type == "ResourceVersionTooLarge"; });
}

// Not the server's answer to what was asked: it is away or busy.
bool is_passing(const Error& error) {
  return error.reason == Reason::ServiceUnavailable || error.reason == Reason::Timeout ||
         error.reason == Reason::TooManyRequests;
}

}  // namespace

Reflector::Reflector(Target target, Entropy& entropy, Report report)
    : target_(std::move(target)),
      kept_(target_.project ? target_.project(*target_.kind) : std::span<const api::Kept>()),
      entropy_(entropy),
      known_(std::move(report)),
      backoff_(entropy),
      asks_protobuf_(has_protobuf(*target_.kind, target_.version)) {}

std::string_view Reflector::accept() const {
  return asks_protobuf_ ? "application/vnd.kubernetes.protobuf,application/json" : "";
}

std::optional<Time> Reflector::next_deadline() const {
  return under_way_ ? std::nullopt : std::optional(not_before_);
}

std::optional<api::Request> Reflector::next(Time now) {
  if (under_way_ || now < not_before_) return std::nullopt;
  under_way_ = true;
  unreachable_ = false;
  started_ = now;
  events_ = 0;
  pieces_.start();
  stream_error_.reset();
  if (phase_ != Phase::Watching && std::exchange(fresh_, false)) known_.begin_listing();
  return phase_ == Phase::Listing ? list_request() : watch_request();
}

api::Request Reflector::list_request() const {
  api::Request request;
  request.verb = api::Verb::List;
  request.kind = target_.kind;
  request.version = target_.version;
  if (!continue_token_.empty()) {
    request.list.continue_token = continue_token_;
    request.list.limit = kPageSize;
  } else if (revision_) {  // never back in time; such lists have no pages
    request.list.resource_version = std::to_string(*revision_);
    request.list.resource_version_match = "NotOlderThan";
  } else if (!in_one_piece_) {
    request.list.limit = kPageSize;
  }
  return request;
}

api::Request Reflector::watch_request() {
  api::Request request;
  request.verb = api::Verb::Watch;
  request.kind = target_.kind;
  request.version = target_.version;
  request.list.allow_bookmarks = true;
  request.list.timeout_s = static_cast<std::int64_t>(300 + entropy_.below(300));
  if (revision_) request.list.resource_version = std::to_string(*revision_);
  if (phase_ == Phase::Streaming) {
    request.list.send_initial_events = true;
    request.list.resource_version_match = "NotOlderThan";
  }
  return request;
}

bool Reflector::on_bytes(std::string_view bytes) {
  if (stream_error_) return false;
  unknown_since_.reset();
  if (phase_ == Phase::Watching) trouble_.clear();  // it goes on where it was
  if (bytes.empty()) return true;
  Result<void> done =
      pieces_.add(bytes, [this](std::string_view piece) { return on_piece(piece); });
  if (!done) stream_error_ = std::move(done).error();
  return !stream_error_;
}

Result<void> Reflector::on_piece(std::string_view piece) {
  api::Scratch scratch;
  const bool is_protobuf = pieces_.form() == StreamPieces::Form::Frames;
  Result<WatchEvent> event = is_protobuf ? read_protobuf_event(scratch, piece, *target_.kind, kept_)
                                         : read_json_event(scratch, piece, kept_);
  if (!event) {
    asks_protobuf_ = asks_protobuf_ && !is_protobuf;  // JSON may be understood
    return fail(Reason::InternalError, "a watch of {}: {}", target_.kind->plural,
                event.error().message);
  }
  ++events_;
  if (event->error) return fail(*std::move(event->error));
  const std::optional<std::int64_t> revision = revision_in(event->object);
  if (event->type == "BOOKMARK")
    on_bookmark(event->object);
  else
    on_object(event->type, event->object, is_protobuf);
  // Before a listing is complete its revision is not known: it comes with the bookmark at the end.
  if (revision && phase_ == Phase::Watching) revision_ = revision;
  return {};
}

void Reflector::on_object(std::string_view type, api::Json& object, bool is_decoded) {
  Result<api::ObjectPtr> made =
      is_decoded ? make_object(*target_.kind, object, target_.make)
                 : decode_object(*target_.kind, target_.version, std::move(object), target_.make);
  if (!made) {  // one odd object must not keep us from all others
    log(LogLevel::Warning, "an event about {} is skipped: {}", target_.kind->plural,
        made.error().message);
    return;
  }
  if (type == "DELETED")
    known_.remove(*std::move(made));
  else
    known_.put(*std::move(made));
}

void Reflector::on_bookmark(const api::Json& object) {
  if (phase_ != Phase::Streaming) return;
  const api::Json* const metadata = api::find(object, "metadata");
  const api::Json* const notes =
      metadata == nullptr ? nullptr : api::find(*metadata, "annotations");
  if (notes == nullptr || api::find_string(*notes, kInitialEventsEnd) != "true") return;
  listed();
}

void Reflector::listed() {
  known_.end_listing();
  phase_ = Phase::Watching;
  synced_ = true;
  trouble_.clear();
  unknown_since_.reset();
}

void Reflector::on_end(const Result<HttpReply>& reply, Time now) {
  under_way_ = false;
  not_before_ = now;
  if (stream_error_) return on_failure(*stream_error_, now);
  if (!reply) {
    on_failure(reply.error(), now);
    unreachable_ = true;
    return;
  }
  if (reply->code >= 400) {
    api::Request request;
    request.kind = target_.kind;
    const Result<api::Answer> answer = decode_reply(request, *reply);
    return on_failure(
        answer ? make_error(Reason::InternalError, "code {}", reply->code) : answer.error(), now);
  }
  if (phase_ != Phase::Listing) return on_stream_end(now);
  if (const Result<void> page = on_page(*reply); !page) on_failure(page.error(), now);
}

void Reflector::on_reachable(Time now) {
  if (!std::exchange(unreachable_, false)) return;
  not_before_ = std::min(not_before_, now + spread());
}

Duration Reflector::spread() { return std::chrono::milliseconds(entropy_.below(kSpreadMs)); }

Result<void> Reflector::on_page(const HttpReply& reply) {
  if (api::is_protobuf(reply.body)) {
    Result<Page> page = read_protobuf_page(reply.body);
    if (!page) {
      asks_protobuf_ = false;
      return fail(std::move(page).error());
    }
    return end_page(*page);
  }
  return end_page(TRY(read_json_page(reply.body)));
}

Result<Reflector::Page> Reflector::read_json_page(std::string_view body) {
  api::Scratch scratch;
  const std::array<api::Kept, 2> kept{{{"metadata"}, {"items", kept_}}};
  api::Json parsed = TRY(api::parse_kept(scratch, body, kept, api::Limits::of_answers()));
  api::JsonObject* const list = parsed.if_object();
  const api::Json* const metadata = list == nullptr ? nullptr : list->if_contains("metadata");
  if (metadata == nullptr || !revision_of(*metadata)) return Page{};
  if (api::Json* items = list->if_contains("items"); items != nullptr && items->is_array())
    for (api::Json& item : items->get_array()) on_object("ADDED", item, false);
  return Page{revision_of(*metadata), std::string(api::find_string(*metadata, "continue"))};
}

Result<Reflector::Page> Reflector::read_protobuf_page(std::string_view body) {
  const api::ProtobufEnvelope envelope = TRY(api::read_protobuf_envelope(body));
  if (envelope.kind != target_.kind->list_kind()) return Page{};
  const api::ProtobufList list = TRY(api::read_protobuf_list(envelope.raw));
  const api::ParsedJson metadata =
      TRY(api::parse_protobuf(api::schema::message("meta/v1", "ListMeta"), list.metadata));
  for (const std::string_view item : list.items) {
    api::Scratch scratch;
    api::Json object = TRY(api::parse_protobuf_kept(scratch, *target_.kind->message, item, kept_));
    on_object("ADDED", object, true);
  }
  return Page{revision_of(metadata.value),
              std::string(api::find_string(metadata.value, "continue"))};
}

Result<void> Reflector::end_page(const Page& page) {
  if (!page.revision)
    return fail(Reason::InternalError, "the server answered a list of {} with something else",
                target_.kind->plural);
  continue_token_ = page.continue_token;
  if (!continue_token_.empty()) return {};
  revision_ = page.revision;
  listed();
  return {};
}

void Reflector::on_stream_end(Time now) {
  if (phase_ == Phase::Streaming)
    return on_failure(
        make_error(Reason::InternalError, "the stream of what exists ended before it was complete"),
        now);
  trouble_.clear();
  if (events_ == 0 && now - started_ < kVeryShort) not_before_ = now + backoff_.failed(now);
}

void Reflector::start_over(Phase phase) {
  phase_ = phase;
  fresh_ = true;
  continue_token_.clear();
}

void Reflector::on_failure(const Error& error, Time now) {
  log(LogLevel::Info, "following {}: {}", target_.kind->plural, error.message);
  not_before_ = now + backoff_.failed(now);
  trouble_ = error.message;
  if (error.reason != Reason::NotFound)
    unknown_since_.reset();
  else if (!unknown_since_)
    unknown_since_ = now;
  if (error.reason == Reason::Expired || is_too_large(error)) {
    // The server is well and has only forgotten where we were: pauses that grow are for lists.
    if (phase_ == Phase::Watching) not_before_ = now + kAfterExpiry + spread();
    in_one_piece_ = phase_ == Phase::Listing;
    revision_.reset();
    start_over(in_one_piece_ ? Phase::Listing : Phase::Streaming);
  } else if (is_passing(error)) {
    if (phase_ != Phase::Watching) start_over(phase_);
  } else if (phase_ == Phase::Streaming) {
    not_before_ = now;  // servers without such watches say so at once
    start_over(Phase::Listing);
  } else {
    start_over(Phase::Streaming);
  }
}

}  // namespace muster::client
