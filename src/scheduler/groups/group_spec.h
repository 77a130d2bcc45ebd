#pragma once

#include <optional>
#include <string_view>

#include "api/gates/gates.h"
#include "api/views/condition.h"
#include "scheduler/framework/entity.h"

namespace muster::scheduler {

// What the forest needs to know of a PodGroup or CompositePodGroup object, without what belongs to
// gates that are off; nullopt for any other kind, and for kinds whose gate is off.
std::optional<GroupSpec> read_group(const api::ObjectPtr& object, const api::Gates& gates);

// The key of a PodGroup or CompositePodGroup object; nullopt for any other kind.
std::optional<GroupKey> group_key(const api::Object& object);

// True if an attempt could not tell the two apart: only the object differs, as after a status
// write.
bool schedules_alike(const GroupSpec& a, const GroupSpec& b);

// The type of the condition that says whether such a group was scheduled.
std::string_view scheduled_condition(GroupKind kind);
// The condition that says whether the group was scheduled; null if nothing is said yet.
const api::Condition* scheduled_condition_of(const GroupSpec& group);
// The condition, once True, stays.
bool was_scheduled(const GroupSpec& group);

}  // namespace muster::scheduler
