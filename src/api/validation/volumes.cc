#include <set>
#include <string_view>
#include <utility>

#include "api/reading.h"
#include "api/validation/containers.h"
#include "api/validation/resources.h"

// What the containers of a pod can mount and claim.
namespace muster::api {
namespace {

using Names = std::set<std::string_view>;

constexpr std::string_view kMoreThanOneVolume = "may not specify more than 1 volume type";

struct VolumeSource {
  std::string_view name;
  std::string_view required;  // a member it cannot do without; empty if none is checked
};
constexpr VolumeSource kVolumeSources[] = {
    {"emptyDir", ""},
    {"hostPath", "path"},
    {"gitRepo", "repository"},
    {"gcePersistentDisk", "pdName"},
    {"awsElasticBlockStore", "volumeID"},
    {"secret", "secretName"},
    {"nfs", "path"},
    {"iscsi", "targetPortal"},
    {"glusterfs", "endpoints"},
    {"flocker", ""},
    {"persistentVolumeClaim", "claimName"},
    {"rbd", "image"},
    {"cephfs", ""},
    {"cinder", "volumeID"},
    {"fc", ""},
    {"flexVolume", "driver"},
    {"downwardAPI", ""},
    {"configMap", "name"},
    {"azureFile", "secretName"},
    {"vsphereVolume", "volumePath"},
    {"photonPersistentDisk", "pdID"},
    {"portworxVolume", "volumeID"},
    {"azureDisk", "diskName"},
    {"storageos", ""},
    {"projected", ""},
    {"scaleIO", "gateway"},
    {"csi", "driver"},
    {"ephemeral", "volumeClaimTemplate"},
    {"image", ""},
};

// A name that must be given, be a DNS label and stand once. True if it is given.
bool validate_unique_label(std::string_view name, Names& taken, const FieldPath& path,
                           FieldErrors& errors) {
  if (name.empty()) {
    errors.required(path);
    return false;
  }
  errors.invalid_each(path, name, check_dns_label(name));
  if (!taken.insert(name).second) errors.duplicate(path, name);
  return true;
}

void validate_volume_source(const Json& volume, const FieldPath& path, FieldErrors& errors) {
  bool found = false;
  for (const VolumeSource& source : kVolumeSources) {
    const Json* value = find_set(volume, source.name);
    if (value == nullptr) continue;
    const FieldPath here = path.child(source.name);
    if (std::exchange(found, true)) {
      errors.forbidden(here, kMoreThanOneVolume);
      continue;
    }
    if (source.required.empty()) continue;
    const Json* required = find_set(*value, source.required);
    if (required == nullptr || (required->is_string() && text_of(*required).empty()))
      errors.required(here.child(source.required));
  }
  if (!found) errors.required(path, "must specify a volume type");
}

void validate_claim(const Json& claim, const FieldPath& path, FieldErrors& errors) {
  const Json* name = find_set(claim, "resourceClaimName");
  const Json* template_name = find_set(claim, "resourceClaimTemplateName");
  if (name != nullptr && template_name != nullptr)
    errors.invalid(path, claim,
                   "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be "
                   "specified");
  if (name == nullptr && template_name == nullptr)
    errors.invalid(path, claim,
                   "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
  for (const std::string_view member : {"resourceClaimName", "resourceClaimTemplateName"})
    if (const Json* value = find_set(claim, member))
      errors.invalid_each(path.child(member), text_of(*value),
                          check_dns_subdomain(text_of(*value)));
}

}  // namespace

PodScope validate_volumes_and_claims(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  PodScope scope;
  Names names;
  const FieldPath volumes = path.child("volumes");
  std::size_t at = 0;
  for (const Json& volume : elements(spec, "volumes")) {
    const FieldPath here = volumes.index(at++);
    validate_volume_source(volume, here, errors);
    const std::string_view name = find_string(volume, "name");
    if (validate_unique_label(name, names, here.child("name"), errors))
      scope.volumes.emplace(name, &volume);
  }
  names.clear();
  const FieldPath claims = path.child("resourceClaims");
  at = 0;
  for (const Json& claim : elements(spec, "resourceClaims")) {
    const FieldPath here = claims.index(at++);
    const std::string_view name = find_string(claim, "name");
    if (validate_unique_label(name, names, here.child("name"), errors)) scope.claim_names.add(name);
    validate_claim(claim, here, errors);
  }
  return scope;
}

}  // namespace muster::api
