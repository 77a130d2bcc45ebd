#include "workload/lws_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "api/kinds/kind.h"
#include "api/reading.h"
#include "workload/leader_worker_set.h"

namespace muster::workload {
namespace {

using api::Json;
using api::JsonObject;

// Replicas are all alike; more than these are left out.
constexpr std::int64_t kShownMax = 32;
// Stands for the hash of the templates, which only the stored set has.
constexpr std::string_view kRevision = "revision";

Json typed(const api::Kind& kind, Json document) {
  JsonObject out{{"apiVersion", kind.api_version(kind.stored_version)}, {"kind", kind.kind}};
  for (auto& member : document.as_object()) out[member.key()] = std::move(member.value());
  return out;
}

}  // namespace

Result<void> compile_lws(const Json& set, const api::Gates& gates, std::string_view uid,
                         CompiledManifest& out) {
  const Json& metadata = api::part_of(set, "metadata");
  const std::string name(api::find_string(metadata, "name"));
  const auto note = [&](std::string_view sentence) {
    out.notes.push_back(fmt::format("LeaderWorkerSet \"{}\": {}", name, sentence));
  };
  const LwsTemplates templates = lws_templates(set);
  const LwsLevels& levels = templates.levels;
  if (!levels.any()) {
    note("not grouped: it does not say spec.scheduling");
    return {};
  }
  Json workload = TRY(lws_workload(set, gates));
  workload.as_object()["metadata"].as_object()["uid"] = uid;
  const Json& spec = api::part_of(set, "spec");
  const std::int64_t replicas = api::find_integer(spec, "replicas").value_or(1);
  const std::int64_t size =
      api::find_integer(api::part_of(spec, "leaderWorkerTemplate"), "size").value_or(1);
  std::vector<StampedGroup> groups;
  if (auto whole = TRY(lws_set_group(set, workload, templates)))
    groups.push_back(*std::move(whole));
  const std::string owner = fmt::format("{}/{}", api::find_string(metadata, "namespace"), name);
  for (std::int64_t i = 0; i < std::min(replicas, kShownMax); ++i) {
    const LwsReplica replica{.index = static_cast<std::int32_t>(i),
                             .revision = std::string(kRevision)};
    for (StampedGroup& group : TRY(lws_replica_groups(set, workload, templates, replica,
                                                      static_cast<std::int32_t>(size))))
      groups.push_back(std::move(group));
    const std::string leader = lws_pod_group(set, levels, replica, LwsRole::Leader);
    const std::string worker = lws_pod_group(set, levels, replica, LwsRole::Worker);
    const std::string subject = fmt::format("{}-{}", owner, i);
    out.links.push_back({.job = subject,
                         .pods = leader == worker ? size : 1,
                         .pod_group = leader,
                         .kind = "replica"});
    if (leader != worker && size > 1)
      out.links.push_back(
          {.job = subject, .pods = size - 1, .pod_group = worker, .kind = "replica"});
  }
  workload.as_object()["metadata"].as_object().erase("uid");
  out.documents.push_back(typed(api::kinds::workload(), std::move(workload)));
  for (StampedGroup& group : groups)
    out.documents.push_back(typed(*group.kind, std::move(group.document)));
  if (replicas > kShownMax)
    note(fmt::format("shown are the groups of {} of its {} replicas", kShownMax, replicas));
  note(
      "names end in hashes of the uid and the templates, which a server computes: theirs will "
      "differ");
  return {};
}

}  // namespace muster::workload
