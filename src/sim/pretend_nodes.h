#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/component.h"
#include "client/kit/calls.h"
#include "sim/cluster_shape.h"
#include "sim/pretend_status.h"

namespace muster::sim {

// Plays the kubelets: creates the nodes of a shape, reports them Ready, lets bound pods run,
// end, restart and go. A node needs no heartbeats (controllers/node_lifecycle) until an
// annotation makes it fail: then its kubelet falls silent, and what is due on it happens when it
// comes back.
//
//   bound ──▶ Running ──run time──▶ Succeeded / Failed
//                │ ▲  └─restarted─▶ (pause) ─┐
//                │ └─────────────────────────┘
//                └──────deleted──▶ (stop time) ──▶ ended, then removed with grace 0
class PretendNodes final : public client::Component {
 public:
  PretendNodes(const ClusterShape& shape, client::ComponentContext context);

  // More nodes to create, at the next run.
  void add(const ClusterShape& shape);

  void apply(client::Input input, Time now) override;
  std::size_t run_once(Time now, std::size_t limit) override;
  std::optional<Time> next_deadline() const override;
  std::vector<const api::Kind*> watched_kinds() const override;

  // Who they are to the server.
  static api::User user();

 private:
  static constexpr std::uint32_t kFirstPodAddress = 0x800000U;

  enum class Stage : std::uint8_t {
    Bound,
    Running,  // or waiting to run again
    Ended,
    Stopping,
    Removing
  };  // what was asked for last
  struct Pod {
    api::ObjectPtr object;
    std::string node;
    Stage stage = Stage::Bound;
    Time since = {};  // when it first ran
    Containers containers;
    std::int64_t generation = 0;  // of the spec that its status was written for
    std::string address;
  };
  struct Timer {
    enum class What : std::uint8_t { Report, WriteRunning, End, Restart, Remove } what;
    std::string key;  // node name, or pod uid
  };
  struct Node {
    api::ObjectPtr object;
    bool silent = false;
  };
  // A write that is under way, and the timer that repeats it if it is refused for now.
  struct Call {
    enum class What : std::uint8_t { CreateNode, NodeStatus, PodStatus, RemovePod } what;
    std::string key;
    Timer::What again;
  };

  void on_node(const client::Event& event, Time now);
  void on_pod(const client::Event& event, Time now);
  void on_outcome(const Call& call, const client::Outcome& outcome, Time now);
  void report(Node& node, Time now);
  void come_back(Node& node, Time now);
  void resume(const std::string& uid, Pod& pod, Time now);
  void step(const std::string& uid, Pod& pod, Time now);
  void start(const std::string& uid, Pod& pod, Time now);
  void end(const std::string& uid, Pod& pod, Time now);
  void restart(const std::string& uid, Pod& pod, Time now);
  void remove(const std::string& uid, Pod& pod, Time now);
  void fire(const Timer& timer, Time now);
  void create_node(api::Json node, Time now);
  void write_running(const std::string& uid, const Pod& pod, Time now);
  void end_after_run_time(const std::string& uid, const Pod& pod);
  void patch_status(const std::string& uid, const api::Object& pod, api::Json status,
                    Timer::What again);
  void send(api::Request request, Call call);
  void forget_pod(const std::string& uid);
  // Whether the node is ours and not silent.
  bool is_up(const std::string& node) const;
  const std::string& node_address(const std::string& node);

  client::Calls calls_;
  bool synced_ = false;
  std::vector<api::Json> to_create_;  // last first
  std::size_t creating_ = 0;
  std::map<std::string, Node, std::less<>> nodes_;                     // pretend ones, by name
  std::map<std::string, std::string, std::less<>> addresses_;          // by node name
  std::map<std::string, Pod, std::less<>> pods_;                       // bound ones, by uid
  std::map<std::string, std::set<std::string>, std::less<>> pods_on_;  // uids by node name
  std::multimap<Time, Timer> timers_;
  // By node name: what came due while the node was silent or gone.
  std::map<std::string, std::vector<Timer>, std::less<>> held_;
  std::uint32_t next_node_address_ = 1;
  std::uint32_t next_pod_address_ = 1;
};

}  // namespace muster::sim
