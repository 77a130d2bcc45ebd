#include "client/remote/reflector.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <variant>

#include "api/kept.h"
#include "api/scratch.h"
#include "base/log.h"

namespace muster::client {
namespace {

constexpr std::int64_t kPageSize = 500;
constexpr std::size_t kLineBytesMax = std::size_t{64} << 20;  // objects are at most 3 MiB or so
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";
constexpr Duration kVeryShort = std::chrono::seconds{1};

std::optional<std::int64_t> revision_in(const api::Json& document) {
  const api::Json* const metadata = api::find(document, "metadata");
  if (metadata == nullptr) return std::nullopt;
  const std::string_view text = api::find_string(*metadata, "resourceVersion");
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What the Status in an event of type ERROR says; it is not made of what is kept of objects.
Result<Error> error_in(std::string_view line) {
  const api::ParsedJson parsed = TRY(api::parse_json(line, api::Limits::of_answers()));
  const api::Json& status = *api::find(parsed.value, "object");
  const api::Json* const code = api::find(status, "code");
  const bool has_code = code != nullptr && code->is_int64();
  return decode_status(status, {.code = has_code ? static_cast<int>(code->get_int64()) : 0});
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
      backoff_(entropy) {}

std::optional<Time> Reflector::next_deadline() const {
  return under_way_ ? std::nullopt : std::optional(not_before_);
}

std::optional<api::Request> Reflector::next(Time now) {
  if (under_way_ || now < not_before_) return std::nullopt;
  under_way_ = true;
  started_ = now;
  events_ = 0;
  line_.clear();
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
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      line_ += bytes;
      break;
    }
    Result<void> done;
    if (line_.empty()) {
      done = on_line(bytes.substr(0, end));
    } else {
      line_ += bytes.substr(0, end);
      done = on_line(line_);
      line_.clear();
    }
    if (!done) stream_error_ = std::move(done).error();
    if (stream_error_) return false;
    bytes.remove_prefix(end + 1);
  }
  if (line_.size() > kLineBytesMax)
    stream_error_ = make_error(Reason::InternalError, "a line of a watch has no end");
  return !stream_error_;
}

Result<void> Reflector::on_line(std::string_view line) {
  if (line.empty()) return {};
  api::Scratch scratch;
  const std::array<api::Kept, 2> kept{{{"type"}, {"object", kept_}}};
  api::Json parsed = TRY(api::parse_kept(scratch, line, kept, api::Limits::of_answers()));
  const std::string_view type = api::find_string(parsed, "type");
  api::JsonObject* const event = parsed.if_object();
  api::Json* const object = event == nullptr ? nullptr : event->if_contains("object");
  if (object == nullptr)
    return fail(Reason::InternalError, "a watch of {} sent a line without an object",
                target_.kind->plural);
  ++events_;
  if (type == "ERROR") return fail(TRY(error_in(line)));
  const std::optional<std::int64_t> revision = revision_in(*object);
  TRY(on_event(type, *object));
  // Before a listing is complete its revision is not known: it comes with the bookmark at the end.
  if (revision && phase_ == Phase::Watching) revision_ = revision;
  return {};
}

Result<void> Reflector::on_event(std::string_view type, api::Json& object) {
  if (type == "BOOKMARK") {
    on_bookmark(object);
    return {};
  }
  Result<api::ObjectPtr> decoded = decode_object(*target_.kind, target_.version, std::move(object));
  if (!decoded) {  // one odd object must not keep us from all others
    log(LogLevel::Warning, "an event about {} is skipped: {}", target_.kind->plural,
        decoded.error().message);
    return {};
  }
  if (type == "DELETED")
    known_.remove(*std::move(decoded));
  else
    known_.put(*std::move(decoded));
  return {};
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
}

void Reflector::on_end(const Result<HttpReply>& reply, Time now) {
  under_way_ = false;
  not_before_ = now;
  if (stream_error_) return on_failure(*stream_error_, now);
  if (!reply) return on_failure(reply.error(), now);
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

Result<void> Reflector::on_page(const HttpReply& reply) {
  api::Scratch scratch;
  const std::array<api::Kept, 2> kept{{{"metadata"}, {"items", kept_}}};
  api::Json parsed = TRY(api::parse_kept(scratch, reply.body, kept, api::Limits::of_answers()));
  const std::optional<std::int64_t> revision = revision_in(parsed);
  api::JsonObject* const list = parsed.if_object();
  if (list == nullptr || !revision)
    return fail(Reason::InternalError, "the server answered a list of {} with something else",
                target_.kind->plural);
  if (api::Json* items = list->if_contains("items"); items != nullptr && items->is_array())
    for (api::Json& item : items->get_array()) TRY(on_event("ADDED", item));
  continue_token_ = api::find_string(list->at("metadata"), "continue");
  if (!continue_token_.empty()) return {};
  revision_ = revision;
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
  if (error.reason == Reason::Expired || is_too_large(error)) {
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
