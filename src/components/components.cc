#include "components/components.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/values/time_zone.h"
#include "controllers/composite_protection.h"
#include "controllers/cronjob/cron_job_controller.h"
#include "controllers/daemonset/daemon_set_controller.h"
#include "controllers/deployment/deployment_controller.h"
#include "controllers/disruption.h"
#include "controllers/garbage_collector.h"
#include "controllers/group_minimum.h"
#include "controllers/inert_objects.h"
#include "controllers/job/job_controller.h"
#include "controllers/jobset/job_set_controller.h"
#include "controllers/leaderworkerset/leader_worker_set_controller.h"
#include "controllers/namespace_defaults.h"
#include "controllers/node_lifecycle/node_lifecycle.h"
#include "controllers/pod_garbage.h"
#include "controllers/podgroup_protection.h"
#include "controllers/replicaset/replica_set_controller.h"
#include "controllers/role_aggregation.h"
#include "controllers/statefulset/stateful_set_controller.h"
#include "controllers/ttl_after_finished.h"

namespace muster::components {
namespace {

using client::ComponentContext;

// A controller that needs nothing but its context.
template <typename T>
std::unique_ptr<client::Component> make(const Settings&, ComponentContext context) {
  return std::make_unique<T>(std::move(context));
}

std::unique_ptr<client::Component> make_namespace_defaults(const Settings& settings,
                                                           ComponentContext context) {
  return std::make_unique<controllers::NamespaceDefaults>(settings.ca_certificate,
                                                          std::move(context));
}

std::unique_ptr<client::Component> make_job(const Settings& settings, ComponentContext context) {
  workload::JobOptions options = settings.jobs;
  options.gates = settings.scheduler.gates;
  return std::make_unique<controllers::JobController>(options, std::move(context));
}

std::unique_ptr<client::Component> make_job_set(const Settings& settings,
                                                ComponentContext context) {
  workload::JobOptions options = settings.jobs;
  options.gates = settings.scheduler.gates;
  return std::make_unique<controllers::JobSetController>(options, std::move(context));
}

std::unique_ptr<client::Component> make_leader_worker_set(const Settings& settings,
                                                          ComponentContext context) {
  return std::make_unique<controllers::LeaderWorkerSetController>(settings.scheduler.gates,
                                                                  std::move(context));
}

std::unique_ptr<client::Component> make_cron_job(const Settings&, ComponentContext context) {
  return std::make_unique<controllers::CronJobController>(api::read_system_time_zone,
                                                          std::move(context));
}

std::unique_ptr<client::Component> make_inert_objects(const Settings& settings,
                                                      ComponentContext context) {
  return std::make_unique<controllers::InertObjects>(settings.absent, std::move(context));
}

std::unique_ptr<client::Component> make_scheduler(const Settings& settings,
                                                  ComponentContext context) {
  scheduler::SchedulerOptions options = settings.scheduler;
  options.metrics = context.metrics;
  options.host = context.host;
  options.stopwatch = std::move(context.stopwatch);
  return std::make_unique<scheduler::Scheduler>(std::move(options), std::move(context.send));
}

const api::User kSchedulerUser{.name = "system:kube-scheduler", .groups = {"system:authenticated"}};
const api::User kControllerManager{.name = "system:kube-controller-manager",
                                   .groups = {"system:authenticated"}};

// A controller that has rights of its own speaks as its service account.
api::User service_account(const std::string& name) {
  return {.name = "system:serviceaccount:kube-system:" + name,
          .groups = {"system:serviceaccounts", "system:serviceaccounts:kube-system",
                     "system:authenticated"}};
}

}  // namespace

const std::vector<Entry>& all() {
  static const std::vector<Entry> kAll{
      {kScheduler, kSchedulerUser, make_scheduler},
      {"podgroup-protection", kControllerManager, make<controllers::PodGroupProtection>},
      {"compositepodgroup-protection", kControllerManager, make<controllers::CompositeProtection>},
      {"group-minimum", kControllerManager, make<controllers::GroupMinimum>},
      {"garbage-collector", kControllerManager, make<controllers::GarbageCollector>},
      {"namespace-defaults", kControllerManager, make_namespace_defaults},
      {"disruption", kControllerManager, make<controllers::Disruption>},
      {"node-lifecycle", kControllerManager, make<controllers::NodeLifecycle>},
      {"pod-garbage-collector", kControllerManager, make<controllers::PodGarbage>},
      {"job", kControllerManager, make_job},
      {"jobset", kControllerManager, make_job_set},
      {"cronjob", kControllerManager, make_cron_job},
      {"daemonset", kControllerManager, make<controllers::DaemonSetController>},
      {"deployment", kControllerManager, make<controllers::DeploymentController>},
      {"replicaset", kControllerManager, make<controllers::ReplicaSetController>},
      {"leaderworkerset", kControllerManager, make_leader_worker_set, true, "lws"},
      {"statefulset", kControllerManager, make<controllers::StatefulSetController>},
      {"ttl-after-finished", kControllerManager, make<controllers::TtlAfterFinished>},
      {"inert-objects", kControllerManager, make_inert_objects, false},
      {"clusterrole-aggregation", service_account("clusterrole-aggregation-controller"),
       make<controllers::RoleAggregation>},
  };
  return kAll;
}

const Entry* find(std::string_view name) {
  const auto at = std::ranges::find_if(all(), [name](const Entry& entry) {
    return entry.name == name || (!name.empty() && entry.alias == name);
  });
  return at == all().end() ? nullptr : &*at;
}

std::string aliases_text() {
  std::string text;
  for (const Entry& entry : all())
    if (!entry.alias.empty()) text += fmt::format("; {} is {}", entry.alias, entry.name);
  return text;
}

}  // namespace muster::components
