#include "server/core/write/binding.h"

#include <fmt/format.h>

#include <utility>

#include "api/scratch.h"
#include "api/values/waits_for.h"
#include "server/core/request/errors.h"
#include "server/core/request/resource_version.h"
#include "server/core/strategies/document.h"
#include "server/core/strategies/pod_condition.h"

namespace muster::server {
namespace {

struct Target {
  std::string_view kind;
  std::string_view name;
};

// Upstream answers these two with a bare 500, not with a 422.
Result<Target> read_target(const Json& binding) {
  const Json* target = api::find(binding, "target");
  const Target out{.kind = target == nullptr ? "" : api::find_string(*target, "kind"),
                   .name = target == nullptr ? "" : api::find_string(*target, "name")};
  if (!out.kind.empty() && out.kind != "Node")
    return fail(Reason::InternalError,
                R"(target.kind: Unsupported value: "{}": supported values: "<empty>", "Node")",
                out.kind);
  if (out.name.empty()) return fail(Reason::InternalError, "target.name: Required value");
  return out;
}

Error refused(const api::Request& request, std::string_view why) {
  Error error = conflict(*request.kind, request.name, why);
  error.message =
      fmt::format(R"(Operation cannot be fulfilled on pods/binding "{}": {})", request.name, why);
  error.kind = "pods/binding";
  return error;
}

Result<void> check_preconditions(const api::Request& request, const api::Object& pod) {
  const std::string_view uid = meta_text(request.body, "uid");
  if (!uid.empty() && uid != pod.meta().uid)
    return fail(conflict(*request.kind, request.name,
                         fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                     "meta: {}",
                                     uid, pod.meta().uid)));
  const std::string_view version = meta_text(request.body, "resourceVersion");
  const std::string current = to_resource_version(pod.revision());
  if (!version.empty() && version != current)
    return fail(conflict(*request.kind, request.name,
                         fmt::format("Precondition failed: ResourceVersion in precondition: {}, "
                                     "ResourceVersion in object meta: {}",
                                     version, current)));
  return {};
}

bool says_metadata(const Json& binding) {
  const Json* meta = api::find(binding, "metadata");
  return meta != nullptr && (api::find_object(*meta, "annotations") != nullptr ||
                             api::find_object(*meta, "labels") != nullptr);
}

// Annotations overwrite; labels never do, so that a scheduler cannot relabel a pod.
void merge_metadata(Json& pod, const Json& binding) {
  const Json* from = api::find(binding, "metadata");
  if (from == nullptr) return;
  if (const JsonObject* annotations = api::find_object(*from, "annotations"))
    for (const auto& annotation : *annotations)
      api::ensure_object(metadata(pod), "annotations")[annotation.key()] = annotation.value();
  if (const JsonObject* labels = api::find_object(*from, "labels"))
    for (const auto& label : *labels)
      api::ensure_object(metadata(pod), "labels").emplace(label.key(), label.value());
}

}  // namespace

Json without_metadata(api::Scratch& scratch, const api::Object& pod) {
  return api::members_in(scratch, pod, {"spec", "status"});
}

std::optional<Cause> why_not_bindable(const api::Object& pod, const Json& document) {
  const std::string& name = pod.meta().name;
  if (pod.meta().deletion_time)
    return Cause{
        .type = "Terminating",
        .field = {},
        .message = fmt::format("pod {} is being deleted, cannot be assigned to a host", name)};
  const Json* spec = api::find(document, "spec");
  if (spec == nullptr) return std::nullopt;
  if (const auto node = api::find_string(*spec, "nodeName"); !node.empty())
    return Cause{.type = "AlreadyBound",
                 .field = {},
                 .message = fmt::format(R"(pod {} is already assigned to node "{}")", name, node)};
  const JsonArray* gates = api::find_array(*spec, "schedulingGates");
  if (gates != nullptr && !gates->empty())
    return Cause{.type = "Gated",
                 .field = {},
                 .message = fmt::format("pod {} has non-empty .spec.schedulingGates", name)};
  return std::nullopt;
}

void assign_node(Json& pod, std::string_view node, Time now) {
  api::ensure_object(pod.get_object(), "spec")["nodeName"] = node;
  api::ensure_object(pod.get_object(), "status").erase("nominatedNodeName");
  set_pod_condition(pod, {.type = "PodScheduled", .status = "True"}, now);
  remove_pod_condition(pod, api::kWaitsForCondition);
}

Result<Decision> decide_named_binding(Context& context, api::Request& request) {
  request.kind = &api::kinds::pod();
  request.subresource = "binding";
  request.name = meta_text(request.body, "name");
  if (request.name.empty()) return fail(Reason::BadRequest, "name is required");
  return decide_binding(context, request);
}

Result<Decision> decide_binding(Context& context, const api::Request& request) {
  if (const auto name = meta_text(request.body, "name"); name != request.name)
    return fail(Reason::BadRequest, "name in URL does not match name in Binding object");
  if (const auto name_space = meta_text(request.body, "namespace");
      !name_space.empty() && name_space != request.name_space)
    return fail(Reason::BadRequest,
                "the namespace of the provided object does not match the namespace sent on the "
                "request");
  const Target target = TRY(read_target(request.body));
  std::string key = store::make_key(*request.kind, request.name_space, request.name);
  const api::ObjectPtr pod = context.staging.get(key);
  if (!pod) return fail(not_found(*request.kind, request.name));
  TRY(check_preconditions(request, *pod));
  // Most bindings say nothing about metadata, which is half of a pod and then stays as it is.
  const bool whole = says_metadata(request.body);
  api::Scratch scratch;
  Json document = whole ? api::document_in(scratch, *pod) : without_metadata(scratch, *pod);
  if (const auto why = why_not_bindable(*pod, document))
    return fail(refused(request, why->message));

  assign_node(document, target.name, context.now);
  if (whole) merge_metadata(document, request.body);

  Decision decision;
  decision.answer.what =
      api::StatusAnswer{.code = 201, .name = {}, .group = {}, .kind = {}, .uid = {}};
  decision.transaction.writes.push_back(
      {.key = std::move(key),
       .object = whole ? make_object(*request.kind, document) : make_object(*pod, document),
       .expected = pod->revision()});
  return decision;
}

}  // namespace muster::server
