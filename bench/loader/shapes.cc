#include "shapes.h"

#include <fmt/format.h>

namespace muster::loader {
namespace {

std::string metadata(std::string_view run, std::string_view name, std::string_view more_labels) {
  return fmt::format(R"("metadata":{{"name":"{}","labels":{{"{}":"{}"{}}}}})", name, kRunLabel, run,
                     more_labels);
}

}  // namespace

std::string pod_json(const PodShape& shape, std::string_view name) {
  std::string extra;
  if (!shape.scheduler.empty()) extra += fmt::format(R"(,"schedulerName":"{}")", shape.scheduler);
  if (!shape.group.empty())
    extra += fmt::format(R"(,"schedulingGroup":{{"podGroupName":"{}"}})", shape.group);
  if (!shape.node.empty()) extra += fmt::format(R"(,"nodeName":"{}")", shape.node);
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod",{},"spec":{{"containers":[{{"name":"pause",)"
      R"("image":"registry.k8s.io/pause:3.10","ports":[{{"containerPort":80}}],)"
      R"("resources":{{"limits":{{"cpu":"{}","memory":"{}"}},"requests":{{"cpu":"{}","memory":"{}"}}}}}}])"
      R"({}}}}})",
      metadata(shape.run, name, ""), shape.cpu, shape.memory, shape.cpu, shape.memory, extra);
}

std::string group_json(const GroupShape& shape, std::string_view name) {
  const std::string constraints =
      shape.topology_key.empty()
          ? std::string()
          : fmt::format(R"(,"schedulingConstraints":{{"topology":[{{"key":"{}"}}]}})",
                        shape.topology_key);
  return fmt::format(R"({{"apiVersion":"scheduling.k8s.io/{}","kind":"PodGroup",{},)"
                     R"("spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}{}}}}})",
                     shape.version, metadata(shape.run, name, ""), shape.min_count, constraints);
}

std::string job_json(const JobShape& shape, std::string_view name) {
  return fmt::format(
      R"({{"apiVersion":"batch/v1","kind":"Job",{0},"spec":{{"parallelism":{1},"completions":{1}{2},)"
      R"("template":{{"metadata":{{"labels":{{"{3}":"{4}"}},"annotations":{{"muster.dev/run-time":"forever"}}}},)"
      R"("spec":{{"restartPolicy":"Never","containers":[{{"name":"pause","image":"registry.k8s.io/pause:3.10",)"
      R"("resources":{{"requests":{{"cpu":"100m","memory":"500Mi"}}}}}}]}}}}}}}})",
      metadata(shape.run, name, ""), shape.size,
      shape.gang ? R"(,"scheduling":{"schedulingPolicy":{"gang":{}}})" : "", kRunLabel, shape.run);
}

std::string job_set_json(const JobSetShape& shape, std::string_view name) {
  std::string jobs, entries;
  for (std::size_t i = 0; i < shape.replicated_jobs; ++i) {
    const std::string_view comma = i == 0 ? "" : ",";
    const std::string part(1, static_cast<char>('a' + i));
    entries += fmt::format(R"({}{{"targetReplicatedJobs":["{}"],"job":{{}}}})", comma, part);
    jobs += fmt::format(
        R"({}{{"name":"{}","replicas":{},"template":{{"spec":{{"parallelism":{},"completions":{},)"
        R"("template":{{"metadata":{{"labels":{{"{}":"{}"}},"annotations":{{"muster.dev/run-time":"forever"}}}},)"
        R"("spec":{{"restartPolicy":"Never","containers":[{{"name":"pause","image":"registry.k8s.io/pause:3.10",)"
        R"("resources":{{"requests":{{"cpu":"100m","memory":"500Mi"}}}}}}]}}}}}}}}}})",
        comma, part, shape.replicas, shape.size, shape.size, kRunLabel, shape.run);
  }
  return fmt::format(R"({{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet",{},"spec":{{)"
                     R"("scheduling":{{"schedulingPolicy":{{"gang":{{}}}},"replicatedJobs":[{}]}},)"
                     R"("replicatedJobs":[{}]}}}})",
                     metadata(shape.run, name, ""), entries, jobs);
}

std::string node_json(const NodeShape& shape, std::size_t number) {
  const std::string name = fmt::format("{}-n{}", shape.run, number);
  const std::string labels =
      fmt::format(R"(,"kubernetes.io/hostname":"{}","topology.kubernetes.io/zone":"{}-z",)"
                  R"("topology.kubernetes.io/rack":"{}-r{}")",
                  name, shape.run, shape.run, number / shape.nodes_per_rack);
  const std::string resources = fmt::format(R"({{"cpu":"{}","memory":"{}","pods":"{}"}})",
                                            shape.cpu, shape.memory, shape.pods);
  return fmt::format(R"({{"apiVersion":"v1","kind":"Node",{},"status":{{"capacity":{},)"
                     R"("allocatable":{},"phase":"Running",)"
                     R"("conditions":[{{"type":"Ready","status":"True"}}]}}}})",
                     metadata(shape.run, name, labels), resources, resources);
}

std::string config_map_json(std::string_view run, std::string_view name, std::string_view value) {
  return fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap",{},"data":{{"value":"{}"}}}})",
                     metadata(run, name, ""), value);
}

std::string namespace_json(std::string_view name) {
  return fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})",
                     name);
}

}  // namespace muster::loader
