#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/views/volume_views.h"
#include "scheduler/volumes/volume_book.h"

// Small objects about storage for tests.
namespace muster::scheduler {

inline api::ObjectPtr object_of(const api::Kind& kind, const std::string& json) {
  const auto parsed = api::parse_json(json);
  EXPECT_TRUE(parsed.has_value()) << json;
  return api::Object::make(kind, parsed->value);
}

struct ClaimSample {
  std::string name;
  std::string storage_class = "fast";
  std::string size = "1Gi";
  std::string volume = {};  // bound to it
  std::string selected_node = {};
  std::string mode = "ReadWriteOnce";
  std::string more = {};  // members of spec, beginning with a comma

  api::ObjectPtr make() const {
    std::string annotations;
    if (!volume.empty()) annotations = R"("pv.kubernetes.io/bind-completed":"yes")";
    if (!selected_node.empty())
      annotations = R"("volume.kubernetes.io/selected-node":")" + selected_node + "\"";
    std::string spec = R"("accessModes":[")" + mode + R"("],"storageClassName":")" + storage_class +
                       R"(","resources":{"requests":{"storage":")" + size + R"("}})" + more;
    if (!volume.empty()) spec += R"(,"volumeName":")" + volume + "\"";
    return object_of(api::kinds::persistent_volume_claim(),
                     R"({"metadata":{"name":")" + name + R"(","namespace":"default","uid":"uid-)" +
                         name + R"(","annotations":{)" + annotations + R"(}},"spec":{)" + spec +
                         R"(},"status":{"phase":")" + (volume.empty() ? "Pending" : "Bound") +
                         R"("}})");
  }
};

struct VolumeSample {
  std::string name;
  std::string storage_class = "fast";
  std::string size = "1Gi";
  std::string claim = {};   // claimRef
  std::string host = {};    // reachable from this node alone
  std::string labels = {};  // members of metadata.labels
  std::string driver = "csi.example.com";
  std::string phase = "Available";

  api::ObjectPtr make() const {
    std::string spec = R"("capacity":{"storage":")" + size +
                       R"("},"accessModes":["ReadWriteOnce"],"storageClassName":")" +
                       storage_class + R"(","csi":{"driver":")" + driver +
                       R"(","volumeHandle":"handle-)" + name + R"("})";
    if (!claim.empty())
      spec += R"(,"claimRef":{"namespace":"default","name":")" + claim + R"(","uid":"uid-)" +
              claim + R"("})";
    if (!host.empty())
      spec += R"(,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":)"
              R"("kubernetes.io/hostname","operator":"In","values":[")" +
              host + R"("]}]}]}})";
    return object_of(api::kinds::persistent_volume(),
                     R"({"metadata":{"name":")" + name + R"(","labels":{)" + labels +
                         R"(}},"spec":{)" + spec + R"(},"status":{"phase":")" + phase + R"("}})");
  }
};

struct ClassSample {
  std::string name = "fast";
  std::string provisioner = "csi.example.com";
  bool waits = true;
  std::string more = {};  // members, beginning with a comma

  api::ObjectPtr make() const {
    return object_of(api::kinds::storage_class(),
                     R"({"metadata":{"name":")" + name + R"("},"provisioner":")" + provisioner +
                         R"(","volumeBindingMode":")" +
                         (waits ? "WaitForFirstConsumer" : "Immediate") + "\"" + more + "}");
  }
};

// The volumes of a pod that mounts these claims: a member of its spec.
inline std::string mounts(std::initializer_list<std::string_view> claims) {
  std::string volumes;
  for (const std::string_view claim : claims) {
    if (!volumes.empty()) volumes += ",";
    volumes += R"({"name":"v-)" + std::string(claim) +
               R"(","persistentVolumeClaim":{"claimName":")" + std::string(claim) + R"("}})";
  }
  return R"("volumes":[)" + volumes + "]";
}

inline api::ObjectPtr pod_with(const std::string& name,
                               std::initializer_list<std::string_view> claims) {
  return object_of(api::kinds::pod(), R"({"metadata":{"name":")" + name +
                                          R"(","namespace":"default","uid":"uid-)" + name +
                                          R"("},"spec":{)" + mounts(claims) + "}}");
}

inline api::ObjectPtr host(const std::string& name, const std::string& labels = {}) {
  return object_of(api::kinds::node(), R"({"metadata":{"name":")" + name +
                                           R"(","labels":{"kubernetes.io/hostname":")" + name +
                                           "\"" + (labels.empty() ? "" : "," + labels) + "}}}");
}

// Something that is put into a book.
using Put = std::function<void(VolumeBook&)>;

template <typename... Samples>
Put with(const Samples&... samples) {
  return [... made = samples.make()](VolumeBook& book) { (book.put(made), ...); };
}

inline Put with_object(const api::Kind& kind, const std::string& json) {
  return [made = object_of(kind, json)](VolumeBook& book) { book.put(made); };
}

// Volume "v" of claim "a", that is reachable where one of these terms holds.
inline Put with_terms(const std::string& terms) {
  return with_object(
      api::kinds::persistent_volume(),
      R"({"metadata":{"name":"v"},"spec":{"storageClassName":"fast","capacity":{"storage":"1Gi"},
          "accessModes":["ReadWriteOnce"],"claimRef":{"namespace":"default","name":"a"},
          "nodeAffinity":{"required":{"nodeSelectorTerms":[)" +
          terms + R"(]}}},"status":{"phase":"Available"}})");
}

// Pod "p" with these volumes.
inline api::ObjectPtr pod_of(const std::string& volumes) {
  return object_of(
      api::kinds::pod(),
      R"({"metadata":{"name":"p","namespace":"default","uid":"uid-p"},"spec":{"volumes":[)" +
          volumes + "]}}");
}

// What the pod asks for, if so many pods name its claims.
inline std::shared_ptr<const VolumeNeeds> needs(const std::vector<Put>& puts,
                                                const api::Object& pod, int users = 1) {
  VolumeBook book;
  for (const Put& put : puts) put(book);
  for (int i = 0; i < users; ++i) book.count_users(pod, 1);
  return book.resolve(pod);
}

}  // namespace muster::scheduler
