#include "twin/storage_objects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "base/check.h"

namespace muster::scheduler::twin {
namespace {

constexpr const char* kDriver = "csi.example.com";
constexpr std::uint64_t kHosts = 6;

std::string random_reach(Dice& dice) {
  const bool by_host = dice.chance(40);
  return fmt::format(
      R"(,"nodeAffinity":{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"{}",)"
      R"("operator":"{}","values":["{}"]}}]}}]}}}})",
      by_host ? "kubernetes.io/hostname" : "zone", dice.chance(80) ? "In" : "NotIn",
      by_host ? host(dice) : dice.any({"z1", "z2", "z3"}));
}

// A volume: one that is open, or that of the claim with the same number, bound or kept for it.
enum class Whose : std::uint8_t { Nobodys, Kept, Bound };

api::ObjectPtr random_volume(Dice& dice, std::uint64_t number, Whose whose,
                             const std::string& storage_class) {
  std::vector<std::string> labels;
  if (dice.chance(30))
    labels.push_back(fmt::format(
        R"("{}":"{}")",
        dice.any({"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"}),
        dice.any({"z1", "z2", "z1__z3"})));
  if (dice.chance(30)) labels.emplace_back(R"("tier":"gold")");
  const std::string source =
      dice.chance(75) ? fmt::format(R"("csi":{{"driver":"{}","volumeHandle":"h{}"}})",
                                    dice.any({kDriver, kDriver, "other.csi"}), number)
                      : fmt::format(R"("gcePersistentDisk":{{"pdName":"pd{}"}})", 10 + number);
  std::string more = dice.chance(50) ? random_reach(dice) : "";
  if (whose != Whose::Nobodys)
    more += fmt::format(R"(,"claimRef":{{"namespace":"default","name":"c{0}"{1}}})", number,
                        dice.chance(70) ? fmt::format(R"(,"uid":"uid-c{}")", number) : "");
  if (dice.chance(10)) more += R"(,"volumeMode":"Block")";
  return object_of(
      api::kinds::persistent_volume(),
      fmt::format(
          R"({{"metadata":{{"name":"v{}","labels":{{{}}}}},"spec":{{"storageClassName":"{}",)"
          R"("capacity":{{"storage":"{}Gi"}},"accessModes":["ReadWriteOnce"{}],{}{}}},"status":{{"phase":"{}"}}}})",
          number, join(labels), storage_class, 2 + dice.below(4),
          dice.chance(70) ? R"(,"ReadWriteOncePod")" : "", source, more,
          whose == Whose::Bound ? "Bound" : (dice.chance(90) ? "Available" : "Released")));
}

}  // namespace

std::string join(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string host(Dice& dice) { return "n" + std::to_string(dice.below(kHosts)); }

api::ObjectPtr object_of(const api::Kind& kind, const std::string& json) {
  auto parsed = api::parse_json(json);
  CHECK_THAT(parsed.has_value(), "{}: {}", parsed.error().message, json);
  return api::Object::make(kind, parsed->value);
}

api::ObjectPtr random_csi_node(Dice& dice) {
  std::vector<std::string> drivers;
  for (const char* name : {kDriver, "other.csi", "pd.csi.storage.gke.io", "disk.csi.azure.com",
                           "cinder.csi.openstack.org"})
    if (dice.chance(70))
      drivers.push_back(dice.chance(20)
                            ? fmt::format(R"({{"name":"{}"}})", name)
                            : fmt::format(R"({{"name":"{}","allocatable":{{"count":{}}}}})", name,
                                          dice.below(5)));
  return object_of(api::kinds::csi_node(),
                   fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"drivers":[{}]}}}})",
                               host(dice), join(drivers)));
}

api::ObjectPtr random_driver(Dice& dice) {
  return object_of(
      api::kinds::csi_driver(),
      fmt::format(
          R"({{"metadata":{{"name":"{}"}},"spec":{{"storageCapacity":{},"preventPodSchedulingIfMissing":{}}}}})",
          kDriver, dice.chance(60), dice.chance(40)));
}

api::ObjectPtr random_capacity(Dice& dice) {
  return object_of(
      api::kinds::csi_storage_capacity(),
      fmt::format(R"({{"metadata":{{"name":"s{}","namespace":"default"}},"storageClassName":"{}",)"
                  R"("nodeTopology":{{"matchLabels":{{"zone":"{}"}}}},"capacity":"{}Gi"{}}})",
                  dice.below(6), dice.any({"fast", "zonal"}), dice.any({"z1", "z2", "z3"}),
                  1 + dice.below(12), dice.chance(30) ? R"(,"maximumVolumeSize":"2Gi")" : ""));
}

std::vector<api::ObjectPtr> classes() {
  const auto make = [](const char* name, const char* provisioner, const char* mode,
                       const char* more) {
    return object_of(api::kinds::storage_class(),
                     fmt::format(R"({{"metadata":{{"name":"{}"}},"provisioner":"{}",)"
                                 R"("volumeBindingMode":"{}"{}}})",
                                 name, provisioner, mode, more));
  };
  return {
      make("fast", kDriver, "WaitForFirstConsumer", ""),
      make("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer", ""),
      make(
          "zonal", kDriver, "WaitForFirstConsumer",
          R"(,"allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["z1","z2"]}]}])"),
      make("now", kDriver, "Immediate", "")};
}

std::string claim_json(Dice& dice, const std::string& name, const std::string& storage_class,
                       const std::string& bound_to, const std::string& metadata) {
  std::string annotations;
  if (!bound_to.empty()) annotations = R"("pv.kubernetes.io/bind-completed":"yes")";
  if (bound_to.empty() && dice.chance(12))
    annotations = fmt::format(R"("volume.kubernetes.io/selected-node":"{}")", host(dice));
  std::string more = bound_to.empty() ? "" : fmt::format(R"(,"volumeName":"{}")", bound_to);
  if (dice.chance(12)) more += R"(,"selector":{"matchLabels":{"tier":"gold"}})";
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"default","uid":"uid-{0}","annotations":{{{1}}}{2}{3}}},)"
      R"("spec":{{"storageClassName":"{4}","accessModes":["{5}"],"resources":{{"requests":{{"storage":"{6}Gi"}}}}{7}}},)"
      R"("status":{{"phase":"{8}"}}}})",
      name, annotations, metadata,
      dice.chance(3) ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "", storage_class,
      dice.chance(75) ? "ReadWriteOnce" : "ReadWriteOncePod", 1 + dice.below(3), more,
      bound_to.empty() ? "Pending" : (dice.chance(97) ? "Bound" : "Lost"));
}

std::vector<Change> random_claim(Dice& dice, std::uint64_t number) {
  const std::string storage_class =
      dice.any({"fast", "fast", "fast", "local", "local", "zonal", "zonal", "now"});
  const bool is_bound = storage_class == "now" ? dice.chance(85) : dice.chance(45);
  std::vector<Change> changes;
  const auto set = [&changes](api::ObjectPtr object) {
    changes.push_back({.kind = Change::Kind::SetObject, .object = std::move(object)});
  };
  if (is_bound && dice.chance(95))
    set(random_volume(dice, number, Whose::Bound, storage_class));
  else if (!is_bound && dice.chance(60))
    set(random_volume(dice, number, dice.chance(30) ? Whose::Kept : Whose::Nobodys,
                      dice.chance(92) ? storage_class : "fast"));
  set(object_of(api::kinds::persistent_volume_claim(),
                claim_json(dice, "c" + std::to_string(number), storage_class,
                           is_bound ? "v" + std::to_string(number) : "", "")));
  return changes;
}

api::ObjectPtr random_attachment(Dice& dice) {
  return object_of(
      api::kinds::volume_attachment(),
      fmt::format(
          R"({{"metadata":{{"name":"a{}"}},"spec":{{"attacher":"{}","nodeName":"{}","source":{{"persistentVolumeName":"v{}"}}}}}})",
          dice.below(5), dice.any({kDriver, kDriver, "other.csi"}), host(dice),
          dice.below(kClaims)));
}

}  // namespace muster::scheduler::twin
