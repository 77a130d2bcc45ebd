#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {

std::vector<Kind> storage_kinds() {
  constexpr GroupVersion kStorageV1{
      .group = "storage.k8s.io", .version = "v1", .package = "storage/v1"};
  Kind driver = plain_kind(kStorageV1, "CSIDriver", "csidrivers");
  driver.keeps_generation = true;

  Kind node = plain_kind(kStorageV1, "CSINode", "csinodes");
  node.subresources = {status_part(node)};

  Kind storage_class = plain_kind(kStorageV1, "StorageClass", "storageclasses");
  storage_class.short_names = {"sc"};

  Kind attachment = plain_kind(kStorageV1, "VolumeAttachment", "volumeattachments");
  attachment.subresources = {status_part(attachment)};

  Kind attributes_class =
      plain_kind(kStorageV1, "VolumeAttributesClass", "volumeattributesclasses");
  attributes_class.short_names = {"vac"};

  std::vector<Kind> kinds{driver,
                          node,
                          plain_kind(kStorageV1, "CSIStorageCapacity", "csistoragecapacities"),
                          storage_class,
                          attachment,
                          attributes_class};
  for (Kind& kind : kinds) {
    kind.namespaced = kind.kind == "CSIStorageCapacity";
    kind.unconditional_update = kind.kind == "StorageClass";
    kind.answers_delete_with_object = true;
  }
  return kinds;
}

}  // namespace muster::api::kinds
