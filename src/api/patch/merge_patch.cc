#include <algorithm>
#include <utility>

#include "api/json_edit.h"
#include "api/patch/patch.h"

namespace muster::api {

Json merge_patch(Json target, const Json& patch) {
  const JsonObject* changes = patch.if_object();
  if (changes == nullptr) return patch;
  if (!target.is_object()) target.emplace_object();
  JsonObject& object = target.get_object();
  if (std::ranges::any_of(*changes, [](const auto& change) { return change.value().is_null(); }))
    erase_members(object, [&](const auto& member) {
      const Json* change = changes->if_contains(member.key());
      return change != nullptr && change->is_null();
    });
  for (const auto& change : *changes) {
    if (change.value().is_null()) continue;
    const auto member = object.find(change.key());
    if (member != object.end()) {
      member->value() = merge_patch(std::move(member->value()), change.value());
    } else {
      object.emplace(change.key(), merge_patch(nullptr, change.value()));
    }
  }
  return target;
}

}  // namespace muster::api
