#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/views/condition.h"
#include "base/time.h"

namespace muster::api {

struct GroupCondition : Condition {
  std::optional<Time> last_transition;
};

enum class GroupPreemption : std::uint8_t {
  OfPods,  // the group says nothing: its gate is off
  LowerPriority,
  Never,
};

// The fields of a PodGroup or CompositePodGroup that the scheduler and the controllers read: one
// type for both, since a tree of groups is made of both.
struct GroupView : View {
  static std::unique_ptr<GroupView> read(const Object& group);
  // From a document; `read` without an Object around it.
  static std::unique_ptr<GroupView> of(const Json& document);

  bool gang = false;
  std::int32_t minimum = 1;  // pods of a PodGroup, child groups of a composite; 1 for basic
  std::string topology_key;  // empty: anywhere
  std::string parent;        // parentCompositePodGroupName; empty: a root
  std::string workload;      // workloadRef; both empty for a group that stands alone
  std::string template_name;
  std::string priority_class;
  std::int32_t priority = 0;
  GroupPreemption preemption = GroupPreemption::OfPods;
  bool disrupted_together = false;  // disruptionMode all
  bool has_claims = false;          // resourceClaims
  std::vector<GroupCondition> conditions;

  const GroupCondition* condition(std::string_view type) const;
};

}  // namespace muster::api
