#include "api/views/node_view.h"

#include <algorithm>

#include "api/values/quantity.h"

namespace muster::api {
namespace {

TaintEffect effect_of(std::string_view name) {
  if (name == "NoSchedule") return TaintEffect::NoSchedule;
  if (name == "PreferNoSchedule") return TaintEffect::PreferNoSchedule;
  if (name == "NoExecute") return TaintEffect::NoExecute;
  return TaintEffect::Other;
}

void read_spec(const Json& spec, NodeView& view) {
  const Json* unschedulable = find(spec, "unschedulable");
  view.unschedulable =
      unschedulable != nullptr && unschedulable->is_bool() && unschedulable->get_bool();
  if (const JsonArray* taints = find_array(spec, "taints"))
    for (const Json& taint : *taints)
      view.taints.push_back({std::string(find_string(taint, "key")),
                             std::string(find_string(taint, "value")),
                             effect_of(find_string(taint, "effect"))});
}

ContainerImage read_image(const Json& entry) {
  ContainerImage image;
  if (const JsonArray* names = find_array(entry, "names"))
    for (const Json& name : *names)
      if (name.is_string())
        image.names.emplace_back(name.get_string().data(), name.get_string().size());
  const Json* size = find(entry, "sizeBytes");
  if (size != nullptr && size->is_int64()) image.size_bytes = size->get_int64();
  return image;
}

}  // namespace

std::string_view effect_name(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::NoSchedule: return "NoSchedule";
    case TaintEffect::PreferNoSchedule: return "PreferNoSchedule";
    case TaintEffect::NoExecute: return "NoExecute";
    case TaintEffect::Other: break;
  }
  return "";
}

std::unique_ptr<NodeView> NodeView::read(const Object& node) { return of(node.document()); }

std::unique_ptr<NodeView> NodeView::of(const Json& document) {
  auto view = std::make_unique<NodeView>();
  if (const Json* spec = find(document, "spec")) read_spec(*spec, *view);
  if (const Json* status = find(document, "status")) {
    const Quantities allocatable = read_quantities(find_object(*status, "allocatable"));
    view->allocatable = Amounts::of(allocatable);
    if (const Quantity* pods = lookup(allocatable, "pods")) view->allocatable_pods = pods->value();
    if (const JsonArray* images = find_array(*status, "images"))
      for (const Json& image : *images) view->images.push_back(read_image(image));
    if (const JsonArray* features = find_array(*status, "declaredFeatures"))
      for (const Json& feature : *features)
        if (feature.is_string())
          view->declared_features.emplace_back(std::string_view(feature.get_string()));
    std::ranges::sort(view->declared_features);
  }
  view->conditions = read_conditions(document);
  return view;
}

}  // namespace muster::api
