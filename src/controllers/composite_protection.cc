#include "controllers/composite_protection.h"

#include <algorithm>
#include <utility>

#include "api/kinds/kind.h"
#include "api/values/well_known.h"
#include "api/views/group_view.h"

namespace muster::controllers {
namespace {

// The key of the composite above a group; empty if none.
std::string parent_of(const api::Object& object) {
  const auto& group = object.view<api::GroupView>();
  return group.parent.empty() ? std::string() : object.meta().name_space + "/" + group.parent;
}

std::string parent_of(const api::ObjectPtr& object) {
  return object == nullptr ? std::string() : parent_of(*object);
}

}  // namespace

CompositeProtection::CompositeProtection(client::ComponentContext context)
    : Protection("compositepodgroup-protection", std::move(context),
                 api::kinds::composite_pod_group(), api::kCompositePodGroupFinalizer,
                 {{.kind = &api::kinds::pod_group(),
                   .mirror = &pod_groups_,
                   .keys_of =
                       [](const Change& change) {
                         // Only a group that leaves its parent can set it free.
                         std::string before = parent_of(change.before);
                         if (before.empty() || before == parent_of(change.after)) return Keys{};
                         return Keys{std::move(before)};
                       }}}),
      pod_groups_({.own = [](const api::Object& group, std::vector<std::string>& out) {
        if (std::string parent = parent_of(group); !parent.empty())
          out.push_back(std::move(parent));
      }}) {}

void CompositeProtection::index_object(const api::Object& object,
                                       std::vector<std::string>& out) const {
  if (std::string parent = parent_of(object); !parent.empty()) out.push_back(std::move(parent));
}

// A new or lost parent may open or close a circle anywhere, so all that wait to go are looked at.
CompositeProtection::Keys CompositeProtection::keys_of_object(const Change& change) {
  Keys keys = own_key(change);
  if (parent_of(change.before) == parent_of(change.after)) return keys;
  for (const client::Mirror::Entry* entry : objects_.indexed(kLeaving))
    keys.push_back(api::key_text(entry->object->meta()));
  return keys;
}

bool CompositeProtection::is_used(const std::string& key) const {
  if (!pod_groups_.indexed(key).empty()) return true;
  return std::ranges::any_of(objects_.indexed(key), [&](const client::Mirror::Entry* child) {
    return !is_above(api::key_text(child->object->meta()), key);
  });
}

// Counts its steps: parents may form a circle.
bool CompositeProtection::is_above(const std::string& ancestor, std::string composite) const {
  for (std::size_t steps = 0; steps <= objects_.size(); ++steps) {
    if (composite == ancestor) return true;
    const auto [name_space, name] = client::split_key(composite);
    std::string above = parent_of(objects_.find(name_space, name));
    if (above.empty()) return false;
    composite = std::move(above);
  }
  return false;
}

}  // namespace muster::controllers
