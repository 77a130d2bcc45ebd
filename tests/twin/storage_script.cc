// Random clusters whose pods have claims, disks, images, features, Services and sets.
#include <fmt/format.h>

#include "api/kinds/kind.h"
#include "twin/script.h"
#include "twin/storage_objects.h"

namespace muster::scheduler::twin {
namespace {

// --- nodes ---

std::string random_images(Dice& dice) {
  std::vector<std::string> images;
  for (const char* name : {"app:latest", "tool:v1", "data:v2"})
    if (dice.chance(45))
      images.push_back(fmt::format(R"({{"names":["{}"],"sizeBytes":{}}})", name,
                                   (50 + dice.below(12) * 150) * 1024 * 1024));
  return R"("images":[)" + join(images) + "]";
}

NodeSample random_host(Dice& dice) {
  NodeSample node{.name = host(dice)};
  node.cpu = std::to_string(2 + dice.below(6));
  node.pods = static_cast<std::int64_t>(2 + dice.below(6));
  node.labels["kubernetes.io/hostname"] = node.name;
  if (dice.chance(10)) node.labels.erase("kubernetes.io/hostname");
  const std::string zone = dice.any({"z1", "z2", "z3"});
  if (dice.chance(85)) node.labels["zone"] = zone;
  if (dice.chance(75)) node.labels["topology.kubernetes.io/zone"] = zone;
  if (dice.chance(20)) node.labels["failure-domain.beta.kubernetes.io/zone"] = zone;
  if (dice.chance(20)) node.labels["topology.kubernetes.io/region"] = dice.any({"r1", "r2"});
  std::vector<std::string> features;
  for (const char* feature :
       {"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"})
    if (dice.chance(50)) features.push_back(fmt::format("\"{}\"", feature));
  node.status = random_images(dice) + R"(,"declaredFeatures":[)" + join(features) + "]";
  return node;
}

// --- pods ---

std::string random_disk(Dice& dice, int number) {
  const bool reads = dice.chance(50);
  const std::string name = fmt::format(R"("name":"disk{}")", number);
  switch (dice.below(6)) {
    case 0:
      return fmt::format(R"({{{},"gcePersistentDisk":{{"pdName":"pd{}","readOnly":{}}}}})", name,
                         dice.below(2), reads);
    case 1:
      return fmt::format(R"({{{},"awsElasticBlockStore":{{"volumeID":"ebs{}","readOnly":{}}}}})",
                         name, dice.below(2), reads);
    case 2:
      return fmt::format(
          R"({{{},"iscsi":{{"targetPortal":"p","iqn":"iqn{}","lun":0,"readOnly":{}}}}})", name,
          dice.below(2), reads);
    case 3:
      return fmt::format(R"({{{},"azureDisk":{{"diskName":"d","diskURI":"uri{}","readOnly":{}}}}})",
                         name, dice.below(3), reads);
    case 4:
      return fmt::format(R"({{{},"cinder":{{"volumeID":"cinder{}","readOnly":{}}}}})", name,
                         dice.below(3), reads);
    default:
      return fmt::format(
          R"({{{},"rbd":{{"monitors":["m{}","m{}"],"pool":"rbd","image":"i","readOnly":{}}}}})",
          name, dice.below(2), 2 + dice.below(2), reads);
  }
}

std::string random_volumes(Dice& dice, bool has_ephemeral) {
  std::vector<std::string> volumes;
  const std::uint64_t claims = dice.below(3);
  for (std::uint64_t i = 0; i < claims; ++i)
    volumes.push_back(
        fmt::format(R"({{"name":"claim{}","persistentVolumeClaim":{{"claimName":"c{}"}}}})", i,
                    dice.below(kClaims + (dice.chance(10) ? 1 : 0))));
  if (has_ephemeral)
    volumes.emplace_back(
        R"({"name":"e","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"]}}}})");
  if (dice.chance(25)) volumes.push_back(random_disk(dice, 0));
  if (dice.chance(8)) volumes.push_back(random_disk(dice, 1));
  if (dice.chance(20)) volumes.emplace_back(R"({"name":"i","image":{"reference":"data:v2"}})");
  return R"("volumes":[)" + join(volumes) + "]";
}

std::string random_owner(Dice& dice) {
  const std::string kind = dice.any({"ReplicaSet", "StatefulSet", "ReplicationController"});
  const char* version = kind == "ReplicationController" ? "v1" : "apps/v1";
  return fmt::format(
      R"("ownerReferences":[{{"apiVersion":"{}","kind":"{}","name":"set{}","uid":"u","controller":true}}])",
      dice.chance(90) ? version : "example.com/v1", kind, dice.below(2));
}

PodSample random_claimant(Dice& dice, const std::string& name, bool has_ephemeral) {
  PodSample pod{.name = name};
  if (dice.chance(60)) pod.cpu = std::to_string(1 + dice.below(3)) + "00m";
  std::vector<std::string> parts{random_volumes(dice, has_ephemeral)};
  if (dice.chance(15)) parts.emplace_back(R"("hostNetwork":true,"hostUsers":false)");
  if (dice.chance(30))
    parts.push_back(fmt::format(
        R"("initContainers":[{{"name":"i","image":"tool:v1"{}}}])",
        dice.chance(40) ? R"(,"restartPolicyRules":[{"action":"RestartAllContainers"}])" : ""));
  if (dice.chance(70)) pod.labels["app"] = dice.any({"a", "b"});
  if (dice.chance(40)) pod.labels["tier"] = dice.any({"1", "2"});
  if (dice.chance(35)) pod.metadata = random_owner(dice);
  pod.spec = join(parts);
  return pod;
}

// --- Services and sets ---

api::ObjectPtr random_set(Dice& dice) {
  const std::string app = dice.any({"a", "b"});
  if (dice.chance(50)) {
    std::vector<std::string> pairs;
    if (dice.chance(85)) pairs.push_back(fmt::format(R"("app":"{}")", app));
    if (dice.chance(40)) pairs.push_back(fmt::format(R"("tier":"{}")", dice.any({"1", "2"})));
    const bool selects = dice.chance(90);
    return object_of(
        *api::find_kind("", "Service"),
        fmt::format(R"({{"metadata":{{"name":"service{}","namespace":"default"}},"spec":{{{}}}}})",
                    dice.below(3), selects ? R"("selector":{)" + join(pairs) + "}" : ""));
  }
  const std::string meta =
      fmt::format(R"("metadata":{{"name":"set{}","namespace":"default"}})", dice.below(2));
  if (dice.chance(25))
    return object_of(*api::find_kind("", "ReplicationController"),
                     fmt::format(R"({{{},"spec":{{"selector":{{"app":"{}"}}}}}})", meta, app));
  return object_of(
      *api::find_kind("apps", dice.any({"ReplicaSet", "StatefulSet"})),
      fmt::format(
          R"({{{},"spec":{{"selector":{{"matchExpressions":[{{"key":"app","operator":"{}","values":["{}"]}}]}}}}}})",
          meta, dice.any({"In", "NotIn"}), app));
}

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : dice_(seed) {}

  Script make() {
    for (const api::ObjectPtr& each : classes()) set(each);
    // What comes first must not matter.
    const bool nodes_first = dice_.chance(70);
    if (nodes_first) make_nodes();
    for (std::uint64_t c = 0; c < kClaims; ++c) add_claim(c);
    for (int i = 0; i < 12; ++i) change_objects();
    if (!nodes_first) make_nodes();
    for (int i = 0; i < 6; ++i) add_pod();
    for (int round = 0; round < 3; ++round) {
      script_.history.push_back({});
      for (int i = 0; i < 6; ++i) change();
    }
    script_.history.push_back({});
    for (int i = 0; i < 3; ++i) {
      const std::string name = "ask" + std::to_string(i);
      const bool has_ephemeral = dice_.chance(15);
      script_.pods.push_back(random_claimant(dice_, name, has_ephemeral));
      if (has_ephemeral) add_ephemeral_claim(name);
    }
    for (int i = 0; i < 10; ++i) add_move();
    return std::move(script_);
  }

 private:
  void set(api::ObjectPtr object) {
    script_.history.push_back({.kind = Change::Kind::SetObject, .object = std::move(object)});
  }
  void make_nodes() {
    for (std::uint64_t i = 2 + dice_.below(6); i > 0; --i)
      script_.history.push_back({.kind = Change::Kind::SetNode, .node = random_host(dice_)});
  }
  void add_claim(std::uint64_t number) {
    for (Change& change : random_claim(dice_, number)) script_.history.push_back(std::move(change));
  }
  // Before anybody looks: the claims of pods that ask stand at the front.
  void add_ephemeral_claim(const std::string& pod) {
    if (dice_.chance(15)) return;
    const std::string owner = fmt::format(
        R"(,"ownerReferences":[{{"apiVersion":"v1","kind":"Pod","name":"{0}","uid":"{1}","controller":true}}])",
        pod, dice_.chance(90) ? "default-" + pod : "somebody");
    script_.history.insert(script_.history.begin(),
                           {.kind = Change::Kind::SetObject,
                            .object = object_of(api::kinds::persistent_volume_claim(),
                                                claim_json(dice_, pod + "-e", "fast", "", owner))});
  }
  void change_objects() {
    switch (dice_.below(6)) {
      case 0: return set(random_csi_node(dice_));
      case 1: return set(random_driver(dice_));
      case 2: return set(random_capacity(dice_));
      case 3: return set(random_attachment(dice_));
      default: return set(random_set(dice_));
    }
  }
  void add_pod() {
    const std::string name = "p" + std::to_string(next_++);
    const bool has_ephemeral = dice_.chance(10);
    if (has_ephemeral) add_ephemeral_claim(name);
    PodSample pod = random_claimant(dice_, name, has_ephemeral);
    pod.node_name = host(dice_);
    pod.terminating = dice_.chance(8);
    living_.push_back(pod);
    script_.history.push_back(
        {.kind = dice_.chance(40) ? Change::Kind::SetPod : Change::Kind::AssumePod, .pod = pod});
  }
  void change() {
    switch (dice_.below(7)) {
      case 0:
        script_.history.push_back({.kind = Change::Kind::SetNode, .node = random_host(dice_)});
        return;
      case 1:
        if (dice_.chance(40))
          script_.history.push_back(
              {.kind = Change::Kind::RemoveNode, .node = {.name = host(dice_)}});
        return;
      case 2:
        if (living_.empty()) return;
        std::swap(living_[dice_.below(living_.size())], living_.back());
        script_.history.push_back({.kind = Change::Kind::RemovePod, .pod = living_.back()});
        living_.pop_back();
        return;
      case 3: return add_pod();
      case 4: return remove_object();
      default: return change_objects();
    }
  }
  // Of those that come and go while pods run: drivers of nodes, capacities, attachments, sets.
  void remove_object() {
    std::vector<api::ObjectPtr> known;
    for (const Change& change : script_.history)
      if (change.kind == Change::Kind::SetObject) {
        const std::string_view kind = change.object->kind().kind;
        if (kind != "StorageClass" && kind != "PersistentVolumeClaim" && kind != "PersistentVolume")
          known.push_back(change.object);
      }
    if (known.empty()) return;
    script_.history.push_back(
        {.kind = Change::Kind::RemoveObject, .object = known[dice_.below(known.size())]});
  }
  void add_move() {
    const std::uint64_t kind = dice_.below(6);
    script_.moves.push_back({.kind = kind == 0   ? Move::Kind::Mark
                                     : kind == 1 ? Move::Kind::Undo
                                                 : Move::Kind::Place,
                             .shape = dice_.below(3),
                             .zone = dice_.chance(50) ? "" : dice_.any({"z1", "z2", "z3"})});
  }

  Dice dice_;
  Script script_;
  std::vector<PodSample> living_;
  int next_ = 0;
};

}  // namespace

Script random_storage_script(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace muster::scheduler::twin
