#include "controllers/common/owners.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "client/client.h"

namespace muster::controllers {

using api::JsonArray;
using api::JsonObject;

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

api::Request patch_meta_request(const api::Object& object, JsonObject metadata) {
  metadata["uid"] = object.meta().uid;
  return client::patch_request(object.kind(), object.meta().name_space, object.meta().name, "",
                               api::PatchType::StrategicMerge,
                               JsonObject{{"metadata", std::move(metadata)}});
}

api::Request adopt_request(const api::Object& object, const api::Object& owner) {
  return patch_meta_request(object, {{"ownerReferences", JsonArray{owner_reference(owner)}}});
}

api::Request release_request(const api::Object& object, const api::Object& owner) {
  return patch_meta_request(
      object, {{"ownerReferences",
                JsonArray{JsonObject{{"$patch", "delete"}, {"uid", owner.meta().uid}}}}});
}

const api::Kind& apps_kind(std::string_view name) {
  const api::Kind* kind = api::find_kind("apps", name);
  CHECK(kind != nullptr);
  return *kind;
}

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

}  // namespace muster::controllers
