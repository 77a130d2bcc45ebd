#include <fmt/format.h>

#include <string>

#include "api/tables/printer.h"

// Kinds that keep pods running.
namespace muster::api::tables {
namespace {

constexpr std::string_view kApps = "apps";

constexpr Column kContainers = {
    .name = "Containers", .description = "Names of its containers.", .priority = 1};
constexpr Column kImages = {
    .name = "Images", .description = "Images of its containers.", .priority = 1};
constexpr Column kSelector = {
    .name = "Selector", .description = "Labels of its pods.", .priority = 1};
constexpr Column counted(std::string_view name, std::string_view description) {
  return {.name = name, .type = "integer", .description = description};
}

constexpr Column kDeploymentColumns[] = {
    kName,
    {.name = "Ready", .description = "Pods that are ready, of those wanted."},
    {.name = "Up-to-date", .description = "Pods of the newest template."},
    {.name = "Available", .description = "Pods that have been ready for a while."},
    kAge,
    kContainers,
    kImages,
    kSelector};
constexpr Column kReplicaColumns[] = {kName,
                                      counted("Desired", "Pods wanted."),
                                      counted("Current", "Pods there are."),
                                      counted("Ready", "Pods that are ready."),
                                      kAge,
                                      kContainers,
                                      kImages,
                                      kSelector};
constexpr Column kStatefulSetColumns[] = {
    kName,
    {.name = "Ready", .description = "Pods that are ready, of those wanted."},
    kAge,
    kContainers,
    kImages};
constexpr Column kDaemonSetColumns[] = {
    kName,
    counted("Desired", "Nodes that should run a pod."),
    counted("Current", "Nodes that run one."),
    counted("Ready", "Nodes whose pod is ready."),
    counted("Up-to-date", "Nodes with a pod of the newest template."),
    counted("Available", "Nodes whose pod has been ready for a while."),
    {.name = "Node Selector", .description = "Which nodes it is for."},
    kAge,
    kContainers,
    kImages,
    kSelector};
constexpr Column kRevisionColumns[] = {
    kName,
    {.name = "Controller", .description = "Whose history it is."},
    counted("Revision", "Number of the revision."),
    kAge};
constexpr Column kPodTemplateColumns[] = {
    kName,
    {.name = "Containers", .description = "Names of its containers."},
    {.name = "Images", .description = "Images of its containers."},
    {.name = "Pod Labels", .description = "Labels of its pods."}};

const JsonArray& containers_of(const Json& spec) {
  return list(part(part(spec, "template"), "spec"), "containers");
}

void print_containers(const Json& spec, Cells& cells) {
  cells.text(joined(containers_of(spec), "name"));
  cells.text(joined(containers_of(spec), "image"));
}

void print_deployment(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  const Json& status = part(document, "status");
  cells.text(object.meta().name);
  cells.text(fmt::format("{}/{}", integer(status, "readyReplicas"), integer(spec, "replicas")));
  cells.number(integer(status, "updatedReplicas"));
  cells.number(integer(status, "availableReplicas"));
  cells.age(object.meta().creation_time);
  print_containers(spec, cells);
  cells.text(selector_text(find(spec, "selector")));
}

void print_replicas(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  const Json& status = part(document, "status");
  cells.text(object.meta().name);
  cells.number(integer(spec, "replicas"));
  cells.number(integer(status, "replicas"));
  cells.number(integer(status, "readyReplicas"));
  cells.age(object.meta().creation_time);
  print_containers(spec, cells);
}

void print_replica_set(const Object& object, const Json& document, Cells& cells) {
  print_replicas(object, document, cells);
  cells.text(selector_text(find(part(document, "spec"), "selector")));
}

void print_replication_controller(const Object& object, const Json& document, Cells& cells) {
  print_replicas(object, document, cells);
  cells.text(labels_text(part(part(document, "spec"), "selector")));
}

void print_stateful_set(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  cells.text(object.meta().name);
  cells.text(fmt::format("{}/{}", integer(part(document, "status"), "readyReplicas"),
                         integer(spec, "replicas")));
  cells.age(object.meta().creation_time);
  print_containers(spec, cells);
}

void print_daemon_set(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  const Json& status = part(document, "status");
  cells.text(object.meta().name);
  for (const std::string_view member : {"desiredNumberScheduled", "currentNumberScheduled",
                                        "numberReady", "updatedNumberScheduled", "numberAvailable"})
    cells.number(integer(status, member));
  cells.text(labels_text(part(part(part(spec, "template"), "spec"), "nodeSelector")));
  cells.age(object.meta().creation_time);
  print_containers(spec, cells);
  cells.text(selector_text(find(spec, "selector")));
}

void print_revision(const Object& object, const Json& document, Cells& cells) {
  std::string controller = "<none>";
  for (const OwnerReference& owner : object.meta().owners)
    if (owner.controller) {
      const std::string_view group =
          std::string_view(owner.api_version).substr(0, owner.api_version.find('/'));
      controller = owner.kind;
      for (char& c : controller)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      if (owner.api_version.find('/') != std::string::npos) controller += fmt::format(".{}", group);
      controller += fmt::format("/{}", owner.name);
    }
  cells.text(object.meta().name);
  cells.text(controller);
  cells.number(integer(document, "revision"));
  cells.age(object.meta().creation_time);
}

void print_pod_template(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  print_containers(document, cells);
  cells.text(labels_text(part(part(part(document, "template"), "metadata"), "labels")));
}

}  // namespace

std::span<const Printer> apps_printers() {
  static constexpr Printer kPrinters[] = {
      {kApps, "Deployment", kDeploymentColumns, print_deployment},
      {kApps, "ReplicaSet", kReplicaColumns, print_replica_set},
      {kApps, "StatefulSet", kStatefulSetColumns, print_stateful_set},
      {kApps, "DaemonSet", kDaemonSetColumns, print_daemon_set},
      {kApps, "ControllerRevision", kRevisionColumns, print_revision},
      {"", "ReplicationController", kReplicaColumns, print_replication_controller},
      {"", "PodTemplate", kPodTemplateColumns, print_pod_template},
  };
  return kPrinters;
}

}  // namespace muster::api::tables
