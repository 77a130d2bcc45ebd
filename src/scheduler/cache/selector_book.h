#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/object.h"
#include "api/views/pod_terms.h"

namespace muster::scheduler {

// Which pods belong together by what Services, ReplicationControllers, ReplicaSets and StatefulSets
// select: those that default spread constraints count.
class SelectorBook {
 public:
  static const std::vector<const api::Kind*>& kinds();
  static bool keeps(const api::Kind& kind);

  void put(const api::Object& object);
  void remove(const api::Object& object);
  bool empty() const { return selectors_.empty(); }

  // What all Services that select the pod ask for, and the set that controls it; null if nobody
  // asks for anything.
  api::PodSelector selector_of(const api::ObjectMeta& pod) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // kind, namespace, name
  // Namespace, label key and value, of the pair of a Service that fewest others are found by: a pod
  // is compared with the Services that could select it, and not with all of its namespace.
  using Pair = std::tuple<std::string, std::string, std::string>;

  static Key key_of(const api::Object& object);
  Pair rarest_pair(const std::string& name_space, const api::PodSelector& selector) const;

  struct Entry {
    std::shared_ptr<const api::PodSelector> selector;
    std::optional<Pair> found_by = {};  // of a Service
  };
  std::map<Key, Entry, std::less<>> selectors_;
  std::map<Pair, std::set<Key>> services_;
};

}  // namespace muster::scheduler
