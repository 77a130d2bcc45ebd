#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/tables/printer.h"

// Volumes, storage, devices.
namespace muster::api::tables {
namespace {

constexpr std::string_view kStorage = "storage.k8s.io";
constexpr std::string_view kResource = "resource.k8s.io";
constexpr std::string_view kDefaultClass = "storageclass.kubernetes.io/is-default-class";

constexpr Column flag(std::string_view name, std::string_view description) {
  return {.name = name, .type = "boolean", .description = description};
}
constexpr Column kVolumeMode = {
    .name = "VolumeMode", .description = "Filesystem or Block.", .priority = 1};
constexpr Column kClass = {.name = "StorageClass", .description = "Its class of storage."};
constexpr Column kAttributes = {.name = "VolumeAttributesClass",
                                .description = "Its class of attributes."};
constexpr Column kCapacity = {.name = "Capacity", .description = "How much it holds."};
constexpr Column kModes = {.name = "Access Modes", .description = "Who may use it at once."};

constexpr Column kVolumeColumns[] = {
    kName,
    kCapacity,
    kModes,
    {.name = "Reclaim Policy", .description = "What happens to it after use."},
    {.name = "Status", .description = "Whether it is in use."},
    {.name = "Claim", .description = "Who claims it."},
    kClass,
    kAttributes,
    {.name = "Reason", .description = "Why it is in this status."},
    kAge,
    kVolumeMode};
constexpr Column kClaimColumns[] = {kName,
                                    {.name = "Status", .description = "Whether it is bound."},
                                    {.name = "Volume", .description = "To which volume."},
                                    kCapacity,
                                    kModes,
                                    kClass,
                                    kAttributes,
                                    kAge,
                                    kVolumeMode};
constexpr Column kStorageClassColumns[] = {
    kName,
    {.name = "Provisioner", .description = "Who makes its volumes."},
    {.name = "ReclaimPolicy", .description = "What happens to them after use."},
    {.name = "VolumeBindingMode", .description = "When volumes are chosen."},
    flag("AllowVolumeExpansion", "Whether volumes may grow."),
    kAge};
constexpr Column kCsiNodeColumns[] = {
    kName, {.name = "Drivers", .type = "integer", .description = "Number of drivers."}, kAge};
constexpr Column kCsiDriverColumns[] = {
    kName,
    flag("AttachRequired", "Whether volumes must be attached."),
    flag("PodInfoOnMount", "Whether it is told about pods."),
    flag("StorageCapacity", "Whether it tells its capacity."),
    {.name = "TokenRequests", .description = "Tokens it asks for."},
    flag("RequiresRepublish", "Whether it wants to be called again and again."),
    {.name = "Modes", .description = "Persistent or Ephemeral."},
    kAge};
constexpr Column kCsiCapacityColumns[] = {
    kName, {.name = "StorageClassName", .description = "Class of storage."}, kCapacity};
constexpr Column kAttachmentColumns[] = {kName,
                                         {.name = "Attacher", .description = "Who attaches it."},
                                         {.name = "PV", .description = "The volume."},
                                         {.name = "Node", .description = "The node."},
                                         flag("Attached", "Whether it is attached."),
                                         kAge};
constexpr Column kAttributesClassColumns[] = {
    kName, {.name = "DriverName", .description = "Whose attributes they are."}, kAge};
constexpr Column kResourceClaimColumns[] = {
    kName, {.name = "State", .description = "Whether it is allocated and reserved."}, kAge};
constexpr Column kSliceColumns[] = {kName,
                                    {.name = "Node", .description = "Where the devices are."},
                                    {.name = "Driver", .description = "Whose devices they are."},
                                    {.name = "Pool", .description = "Which pool they belong to."},
                                    kAge};
constexpr Column kNameAndAge[] = {kName, kAge};

std::string modes_text(const JsonArray& modes) {
  std::vector<std::string_view> out;
  for (const Json& mode : modes) {
    const auto* text = mode.if_string();
    if (text == nullptr) continue;
    const std::string_view word(*text);
    out.push_back(word == "ReadWriteOnce"      ? "RWO"
                  : word == "ReadOnlyMany"     ? "ROX"
                  : word == "ReadWriteMany"    ? "RWX"
                  : word == "ReadWriteOncePod" ? "RWOP"
                                               : word);
  }
  return fmt::format("{}", fmt::join(out, ","));
}

std::string_view phase_of(const Object& object, const Json& document) {
  return object.meta().deletion_time ? "Terminating"
                                     : find_string(part(document, "status"), "phase");
}

void print_volume(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  const Json& claim = part(spec, "claimRef");
  cells.text(object.meta().name);
  cells.text(find_string(part(spec, "capacity"), "storage"));
  cells.text(modes_text(list(spec, "accessModes")));
  cells.text(find_string(spec, "persistentVolumeReclaimPolicy"));
  cells.text(phase_of(object, document));
  cells.text(claim.is_null() ? std::string()
                             : fmt::format("{}/{}", find_string(claim, "namespace"),
                                           find_string(claim, "name")));
  cells.text(find_string(spec, "storageClassName"));
  cells.text_or(find_string(spec, "volumeAttributesClassName"), "<unset>");
  cells.text(find_string(part(document, "status"), "reason"));
  cells.age(object.meta().creation_time);
  cells.text_or(find_string(spec, "volumeMode"), "<unset>");
}

void print_claim(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  const Json& status = part(document, "status");
  const bool bound = !find_string(spec, "volumeName").empty();
  cells.text(object.meta().name);
  cells.text(phase_of(object, document));
  cells.text(find_string(spec, "volumeName"));
  cells.text(bound ? find_string(part(status, "capacity"), "storage") : std::string_view());
  cells.text(bound ? modes_text(list(status, "accessModes")) : "");
  cells.text(find_string(spec, "storageClassName"));
  cells.text_or(find_string(spec, "volumeAttributesClassName"), "<unset>");
  cells.age(object.meta().creation_time);
  cells.text_or(find_string(spec, "volumeMode"), "<unset>");
}

void print_storage_class(const Object& object, const Json& document, Cells& cells) {
  const auto& annotations = object.meta().annotations;
  const bool is_default = std::ranges::any_of(annotations, [](const auto& annotation) {
    return annotation.first == kDefaultClass && annotation.second == "true";
  });
  cells.text(object.meta().name + (is_default ? " (default)" : ""));
  cells.text(find_string(document, "provisioner"));
  cells.text_or(find_string(document, "reclaimPolicy"), "Delete");
  cells.text_or(find_string(document, "volumeBindingMode"), "Immediate");
  cells.boolean(truth(document, "allowVolumeExpansion"));
  cells.age(object.meta().creation_time);
}

void print_csi_node(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  cells.number(static_cast<std::int64_t>(list(part(document, "spec"), "drivers").size()));
  cells.age(object.meta().creation_time);
}

void print_csi_driver(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  std::vector<std::string_view> modes;
  for (const Json& mode : list(spec, "volumeLifecycleModes"))
    if (const auto* text = mode.if_string()) modes.emplace_back(*text);
  cells.text(object.meta().name);
  cells.boolean(truth(spec, "attachRequired"));
  cells.boolean(truth(spec, "podInfoOnMount"));
  cells.boolean(truth(spec, "storageCapacity"));
  cells.text_or(joined(list(spec, "tokenRequests"), "audience"), "<unset>");
  cells.boolean(truth(spec, "requiresRepublish"));
  cells.text(modes.empty() ? "<none>" : fmt::format("{}", fmt::join(modes, ",")));
  cells.age(object.meta().creation_time);
}

void print_csi_capacity(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  cells.text(find_string(document, "storageClassName"));
  cells.text_or(find_string(document, "capacity"), "<unset>");
}

void print_attachment(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  cells.text(object.meta().name);
  cells.text(find_string(spec, "attacher"));
  cells.text(find_string(part(spec, "source"), "persistentVolumeName"));
  cells.text(find_string(spec, "nodeName"));
  cells.boolean(truth(part(document, "status"), "attached"));
  cells.age(object.meta().creation_time);
}

void print_attributes_class(const Object& object, const Json& document, Cells& cells) {
  cells.text(object.meta().name);
  cells.text(find_string(document, "driverName"));
  cells.age(object.meta().creation_time);
}

void print_resource_claim(const Object& object, const Json& document, Cells& cells) {
  const Json& status = part(document, "status");
  std::vector<std::string_view> states;
  if (object.meta().deletion_time) states.emplace_back("deleted");
  if (!is_set(status, "allocation")) {
    if (states.empty()) states.emplace_back("pending");
  } else {
    states.emplace_back("allocated");
    if (!list(status, "reservedFor").empty()) states.emplace_back("reserved");
  }
  cells.text(object.meta().name);
  cells.text(fmt::format("{}", fmt::join(states, ",")));
  cells.age(object.meta().creation_time);
}

void print_slice(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  cells.text(object.meta().name);
  cells.text_or(find_string(spec, "nodeName"), "<unset>");
  cells.text(find_string(spec, "driver"));
  cells.text(find_string(part(spec, "pool"), "name"));
  cells.age(object.meta().creation_time);
}

void print_name_and_age(const Object& object, const Json&, Cells& cells) {
  cells.text(object.meta().name);
  cells.age(object.meta().creation_time);
}

}  // namespace

std::span<const Printer> storage_printers() {
  static constexpr Printer kPrinters[] = {
      {"", "PersistentVolume", kVolumeColumns, print_volume},
      {"", "PersistentVolumeClaim", kClaimColumns, print_claim},
      {kStorage, "StorageClass", kStorageClassColumns, print_storage_class},
      {kStorage, "CSINode", kCsiNodeColumns, print_csi_node},
      {kStorage, "CSIDriver", kCsiDriverColumns, print_csi_driver},
      {kStorage, "CSIStorageCapacity", kCsiCapacityColumns, print_csi_capacity},
      {kStorage, "VolumeAttachment", kAttachmentColumns, print_attachment},
      {kStorage, "VolumeAttributesClass", kAttributesClassColumns, print_attributes_class},
      {kResource, "DeviceClass", kNameAndAge, print_name_and_age},
      {kResource, "DeviceTaintRule", kNameAndAge, print_name_and_age},
      {kResource, "ResourceClaim", kResourceClaimColumns, print_resource_claim},
      {kResource, "ResourceClaimTemplate", kNameAndAge, print_name_and_age},
      {kResource, "ResourceSlice", kSliceColumns, print_slice},
  };
  return kPrinters;
}

}  // namespace muster::api::tables
