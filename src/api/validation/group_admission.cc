#include "api/validation/group_admission.h"

#include <algorithm>
#include <tuple>

#include "api/reading.h"
#include "api/values/well_known.h"

namespace muster::api {
namespace {

Result<PriorityClassFacts> class_of(std::string_view name,
                                    std::span<const PriorityClassFacts> classes) {
  const PriorityClassFacts* found = nullptr;
  for (const PriorityClassFacts& facts : classes) {
    if (name.empty() ? !facts.global_default : facts.name != name) continue;
    if (found == nullptr || std::tie(facts.value, facts.name) < std::tie(found->value, found->name))
      found = &facts;
  }
  if (found == nullptr && !name.empty())
    return fail(Reason::Forbidden, "no PriorityClass with name {} was found", name);
  PriorityClassFacts facts = found == nullptr ? PriorityClassFacts() : *found;
  if (facts.preemption_policy.empty()) facts.preemption_policy = kPreemptLowerPriority;
  return facts;
}

}  // namespace

Result<void> resolve_group_priority(Json& group, std::span<const PriorityClassFacts> classes,
                                    std::string_view noun, const Gates& gates) {
  JsonObject& spec = ensure_object(group.as_object(), "spec");
  const Json& said = part_of(group, "spec");
  const PriorityClassFacts facts = TRY(class_of(find_string(said, "priorityClassName"), classes));
  if (const auto value = find_integer(said, "priority"); value && *value != facts.value)
    return fail(Reason::Forbidden,
                "priority set in the {} ({}) must match the priority computed ({}) based on the "
                "priority class set in the spec",
                noun, *value, facts.value);
  const bool has_policy = gates.on(Gate::PodGroupPreemptionPolicy);
  const Json* policy = find_set(said, "preemptionPolicy");
  if (has_policy && policy != nullptr && text_of(*policy) != facts.preemption_policy)
    return fail(Reason::Forbidden,
                "the string value of PreemptionPolicy ({}) must not be provided in {} spec; "
                "priority admission controller computed {} from the given PriorityClass name",
                text_of(*policy), noun, facts.preemption_policy);
  if (!facts.name.empty()) spec["priorityClassName"] = facts.name;
  spec["priority"] = facts.value;
  if (has_policy) spec["preemptionPolicy"] = facts.preemption_policy;
  return {};
}

void keep_preemption_policy(Json& now, const Json& old, const Gates& gates) {
  if (!gates.on(Gate::PodGroupPreemptionPolicy)) return;
  const Json* stored = find_set(part_of(old, "spec"), "preemptionPolicy");
  if (stored == nullptr || find_set(part_of(now, "spec"), "preemptionPolicy") != nullptr) return;
  ensure_object(now.as_object(), "spec")["preemptionPolicy"] = *stored;
}

void add_finalizer(Json& document, std::string_view finalizer) {
  JsonObject& metadata = ensure_object(document.as_object(), "metadata");
  JsonArray& finalizers = ensure_array(metadata, "finalizers");
  const bool present =
      std::ranges::any_of(finalizers, [&](const Json& one) { return text_of(one) == finalizer; });
  if (!present) finalizers.emplace_back(finalizer);
}

}  // namespace muster::api
