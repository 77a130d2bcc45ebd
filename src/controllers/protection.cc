#include "controllers/protection.h"

#include <algorithm>
#include <utility>

namespace muster::controllers {
namespace {

using api::JsonArray;
using api::JsonObject;

// The uid makes sure that it is this object that is let go, not a later one of the same name.
api::Request remove_finalizer(const api::Object& object, const std::string& finalizer) {
  const api::ObjectMeta& meta = object.meta();
  return client::patch_request(
      object.kind(), meta.name_space, meta.name, "", api::PatchType::StrategicMerge,
      JsonObject{
          {"metadata", JsonObject{{"uid", meta.uid},
                                  {"$deleteFromPrimitiveList/finalizers", JsonArray{finalizer}}}}});
}

}  // namespace

Protection::Protection(std::string_view name, client::ComponentContext context,
                       const api::Kind& kind, std::string_view finalizer, std::vector<Watch> users)
    : Controller(name, std::move(context),
                 [&] {
                   users.insert(users.begin(),
                                {.kind = &kind,
                                 .mirror = &objects_,
                                 .keys_of = [this](const Change& c) { return keys_of_object(c); }});
                   return std::move(users);
                 }()),
      finalizer_(finalizer) {}

Protection::Keys Protection::keys_of_object(const Change& change) { return own_key(change); }

bool Protection::is_leaving(const api::Object& object) const {
  const auto& finalizers = object.meta().finalizers;
  return object.meta().deletion_time &&
         std::ranges::find(finalizers, finalizer_) != finalizers.end();
}

void Protection::reconcile(const std::string& key, Time /*now*/) {
  const auto [name_space, name] = client::split_key(key);
  const api::ObjectPtr object = objects_.find(name_space, name);
  if (object == nullptr || !is_leaving(*object)) {
    released_.erase(key);
    return;
  }
  const auto at = released_.find(key);
  if ((at != released_.end() && at->second == object->meta().uid) || is_used(key)) return;
  released_[key] = object->meta().uid;
  call(key, remove_finalizer(*object, finalizer_),
       [this, key](const client::Outcome& outcome, Time now) {
         if (!outcome) released_.erase(key);
         finish(key, outcome, now);
       });
}

}  // namespace muster::controllers
