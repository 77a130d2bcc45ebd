#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/object.h"

// Objects whose groups are made from templates of their owner's Workload: the owner decides how
// they are scheduled, their controller makes the groups.
namespace muster::workload {

inline constexpr std::string_view kGroupTemplateAnnotation =
    "scheduling.k8s.io/group-template-name";
inline constexpr std::string_view kParentCompositeAnnotation =
    "scheduling.k8s.io/parent-compositepodgroup";
// The spelling of an early proposal; read if the other one is missing.
inline constexpr std::string_view kParentCompositeAnnotationOnce =
    "scheduling.k8s.io/parent-composite-podgroup";

struct Delegation {
  std::string template_name = {};     // in the owner's Workload; empty: the first of pods
  std::string parent_composite = {};  // the group that its own is part of; empty: none
  api::OwnerReference owner = {};     // whom the Workload must refer to
};
// None if nobody controls the object, or it carries no kGroupTemplateAnnotation.
std::optional<Delegation> delegation_of(const api::ObjectMeta& meta);

// The owner that controls an object; null if none does.
const api::OwnerReference* controlling_owner(const api::ObjectMeta& meta);

}  // namespace muster::workload
