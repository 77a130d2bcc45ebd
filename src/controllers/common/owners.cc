#include "controllers/common/owners.h"

#include <algorithm>

namespace muster::controllers {

const api::OwnerReference* controller_of(const api::Object& object) {
  const auto& owners = object.meta().owners;
  const auto found = std::ranges::find_if(owners, &api::OwnerReference::controller);
  return found == owners.end() ? nullptr : &*found;
}

bool is_controlled_by(const api::Object& object, std::string_view uid) {
  const api::OwnerReference* owner = controller_of(object);
  return owner != nullptr && owner->uid == uid;
}

api::JsonObject owner_reference(const api::Object& owner) {
  return {{"apiVersion", owner.kind().api_version(owner.kind().stored_version)},
          {"kind", owner.kind().kind},
          {"name", owner.meta().name},
          {"uid", owner.meta().uid},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

}  // namespace muster::controllers
