#include "server/core/strategies/strategy.h"

#include <map>
#include <string>
#include <utility>

#include "api/validation/gate_drops.h"
#include "api/validation/job.h"
#include "api/validation/kind_rules.h"
#include "api/validation/name_space.h"
#include "api/validation/pod.h"
#include "server/core/strategies/document.h"
#include "server/core/strategies/pod_level.h"
#include "server/core/strategies/pod_parts.h"
#include "server/core/strategies/qos.h"

namespace muster::server {
namespace {

using api::Gates;

bool has_status(const api::Kind& kind) { return kind.message->find("status") != nullptr; }

class PodStrategy final : public Strategy {
 public:
  void set_defaults(Json& pod) const override {
    api::default_pod(pod);
    default_pod_level(pod);
  }

  void prepare_for_create(Json& pod, const Gates& gates) const override {
    api::drop_disabled_pod_fields(pod, nullptr, gates);
    JsonObject status{{"phase", "Pending"}, {"qosClass", pod_qos_class(pod)}};
    const Json* holds = api::find_path(pod, "spec.schedulingGates");
    if (holds != nullptr && holds->is_array() && !holds->get_array().empty())
      status["conditions"] = JsonArray{
          JsonObject{{"type", "PodScheduled"},
                     {"status", "False"},
                     {"reason", "SchedulingGated"},
                     {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
    pod.get_object()["status"] = std::move(status);
  }

  void prepare_for_update(Json& pod, const Json& old, const Gates& gates) const override {
    Strategy::prepare_for_update(pod, old, gates);
    api::drop_disabled_pod_fields(pod, &old, gates);
  }

  void prepare_for_status(Json& pod, const Json& old, const Gates& gates) const override {
    Strategy::prepare_for_status(pod, old, gates);
    copy_meta(pod, old, "deletionTimestamp");
    copy_meta(pod, old, "ownerReferences");
    const Json* old_status = api::find(old, "status");
    JsonObject& status = api::ensure_object(pod.get_object(), "status");
    if (status.if_contains("qosClass") == nullptr && old_status != nullptr)
      copy_member(status, *old_status, "qosClass");
  }

  void prepare_for_part(Json& pod, const Json& old, std::string_view part) const override {
    drop_other_changes(pod, old, part);
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

  void prepare_for_create(Json& document, const Gates&) const override {
    document.get_object()["status"] = JsonObject{{"phase", "Active"}};
    std::vector<std::string> finalizers = text_list(document, "spec.finalizers");
    for (const std::string& finalizer : finalizers)
      if (finalizer == "kubernetes") return;
    api::ensure_array(api::ensure_object(document.get_object(), "spec"), "finalizers")
        .emplace_back("kubernetes");
  }

  // All there is in spec is the finalizers, and those change through /finalize alone.
  void prepare_for_update(Json& document, const Json& old, const Gates&) const override {
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
  void prepare_for_create(Json&, const Gates&) const override {}
};

// Groups: what /status takes is status alone, not even labels; gates decide about fields.
class GroupStrategy : public Strategy {
 public:
  void prepare_for_create(Json& group, const Gates& gates) const override {
    Strategy::prepare_for_create(group, gates);
    drop_disabled(group, nullptr, gates);
  }
  void prepare_for_update(Json& group, const Json& old, const Gates& gates) const override {
    Strategy::prepare_for_update(group, old, gates);
    drop_disabled(group, &old, gates);
  }
  void prepare_for_status(Json& group, const Json& old, const Gates& gates) const override {
    Strategy::prepare_for_status(group, old, gates);
    for (const std::string_view member : {"labels", "annotations", "finalizers", "ownerReferences",
                                          "deletionTimestamp", "generation"})
      copy_meta(group, old, member);
    drop_disabled(group, &old, gates);
  }

 protected:
  virtual void drop_disabled(Json& group, const Json* old, const Gates& gates) const = 0;
};

class PodGroupStrategy final : public GroupStrategy {
  void drop_disabled(Json& group, const Json* old, const Gates& gates) const override {
    api::drop_disabled_pod_group_fields(group, old, gates);
  }
};

class CompositePodGroupStrategy final : public GroupStrategy {
  void drop_disabled(Json& group, const Json* old, const Gates& gates) const override {
    api::drop_disabled_composite_pod_group_fields(group, old, gates);
  }
};

class WorkloadStrategy final : public Strategy {
 public:
  void prepare_for_create(Json& workload, const Gates& gates) const override {
    api::drop_disabled_workload_fields(workload, nullptr, gates);
  }
  void prepare_for_update(Json& workload, const Json& old, const Gates& gates) const override {
    api::drop_disabled_workload_fields(workload, &old, gates);
  }
};

class JobStrategy final : public Strategy {
 public:
  void set_defaults(Json& job) const override { api::default_job(job.get_object()); }
  void prepare_for_create(Json& job, const Gates& gates) const override {
    Strategy::prepare_for_create(job, gates);
    api::drop_disabled_job_fields(job, nullptr, gates);
    api::select_pods_of_job(job);
    api::default_job(job.get_object());  // a Job without labels takes those of its pods
  }
  void prepare_for_update(Json& job, const Json& old, const Gates& gates) const override {
    Strategy::prepare_for_update(job, old, gates);
    api::drop_disabled_job_fields(job, &old, gates);
  }
  // For old times' sake: a Job's pods outlive it unless the client says otherwise.
  bool orphans_dependents() const override { return true; }
};

class CronJobStrategy final : public Strategy {
 public:
  void set_defaults(Json& job) const override { api::default_cron_job(job.get_object()); }
  void prepare_for_create(Json& job, const Gates& gates) const override {
    Strategy::prepare_for_create(job, gates);
    api::drop_disabled_cron_job_fields(job, nullptr, gates);
  }
  void prepare_for_update(Json& job, const Json& old, const Gates& gates) const override {
    Strategy::prepare_for_update(job, old, gates);
    api::drop_disabled_cron_job_fields(job, &old, gates);
  }
};

// The pod template of a document, wherever its kind keeps it; null if there is none.
template <typename J>
J* template_of(J& document) {
  J* holder = &document;
  if (auto* object = holder->if_object())
    if (auto* spec = object->if_contains("spec")) holder = spec;
  auto* object = holder->if_object();
  return object == nullptr ? nullptr : object->if_contains("template");
}

// Kinds whose rules stand in a table of functions (api/validation/kind_rules.h).
class RuledStrategy final : public Strategy {
 public:
  explicit RuledStrategy(const api::Kind& kind)
      : rules_(api::find_kind_rules(kind)),
        has_status_(has_status(kind)),
        starts_pending_(kind.kind.starts_with("PersistentVolume")),
        orphans_(kind.kind == "ReplicationController") {}

  void predefault(Json& document) const override {
    if (rules_ != nullptr && rules_->predefault != nullptr)
      rules_->predefault(document.get_object());
  }
  void set_defaults(Json& document) const override {
    if (rules_ != nullptr && rules_->set_defaults != nullptr)
      rules_->set_defaults(document.get_object());
  }
  void prepare_for_create(Json& document, const Gates& gates) const override {
    drop_disabled(document, nullptr, gates);
    if (!has_status_) return;
    Strategy::prepare_for_create(document, gates);
    if (starts_pending_) document.get_object()["status"] = JsonObject{{"phase", "Pending"}};
  }
  void prepare_for_update(Json& document, const Json& old, const Gates& gates) const override {
    drop_disabled(document, &old, gates);
    if (has_status_) Strategy::prepare_for_update(document, old, gates);
  }
  bool orphans_dependents() const override { return orphans_; }

 private:
  static void drop_disabled(Json& document, const Json* old, const Gates& gates) {
    Json* now = template_of(document);
    if (now == nullptr) return;
    api::drop_disabled_pod_fields(*now, old == nullptr ? nullptr : template_of(*old), gates);
  }

  const api::KindRules* rules_;
  bool has_status_;
  bool starts_pending_;
  bool orphans_;
};

const Strategy& ruled_strategy(const api::Kind& kind) {
  static const auto* const kStrategies = [] {
    auto* strategies = new std::map<const api::Kind*, RuledStrategy>();
    for (const api::Kind* each : api::all_kinds()) strategies->emplace(each, *each);
    return strategies;
  }();
  return kStrategies->at(&kind);
}

}  // namespace

void Strategy::predefault(Json&) const {}

void Strategy::set_defaults(Json&) const {}

void Strategy::prepare_for_create(Json& document, const Gates&) const {
  document.get_object().erase("status");
}

void Strategy::prepare_for_update(Json& document, const Json& old, const Gates&) const {
  copy_member(document.get_object(), old, "status");
}

void Strategy::prepare_for_status(Json& document, const Json& old, const Gates&) const {
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
  static const PodGroupStrategy pod_group;
  static const CompositePodGroupStrategy composite_pod_group;
  static const WorkloadStrategy workload;
  static const JobStrategy job;
  static const CronJobStrategy cron_job;
  if (&kind == &api::kinds::pod()) return pod;
  if (&kind == &api::kinds::name_space()) return name_space;
  if (&kind == &api::kinds::node()) return node;
  if (&kind == &api::kinds::pod_group()) return pod_group;
  if (&kind == &api::kinds::composite_pod_group()) return composite_pod_group;
  if (&kind == &api::kinds::workload()) return workload;
  if (is_batch(kind, "Job")) return job;
  if (is_batch(kind, "CronJob")) return cron_job;
  return ruled_strategy(kind);
}

}  // namespace muster::server
