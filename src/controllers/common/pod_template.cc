#include "controllers/common/pod_template.h"

#include <string_view>
#include <utility>

#include "api/reading.h"
#include "api/scratch.h"
#include "controllers/common/owners.h"

namespace muster::controllers {

using api::Json;
using api::JsonArray;
using api::JsonObject;

JsonObject pod_from_template(const api::Object& owner, const Json& pod_template) {
  const Json& from = api::part_of(pod_template, "metadata");
  JsonObject metadata{{"generateName", owner.meta().name + "-"},
                      {"namespace", owner.meta().name_space}};
  for (const std::string_view member : {"labels", "annotations"})
    metadata[member] = api::members(from, member);
  metadata["finalizers"] = api::elements(from, "finalizers");
  metadata["ownerReferences"] = JsonArray{owner_reference(owner)};
  return {{"metadata", std::move(metadata)}, {"spec", api::members(pod_template, "spec")}};
}

JsonObject pod_from_template(const api::Object& owner) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, owner, {"spec"});
  return pod_from_template(owner, api::part_of(api::part_of(document, "spec"), "template"));
}

}  // namespace muster::controllers
