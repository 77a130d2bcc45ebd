#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <utility>

#include "api/reading.h"
#include "api/views/pod_view.h"
#include "api/views/stateful_set_view.h"
#include "controllers/common/pod_facts.h"
#include "controllers/common/revisions.h"
#include "controllers/leaderworkerset/leader_worker_set_controller.h"
#include "controllers/leaderworkerset/lws_objects.h"
#include "controllers/statefulset/stateful_objects.h"
#include "controllers/statefulset/stateful_plan.h"

// StatefulSets and pods of LeaderWorkerSets.
namespace muster::controllers {

using api::Json;
using api::LeaderWorkerSetView;
using api::ObjectPtr;
using api::StatefulSetView;

namespace {

// Its controller has seen the set as it is, and made a revision of its template.
bool is_settled(const api::Object& set) {
  const StatefulSetView::Status& status = set.view<StatefulSetView>().status;
  return status.observed_generation == set.meta().generation && !status.update_revision.empty();
}

std::string replicas_note(const api::Object& leader_set) {
  const std::string* text = api::lookup(leader_set.meta().annotations, kLwsReplicas);
  return text == nullptr ? std::string() : *text;
}

struct NewLeader {
  std::int32_t index = 0;
  const api::Object* older = nullptr;  // the revision it is held back at; null: it is not
  std::string pod_group = {};
};

}  // namespace

bool LeaderWorkerSetController::reconcile_leader_set(Look& look) {
  const api::ObjectMeta& meta = look.set->meta();
  look.leader_set = stateful_sets_.find(meta.name_space, meta.name);
  const Json& document = look.memory.document;
  if (look.leader_set == nullptr) {
    write_call(look.key, create_leader_set(*look.set, document, look.revision,
                                           {.replicas = look.view.replicas, .partition = 0}));
    return false;
  }
  if (!is_controlled_by(*look.leader_set, meta.uid)) {
    record(*look.set, "Warning", "FailedCreate",
           fmt::format("StatefulSet {} belongs to somebody else", meta.name), look.now);
    return false;
  }
  const auto& view = look.leader_set->view<StatefulSetView>();
  look.table.arrange(view.replicas, look.revision);
  const bool new_revision = lws_revision(*look.leader_set) != look.revision;
  const bool resized = replicas_note(*look.leader_set) != std::to_string(look.view.replicas);
  const LwsRollout now{.replicas = view.replicas, .partition = view.partition};
  const LwsRollout next = next_rollout({.set = look.view,
                                        .table = look.table,
                                        .now = now,
                                        .new_revision = new_revision,
                                        .resized = resized});
  if (!new_revision && !resized && next == now) return is_settled(*look.leader_set);
  if (new_revision)
    record(*look.set, "Normal", "GroupsUpdating",
           fmt::format("Updating replicas {} to {} (inclusive)", next.partition,
                       std::max<std::int64_t>(0, next.replicas - 1)),
           look.now);
  write_call(look.key,
             update_leader_set(*look.leader_set, *look.set, document, look.revision, next));
  return false;
}

LeaderWorkerSetController::LeaderTemplate LeaderWorkerSetController::leader_template(
    const api::Object& leader_set, const api::Object* older) {
  const auto& view = leader_set.view<StatefulSetView>();
  LeaderTemplate out;
  if (older != nullptr) {
    out.pod_template = template_of(*older);
    out.set_revision = view.status.current_revision;
  } else {
    const Json document = leader_set.document();
    out.pod_template = api::part_of(api::part_of(document, "spec"), "template");
    out.set_revision = view.status.update_revision;
  }
  const Json& metadata = api::part_of(out.pod_template, "metadata");
  out.revision = api::find_string(api::part_of(metadata, "labels"), workload::kLwsRevision);
  const std::string_view size = api::find_string(api::part_of(metadata, "annotations"), kLwsSize);
  std::from_chars(size.data(), size.data() + size.size(), out.size);
  return out;
}

void LeaderWorkerSetController::create_leaders(const Look& look) {
  const auto& view = look.leader_set->view<StatefulSetView>();
  const bool mixed = view.status.current_revision != view.status.update_revision;
  const ObjectPtr older =
      mixed ? revisions_.find(look.set->meta().name_space, view.status.current_revision) : nullptr;
  std::map<const api::Object*, LeaderTemplate> templates;  // by their older revision
  std::vector<NewLeader> leaders;
  std::vector<NewGroup> groups_to_make;
  for (const std::int32_t index : look.table.without_leader().lowest(kSetChangesMax)) {
    if (groups_to_make.size() >= kSetChangesMax) break;
    const api::Object* const revision = is_held_back(view, index) ? older.get() : nullptr;
    auto from = templates.find(revision);
    if (from == templates.end())
      from = templates.emplace(revision, leader_template(*look.leader_set, revision)).first;
    ReplicaGroups groups = find_replica_groups(look, index, from->second, groups_to_make);
    if (groups.there) leaders.push_back({index, revision, std::move(groups.leader)});
  }
  create_replica_groups(look, std::move(groups_to_make));
  const std::size_t count = leaders.size();
  const auto start_making = [set = look.set, leader_set = look.leader_set, older,
                             leaders = std::move(leaders)]() -> Make {
    const auto makers = std::make_shared<std::map<const api::Object*, StatefulPodMaker>>();
    return [&, makers](std::size_t at) {
      const NewLeader& leader = leaders[at];
      auto maker = makers->find(leader.older);
      if (maker == makers->end()) {
        const LeaderTemplate from = leader_template(*leader_set, leader.older);
        maker = makers
                    ->emplace(leader.older,
                              StatefulPodMaker(*leader_set, from.pod_template, from.set_revision))
                    .first;
      }
      Json pod = maker->second.make(leader.index);
      place_lws_pod({.set = set->meta().name,
                     .index = leader.index,
                     .worker = 0,
                     .pod_group = leader.pod_group},
                    pod);
      return client::create_request(api::kinds::pod(), set->meta().name_space, std::move(pod));
    };
  };
  send_pods(look, {.count = count, .start_making = start_making}, look.leader_set);
}

void LeaderWorkerSetController::send_pods(const Look& look, Writes writes, const ObjectPtr& owner) {
  write_in_batches(
      look.key, std::move(writes),
      [this, owner, set = look.set](std::size_t, const client::Outcome& outcome, Time now) {
        if (outcome) {
          if (const auto* made = std::get_if<api::ObjectAnswer>(&outcome->what))
            record(*owner, "Normal", "SuccessfulCreate",
                   fmt::format("create Pod {} in StatefulSet {} successful",
                               made->object->meta().name, owner->meta().name),
                   now);
          return false;
        }
        if (is_name_space_ending(outcome.error())) return false;
        record(*set, "Warning", "FailedCreate",
               fmt::format("create Pod in StatefulSet {} failed error: {}", owner->meta().name,
                           outcome.error().message),
               now);
        return true;
      });
}

// A pod that went or restarted takes its replica along, if the set says so.
bool LeaderWorkerSetController::recreates(const Look& look, const LwsGroup& group) {
  switch (look.view.restart) {
    case LeaderWorkerSetView::Restart::OnPodRestart: return group.is_broken();
    case LeaderWorkerSetView::Restart::AfterStart: return group.is_broken_after_start();
    case LeaderWorkerSetView::Restart::None: return false;
  }
  return false;
}

void LeaderWorkerSetController::look_at_replica(const Look& look, std::int32_t index,
                                                const LwsGroup& group) {
  if (group.leader == nullptr || group.leader->meta().deletion_time || index >= look.table.count())
    return;
  if (recreates(look, group)) {
    api::Request request = client::delete_request(*group.leader, std::nullopt);
    request.remove.propagation_policy = "Foreground";
    record(
        *look.set, "Normal", "RecreateGroup",
        fmt::format("A pod of replica {} restarted or went: deleted leader pod {} to recreate it",
                    index, group.leader->meta().name),
        look.now);
    look.table.revisit(index);  // if the call fails
    return write_call(look.key, std::move(request));
  }
  if (look.view.own_subdomains && !has_service(look, group.leader.get()))
    return look.table.revisit(index);
  if (lws_size(*group.leader) == 1) return;
  if (group.workers == nullptr) return start_workers(look, index, group);
  if (!group.has_own_workers()) return;  // those of an earlier leader are going
  if (is_settled(*group.workers)) create_workers(look, index, group);
}

void LeaderWorkerSetController::start_workers(const Look& look, std::int32_t index,
                                              const LwsGroup& group) {
  const auto& leader = group.leader->view<api::PodView>();
  const bool leader_ready = leader.phase == "Running" && is_ready(leader);
  if (look.view.waits_for_leader && !leader_ready) return;
  if (api::lookup(group.leader->meta().annotations, kLwsExclusive) != nullptr &&
      leader.node_name.empty())
    return;
  look.table.revisit(index);  // if the call fails, or the revision has not been seen
  const std::string name = revision_name(look.set->meta().name, lws_revision(*group.leader));
  const ObjectPtr revision = revisions_.find(look.set->meta().name_space, name);
  if (revision == nullptr) return;
  // The workers' group is named as the leader's, but for the role.
  std::string pod_group = leader.scheduling_group;
  constexpr std::string_view kLeaderPart = "-leader-";
  if (const std::size_t at = pod_group.rfind(kLeaderPart);
      look.memory.templates.levels.roles && at != std::string::npos)
    pod_group.replace(at, kLeaderPart.size(), "-worker-");
  write_later(look.key, [set = look.set, leader = group.leader, revision, pod_group] {
    return create_worker_set(*set, *leader, lws_revision_spec(*revision), pod_group);
  });
}

void LeaderWorkerSetController::create_workers(const Look& look, std::int32_t index,
                                               const LwsGroup& group) {
  const auto& view = group.workers->view<StatefulSetView>();
  std::vector<std::int32_t> workers;
  for (std::int32_t worker = 1; worker <= view.replicas && workers.size() < kSetChangesMax;
       ++worker)
    if (!group.members.contains(worker)) workers.push_back(worker);
  if (workers.empty()) return;
  look.table.revisit(index);  // if a call fails
  const std::size_t count = workers.size();
  const auto start_making = [set = look.set, worker_set = group.workers, index,
                             workers = std::move(workers)]() -> Make {
    const Json document = worker_set->document();
    const auto maker = std::make_shared<const StatefulPodMaker>(
        *worker_set, api::part_of(api::part_of(document, "spec"), "template"),
        worker_set->view<StatefulSetView>().status.update_revision);
    return [&, maker](std::size_t at) {
      Json pod = maker->make(workers[at]);
      place_lws_pod({.set = set->meta().name, .index = index, .worker = workers[at]}, pod);
      return client::create_request(api::kinds::pod(), set->meta().name_space, std::move(pod));
    };
  };
  send_pods(look, {.count = count, .start_making = start_making}, group.workers);
}

}  // namespace muster::controllers
