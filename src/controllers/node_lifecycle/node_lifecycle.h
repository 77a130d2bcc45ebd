#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "client/kit/controller.h"
#include "controllers/node_lifecycle/taint_eviction.h"
#include "controllers/node_lifecycle/zones.h"

namespace muster::controllers {

// Watches over nodes. A node that has not been heard from for a while is declared silent and its
// pods not ready; what its conditions say becomes taints; pods that do not tolerate its NoExecute
// taints leave.
//
//   heartbeat ─ 50 s without ─▶ Ready=Unknown ─▶ NoSchedule at once
//                                     └─ 5 s and its zone's turn ─▶ NoExecute ─▶ pods leave
//                                                                                when time is up
//
// A node is heard from by its Lease in kube-node-lease and by the Ready condition it writes. A
// pretend node counts as heard from unless it is made to fail: it lives in the server's process, so
// a heartbeat would prove nothing, and a hundred thousand of them cost nothing.
//
// Its keys are names of nodes, and namespace/name of pods.
class NodeLifecycle final : public client::Controller {
 public:
  static constexpr Duration kGrace = std::chrono::seconds{50};
  static constexpr Duration kStartupGrace = std::chrono::seconds{60};
  // How long to wait for nodes that fail together to be noticed, before pods are driven away.
  static constexpr Duration kLook = std::chrono::seconds{5};

  explicit NodeLifecycle(client::ComponentContext context);

 private:
  struct Node {
    std::string zone;
    std::optional<Time> heard;  // none: a pretend node that lives
    std::string posted;         // the last heartbeat it wrote into its status
    std::string renewed;        // and into its lease
    bool has_turn = false;      // may have the taint that drives pods away
    // Of a silent node: keys of pods that claimed to be ready. They stay until a look finds that
    // they no longer do, since a call may fail.
    std::set<std::string, std::less<>> to_mark;
  };

  Keys on_node(const Change& change);
  Keys on_lease(const Change& change);
  Keys on_pod(const Change& change);
  void note_heartbeat(const api::Object& object, Node& node, bool fresh, Time now);
  void set_zone(const api::Object& object, Node& node, Keys& keys, Time now);
  void schedule_turn(const std::string& zone);

  void reconcile(const std::string& key, Time now) override;
  void reconcile_node(const std::string& name, Time now);
  void reconcile_pod(const std::string& key, Time now);
  // True if it made a call.
  bool watch_over(const api::Object& object, const Node& node, Time now);
  void find_pods_to_mark(const Change& change, Node& node) const;
  void mark_pods(const api::Object& object, Node& node, Time now);
  void taint(const api::Object& object, Node& node, Time now);
  void evict(const std::string& key, const api::Object& pod, Time now);

  client::Mirror nodes_;
  client::Mirror pods_;                            // indexed by node
  std::map<std::string, Node, std::less<>> seen_;  // by name; those in nodes_
  Zones zones_;
  Evictions evictions_;
  Counter evicted_;
};

}  // namespace muster::controllers
