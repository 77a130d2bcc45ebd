#include "workload/delegation.h"

#include <algorithm>

namespace muster::workload {
namespace {

std::string annotation(const api::ObjectMeta& meta, std::string_view key) {
  const std::string* value = api::lookup(meta.annotations, key);
  return value == nullptr ? std::string() : *value;
}

}  // namespace

const api::OwnerReference* controlling_owner(const api::ObjectMeta& meta) {
  const auto found = std::ranges::find_if(meta.owners, &api::OwnerReference::controller);
  return found == meta.owners.end() ? nullptr : &*found;
}

std::optional<Delegation> delegation_of(const api::ObjectMeta& meta) {
  const api::OwnerReference* owner = controlling_owner(meta);
  if (owner == nullptr || api::lookup(meta.annotations, kGroupTemplateAnnotation) == nullptr)
    return std::nullopt;
  Delegation out{.template_name = annotation(meta, kGroupTemplateAnnotation),
                 .parent_composite = annotation(meta, kParentCompositeAnnotation),
                 .owner = *owner};
  if (out.parent_composite.empty())
    out.parent_composite = annotation(meta, kParentCompositeAnnotationOnce);
  return out;
}

}  // namespace muster::workload
