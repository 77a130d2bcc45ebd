#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/views/amounts.h"
#include "api/views/condition.h"

namespace muster::api {

enum class TaintEffect : std::uint8_t { NoSchedule, PreferNoSchedule, NoExecute, Other };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::NoSchedule;
  friend auto operator<=>(const Taint&, const Taint&) = default;
};

std::string_view effect_name(TaintEffect effect);

struct ContainerImage {
  std::vector<std::string> names;
  std::int64_t size_bytes = 0;
  friend bool operator==(const ContainerImage&, const ContainerImage&) = default;
};

// The fields of a Node that the scheduler and its neighbours read. Name and labels are in the
// metadata.
struct NodeView : View {
  static std::unique_ptr<NodeView> read(const Object& node);
  // From a document; `read` without an Object around it.
  static std::unique_ptr<NodeView> of(const Json& document);

  bool unschedulable = false;
  std::vector<Taint> taints;  // in spec order
  Amounts allocatable;
  std::int64_t allocatable_pods = 0;  // 0 if absent
  std::vector<ContainerImage> images;
  std::vector<std::string> declared_features;  // sorted
  std::vector<Condition> conditions;
};

}  // namespace muster::api
