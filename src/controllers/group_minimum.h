#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "client/kit/controller.h"

namespace muster::controllers {

// Reports for every gang that was once scheduled whether it still has what it needs: the condition
// scheduling.muster.dev/MinimumMet of PodGroups and CompositePodGroups, and an event when a gang
// falls below its minimum and when it is whole again. A pod counts if it has a node or has
// succeeded; failed and terminating ones do not. A child group counts if its own minimum is met.
//
// A gang that falls below gets a moment to recover before anything is reported: a pod that is
// replaced, or pods that go shortly before their group, are not reported.
class GroupMinimum final : public client::Controller {
 public:
  static constexpr std::string_view kCondition = "scheduling.muster.dev/MinimumMet";
  static constexpr Duration kPatience = std::chrono::seconds{1};

  explicit GroupMinimum(client::ComponentContext context);

 private:
  // "P" or "C", then namespace/name: the two kinds may share a name.
  using Key = std::string;
  // What is known about a group, from one look at it to the next.
  struct Group {
    bool is_met = false;
    Key parent = {};
    std::optional<Time> short_since = std::nullopt;  // below its minimum, not said yet
  };

  Keys count_pod(const Change& change);
  static Keys group_key(const Change& change);
  void reconcile(const std::string& key, Time now) override;
  void count_for_parent(const Key& key, bool is_met, const Key& parent, Time now);
  void forget(const Key& key, Time now);
  void say(const Key& key, const api::ObjectPtr& object, std::int64_t members, Time now);

  client::Mirror pods_, pod_groups_, composites_;
  std::map<Key, std::int64_t> members_;  // that count; without those that have none
  std::map<Key, Group> groups_;
};

}  // namespace muster::controllers
