#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/gates/gates.h"
#include "api/json.h"
#include "base/result.h"

// What other objects decide about a new PodGroup or CompositePodGroup. Pure: the caller passes in
// what it knows about them.
namespace muster::api {

// What a PriorityClass means for objects that name it.
struct PriorityClassFacts {
  std::string name;
  std::int64_t value = 0;
  std::string preemption_policy;  // empty: PreemptLowerPriority
  bool global_default = false;
};

// What refusals call the group.
inline constexpr std::string_view kPodGroupNoun = "pod group";
inline constexpr std::string_view kCompositePodGroupNoun = "composite pod group";

// Resolves the class that the group names, otherwise the global default (the lowest, if there are
// several), and writes priorityClassName, priority and preemptionPolicy into its spec. A group
// without a preemption policy takes that of its class; upstream defaults it first and then refuses
// every class that is not PreemptLowerPriority. `classes` need hold only the named class
// and the defaults. The error is Forbidden; its message is the bare sentence, without the object.
Result<void> resolve_group_priority(Json& group, std::span<const PriorityClassFacts> classes,
                                    std::string_view noun, const Gates& gates);

// On update: a group that is put without its preemption policy keeps it, as a pod does. The policy
// may have come from its class, not from the user.
void keep_preemption_policy(Json& now, const Json& old, const Gates& gates);

// Appends the finalizer if it is not there.
void add_finalizer(Json& document, std::string_view finalizer);

}  // namespace muster::api
