#include <algorithm>
#include <array>
#include <utility>

#include "api/views/leader_worker_set_view.h"
#include "controllers/leaderworkerset/leader_worker_set_controller.h"
#include "controllers/leaderworkerset/lws_objects.h"

// What a LeaderWorkerSet says of itself.
namespace muster::controllers {
namespace {

using api::Condition;
using api::LeaderWorkerSetView;

struct Words {
  std::string_view type, reason, message;
};
constexpr Words kAvailable{"Available", "AllGroupsReady", "All replicas are ready"};
constexpr Words kProgressing{"Progressing", "GroupsProgressing", "Replicas are progressing"};
constexpr Words kUpdating{"UpdateInProgress", "GroupsUpdating", "Rolling Upgrade is in progress"};

// True once, and from then on true or false.
void put(std::vector<Condition>& conditions, const Words& words, bool is_true,
         std::int64_t generation) {
  const auto at = std::ranges::find(conditions, words.type, &Condition::type);
  const std::string_view status = is_true ? "True" : "False";
  if (at == conditions.end()) {
    if (is_true)
      conditions.push_back({std::string(words.type), "True", std::string(words.reason),
                            std::string(words.message), generation});
    return;
  }
  if (at->status == status) return;
  *at = {std::string(words.type), std::string(status), std::string(words.reason),
         std::string(words.message), generation};
}

bool same(const std::vector<Condition>& a, const std::vector<Condition>& b) {
  return std::ranges::equal(a, b, [](const Condition& x, const Condition& y) {
    return x.type == y.type && x.status == y.status && x.reason == y.reason &&
           x.message == y.message;
  });
}

}  // namespace

void LeaderWorkerSetController::write_status(const Look& look) {
  const LeaderWorkerSetView::Status& old = look.view.status;
  const std::int64_t generation = look.set->meta().generation;
  const std::int64_t wanted = look.view.replicas;
  const std::int64_t lowest = std::min<std::int64_t>(look.view.partition, wanted);
  LeaderWorkerSetView::Status status{.observed_generation = generation,
                                     .replicas = look.table.leaders(),
                                     .ready = look.table.ready(),
                                     .updated = look.table.updated(),
                                     .selector = lws_hpa_selector(*look.set),
                                     .conditions = old.conditions};
  const bool updating =
      look.leader_set != nullptr && (lws_revision(*look.leader_set) != look.revision ||
                                     look.table.has_outdated_between(lowest, wanted));
  const bool available = look.leader_set != nullptr && !updating && look.table.count() >= wanted &&
                         look.table.unready_between(0, wanted, 1) == 0;
  put(status.conditions, kUpdating, updating, generation);
  put(status.conditions, kProgressing, !available, generation);
  put(status.conditions, kAvailable, available, generation);
  std::erase_if(status.conditions,
                [](const Condition& each) { return each.type == "WorkloadSchedulingCreated"; });
  if (look.memory.blocked)
    status.conditions.push_back(*look.memory.blocked);
  else if (look.memory.templates.levels.any() && look.workload != nullptr)
    status.conditions.push_back({"WorkloadSchedulingCreated", "True", "Created",
                                 "Workload and groups exist before the pods in them", generation});
  const bool unchanged = old.observed_generation == status.observed_generation &&
                         old.replicas == status.replicas && old.ready == status.ready &&
                         old.updated == status.updated && old.selector == status.selector &&
                         same(old.conditions, status.conditions);
  if (!unchanged) write_call(look.key, lws_status_request(*look.set, status, look.now));
}

}  // namespace muster::controllers
