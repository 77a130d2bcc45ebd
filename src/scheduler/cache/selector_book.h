#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/object.h"
#include "api/views/pod_terms.h"

namespace muster::scheduler {

// Which pods Services, ReplicationControllers, ReplicaSets and StatefulSets select together:
// default spread constraints count these.
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
  // The most steps among the selectors of Services for one pod, beside one for each of its labels.
  // Further Services are left out; that takes a pod that thousands of different selectors match.
  static constexpr std::size_t kStepsMax = 10'000;
  // For tests: how many steps were made.
  std::uint64_t steps() const { return steps_; }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // kind, namespace, name

  // The selectors of Services are a tree: a step for each pair, in the order of labels, and the
  // first is the namespace. Equal selectors end in one place, which counts them, so that any number
  // of them is looked at once; a pod goes only along pairs that it has. What it finds does not
  // depend on the order in which Services came.
  struct Step {
    std::uint64_t from = 0;  // the place where it begins; 0: the root
    std::string key;         // empty: `value` is a namespace
    std::string value;
    friend auto operator<=>(const Step&, const Step&) = default;
  };
  struct Place {
    std::uint64_t id = 0;
    std::uint32_t steps = 0;     // that go on from here
    std::uint32_t services = 0;  // whose selector ends here
  };

  static Key key_of(const api::Object& object);
  void add_service(const std::string& name_space, const api::PodSelector& selector);
  void drop_service(const std::string& name_space, const api::PodSelector& selector);
  std::vector<bool> asked_labels(const api::ObjectMeta& pod) const;

  std::map<Key, std::shared_ptr<const api::PodSelector>, std::less<>> selectors_;
  std::map<Step, Place> places_;  // by the step that leads there
  std::uint64_t next_place_ = 1;
  mutable std::uint64_t steps_ = 0;
};

}  // namespace muster::scheduler
