#include "controllers/group_minimum.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "api/kinds/kind.h"
#include "api/values/well_known.h"
#include "api/views/group_view.h"
#include "api/views/pod_facts.h"
#include "base/count_of.h"
#include "client/client.h"
#include "client/kit/status_writer.h"

namespace muster::controllers {
namespace {

using api::GroupView;
using api::ObjectPtr;

std::string key_of(char kind, std::string_view name_space, std::string_view name) {
  return fmt::format("{}{}/{}", kind, name_space, name);
}

bool is_leaf(const api::Object& group) { return &group.kind() == &api::kinds::pod_group(); }

// The group for whose minimum the pod counts; empty: for none.
std::string counts_for(const ObjectPtr& pod) {
  if (pod == nullptr) return {};
  const api::PodView& view = api::view_of(pod);
  const bool counts =
      view.phase == "Succeeded" || (api::holds_node(pod) && !api::is_terminating(pod));
  return counts ? key_of('P', pod->meta().name_space, view.scheduling_group) : std::string();
}

bool was_scheduled(const api::Object& group) {
  const api::GroupCondition* said = group.view<GroupView>().condition(
      is_leaf(group) ? api::kPodGroupScheduled : api::kCompositePodGroupScheduled);
  return said != nullptr && said->status == "True";
}

void add_to(std::map<std::string, std::int64_t>& counts, const std::string& key,
            std::int64_t change) {
  std::int64_t& count = counts[key];
  count += change;
  if (count == 0) counts.erase(key);
}

}  // namespace

GroupMinimum::GroupMinimum(client::ComponentContext context)
    : Controller("group-minimum", std::move(context),
                 {{.kind = &api::kinds::pod(),
                   .mirror = &pods_,
                   .keys_of = [this](const Change& change) { return count_pod(change); },
                   .only =
                       [](const api::Object& pod) {
                         return !pod.view<api::PodView>().scheduling_group.empty();
                       }},
                  {.kind = &api::kinds::pod_group(), .mirror = &pod_groups_, .keys_of = group_key},
                  {.kind = &api::kinds::composite_pod_group(),
                   .mirror = &composites_,
                   .keys_of = group_key}}) {}

client::Controller::Keys GroupMinimum::count_pod(const Change& change) {
  const Key before = counts_for(change.before);
  const Key after = counts_for(change.after);
  if (before == after) return {};
  Keys keys;
  if (!before.empty()) {
    add_to(members_, before, -1);
    keys.push_back(before);
  }
  if (!after.empty()) {
    add_to(members_, after, +1);
    keys.push_back(after);
  }
  return keys;
}

client::Controller::Keys GroupMinimum::group_key(const Change& change) {
  const api::Object& group = change.newest();
  return {key_of(is_leaf(group) ? 'P' : 'C', group.meta().name_space, group.meta().name)};
}

void GroupMinimum::reconcile(const std::string& key, Time now) {
  const auto [name_space, name] = client::split_key(std::string_view(key).substr(1));
  const ObjectPtr object = (key.front() == 'P' ? pod_groups_ : composites_).find(name_space, name);
  if (object == nullptr) return forget(key, now);
  const auto& view = object->view<GroupView>();
  const auto counted = members_.find(key);
  const std::int64_t members = counted == members_.end() ? 0 : counted->second;
  count_for_parent(key, members >= view.minimum,
                   view.parent.empty() ? Key() : key_of('C', name_space, view.parent), now);
  if (view.gang && was_scheduled(*object) && !object->meta().deletion_time)
    say(key, object, members, now);
}

// Counts the group for its parent, which is looked at if that makes a difference. Counts only grow
// with those below, so this comes to an end even if groups are each other's parents.
void GroupMinimum::count_for_parent(const Key& key, bool is_met, const Key& parent, Time now) {
  Group& group = groups_[key];
  if (group.is_met == is_met && group.parent == parent) return;
  for (const auto& [above, met, sign] :
       {std::tuple(group.parent, group.is_met, -1), std::tuple(parent, is_met, +1)}) {
    if (above.empty() || !met) continue;
    add_to(members_, above, sign);
    work().add(above, now);
  }
  group.is_met = is_met;
  group.parent = parent;
}

void GroupMinimum::forget(const Key& key, Time now) {
  count_for_parent(key, false, {}, now);
  groups_.erase(key);
}

void GroupMinimum::say(const Key& key, const ObjectPtr& object, std::int64_t members, Time now) {
  Group& group = groups_.at(key);
  const auto& view = object->view<GroupView>();
  const api::GroupCondition* said = view.condition(kCondition);
  const std::string_view status = group.is_met ? "True" : "False";
  if (said != nullptr && said->status == status) {
    group.short_since.reset();
    return;
  }
  if (!group.is_met) {
    if (!group.short_since) group.short_since = now;
    if (const Time due = *group.short_since + kPatience; now < due) return work().add_at(due, key);
  }
  group.short_since.reset();
  const bool is_one = view.minimum == 1;
  const std::string needed = is_leaf(*object)
                                 ? count_of(view.minimum, "pod") +
                                       (is_one ? " runs or has" : " run or have") + " succeeded"
                                 : count_of(view.minimum, "child group") +
                                       (is_one ? " has what it needs" : " have what they need");
  const std::string count = fmt::format("{} of at least {}", members, needed);
  const api::Condition wanted{
      .type = std::string(kCondition),
      .status = std::string(status),
      .reason = group.is_met ? "MinimumMet" : "BelowMinimum",
      .message = group.is_met ? "at least " + needed
                              : fmt::format("{}, as it fell below its minimum", count)};
  call(key, client::patch_request(object->kind(), object->meta().name_space, object->meta().name,
                                  "status", api::PatchType::StrategicMerge,
                                  client::condition_patch(*object, wanted, now)));
  if (!group.is_met)
    record(*object,
           {.type = "Warning", .reason = "BelowMinimum", .action = "Counting", .message = count},
           now);
  else if (said != nullptr)
    record(*object,
           {.type = "Normal",
            .reason = "MinimumMet",
            .action = "Counting",
            .message = "whole again: " + count},
           now);
}

}  // namespace muster::controllers
