#include "api/views/leader_worker_set_view.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "api/reading.h"
#include "api/scratch.h"

namespace muster::api {
namespace {

std::int32_t number(const Json& holder, std::string_view member, std::int32_t otherwise) {
  const std::int64_t value = find_integer(holder, member).value_or(otherwise);
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::int32_t>::max()));
}

LeaderWorkerSetView::Restart read_restart(std::string_view policy) {
  if (policy == "RecreateGroupAfterStart") return LeaderWorkerSetView::Restart::AfterStart;
  if (policy == "None" || policy == "Default") return LeaderWorkerSetView::Restart::None;
  return LeaderWorkerSetView::Restart::OnPodRestart;
}

}  // namespace

std::unique_ptr<LeaderWorkerSetView> LeaderWorkerSetView::read(const Object& set) {
  Scratch scratch;
  const Json document = members_in(scratch, set, {"spec", "status"});
  const Json& spec = part_of(document, "spec");
  auto view = std::make_unique<LeaderWorkerSetView>();
  view->replicas = number(spec, "replicas", 1);
  const Json& group = part_of(spec, "leaderWorkerTemplate");
  view->size = std::max(1, number(group, "size", 1));
  view->restart = read_restart(find_string(group, "restartPolicy"));
  view->waits_for_leader = find_string(spec, "startupPolicy") == "LeaderReady";
  const Json& rolling = part_of(part_of(spec, "rolloutStrategy"), "rollingUpdateConfiguration");
  view->partition = number(rolling, "partition", 0);
  view->unavailable_max = read_int_or_percent(rolling, "maxUnavailable", {.value = 1});
  view->surge_max = read_int_or_percent(rolling, "maxSurge", {.value = 0});
  view->own_subdomains =
      find_string(part_of(spec, "networkConfig"), "subdomainPolicy") == "UniquePerReplica";
  view->says_scheduling = find_set(spec, "scheduling") != nullptr;
  const Json& status = part_of(document, "status");
  view->status.observed_generation = find_integer(status, "observedGeneration").value_or(0);
  view->status.replicas = number(status, "replicas", 0);
  view->status.ready = number(status, "readyReplicas", 0);
  view->status.updated = number(status, "updatedReplicas", 0);
  view->status.selector = find_string(status, "hpaPodSelector");
  view->status.conditions = read_conditions(document);
  return view;
}

}  // namespace muster::api
