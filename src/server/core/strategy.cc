#include "server/core/strategy.h"

#include <array>
#include <map>
#include <string>
#include <utility>

#include "api/validation/event.h"
#include "api/validation/lease.h"
#include "api/validation/name_space.h"
#include "api/validation/node.h"
#include "api/validation/object_meta.h"
#include "api/validation/pod.h"
#include "api/validation/priority_class.h"
#include "server/core/document.h"

namespace muster::server {
namespace {

bool has_status(const api::Kind& kind) { return kind.message->find("status") != nullptr; }

class PodStrategy final : public Strategy {
 public:
  void set_defaults(Json& pod) const override { api::default_pod(pod); }

  void prepare_for_create(Json& pod) const override {
    JsonObject status{{"phase", "Pending"}, {"qosClass", pod_qos_class(pod)}};
    const Json* gates = api::find_path(pod, "spec.schedulingGates");
    if (gates != nullptr && gates->is_array() && !gates->get_array().empty())
      status["conditions"] = JsonArray{
          JsonObject{{"type", "PodScheduled"},
                     {"status", "False"},
                     {"reason", "SchedulingGated"},
                     {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
    pod.get_object()["status"] = std::move(status);
  }

  void prepare_for_status(Json& pod, const Json& old) const override {
    Strategy::prepare_for_status(pod, old);
    copy_meta(pod, old, "deletionTimestamp");
    copy_meta(pod, old, "ownerReferences");
    const Json* old_status = api::find(old, "status");
    JsonObject& status = api::ensure_object(pod.get_object(), "status");
    if (status.if_contains("qosClass") == nullptr && old_status != nullptr)
      copy_member(status, *old_status, "qosClass");
  }

  bool deletes_gracefully() const override { return true; }
  std::optional<std::int64_t> grace_period(const Json& pod,
                                           std::optional<std::int64_t> asked) const override {
    if (const Json* spec = api::find(pod, "spec")) {
      // Nobody runs it: there is nothing to wait for.
      if (api::find_string(*spec, "nodeName").empty()) return 0;
      const Json* own = api::find(*spec, "terminationGracePeriodSeconds");
      if (!asked && own != nullptr && own->is_int64()) asked = own->get_int64();
    }
    if (const Json* phase = api::find_path(pod, "status.phase"))
      if (*phase == "Succeeded" || *phase == "Failed") return 0;
    const std::int64_t period = asked.value_or(0);
    return period < 0 ? 1 : period;
  }
};

class NamespaceStrategy final : public Strategy {
 public:
  void set_defaults(Json& document) const override { api::default_name_space(document); }

  void prepare_for_create(Json& document) const override {
    document.get_object()["status"] = JsonObject{{"phase", "Active"}};
    std::vector<std::string> finalizers = text_list(document, "spec.finalizers");
    for (const std::string& finalizer : finalizers)
      if (finalizer == "kubernetes") return;
    api::ensure_array(api::ensure_object(document.get_object(), "spec"), "finalizers")
        .emplace_back("kubernetes");
  }

  // All there is in spec is the finalizers, and those change through /finalize alone.
  void prepare_for_update(Json& document, const Json& old) const override {
    copy_member(document.get_object(), old, "spec");
    copy_member(document.get_object(), old, "status");
  }
  void prepare_for_part(Json& document, const Json& old, std::string_view) const override {
    copy_member(document.get_object(), old, "status");
  }
};

// A node may be created with its status, which is how a kubelet registers itself.
class NodeStrategy final : public Strategy {
 public:
  void set_defaults(Json& node) const override {
    const Json* status = api::find(node, "status");
    if (status == nullptr || api::find(*status, "allocatable") != nullptr) return;
    if (const Json* capacity = api::find(*status, "capacity")) {
      Json copy = *capacity;
      api::ensure_object(node.get_object(), "status")["allocatable"] = std::move(copy);
    }
  }
  void prepare_for_create(Json&) const override {}
};

// Kinds that have nothing but what the client says.
class PlainStrategy final : public Strategy {
 public:
  void prepare_for_create(Json&) const override {}
  void prepare_for_update(Json&, const Json&) const override {}
};

class OrphaningStrategy final : public Strategy {
 public:
  bool orphans_dependents() const override { return true; }
};

api::EventGroup group_of(const api::Kind& kind) {
  return kind.group.empty() ? api::EventGroup::Core : api::EventGroup::Events;
}

}  // namespace

void Strategy::set_defaults(Json&) const {}

void Strategy::prepare_for_create(Json& document) const { document.get_object().erase("status"); }

void Strategy::prepare_for_update(Json& document, const Json& old) const {
  copy_member(document.get_object(), old, "status");
}

void Strategy::prepare_for_status(Json& document, const Json& old) const {
  copy_member(document.get_object(), old, "spec");
}

void Strategy::prepare_for_part(Json&, const Json&, std::string_view) const {}

std::optional<std::int64_t> Strategy::grace_period(const Json&, std::optional<std::int64_t>) const {
  return std::nullopt;
}

const Strategy& strategy_of(const api::Kind& kind) {
  static const PodStrategy pod;
  static const NamespaceStrategy name_space;
  static const NodeStrategy node;
  static const PlainStrategy plain;
  static const OrphaningStrategy orphaning;
  static const Strategy usual;
  if (&kind == &api::kinds::pod()) return pod;
  if (&kind == &api::kinds::name_space()) return name_space;
  if (&kind == &api::kinds::node()) return node;
  if (kind.kind == "Job" || kind.kind == "ReplicationController") return orphaning;
  return has_status(kind) ? usual : plain;
}

std::vector<Cause> validate_create(const api::Kind& kind, const Json& document) {
  if (&kind == &api::kinds::pod()) return api::validate_pod(document).causes();
  if (&kind == &api::kinds::node()) return api::validate_node(document).causes();
  if (&kind == &api::kinds::name_space()) return api::validate_name_space(document).causes();
  if (&kind == &api::kinds::priority_class())
    return api::validate_priority_class(document).causes();
  if (&kind == &api::kinds::lease()) return api::validate_lease(document).causes();
  if (kind.kind == "Event") return api::validate_event(document, group_of(kind)).causes();
  api::FieldErrors errors;
  api::validate_object_meta(document, api::meta_rules(kind), errors);
  return errors.causes();
}

std::vector<Cause> validate_update(const api::Kind& kind, const Json& document, const Json& old,
                                   std::string_view subresource) {
  const bool status = subresource == "status";
  if (&kind == &api::kinds::pod())
    return status ? api::validate_pod_status_update(document, old).causes()
                  : api::validate_pod_update(document, old).causes();
  if (&kind == &api::kinds::node()) return api::validate_node_update(document, old).causes();
  if (&kind == &api::kinds::name_space()) {
    if (status) return api::validate_name_space_status_update(document, old).causes();
    if (subresource == "finalize")
      return api::validate_name_space_finalize_update(document, old).causes();
    return api::validate_name_space_update(document, old).causes();
  }
  if (&kind == &api::kinds::priority_class())
    return api::validate_priority_class_update(document, old).causes();
  if (&kind == &api::kinds::lease()) return api::validate_lease_update(document, old).causes();
  if (kind.kind == "Event")
    return api::validate_event_update(document, old, group_of(kind)).causes();
  api::FieldErrors errors;
  api::validate_object_meta_update(document, old, errors);
  return errors.causes();
}

}  // namespace muster::server
