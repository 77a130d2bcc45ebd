#include "scheduler/cache/sample_objects.h"

#include <fmt/format.h>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "base/check.h"

namespace muster::scheduler {
namespace {

api::ObjectPtr object_of(const api::Kind& kind, std::string_view json) {
  auto parsed = api::parse_json(json);
  CHECK_THAT(parsed.has_value(), "{}: {}", parsed.error().message, json);
  return api::Object::make(kind, parsed->value);
}

std::string members(const std::map<std::string, std::string>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs)
    text += fmt::format(R"({}"{}":"{}")", text.empty() ? "" : ",", key, value);
  return text;
}

std::string resources(const std::string& cpu, const std::string& memory,
                      std::map<std::string, std::string> more) {
  if (!cpu.empty()) more["cpu"] = cpu;
  if (!memory.empty()) more["memory"] = memory;
  return members(more);
}

}  // namespace

api::ObjectPtr node_of(std::string_view json) { return object_of(api::kinds::node(), json); }
api::ObjectPtr pod_of(std::string_view json) { return object_of(api::kinds::pod(), json); }

api::ObjectPtr namespace_of(const std::string& name,
                            const std::map<std::string, std::string>& labels) {
  return object_of(
      api::kinds::name_space(),
      fmt::format(R"({{"metadata":{{"name":"{}","labels":{{{}}}}}}})", name, members(labels)));
}

api::ObjectPtr NodeSample::make() const {
  auto allocatable = extended;
  if (pods >= 0) allocatable["pods"] = std::to_string(pods);
  return node_of(fmt::format(
      R"({{"metadata":{{"name":"{0}","uid":"node-{0}","labels":{{{1}}}}},"spec":{{{2}{3}"podCIDR":""}},)"
      R"("status":{{{5}"allocatable":{{{4}}}}}}})",
      name, members(labels), unschedulable ? "\"unschedulable\":true," : "",
      taints.empty() ? "" : "\"taints\":" + taints + ",", resources(cpu, memory, allocatable),
      status.empty() ? "" : status + ","));
}

api::ObjectPtr PodSample::make() const {
  std::string spec_members = fmt::format(
      R"("containers":[{{"name":"c","image":"app"{},"resources":{{"requests":{{{}}}}}}}],"priority":{})",
      ports.empty() ? "" : ",\"ports\":" + ports, resources(cpu, memory, extended), priority);
  if (!node_name.empty()) spec_members += fmt::format(R"(,"nodeName":"{}")", node_name);
  if (!group.empty())
    spec_members += fmt::format(R"(,"schedulingGroup":{{"podGroupName":"{}"}})", group);
  if (spec.find("schedulerName") == std::string::npos)
    spec_members += R"(,"schedulerName":"default-scheduler")";
  if (!spec.empty()) spec_members += "," + spec;
  std::string status_members = status;
  if (!nominated_node.empty())
    status_members +=
        fmt::format(R"({}"nominatedNodeName":"{}")", status.empty() ? "" : ",", nominated_node);
  return pod_of(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"{1}","uid":"{1}-{0}"{2}{6},"labels":{{{5}}}}},"spec":{{{3}}},"status":{{{4}}}}})",
      name, name_space, terminating ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "",
      spec_members, status_members, members(labels), metadata.empty() ? "" : "," + metadata));
}

}  // namespace muster::scheduler
