#include <optional>
#include <utility>

#include "client/client.h"

namespace muster::client {
namespace {

using api::JsonObject;
using api::Verb;

api::Request about(Verb verb, const api::Kind& kind, std::string_view name_space,
                   std::string_view name) {
  api::Request request;
  request.verb = verb;
  request.kind = &kind;
  request.version = kind.stored_version;
  request.name_space = name_space;
  request.name = name;
  return request;
}

}  // namespace

// The uid makes sure that it is this pod that is bound, not a later one of the same name.
api::Request bind_request(const api::Object& pod, std::string_view node) {
  const api::ObjectMeta& meta = pod.meta();
  api::Request request = about(Verb::Create, pod.kind(), meta.name_space, meta.name);
  request.subresource = "binding";
  request.body = JsonObject{
      {"metadata",
       JsonObject{{"name", meta.name}, {"namespace", meta.name_space}, {"uid", meta.uid}}},
      {"target", JsonObject{{"kind", "Node"}, {"name", node}}}};
  return request;
}

api::Request get_request(const api::Object& object) {
  return about(Verb::Get, object.kind(), object.meta().name_space, object.meta().name);
}

api::Request create_request(const api::Kind& kind, std::string_view name_space,
                            api::Json document) {
  api::Request request = about(Verb::Create, kind, name_space, "");
  request.body = std::move(document);
  return request;
}

api::Request patch_request(const api::Kind& kind, std::string_view name_space,
                           std::string_view name, std::string_view subresource, api::PatchType type,
                           api::Json patch) {
  api::Request request = about(Verb::Patch, kind, name_space, name);
  request.subresource = subresource;
  request.patch_type = type;
  request.body = std::move(patch);
  return request;
}

api::Request delete_request(const api::Object& object, std::optional<std::int64_t> grace_period_s) {
  const api::ObjectMeta& meta = object.meta();
  api::Request request = about(Verb::Delete, object.kind(), meta.name_space, meta.name);
  request.remove.grace_period_s = grace_period_s;
  request.remove.preconditions.uid = meta.uid;
  return request;
}

}  // namespace muster::client
