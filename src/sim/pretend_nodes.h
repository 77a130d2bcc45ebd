#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/component.h"
#include "sim/cluster_shape.h"

namespace muster::sim {

// Nodes with this annotation are played by PretendNodes; a node without it is somebody else's.
inline constexpr std::string_view kPretendAnnotation = "muster.dev/node";
inline constexpr std::string_view kPretendValue = "pretend";
// On a pod: how long it runs before it ends (seconds, or a Go duration such as 1m30s; absent: until
// it is deleted), and with which exit code (absent: 0).
inline constexpr std::string_view kRunTimeAnnotation = "muster.dev/run-time";
inline constexpr std::string_view kExitCodeAnnotation = "muster.dev/exit-code";
// How long the pod takes to stop once deleted; never longer than its grace period.
inline constexpr std::string_view kStopTimeAnnotation = "muster.dev/stop-time";

// "90", "1.5s", "1m30s", "500ms"; nullopt if it is no length of time.
std::optional<Duration> parse_duration(std::string_view text);

// Plays the kubelets: creates the nodes of a shape, keeps them Ready with heartbeats, lets bound
// pods run, end and go.
//
//   bound ──▶ Running ──run time──▶ Succeeded / Failed
//                └──────deleted──▶ (stop time) ──▶ ended, then removed with grace 0
class PretendNodes {
 public:
  PretendNodes(ClusterShape shape, client::Send send);

  // More nodes to create, at the next run.
  void add(const ClusterShape& shape);

  void apply(client::Input input, Time now);
  std::size_t run_once(Time now, std::size_t limit);
  std::optional<Time> next_deadline() const;
  static std::vector<const api::Kind*> watched_kinds();

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
    std::int64_t generation = 0;  // of the spec that its status tells of
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

  void take_in_node(const client::Event& event, Time now);
  void take_in_pod(const client::Event& event, Time now);
  void take_in_outcome(const client::Called& called, Time now);
  void step(const std::string& uid, Pod& pod, Time now);
  void fire(const Timer& timer, Time now);
  void create_node(api::Json node, Time now);
  void heartbeat(const std::string& node, Time now);
  void patch_status(const std::string& uid, const api::Object& pod, api::Json status,
                    Timer::What again = Timer::What::Start);
  void send(api::Request request, Call call);
  const std::string& node_address(const std::string& node);
  Duration heartbeat_period() const;

  client::Send send_;
  bool synced_ = false;
  std::vector<api::Json> to_create_;  // last first
  std::size_t creating_ = 0;
  std::uint64_t next_ticket_ = 1;
  std::map<std::uint64_t, Call> calls_;                        // by ticket
  std::map<std::string, api::ObjectPtr, std::less<>> nodes_;   // pretend ones, by name
  std::map<std::string, std::string, std::less<>> addresses_;  // by node name
  std::set<std::string, std::less<>> leases_;                  // nodes whose lease was created
  std::map<std::string, Pod, std::less<>> pods_;               // bound ones, by uid
  std::multimap<Time, Timer> timers_;
  std::uint32_t next_node_address_ = 1;
  std::uint32_t next_pod_address_ = 1;
};

}  // namespace muster::sim
