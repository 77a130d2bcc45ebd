#include "api/views/volume_views.h"

#include <algorithm>

#include "api/selectors.h"
#include "api/values/quantity.h"

namespace muster::api {
namespace {

constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
constexpr std::string_view kExclusive = "ReadWriteOncePod";

std::string text_at(const Json& document, std::string_view path) {
  const Json* found = find_path(document, path);
  return found != nullptr && found->is_string() ? std::string(std::string_view(found->get_string()))
                                                : std::string();
}

bool flag_at(const Json& document, std::string_view path) {
  const Json* found = find_path(document, path);
  return found != nullptr && found->is_bool() && found->get_bool();
}

std::vector<std::string> strings(const Json& value, std::string_view member) {
  std::vector<std::string> out;
  if (const JsonArray* array = find_array(value, member))
    for (const Json& entry : *array)
      if (entry.is_string()) out.emplace_back(std::string_view(entry.get_string()));
  return out;
}

std::vector<std::string> sorted_modes(const Json& spec) {
  std::vector<std::string> modes = strings(spec, "accessModes");
  std::ranges::sort(modes);
  return modes;
}

std::optional<std::int64_t> bytes_at(const Json& document, std::string_view path) {
  const Json* found = find_path(document, path);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  const Result<Quantity> quantity = Quantity::parse(std::string_view(found->get_string()));
  return quantity ? std::optional(quantity->value()) : std::nullopt;
}

// Present selectors only: a missing one means different things in different places.
std::optional<LabelSelector> selector_at(const Json& document, std::string_view path) {
  const Json* found = find_path(document, path);
  if (found == nullptr || !found->is_object()) return std::nullopt;
  Result<LabelSelector> selector = read_label_selector(found);
  return selector ? std::optional(std::move(*selector)) : LabelSelector::nothing();
}

std::optional<std::string> class_of(const Object& object, const Json& document) {
  if (const std::string* named = lookup(object.meta().annotations, kClassAnnotation)) return *named;
  const Json* named = find_path(document, "spec.storageClassName");
  if (named == nullptr || !named->is_string()) return std::nullopt;
  return std::string(std::string_view(named->get_string()));
}

// Only labels of nodes are compared: what a term says of names does not count, and one that speaks
// of names alone holds everywhere.
void read_affinity(const Json& document, VolumeView& view) {
  const Json* required = find_path(document, "spec.nodeAffinity.required");
  if (required == nullptr || !required->is_object()) return;
  view.has_affinity = true;
  if (const JsonArray* terms = find_array(*required, "nodeSelectorTerms"))
    for (const Json& term : *terms) {
      view.affinity.push_back(read_node_selector_term(term));
      NodeSelectorTerm& read = view.affinity.back();
      view.has_affinity &= !read.expressions.empty() || read.fields.empty();
      read.fields.clear();
    }
  if (!view.has_affinity) view.affinity.clear();
}

// Disks of the time before CSI belong to the drivers that have taken them over.
void read_source(const Json& document, VolumeView& view) {
  struct Migrated {
    std::string_view source, id, driver;
  };
  static constexpr Migrated kMigrated[] = {
      {"spec.gcePersistentDisk", "pdName", csi_driver_of(InlineDisk::Type::Gce)},
      {"spec.awsElasticBlockStore", "volumeID", csi_driver_of(InlineDisk::Type::Ebs)},
      {"spec.azureDisk", "diskURI", csi_driver_of(InlineDisk::Type::Azure)},
      {"spec.cinder", "volumeID", csi_driver_of(InlineDisk::Type::Cinder)},
  };
  if (const Json* csi = find_path(document, "spec.csi")) {
    view.driver = find_string(*csi, "driver");
    view.handle = find_string(*csi, "volumeHandle");
    return;
  }
  for (const Migrated& migrated : kMigrated)
    if (const Json* source = find_path(document, migrated.source)) {
      view.driver = migrated.driver;
      view.handle = find_string(*source, migrated.id);
    }
}

}  // namespace

std::unique_ptr<ClaimView> ClaimView::read(const Object& claim) {
  auto view = std::make_unique<ClaimView>();
  const Json document = claim.document();
  view->storage_class = class_of(claim, document);
  view->volume_name = text_at(document, "spec.volumeName");
  if (std::string mode = text_at(document, "spec.volumeMode"); !mode.empty())
    view->volume_mode = std::move(mode);
  view->attributes_class = text_at(document, "spec.volumeAttributesClassName");
  if (const Json* spec = find(document, "spec")) view->access_modes = sorted_modes(*spec);
  view->request = bytes_at(document, "spec.resources.requests.storage").value_or(0);
  view->selector = selector_at(document, "spec.selector");
  view->phase = text_at(document, "status.phase");
  if (const std::string* node = lookup(claim.meta().annotations, kSelectedNode))
    view->selected_node = *node;
  view->bind_completed = lookup(claim.meta().annotations, kBindCompleted) != nullptr;
  view->is_exclusive =
      std::ranges::find(view->access_modes, kExclusive) != view->access_modes.end();
  return view;
}

std::unique_ptr<VolumeView> VolumeView::read(const Object& volume) {
  auto view = std::make_unique<VolumeView>();
  const Json document = volume.document();
  view->storage_class = class_of(volume, document).value_or("");
  if (std::string mode = text_at(document, "spec.volumeMode"); !mode.empty())
    view->volume_mode = std::move(mode);
  view->attributes_class = text_at(document, "spec.volumeAttributesClassName");
  view->reclaim_policy = text_at(document, "spec.persistentVolumeReclaimPolicy");
  if (const Json* spec = find(document, "spec")) view->access_modes = sorted_modes(*spec);
  view->capacity = bytes_at(document, "spec.capacity.storage").value_or(0);
  view->phase = text_at(document, "status.phase");
  view->claim_namespace = text_at(document, "spec.claimRef.namespace");
  view->claim_name = text_at(document, "spec.claimRef.name");
  view->claim_uid = text_at(document, "spec.claimRef.uid");
  read_affinity(document, *view);
  read_source(document, *view);
  return view;
}

// A claimRef without a uid was written by hand, for any claim of that name.
bool VolumeView::is_for(const Object& claim) const {
  return claim_name == claim.meta().name && claim_namespace == claim.meta().name_space &&
         (claim_uid.empty() || claim_uid == claim.meta().uid);
}

std::unique_ptr<StorageClassView> StorageClassView::read(const Object& storage_class) {
  auto view = std::make_unique<StorageClassView>();
  const Json document = storage_class.document();
  view->provisioner = text_at(document, "provisioner");
  view->reclaim_policy = text_at(document, "reclaimPolicy");
  view->binding_mode = text_at(document, "volumeBindingMode");
  const JsonArray* terms = find_array(document, "allowedTopologies");
  if (terms == nullptr) return view;
  for (const Json& term : *terms) {
    Topology& topology = view->allowed_topologies.emplace_back();
    const JsonArray* expressions = find_array(term, "matchLabelExpressions");
    if (expressions == nullptr) continue;
    for (const Json& expression : *expressions)
      topology.emplace_back(find_string(expression, "key"), strings(expression, "values"));
  }
  return view;
}

bool StorageClassView::provisions() const {
  return !provisioner.empty() && provisioner != "kubernetes.io/no-provisioner";
}

std::unique_ptr<CsiNodeView> CsiNodeView::read(const Object& node) {
  auto view = std::make_unique<CsiNodeView>();
  const Json document = node.document();
  const Json* spec = find(document, "spec");
  const JsonArray* drivers = spec == nullptr ? nullptr : find_array(*spec, "drivers");
  if (drivers == nullptr) return view;
  for (const Json& driver : *drivers) {
    const Json* count = find_path(driver, "allocatable.count");
    view->drivers[std::string(find_string(driver, "name"))] =
        count != nullptr && count->is_int64() ? std::optional(count->get_int64()) : std::nullopt;
  }
  return view;
}

std::unique_ptr<CsiDriverView> CsiDriverView::read(const Object& driver) {
  auto view = std::make_unique<CsiDriverView>();
  const Json document = driver.document();
  view->storage_capacity = flag_at(document, "spec.storageCapacity");
  view->required_on_node = flag_at(document, "spec.preventPodSchedulingIfMissing");
  return view;
}

std::unique_ptr<CapacityView> CapacityView::read(const Object& capacity) {
  auto view = std::make_unique<CapacityView>();
  const Json document = capacity.document();
  view->storage_class = text_at(document, "storageClassName");
  view->topology = selector_at(document, "nodeTopology");
  view->capacity = bytes_at(document, "capacity");
  view->limit = bytes_at(document, "maximumVolumeSize");
  if (!view->limit) view->limit = view->capacity;
  return view;
}

std::unique_ptr<AttachmentView> AttachmentView::read(const Object& attachment) {
  auto view = std::make_unique<AttachmentView>();
  const Json document = attachment.document();
  view->attacher = text_at(document, "spec.attacher");
  view->node_name = text_at(document, "spec.nodeName");
  view->volume_name = text_at(document, "spec.source.persistentVolumeName");
  return view;
}

}  // namespace muster::api
