#include "server/core/write/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "api/validation/group_admission.h"
#include "api/values/well_known.h"
#include "server/core/request/errors.h"
#include "server/core/request/selection.h"
#include "server/core/strategies/document.h"
#include "server/core/write/limit_range.h"
#include "server/core/write/service_account.h"
#include "server/core/write/service_addresses.h"

namespace muster::server {
namespace {

constexpr std::array<std::string_view, 3> kImmortalNamespaces{"default", "kube-system",
                                                              "kube-public"};
constexpr std::string_view kPreemptLowerPriority = "PreemptLowerPriority";

bool is(const api::Kind& kind, const api::Kind& other) { return &kind == &other; }

bool is_service(const api::Kind& kind) { return kind.kind == "Service" && kind.group.empty(); }

// Nobody may give away what they do not hold.
Result<void> admit_grant(const Context& context, const api::Request& request, const Json& document,
                         const Json* old) {
  if (request.kind->group != "rbac.authorization.k8s.io" || !context.role_guard) return {};
  return context.role_guard(request, document, old);
}

// Objects live in namespaces that exist and are not about to go.
Result<void> admit_into_namespace(Context& context, const api::Request& request,
                                  const Json& document) {
  const api::Kind& kind = *request.kind;
  if (!kind.namespaced) return {};
  const api::ObjectPtr home =
      context.staging.get(store::make_key(api::kinds::name_space(), "", request.name_space));
  if (!home) return fail(not_found(api::kinds::name_space(), request.name_space));
  if (!home->meta().deletion_time) return {};
  Error error = forbidden(kind, spoken_name(document),
                          fmt::format("unable to create new content in namespace {} because it is "
                                      "being terminated",
                                      request.name_space));
  error.causes.push_back(
      {.type = "NamespaceTerminating",
       .field = "metadata.namespace",
       .message = fmt::format("namespace {} is being terminated", request.name_space)});
  return fail(std::move(error));
}

// What a priority class means for those who name it.
struct Priority {
  std::string class_name;
  std::int64_t value = 0;
  std::string policy{kPreemptLowerPriority};
};

Priority read_class(const api::Object& object) {
  const Json document = object.document();
  Priority out{.class_name = object.meta().name};
  if (const Json* value = api::find(document, "value"); value != nullptr && value->is_int64())
    out.value = value->get_int64();
  if (const auto policy = api::find_string(document, "preemptionPolicy"); !policy.empty())
    out.policy = policy;
  return out;
}

bool is_global_default(const api::Object& object) {
  return scalar_at(object.bytes(), "globalDefault") == "true";
}

std::vector<api::ObjectPtr> priority_classes(Context& context) {
  return context.staging.list(api::kinds::priority_class().store_prefix + "/");
}

// The class an object names, else the global default (the lowest, should there be several).
Result<Priority> resolve_priority(Context& context, const api::Request& request,
                                  const Json& document, std::string_view class_name) {
  if (!class_name.empty()) {
    const api::ObjectPtr found =
        context.staging.get(store::make_key(api::kinds::priority_class(), "", class_name));
    if (!found)
      return fail(forbidden(*request.kind, spoken_name(document),
                            fmt::format("no PriorityClass with name {} was found", class_name)));
    return read_class(*found);
  }
  std::optional<Priority> lowest;
  for (const api::ObjectPtr& object : priority_classes(context)) {
    if (!is_global_default(*object)) continue;
    Priority candidate = read_class(*object);
    if (!lowest || candidate.value < lowest->value) lowest = std::move(candidate);
  }
  return lowest.value_or(Priority{});
}

Result<void> admit_pod_priority(Context& context, const api::Request& request, Json& pod) {
  JsonObject& spec = api::ensure_object(pod.get_object(), "spec");
  const Json* spec_value = api::find(pod, "spec");
  const Priority priority = TRY(
      resolve_priority(context, request, pod, api::find_string(*spec_value, "priorityClassName")));
  constexpr std::string_view kComputed =
      "must not be provided in pod spec; priority admission controller computed";
  if (const Json* given = spec.if_contains("priority");
      given != nullptr && given->is_int64() && given->get_int64() != priority.value)
    return fail(forbidden(*request.kind, spoken_name(pod),
                          fmt::format("the integer value of priority ({}) {} {} from the given "
                                      "PriorityClass name",
                                      given->get_int64(), kComputed, priority.value)));
  if (const auto given = api::find_string(*spec_value, "preemptionPolicy");
      !given.empty() && given != priority.policy)
    return fail(forbidden(*request.kind, spoken_name(pod),
                          fmt::format("the string value of PreemptionPolicy ({}) {} {} from the "
                                      "given PriorityClass name",
                                      given, kComputed, priority.policy)));
  if (!priority.class_name.empty()) spec["priorityClassName"] = priority.class_name;
  spec["priority"] = priority.value;
  spec["preemptionPolicy"] = priority.policy;
  return {};
}

// Whether one of the tolerations already answers a NoExecute taint of this key.
bool tolerated(const JsonArray& tolerations, std::string_view key) {
  return std::ranges::any_of(tolerations, [&](const Json& toleration) {
    const auto said_key = api::find_string(toleration, "key");
    const auto effect = api::find_string(toleration, "effect");
    return (said_key == key || said_key.empty()) && (effect == "NoExecute" || effect.empty());
  });
}

// Pods outlive a node's silence by five minutes unless they say otherwise.
void add_default_tolerations(Json& pod) {
  JsonObject& spec = api::ensure_object(pod.get_object(), "spec");
  const Json* given = spec.if_contains("tolerations");
  JsonArray tolerations = given != nullptr && given->is_array() ? given->get_array() : JsonArray();
  const std::size_t before = tolerations.size();
  for (const std::string_view key :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (tolerated(tolerations, key)) continue;
    tolerations.push_back(JsonObject{{"key", key},
                                     {"operator", "Exists"},
                                     {"effect", "NoExecute"},
                                     {"tolerationSeconds", std::int64_t{300}}});
  }
  if (tolerations.size() > before) spec["tolerations"] = std::move(tolerations);
}

bool says_ready(const Json& node) {
  const Json* const status = api::find(node, "status");
  const JsonArray* const conditions =
      status == nullptr ? nullptr : api::find_array(*status, "conditions");
  return conditions != nullptr && std::ranges::any_of(*conditions, [](const Json& condition) {
           return api::find_string(condition, "type") == "Ready" &&
                  api::find_string(condition, "status") == "True";
         });
}

// Nothing is put on a node before it has said that it is ready; the node lifecycle controller takes
// the taint away then.
void taint_new_node(Json& node) {
  constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
  if (says_ready(node)) return;
  JsonObject& spec = api::ensure_object(node.get_object(), "spec");
  JsonArray& taints = api::ensure_array(spec, "taints");
  const bool has_it = std::ranges::any_of(taints, [&](const Json& taint) {
    return api::find_string(taint, "key") == kNotReady &&
           api::find_string(taint, "effect") == "NoSchedule";
  });
  if (!has_it) taints.push_back(JsonObject{{"key", kNotReady}, {"effect", "NoSchedule"}});
}

// A group gets its priority from its class, and the finalizer that keeps it while it is used.
Result<void> admit_group(Context& context, const api::Request& request, Json& group,
                         std::string_view noun, std::string_view finalizer) {
  std::vector<api::PriorityClassFacts> classes;
  for (const api::ObjectPtr& object : priority_classes(context)) {
    const Priority priority = read_class(*object);
    classes.push_back({.name = priority.class_name,
                       .value = priority.value,
                       .preemption_policy = priority.policy,
                       .global_default = is_global_default(*object)});
  }
  if (const auto settled = api::resolve_group_priority(group, classes, noun, context.gates);
      !settled)
    return fail(forbidden(*request.kind, spoken_name(group), settled.error().message));
  api::add_finalizer(group, finalizer);
  return {};
}

}  // namespace

Result<void> admit_create(Context& context, const api::Request& request, Json& document) {
  TRY(admit_into_namespace(context, request, document));
  TRY(admit_grant(context, request, document, nullptr));
  if (is(*request.kind, api::kinds::pod_group()))
    return admit_group(context, request, document, api::kPodGroupNoun, api::kPodGroupFinalizer);
  if (is(*request.kind, api::kinds::composite_pod_group()))
    return admit_group(context, request, document, api::kCompositePodGroupNoun,
                       api::kCompositePodGroupFinalizer);
  if (is_service(*request.kind))
    return assign_service_addresses(context, request, document, nullptr);
  if (is(*request.kind, api::kinds::node())) taint_new_node(document);
  TRY(admit_by_limit_ranges(context, request, document));
  if (!is(*request.kind, api::kinds::pod())) return {};
  TRY(admit_service_account(context, request, document));
  TRY(admit_pod_priority(context, request, document));
  add_default_tolerations(document);
  return {};
}

Result<void> admit_update(Context& context, const api::Request& request, Json& document,
                          const Json& old) {
  TRY(admit_grant(context, request, document, &old));
  if ((is(*request.kind, api::kinds::pod_group()) ||
       is(*request.kind, api::kinds::composite_pod_group())) &&
      request.subresource.empty())
    api::keep_preemption_policy(document, old, context.gates);
  if (is_service(*request.kind) && request.subresource.empty())
    return assign_service_addresses(context, request, document, &old);
  if (is(*request.kind, api::kinds::pod()) && request.subresource == "resize")
    return admit_by_limit_ranges(context, request, document);
  if (!is(*request.kind, api::kinds::pod()) || !request.subresource.empty()) return {};
  const Json* old_spec = api::find(old, "spec");
  if (old_spec == nullptr) return {};
  JsonObject& spec = api::ensure_object(document.get_object(), "spec");
  for (const std::string_view member : {"priority", "preemptionPolicy"})
    if (spec.if_contains(member) == nullptr) copy_member(spec, *old_spec, member);
  return {};
}

Result<void> admit_delete(const api::Object& object) {
  const std::string& name = object.meta().name;
  if (is(object.kind(), api::kinds::name_space()) &&
      std::ranges::find(kImmortalNamespaces, name) != kImmortalNamespaces.end())
    return fail(forbidden(object.kind(), name, "this namespace may not be deleted"));
  if (is(object.kind(), api::kinds::priority_class()) && name.starts_with("system-"))
    return fail(
        forbidden(object.kind(), name, "this is a system priority class and cannot be deleted"));
  return {};
}

Result<void> admit_valid(Context& context, const api::Request& request, const Json& document) {
  if (!is(*request.kind, api::kinds::priority_class())) return {};
  const Json* wanted = api::find(document, "globalDefault");
  if (wanted == nullptr || !wanted->is_bool() || !wanted->get_bool()) return {};
  const std::string_view name = meta_text(document, "name");
  for (const api::ObjectPtr& other : priority_classes(context))
    if (other->meta().name != name && is_global_default(*other))
      return fail(forbidden(*request.kind, spoken_name(document),
                            fmt::format("PriorityClass {} is already marked as default. Only one "
                                        "default can exist",
                                        other->meta().name)));
  return {};
}

}  // namespace muster::server
