#include "server/core/request/scale_view.h"

#include <string>
#include <utility>

#include "api/reading.h"
#include "api/selectors.h"
#include "server/core/request/resource_version.h"

namespace muster::server {
namespace {

using api::Json;
using api::JsonObject;
using api::part_of;

// How the kind finds its pods, as text for other clients to select by.
std::string selector_text(const api::Kind& kind, const Json& document) {
  if (kind.kind == "LeaderWorkerSet")
    return std::string(api::find_string(part_of(document, "status"), "hpaPodSelector"));
  const Json* selector = api::find(part_of(document, "spec"), "selector");
  if (kind.kind == "ReplicationController") {
    const Json labels = JsonObject{{"matchLabels", selector == nullptr ? Json() : *selector}};
    const auto parsed = api::read_label_selector(&labels);
    return parsed ? parsed->text() : "";
  }
  const auto parsed = api::read_label_selector(selector);
  return parsed && !parsed->selects_nothing() ? parsed->text() : "";
}

}  // namespace

const api::schema::Message& scale_message() {
  static const api::schema::Message& kMessage = api::schema::message("autoscaling/v1", "Scale");
  return kMessage;
}

std::int64_t replicas_of(const Json& holder) {
  const Json& replicas = part_of(holder, "replicas");
  return replicas.is_int64() ? replicas.get_int64() : 0;
}

Json scale_document(const api::Object& object, api::Revision revision) {
  const Json document = object.document();
  const api::ObjectMeta& meta = object.meta();
  JsonObject metadata{{"name", meta.name}, {"namespace", meta.name_space}, {"uid", meta.uid}};
  if (revision.value > 0) metadata["resourceVersion"] = to_resource_version(revision);
  if (meta.creation_time) metadata["creationTimestamp"] = format_time(*meta.creation_time);
  JsonObject spec;
  if (const std::int64_t replicas = replicas_of(part_of(document, "spec")); replicas != 0)
    spec["replicas"] = replicas;
  JsonObject status{{"replicas", replicas_of(part_of(document, "status"))}};
  if (const std::string selector = selector_text(object.kind(), document); !selector.empty())
    status["selector"] = selector;
  return JsonObject{{"kind", "Scale"},
                    {"apiVersion", "autoscaling/v1"},
                    {"metadata", std::move(metadata)},
                    {"spec", std::move(spec)},
                    {"status", std::move(status)}};
}

api::DocumentAnswer scale_of(const api::Object& object, api::Revision revision) {
  return {.document = scale_document(object, revision), .code = 200};
}

}  // namespace muster::server
