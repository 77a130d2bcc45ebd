#include "server/core/strategies/document.h"

#include <limits>

#include "api/decode.h"
#include "api/same_text.h"
#include "api/views/pod_view.h"

namespace muster::server {
namespace {

const Json kNull;

const Json& meta_of(const Json& document) {
  const Json* meta = api::find(document, "metadata");
  return meta == nullptr ? kNull : *meta;
}

}  // namespace

JsonObject& metadata(Json& document) {
  if (!document.is_object()) document.emplace_object();
  return api::ensure_object(document.get_object(), "metadata");
}

std::string_view meta_text(const Json& document, std::string_view member) {
  return api::find_string(meta_of(document), member);
}

std::optional<std::int64_t> meta_number(const Json& document, std::string_view member) {
  const Json* value = api::find(meta_of(document), member);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  const auto number = value->to_number<std::int64_t>(error);
  if (error) return std::nullopt;
  return number;
}

std::optional<Time> meta_time(const Json& document, std::string_view member) {
  return parse_time(meta_text(document, member));
}

std::vector<std::string> text_list(const Json& document, std::string_view dotted_path) {
  std::vector<std::string> out;
  const Json* list = api::find_path(document, dotted_path);
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& item : list->get_array())
    if (const auto* text = item.if_string()) out.emplace_back(text->data(), text->size());
  return out;
}

void copy_member(JsonObject& to, const Json& from, std::string_view member) {
  if (const Json* value = api::find(from, member))
    to[member] = *value;
  else
    to.erase(member);
}

void copy_meta(Json& to, const Json& from, std::string_view member) {
  copy_member(metadata(to), meta_of(from), member);
}

bool same_member(const api::Kind& kind, const Json& a, const Json& b, std::string_view member) {
  const api::schema::Field* field = kind.message->find(member);
  const Json* left = api::find(a, member);
  const Json* right = api::find(b, member);
  if (left != nullptr && right != nullptr && api::same_text(*left, *right)) return true;
  if (field == nullptr || field->message == nullptr || field->repeat != api::schema::Repeat::One) {
    if (left == nullptr || right == nullptr) return left == right;
    return *left == *right;
  }
  const Json empty = JsonObject();
  return api::canonical_text(*field->message, left == nullptr ? empty : *left) ==
         api::canonical_text(*field->message, right == nullptr ? empty : *right);
}

void mark_deleted(Json& document, Time at, std::int64_t grace_s) {
  JsonObject& meta = metadata(document);
  meta["deletionTimestamp"] = format_time(at);
  meta["deletionGracePeriodSeconds"] = grace_s;
}

void bump_generation(Json& document) {
  if (const auto generation = meta_number(document, "generation"); generation.value_or(0) > 0)
    metadata(document)["generation"] = *generation + 1;
}

namespace {

std::shared_ptr<api::Object> with_view(std::shared_ptr<api::Object> object, const Json& document) {
  if (&object->kind() == &api::kinds::pod()) object->set_view(api::PodView::of(document));
  return object;
}

// Of one object, defaults included, managedFields and status not. What is done with an object takes
// about two microseconds per value on the one thread that decides about writes.
constexpr std::size_t kObjectValuesMax = 20'000;
// Apart, because those who report a status are not those who filled the rest.
constexpr std::size_t kStatusValuesMax = 10'000;

// Stops soon after `most`.
std::size_t count_values(const Json& value, std::size_t most) {
  std::size_t count = 1;
  const auto add = [&](const Json& part) { count += count_values(part, most - count); };
  if (const auto* list = value.if_array()) {
    for (auto at = list->begin(); at != list->end() && count <= most; ++at) add(*at);
  } else if (const auto* object = value.if_object()) {
    for (auto at = object->begin(); at != object->end() && count <= most; ++at) add(at->value());
  }
  return count;
}

// Who manages which fields is not counted: every field may stand there again for each manager.
std::size_t count_object_values(const Json& document, std::size_t most) {
  std::size_t count = 0;
  for (const auto& [name, value] : document.get_object()) {
    if (name == "status") continue;
    const auto* const meta = name == "metadata" ? value.if_object() : nullptr;
    if (meta == nullptr) {
      count += count_values(value, most - count);
    } else {
      for (const auto& [field, part] : *meta)
        if (field != "managedFields" && count <= most) count += count_values(part, most - count);
    }
    if (count > most) break;
  }
  return count;
}

std::size_t count_status_values(const Json& document, std::size_t most) {
  const Json* const status = api::find(document, "status");
  return status == nullptr ? 0 : count_values(*status, most);
}

using Count = std::size_t (*)(const Json& document, std::size_t most);
bool grows_beyond(std::size_t most, Count count, const Json& document, const Json* old) {
  if (count(document, most) <= most) return false;
  constexpr auto kAll = std::numeric_limits<std::size_t>::max();
  return old == nullptr || count(document, kAll) > count(*old, kAll);
}

}  // namespace

std::shared_ptr<api::Object> make_object(const api::Kind& kind, const Json& document) {
  return with_view(api::Object::make(kind, document), document);
}

std::shared_ptr<api::Object> make_object(const api::Object& old, const Json& rest) {
  return with_view(api::Object::make_keeping_metadata(old, rest), rest);
}

Result<void> check_size(const api::Object& object) {
  constexpr std::size_t kBytesMax = 1'572'864;  // etcd's default for a request
  if (object.bytes().size() <= kBytesMax) return {};
  return fail(Reason::RequestEntityTooLarge, "etcdserver: request is too large");
}

Result<void> check_values(const Json& document, const Json* old) {
  if (grows_beyond(kObjectValuesMax, count_object_values, document, old))
    return fail(Reason::RequestEntityTooLarge,
                "the object has more than {} fields and list items: split it", kObjectValuesMax);
  if (grows_beyond(kStatusValuesMax, count_status_values, document, old))
    return fail(Reason::RequestEntityTooLarge,
                "the object's status has more than {} fields and list items: shorten it",
                kStatusValuesMax);
  return {};
}

std::string_view spoken_name(const Json& document) {
  if (const auto name = meta_text(document, "name"); !name.empty()) return name;
  if (const auto prefix = meta_text(document, "generateName"); !prefix.empty()) return prefix;
  return "Unknown";
}

}  // namespace muster::server
