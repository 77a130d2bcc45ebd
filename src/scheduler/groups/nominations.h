#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "scheduler/cache/cluster.h"

namespace muster::scheduler {

// Which node is kept free for which waiting pod (status.nominatedNodeName), by what the API says
// and by what we decided and the API does not say yet.
//
// A nominated pod counts on its node for everybody of its own or a lower priority; for others, and
// for itself, it does not. So what is counted depends on who is tried: count_for() is called before
// each attempt. It changes only what differs from the attempt before, and most attempts are for the
// same priority.
class Nominations {
 public:
  // Both copies keep their own books over their own cluster.
  explicit Nominations(Cluster& cluster) : cluster_(cluster) {}
  Nominations(const Nominations& other, Cluster& cluster);

  // --- from the watch ---
  // The API names this node for a waiting pod.
  void observed(const api::ObjectPtr& pod, std::string_view node);
  // It no longer waits.
  void forget(std::string_view uid);

  // --- our own decisions ---
  // Believed, whatever the watch says, until the watch says the same or it is given up.
  void nominate(const api::ObjectPtr& pod, std::string_view node);
  void clear(const api::ObjectPtr& pod) { nominate(pod, {}); }
  // Writing it to the API failed: what the API says holds again.
  void give_up(std::string_view uid);

  // The node kept for a pod; empty if none is.
  const std::string& node_of(std::string_view uid) const;
  bool empty() const { return places_.empty(); }
  // Pods of lower priority that are nominated to the node, by uid.
  std::vector<api::ObjectPtr> lower_on(std::string_view node, std::int32_t priority) const;

  // Counts those of at least this priority, except for the pods being tried.
  void count_for(std::int32_t priority, std::span<const std::string> tried);
  // Counts nobody: the cluster is what really runs.
  void count_nobody();

 private:
  struct Entry {
    api::ObjectPtr pod;
    std::int32_t priority = 0;
    std::string node;      // as we believe
    std::string api_node;  // as the API says
    bool ours = false;     // we believe something else than the API
    bool counted = false;
  };
  using Place = std::pair<std::int32_t, std::string>;  // priority, uid

  Entry* find(std::string_view uid);
  Entry& make(const api::ObjectPtr& pod);
  void replace(const std::string& uid, Entry& entry, const api::ObjectPtr& pod);
  void update(const std::string& uid, Entry& entry, std::string node);
  void count(const Place& place);
  void uncount(const Place& place);

  Cluster& cluster_;
  std::map<std::string, Entry, std::less<>> entries_;  // by uid
  // Those with a node: all, those that are counted, and those of at least `level_` that are not.
  std::set<Place> places_, counted_, uncounted_;
  std::int32_t level_ = std::numeric_limits<std::int32_t>::max();
  std::set<std::pair<std::string, std::string>> by_node_;  // node, uid
};

}  // namespace muster::scheduler
