#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "base/result.h"
#include "base/time.h"

// Reading and writing the parts of a document that the server itself looks at while it decides.
namespace muster::server {

using api::Json;
using api::JsonArray;
using api::JsonObject;

inline bool is_batch(const api::Kind& kind, std::string_view name) {
  return kind.group == "batch" && kind.kind == name;
}

// The document's metadata, made if missing.
JsonObject& metadata(Json& document);
std::string_view meta_text(const Json& document, std::string_view member);
std::optional<std::int64_t> meta_number(const Json& document, std::string_view member);
std::optional<Time> meta_time(const Json& document, std::string_view member);
std::vector<std::string> text_list(const Json& document, std::string_view dotted_path);

// Makes `member` of `to` what it is in `from`: the same, or absent.
void copy_member(JsonObject& to, const Json& from, std::string_view member);
// The same for a member of metadata.
void copy_meta(Json& to, const Json& from, std::string_view member);

// Whether the member means the same in both documents, whatever empty parts are written out.
bool same_member(const api::Kind& kind, const Json& a, const Json& b, std::string_view member);

// Sets deletionTimestamp and deletionGracePeriodSeconds.
void mark_deleted(Json& document, Time at, std::int64_t grace_s);
// generation + 1, if generations are kept for this object at all.
void bump_generation(Json& document);

// The object to store. A pod's view is built with it: scheduler and controllers read it for every
// pod, and building it from the document takes a third of the time.
std::shared_ptr<api::Object> make_object(const api::Kind& kind, const Json& document);
// The same where metadata stays as it was; `rest` holds the other members.
std::shared_ptr<api::Object> make_object(const api::Object& old, const Json& rest);

// RequestEntityTooLarge, in etcd's words, if no etcd would store an object of this size.
Result<void> check_size(const api::Object& object);

// RequestEntityTooLarge if the document or its status has more values than it may have and more
// than `old`, which may be null: a stored object may stay as it is, or shrink.
Result<void> check_values(const Json& document, const Json* old);

// What errors call an object that may not have a name yet.
std::string_view spoken_name(const Json& document);

}  // namespace muster::server
