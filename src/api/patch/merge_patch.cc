#include <utility>

#include "api/patch/patch.h"

namespace muster::api {

Json merge_patch(Json target, const Json& patch) {
  const JsonObject* changes = patch.if_object();
  if (changes == nullptr) return patch;
  if (!target.is_object()) target.emplace_object();
  JsonObject& object = target.get_object();
  for (const auto& change : *changes) {
    const auto member = object.find(change.key());
    if (change.value().is_null()) {
      if (member != object.end()) object.stable_erase(member);
    } else if (member != object.end()) {
      member->value() = merge_patch(std::move(member->value()), change.value());
    } else {
      object.emplace(change.key(), merge_patch(nullptr, change.value()));
    }
  }
  return target;
}

}  // namespace muster::api
