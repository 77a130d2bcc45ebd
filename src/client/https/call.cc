#include "client/https/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "api/decode.h"
#include "api/protobuf.h"
#include "api/scratch.h"
#include "base/check.h"
#include "client/https/dialect.h"

namespace muster::client {
namespace {

using api::Json;
using api::Verb;

// A server ends a watch at the time that it was asked for; this much later it has forgotten to.
constexpr Duration kWatchGrace = std::chrono::seconds{30};

// Everything but RFC 3986's unreserved characters becomes %XX.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') ||
                       std::string_view("-._~").find(letter) != std::string_view::npos;
    if (plain)
      out += letter;
    else
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(letter));
  }
  return out;
}

std::string path_of(const api::Request& request) {
  const api::Kind& kind = *request.kind;
  std::string path = kind.group.empty() ? fmt::format("/api/{}", request.version)
                                        : fmt::format("/apis/{}/{}", kind.group, request.version);
  if (kind.namespaced && !request.name_space.empty())
    path += "/namespaces/" + escaped(request.name_space);
  path += "/" + kind.plural;
  if (!request.name.empty()) path += "/" + escaped(request.name);
  if (!request.subresource.empty()) path += "/" + request.subresource;
  return path;
}

// Collects ?a=b&c=d; empty values are left out.
class Query {
 public:
  void add(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    text_ += text_.empty() ? '?' : '&';
    text_ += fmt::format("{}={}", key, escaped(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_list_options(const api::ListOptions& list, Query& query) {
  query.add("labelSelector", list.label_selector);
  query.add("fieldSelector", list.field_selector);
  query.add("limit", list.limit > 0 ? std::to_string(list.limit) : "");
  query.add("continue", list.continue_token);
  query.add("resourceVersion", list.resource_version);
  query.add("resourceVersionMatch", list.resource_version_match);
}

void add_watch_options(const api::ListOptions& list, Query& query) {
  query.add("allowWatchBookmarks", list.allow_bookmarks ? "true" : "");
  if (list.send_initial_events)
    query.add("sendInitialEvents", *list.send_initial_events ? "true" : "false");
  query.add("timeoutSeconds", list.timeout_s ? std::to_string(*list.timeout_s) : "");
}

std::string_view name_of(api::FieldValidation validation) {
  switch (validation) {
    case api::FieldValidation::Ignore: return "Ignore";
    case api::FieldValidation::Warn: return "Warn";
    case api::FieldValidation::Strict: return "Strict";
  }
  return "";
}

void add_write_options(const api::Request& request, Query& query) {
  query.add("dryRun", request.dry_run ? "All" : "");
  query.add("fieldManager", request.field_manager);
  query.add("fieldValidation", name_of(request.field_validation));
  query.add("force", request.force ? "true" : "");
}

std::string_view media_type(api::PatchType type) {
  switch (type) {
    case api::PatchType::JsonPatch: return "application/json-patch+json";
    case api::PatchType::Merge: return "application/merge-patch+json";
    case api::PatchType::StrategicMerge: return "application/strategic-merge-patch+json";
    case api::PatchType::Apply: return "application/apply-patch+yaml";
  }
  return "";
}

// The body as the server's version has it. Most need no copy for that.
class Outgoing {
 public:
  Outgoing(const api::Request& request, const OwnerVersions& owners) : document_(&request.body) {
    if (!is_translated(*request.kind, request.version) && !owners.concerns(request.body)) return;
    translated_ = request.body;
    translate_out(*request.kind, request.version, translated_);
    owners.translate_out(translated_);
    document_ = &translated_;
  }
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  const Json& document() const { return *document_; }

 private:
  Json translated_;
  const Json* document_;
};

// The body with the kind and apiVersion that documents inside Muster go without.
std::string typed_text(const api::Request& request, const OwnerVersions& owners) {
  const api::Kind& kind = *request.kind;
  std::string name = kind.kind;
  std::string api_version = kind.api_version(request.version);
  if (const api::Subresource* part = kind.subresource(request.subresource)) {
    name = part->kind;
    if (!part->body_version.empty())
      api_version = part->body_group.empty() ? part->body_version
                                             : part->body_group + "/" + part->body_version;
  }
  const Outgoing outgoing(request, owners);
  const api::JsonObject& body = outgoing.document().as_object();
  std::string text;
  const auto add = [&text](std::string_view member) -> std::string& {
    text += text.empty() ? '{' : ',';
    api::write_string(member, text);
    return text += ':';
  };
  if (!body.contains("kind")) api::write_string(name, add("kind"));
  if (!body.contains("apiVersion")) api::write_string(api_version, add("apiVersion"));
  for (const auto& member : body) api::write_json(member.value(), add(member.key()));
  return text += '}';
}

std::string patch_text(const api::Request& request, const OwnerVersions& owners) {
  return api::to_text(Outgoing(request, owners).document());
}

std::string delete_text(const api::DeleteOptions& options) {
  api::JsonObject body{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}};
  if (options.grace_period_s) body["gracePeriodSeconds"] = *options.grace_period_s;
  if (!options.propagation_policy.empty()) body["propagationPolicy"] = options.propagation_policy;
  api::JsonObject preconditions;
  if (options.preconditions.uid) preconditions["uid"] = *options.preconditions.uid;
  if (options.preconditions.resource_version)
    preconditions["resourceVersion"] = *options.preconditions.resource_version;
  if (!preconditions.empty()) body["preconditions"] = std::move(preconditions);
  return api::to_text(body);
}

// --- replies ---

constexpr int kReasonLast = static_cast<int>(Reason::Timeout);

std::optional<Reason> reason_named(std::string_view name) {
  for (int i = 0; i <= kReasonLast; ++i)
    if (reason_name(static_cast<Reason>(i)) == name) return static_cast<Reason>(i);
  return std::nullopt;
}

Reason reason_of_code(int code) {
  for (int i = 0; i <= kReasonLast; ++i)
    if (http_code(static_cast<Reason>(i)) == code) return static_cast<Reason>(i);
  return code >= 500 ? Reason::InternalError : Reason::BadRequest;
}

std::int64_t integer_at(const Json& value, std::string_view member) {
  const Json* found = api::find(value, member);
  const std::int64_t* number = found == nullptr ? nullptr : found->if_int64();
  return number == nullptr ? 0 : *number;
}

}  // namespace

Error decode_status(const Json& status, const HttpReply& reply) {
  Error error;
  error.reason =
      reason_named(api::find_string(status, "reason")).value_or(reason_of_code(reply.code));
  error.message = api::find_string(status, "message");
  error.retry_after_s = reply.retry_after_s;
  const Json* details = api::find(status, "details");
  if (details == nullptr) return error;
  error.name = api::find_string(*details, "name");
  error.group = api::find_string(*details, "group");
  error.kind = api::find_string(*details, "kind");
  error.uid = api::find_string(*details, "uid");
  if (const std::int64_t after = integer_at(*details, "retryAfterSeconds"); after > 0)
    error.retry_after_s = static_cast<int>(after);
  if (const api::JsonArray* causes = api::find_array(*details, "causes"))
    for (const Json& cause : *causes)
      error.causes.push_back({.type = std::string(api::find_string(cause, "reason")),
                              .field = std::string(api::find_string(cause, "field")),
                              .message = std::string(api::find_string(cause, "message"))});
  return error;
}

namespace {

// The first line of a body that nobody expected.
std::string quoted(std::string_view body) {
  constexpr std::size_t kMax = 200;
  body = body.substr(0, std::min({body.find('\n'), body.size(), kMax}));
  return body.empty() ? "an empty body" : fmt::format("\"{}\"", body);
}

Error unexpected(const HttpReply& reply) {
  return make_error(reply.code >= 400 ? reason_of_code(reply.code) : Reason::InternalError,
                    "the server answered {} with {}, which is no Kubernetes answer; does the "
                    "kubeconfig name an API server?",
                    reply.code, quoted(reply.body));
}

// Those who ask for protobuf read it themselves, unless it is an error.
Error protobuf_error(const HttpReply& reply) {
  const Result<api::ProtobufEnvelope> envelope = api::read_protobuf_envelope(reply.body);
  if (!envelope || envelope->kind != "Status" || reply.code < 400) return unexpected(reply);
  const Result<api::ParsedJson> status =
      api::parse_protobuf(api::schema::message("meta/v1", "Status"), envelope->raw);
  return status ? decode_status(status->value, reply) : unexpected(reply);
}

api::Revision revision_of(const Json& document) {
  api::Revision revision;
  const Json* metadata = api::find(document, "metadata");
  if (metadata == nullptr) return revision;
  const std::string_view text = api::find_string(*metadata, "resourceVersion");
  std::from_chars(text.data(), text.data() + text.size(), revision.value);
  return revision;
}

}  // namespace

Result<api::ObjectPtr> make_object(const api::Kind& kind, Json& document, const Maker& make) {
  const api::Revision revision = revision_of(document);
  const Json* const metadata = api::find(document, "metadata");
  if (metadata == nullptr || api::find_string(*metadata, "name").empty())
    return fail(Reason::InternalError, "the server sent a {} without a name", kind.kind);
  translate_owners_in(document);
  std::shared_ptr<api::Object> object =
      make ? make(kind, document) : api::Object::make(kind, document);
  if (revision.value > 0) object->assign_revision(revision);
  return object;
}

Result<api::ObjectPtr> decode_object(const api::Kind& kind, std::string_view version, Json document,
                                     const Maker& make) {
  translate_in(kind, version, document);
  Result<api::Decoded> decoded = api::decode(*kind.message, {std::move(document), {}});
  if (!decoded)
    return fail(Reason::InternalError, "the server sent a {} that cannot be read: {}", kind.kind,
                decoded.error().message);
  return make_object(kind, decoded->document, make);
}

namespace {

Result<api::ListAnswer> read_list(const api::Request& request, Json& document) {
  api::ListAnswer list;
  list.revision = revision_of(document);
  if (const Json* metadata = api::find(document, "metadata")) {
    list.continue_token = api::find_string(*metadata, "continue");
    if (const std::int64_t left = integer_at(*metadata, "remainingItemCount"); left > 0)
      list.remaining = left;
  }
  Json* items = document.as_object().if_contains("items");
  if (items == nullptr || !items->is_array()) return list;
  for (Json& item : items->get_array())
    list.items.push_back(TRY(decode_object(*request.kind, request.version, std::move(item))));
  return list;
}

Result<api::Answer> read_success(const api::Request& request, const HttpReply& reply,
                                 Json document) {
  const std::string_view kind = api::find_string(document, "kind");
  api::Answer answer;
  answer.warnings = reply.warnings;
  if (request.verb == Verb::List && kind == request.kind->list_kind()) {
    answer.what = TRY(read_list(request, document));
  } else if (kind == request.kind->kind && request.kind->stored) {
    api::ObjectPtr object = TRY(decode_object(*request.kind, request.version, std::move(document)));
    const api::Revision revision = object->revision();
    answer.what = api::ObjectAnswer{std::move(object), revision, reply.code == 201};
  } else if (kind == "Status") {
    const Json* found = api::find(document, "details");
    const Json& details = found == nullptr ? document : *found;
    answer.what = api::StatusAnswer{.code = reply.code,
                                    .name = std::string(api::find_string(details, "name")),
                                    .group = std::string(api::find_string(details, "group")),
                                    .kind = std::string(api::find_string(details, "kind")),
                                    .uid = std::string(api::find_string(details, "uid"))};
  } else {
    // A copy outside of the memory that it was read into.
    answer.what = api::DocumentAnswer{Json(document, boost::json::storage_ptr()), reply.code};
  }
  return answer;
}

}  // namespace

bool is_only_acknowledged(const api::Request& request) {
  return request.kind == &api::kinds::event() ||
         (request.kind == &api::kinds::pod() && request.subresource == "binding");
}

HttpCall encode_call(const api::Request& request, const OwnerVersions& owners) {
  HttpCall call;
  Query query;
  switch (request.verb) {
    case Verb::Get: call.method = "GET"; break;
    case Verb::List:
      call.method = "GET";
      add_list_options(request.list, query);
      break;
    case Verb::Create:
    case Verb::Update:
      call.method = request.verb == Verb::Create ? "POST" : "PUT";
      call.content_type = "application/json";
      call.body = typed_text(request, owners);
      add_write_options(request, query);
      break;
    case Verb::Patch:
      call.method = "PATCH";
      call.content_type = media_type(request.patch_type);
      call.body = patch_text(request, owners);
      add_write_options(request, query);
      break;
    case Verb::Delete:
    case Verb::DeleteCollection:
      call.method = "DELETE";
      call.content_type = "application/json";
      call.body = delete_text(request.remove);
      if (request.verb == Verb::DeleteCollection) add_list_options(request.list, query);
      query.add("dryRun", request.dry_run ? "All" : "");
      break;
    case Verb::Watch:
      call.method = "GET";
      query.add("watch", "true");
      add_list_options(request.list, query);
      add_watch_options(request.list, query);
      if (request.list.timeout_s)
        call.patience = std::chrono::seconds{*request.list.timeout_s} + kWatchGrace;
      break;
  }
  call.target = path_of(request) + query.text();
  return call;
}

Result<api::Answer> decode_reply(const api::Request& request, const HttpReply& reply,
                                 const Projection& project) {
  if (api::is_protobuf(reply.body)) return fail(protobuf_error(reply));
  api::Scratch scratch;
  const std::array<api::Kept, 2> list{
      {{"items", project ? project(*request.kind) : std::span<const api::Kept>()},
       {api::kTheOthers}}};
  Result<Json> parsed = api::parse_kept(scratch, reply.body, list, api::Limits::of_answers());
  if (!parsed || !parsed->is_object()) return fail(unexpected(reply));
  const bool is_status = api::find_string(*parsed, "kind") == "Status";
  if (reply.code < 400) return read_success(request, reply, *std::move(parsed));
  return is_status ? fail(decode_status(*parsed, reply)) : fail(unexpected(reply));
}

}  // namespace muster::client
