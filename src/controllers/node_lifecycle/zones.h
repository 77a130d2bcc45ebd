#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/metrics.h"
#include "base/time.h"

namespace muster::controllers {

// How fast pods may be driven from nodes that are not ready: zone by zone, slower where so many
// nodes are down that the fault is more likely between them and us, and not at all if nothing is
// up. Nodes of a zone take turns in the order they asked.
//
//   Normal ── ≥ 3 nodes and ≥ 55 % down ──▶ Partial ── none up ──▶ Full
//   one per 10 s                            one per 100 s,         one per 10 s; if every zone
//                                           0 in zones ≤ 50        is so: nothing (all_down)
class Zones {
 public:
  explicit Zones(Metrics* metrics = nullptr) : metrics_(metrics) {}

  // Counts a node, or its new state. True if all_down() changed by it.
  bool set(const std::string& node, const std::string& zone, bool ready, Time now);
  bool remove(const std::string& node, Time now);

  // There are nodes, and none is ready.
  bool all_down() const { return down_zones_ > 0 && down_zones_ == zones_.size(); }

  // The node asks for a turn, not before `from`; a node that asks again keeps its place.
  void ask(const std::string& node, Time from);
  void withdraw(const std::string& node);
  // Whether it is this node's turn now; if so, this takes the turn.
  bool take_turn(const std::string& node, Time now);
  // Whose turn comes next in a zone, and when; none if nobody waits or nobody may.
  struct Turn {
    std::string node;
    Time at;
  };
  std::optional<Turn> next_turn(const std::string& zone) const;

 private:
  enum class State : std::uint8_t { Normal, Partial, Full };
  struct Zone {
    std::size_t ready = 0;
    std::size_t down = 0;
    State state = State::Normal;
    Duration pause{};  // between two turns; 0: no turns
    Time next{};       // the earliest time of the next turn
    std::set<std::pair<Time, std::string>> waiting;
    Gauge size, health, unhealthy;
    Counter turns;
  };
  struct Node {
    std::string zone;
    bool ready = false;
    std::optional<Time> asked;  // its key in `waiting`
  };
  using ZoneMap = std::map<std::string, Zone>;

  ZoneMap::iterator enter(const std::string& zone);
  void leave(Node& node, const std::string& name, Time now);
  void update_state(Zone& zone, Time now);
  void set_pause(Zone& zone, Time now) const;
  bool changed(bool was_all_down, Time now);

  Metrics* const metrics_;
  ZoneMap zones_;
  std::map<std::string, Node, std::less<>> nodes_;
  std::size_t down_zones_ = 0;  // in state Full
};

}  // namespace muster::controllers
