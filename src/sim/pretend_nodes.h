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

// Plays the kubelets: creates the nodes of a shape, keeps them Ready with heartbeats, lets bound
// pods run, end and go.
//
//   bound ──▶ Running ──run time──▶ Succeeded / Failed
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
  enum class Stage : std::uint8_t {
    Bound,
    Running,
    Ended,
    Stopping,
    Removing
  };  // what was asked for last
  struct Pod {
    api::ObjectPtr object;
    std::string node;
    Stage stage = Stage::Bound;
    Time started;
    std::int64_t generation = 0;  // of the spec that its status was written for
    std::string address;
  };
  struct Timer {
    enum class What : std::uint8_t { Heartbeat, Start, End, Remove } what;
    std::string key;  // node name, or pod uid
  };
  // A write that is under way, and the timer that repeats it if it is refused for now.
  struct Call {
    enum class What : std::uint8_t { CreateNode, Heartbeat, PodStatus, RemovePod } what;
    std::string key;
    Timer::What again;
  };

  void on_node(const client::Event& event, Time now);
  void on_pod(const client::Event& event, Time now);
  void on_outcome(const Call& call, const client::Outcome& outcome, Time now);
  void step(const std::string& uid, Pod& pod, Time now);
  void fire(const Timer& timer, Time now);
  void create_node(api::Json node, Time now);
  void heartbeat(const std::string& node, Time now);
  void patch_status(const std::string& uid, const api::Object& pod, api::Json status,
                    Timer::What again = Timer::What::Start);
  void send(api::Request request, Call call);
  const std::string& node_address(const std::string& node);
  Duration heartbeat_period() const;

  client::Calls calls_;
  bool synced_ = false;
  std::vector<api::Json> to_create_;  // last first
  std::size_t creating_ = 0;
  std::map<std::string, api::ObjectPtr, std::less<>> nodes_;   // pretend ones, by name
  std::map<std::string, std::string, std::less<>> addresses_;  // by node name
  std::set<std::string, std::less<>> leases_;                  // nodes whose lease was created
  std::map<std::string, Pod, std::less<>> pods_;               // bound ones, by uid
  std::multimap<Time, Timer> timers_;
  std::uint32_t next_node_address_ = 1;
  std::uint32_t next_pod_address_ = 1;
};

}  // namespace muster::sim
