#include "api/conversion.h"

#include <string_view>
#include <utility>

namespace muster::api {
namespace {

struct Renamed {
  std::string_view stored;  // in core
  std::string_view seen;    // in events.k8s.io
};
constexpr Renamed kRenamed[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

void rename(Json& document, std::string_view from, std::string_view to) {
  if (!document.is_object()) return;
  JsonObject& object = document.get_object();
  Json* member = object.if_contains(from);
  if (member == nullptr) return;
  Json value = std::move(*member);
  object.erase(from);
  object[to] = std::move(value);
}

}  // namespace

const Kind& stored_kind(const Kind& kind) {
  return kind.group == "events.k8s.io" ? kinds::event() : kind;
}

void to_stored(const Kind& kind, Json& document) {
  if (&stored_kind(kind) == &kind) return;
  for (const Renamed& member : kRenamed) rename(document, member.seen, member.stored);
}

void from_stored(const Kind& kind, Json& document) {
  if (&stored_kind(kind) == &kind) return;
  for (const Renamed& member : kRenamed) rename(document, member.stored, member.seen);
}

void encode_as(const Kind& kind, const Object& object, Revision revision,
               const EncodeOptions& options, std::string& out) {
  if (&object.kind() == &kind) return encode(object, revision, options, out);
  Json document = object.document();
  from_stored(kind, document);
  encode(*Object::make(kind, document), revision, options, out);
}

}  // namespace muster::api
