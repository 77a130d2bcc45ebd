#include "controllers/composite_protection.h"

#include <utility>

#include "api/kinds/kind.h"
#include "api/values/well_known.h"
#include "api/views/group_view.h"

namespace muster::controllers {
namespace {

// The key of the composite above a group; empty if none.
std::string parent_of(const api::ObjectPtr& object) {
  if (object == nullptr) return {};
  const auto& group = object->view<api::GroupView>();
  return group.parent.empty() ? std::string() : object->meta().name_space + "/" + group.parent;
}

}  // namespace

CompositeProtection::CompositeProtection(client::ComponentContext context)
    : Protection("compositepodgroup-protection", std::move(context),
                 api::kinds::composite_pod_group(), api::kCompositePodGroupFinalizer,
                 Adds::Finalizer,
                 {{.kind = &api::kinds::pod_group(),
                   .mirror = &pod_groups_,
                   .keys_of = [this](const Change& c) { return keys_of_pod_group(c); }}}) {}

// Only a group that leaves its parent can set it free.
CompositeProtection::Keys CompositeProtection::keys_of_pod_group(const Change& change) {
  std::string before = parent_of(change.before);
  const std::string after = parent_of(change.after);
  if (before == after) return {};
  if (!after.empty()) links_.add_leaf(after);
  if (before.empty()) return {};
  links_.remove_leaf(before);
  return {std::move(before)};
}

// A lost child may set its parent free, a new parent those on the circle that it closes. A circle
// that opens sets nobody free but the parent.
CompositeProtection::Keys CompositeProtection::keys_of_object(const Change& change) {
  Keys keys = own_key(change);
  const std::string key = keys.front();
  links_.set_leaving(key, change.after != nullptr && is_leaving(*change.after));
  std::string before = parent_of(change.before);
  const std::string after = parent_of(change.after);
  if (before == after) return keys;
  if (!before.empty()) keys.push_back(std::move(before));
  if (links_.set_parent(key, after))
    for (std::string& free : links_.free_on_circle(key)) keys.push_back(std::move(free));
  return keys;
}

}  // namespace muster::controllers
