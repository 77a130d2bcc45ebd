#include "controllers/protection.h"

#include <algorithm>
#include <utility>

namespace muster::controllers {
using api::JsonArray;
using api::JsonObject;

Protection::Protection(std::string_view name, client::ComponentContext context,
                       const api::Kind& kind, std::string_view finalizer, Adds adds,
                       std::vector<Watch> users)
    : Controller(name, std::move(context),
                 [&] {
                   users.insert(users.begin(),
                                {.kind = &kind,
                                 .mirror = &objects_,
                                 .keys_of = [this](const Change& c) { return keys_of_object(c); }});
                   return std::move(users);
                 }()),
      finalizer_(finalizer),
      adds_(adds) {}

Protection::Keys Protection::keys_of_object(const Change& change) { return own_key(change); }

bool Protection::has_finalizer(const api::Object& object) const {
  const auto& finalizers = object.meta().finalizers;
  return std::ranges::find(finalizers, finalizer_) != finalizers.end();
}

bool Protection::is_leaving(const api::Object& object) const {
  return object.meta().deletion_time && has_finalizer(object);
}

void Protection::reconcile(const std::string& key, Time /*now*/) {
  const auto [name_space, name] = client::split_key(key);
  const api::ObjectPtr object = objects_.find(name_space, name);
  const bool leaves = object != nullptr && is_leaving(*object);
  const bool lacks = adds_ == Adds::Finalizer && object != nullptr &&
                     !object->meta().deletion_time && !has_finalizer(*object);
  if (!leaves) released_.erase(key);
  if (!lacks) protected_.erase(key);
  if (lacks)
    ask_once(protected_, key, *object, "finalizers");
  else if (leaves && !is_used(key))
    ask_once(released_, key, *object, "$deleteFromPrimitiveList/finalizers");
}

// The uid makes sure that it is this object that is patched, not a later one of the same name.
void Protection::ask_once(Asked& asked, const std::string& key, const api::Object& object,
                          std::string_view member) {
  const api::ObjectMeta& meta = object.meta();
  if (const auto at = asked.find(key); at != asked.end() && at->second == meta.uid) return;
  asked[key] = meta.uid;
  JsonObject metadata{{"uid", meta.uid}, {member, JsonArray{finalizer_}}};
  call(key,
       client::patch_request(object.kind(), meta.name_space, meta.name, "",
                             api::PatchType::StrategicMerge,
                             JsonObject{{"metadata", std::move(metadata)}}),
       [this, &asked, key](const client::Outcome& outcome, Time now) {
         if (!outcome) asked.erase(key);
         finish(key, outcome, now);
       });
}

}  // namespace muster::controllers
