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
  if (const JsonArray* finalizers = find_array(*metadata, "finalizers")) {
    meta.finalizers.reserve(finalizers->size());
    for (const Json& finalizer : *finalizers)
      if (const auto* text = finalizer.if_string()) meta.finalizers.emplace_back(*text);
  }
  if (const JsonArray* owners = find_array(*metadata, "ownerReferences")) {
    meta.owners.reserve(owners->size());
    for (const Json& owner : *owners)
      meta.owners.push_back({.api_version = text_of(owner, "apiVersion"),
                             .kind = text_of(owner, "kind"),
                             .name = text_of(owner, "name"),
                             .uid = text_of(owner, "uid"),
                             .controller = flag_of(owner, "controller")});
  }
  return meta;
}

// What a version takes that says nothing: itself, and its key in the maps of the store.
constexpr std::size_t kEmptyObject = 1'200;
// What a view may take of each value that it reads: structs of some strings for the items of a
// list, texts that are kept again, pairs of texts for the entries of a map.
constexpr std::size_t kViewedItem = 144;
constexpr std::size_t kViewedEntry = 80;
constexpr std::size_t kViewedMember = 32;
// What has more members than this is a map.
constexpr std::size_t kMembersMax = 32;

// Beside the string itself. Short texts stand inside it.
std::size_t heap_of(std::string_view text) {
  constexpr std::size_t kInside = 15;
  constexpr std::size_t kBlock = 16;  // what the allocator adds
  return text.size() <= kInside ? 0 : text.size() + kBlock;
}

std::size_t memory_of(const StringPairs& pairs) {
  std::size_t sum = pairs.size() * sizeof(StringPairs::value_type);
  for (const auto& [key, value] : pairs) sum += heap_of(key) + heap_of(value);
  return sum;
}

std::size_t memory_of(const ObjectMeta& meta) {
  std::size_t sum = memory_of(meta.labels) + memory_of(meta.annotations);
  for (const std::string& finalizer : meta.finalizers)
    sum += sizeof(std::string) + heap_of(finalizer);
  for (const OwnerReference& owner : meta.owners)
    sum += sizeof(OwnerReference) + heap_of(owner.api_version) + heap_of(owner.kind) +
           heap_of(owner.name) + heap_of(owner.uid);
  return sum;
}

std::size_t memory_viewed(const Json& value);

std::size_t memory_of_members(const JsonObject& object) {
  const std::size_t scalar = object.size() > kMembersMax ? kViewedEntry : kViewedMember;
  std::size_t sum = 0;
  for (const auto& member : object)
    sum += member.value().is_structured() ? memory_viewed(member.value()) : scalar;
  return sum;
}

// An item of a list is a struct even if it says nothing; a member that says nothing is none.
std::size_t memory_viewed(const Json& value) {
  if (const auto* list = value.if_array()) {
    std::size_t sum = kViewedMember;
    for (const Json& item : *list)
      sum += item.is_object() ? kViewedItem + memory_of_members(item.get_object())
                              : kViewedMember + memory_viewed(item);
    return sum;
  }
  const auto* object = value.if_object();
  if (object == nullptr) return kViewedMember;
  return object->empty() ? 0 : kViewedMember + memory_of_members(*object);
}

// Views are read when somebody asks for them, long after memory was counted; and nearly all that
// they read is in these two.
std::size_t memory_of_view(const Json& document) {
  std::size_t sum = 0;
  for (const std::string_view part : {"spec", "status"})
    if (const Json* value = find(document, part)) sum += memory_viewed(*value);
  return sum;
}

}  // namespace

Object::Object(const Kind& kind, std::string bytes, std::size_t metadata_end, ObjectMeta meta,
               const Json& document)
    : kind_(&kind),
      metadata_end_(static_cast<std::uint32_t>(metadata_end)),
      bytes_(std::move(bytes)),
      meta_(std::move(meta)),
      memory_(kEmptyObject + bytes_.size() + memory_of(meta_) + memory_of_view(document)) {}

std::shared_ptr<Object> Object::make(const Kind& kind, const Json& document) {
  auto [bytes, metadata_end] = stored_text(*kind.message, document);
  CHECK_THAT(bytes.starts_with(kStart), "a {} without metadata cannot be stored: {}", kind.kind,
             bytes.substr(0, 80));
  return std::shared_ptr<Object>(
      new Object(kind, std::move(bytes), metadata_end, read_meta(document), document));
}

std::shared_ptr<Object> Object::make_keeping_metadata(const Object& old, const Json& document) {
  auto [bytes, metadata_end] =
      stored_text(*old.kind_->message, old.bytes().substr(0, old.metadata_end_), document);
  return std::shared_ptr<Object>(
      new Object(*old.kind_, std::move(bytes), metadata_end, old.meta_, document));
}

Result<std::shared_ptr<Object>> Object::parse(const Kind& kind, std::string bytes) {
  const Result<ParsedJson> parsed = parse_json(bytes);
  if (!parsed || !bytes.starts_with(kStart))
    return fail(Reason::InternalError, "a stored {} is damaged: {}", kind.kind,
                parsed ? "it does not begin with metadata" : parsed.error().message);
  ObjectMeta meta = read_meta(parsed->value);
  const std::size_t metadata_end = end_of_object(bytes, kStart.size() - 2);
  return std::shared_ptr<Object>(
      new Object(kind, std::move(bytes), metadata_end, std::move(meta), parsed->value));
}

Json Object::document() const {
  Result<ParsedJson> parsed = parse_json(bytes_);
  CHECK_THAT(parsed.has_value(), "{} {}: {}", kind_->kind, key_text(meta_), parsed.error().message);
  return std::move(parsed->value);
}

Object::~Object() { delete view_.load(std::memory_order_acquire); }

const View* Object::publish_view(std::unique_ptr<View> view) const {
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
