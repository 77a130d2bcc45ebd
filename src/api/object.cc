#include "api/object.h"

#include <algorithm>

#include "api/canonical.h"

namespace muster::api {
namespace {

// Every stored object begins like this; encode() cuts it here.
constexpr std::string_view kStart = R"({"metadata":{")";
constexpr std::string_view kMetadata = R"("metadata":{)";

// Behind the brace that closes the one at `at`, in JSON that is well-formed.
std::size_t end_of_object(std::string_view json, std::size_t at) {
  std::size_t open = 0;
  for (bool quoted = false; at < json.size(); ++at) {
    const char c = json[at];
    if (quoted && c == '\\') ++at;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '{') ++open;
    if (c == '}' && --open == 0) return at + 1;
  }
  return json.size();
}

std::string text_of(const Json& value, std::string_view member) {
  return std::string(find_string(value, member));
}

std::optional<std::int64_t> integer_of(const Json& value, std::string_view member) {
  const Json* found = find(value, member);
  const std::int64_t* number = found == nullptr ? nullptr : found->if_int64();
  if (number == nullptr) return std::nullopt;
  return *number;
}

bool flag_of(const Json& value, std::string_view member) {
  const Json* found = find(value, member);
  return found != nullptr && found->is_bool() && found->get_bool();
}

StringPairs pairs_of(const Json& value, std::string_view member) {
  StringPairs pairs;
  const JsonObject* object = find_object(value, member);
  if (object == nullptr) return pairs;
  pairs.reserve(object->size());
  for (const auto& entry : *object)
    if (const auto* text = entry.value().if_string())
      pairs.emplace_back(std::string(entry.key()), std::string(*text));
  std::ranges::sort(pairs);
  return pairs;
}

ObjectMeta read_meta(const Json& document) {
  ObjectMeta meta;
  const Json* metadata = find(document, "metadata");
  if (metadata == nullptr) return meta;
  meta.name = text_of(*metadata, "name");
  meta.name_space = text_of(*metadata, "namespace");
  meta.uid = text_of(*metadata, "uid");
  meta.generation = integer_of(*metadata, "generation").value_or(0);
  meta.creation_time = parse_time(find_string(*metadata, "creationTimestamp"));
  meta.deletion_time = parse_time(find_string(*metadata, "deletionTimestamp"));
  meta.deletion_grace_s = integer_of(*metadata, "deletionGracePeriodSeconds");
  meta.labels = pairs_of(*metadata, "labels");
  meta.annotations = pairs_of(*metadata, "annotations");
  if (const JsonArray* finalizers = find_array(*metadata, "finalizers"))
    for (const Json& finalizer : *finalizers)
      if (const auto* text = finalizer.if_string()) meta.finalizers.emplace_back(*text);
  if (const JsonArray* owners = find_array(*metadata, "ownerReferences"))
    for (const Json& owner : *owners)
      meta.owners.push_back({.api_version = text_of(owner, "apiVersion"),
                             .kind = text_of(owner, "kind"),
                             .name = text_of(owner, "name"),
                             .uid = text_of(owner, "uid"),
                             .controller = flag_of(owner, "controller")});
  return meta;
}

}  // namespace

std::shared_ptr<Object> Object::make(const Kind& kind, const Json& document) {
  auto [bytes, metadata_end] = stored_text(*kind.message, document);
  CHECK_THAT(bytes.starts_with(kStart), "a {} without metadata cannot be stored: {}", kind.kind,
             bytes.substr(0, 80));
  return std::shared_ptr<Object>(
      new Object(kind, std::move(bytes), metadata_end, read_meta(document)));
}

std::shared_ptr<Object> Object::make_keeping_metadata(const Object& old, const Json& document) {
  auto [bytes, metadata_end] =
      stored_text(*old.kind_->message, old.bytes().substr(0, old.metadata_end_), document);
  return std::shared_ptr<Object>(new Object(*old.kind_, std::move(bytes), metadata_end, old.meta_));
}

Result<std::shared_ptr<Object>> Object::parse(const Kind& kind, std::string bytes) {
  const Result<ParsedJson> parsed = parse_json(bytes);
  if (!parsed || !bytes.starts_with(kStart))
    return fail(Reason::InternalError, "a stored {} is damaged: {}", kind.kind,
                parsed ? "it does not begin with metadata" : parsed.error().message);
  ObjectMeta meta = read_meta(parsed->value);
  const std::size_t metadata_end = end_of_object(bytes, kStart.size() - 2);
  return std::shared_ptr<Object>(new Object(kind, std::move(bytes), metadata_end, std::move(meta)));
}

Json Object::document() const {
  Result<ParsedJson> parsed = parse_json(bytes_);
  CHECK_THAT(parsed.has_value(), "{} {}: {}", kind_->kind, key_text(meta_), parsed.error().message);
  return std::move(parsed->value);
}

Object::~Object() { delete view_.load(std::memory_order_acquire); }

const View* Object::keep_view(std::unique_ptr<View> view) const {
  const View* kept = nullptr;
  // Two threads may both have built one; the first to publish wins, the other's is dropped.
  if (view_.compare_exchange_strong(kept, view.get(), std::memory_order_acq_rel,
                                    std::memory_order_acquire))
    return view.release();
  return kept;
}

void encode(const Object& object, Revision revision, const EncodeOptions& options,
            std::string& out) {
  const Kind& kind = object.kind();
  const std::string_view version =
      options.version.empty() ? std::string_view(kind.stored_version) : options.version;
  const std::string_view bytes = object.bytes();
  out.reserve(out.size() + bytes.size() + 128);
  out += '{';
  if (options.with_type) {
    out += R"("kind":")";
    out += kind.kind;
    out += R"(","apiVersion":")";
    if (!kind.group.empty()) {
      out += kind.group;
      out += '/';
    }
    out += version;
    out += R"(",)";
  }
  out += kMetadata;
  if (revision.value != 0) {  // a dry run has none
    out += R"("resourceVersion":")";
    fmt::format_to(std::back_inserter(out), "{}", revision.value);
    out += R"(",)";
  }
  out += bytes.substr(1 + kMetadata.size());
}

std::string key_text(const ObjectMeta& meta) {
  return meta.name_space.empty() ? meta.name : meta.name_space + "/" + meta.name;
}

}  // namespace muster::api
