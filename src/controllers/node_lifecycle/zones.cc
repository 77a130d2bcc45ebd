#include "controllers/node_lifecycle/zones.h"

#include <algorithm>

#include "base/check.h"

namespace muster::controllers {
namespace {

constexpr Duration kPause = std::chrono::seconds{10};
constexpr Duration kPauseDegraded = std::chrono::seconds{100};
constexpr std::size_t kLargeZone = 50;  // a degraded zone that is not larger has no turns at all
constexpr std::size_t kDownMin = 3;

bool mostly_down(std::size_t ready, std::size_t down) {
  return down >= kDownMin && down * 100 >= (ready + down) * 55;
}

}  // namespace

Zones::ZoneMap::iterator Zones::enter(const std::string& name) {
  const auto [at, fresh] = zones_.try_emplace(name);
  if (!fresh) return at;
  Zone& zone = at->second;
  zone.pause = kPause;
  if (metrics_ == nullptr) return at;
  const Metrics::Labels labels{{"zone", name}};
  zone.size =
      metrics_->gauge("node_collector_zone_size", "Number of registered nodes per zone.", labels);
  zone.health = metrics_->gauge("node_collector_zone_health",
                                "Percentage of healthy nodes per zone.", labels);
  zone.unhealthy = metrics_->gauge("node_collector_unhealthy_nodes_in_zone",
                                   "Number of not ready nodes per zone.", labels);
  zone.turns =
      metrics_->counter("node_collector_evictions_total",
                        "Nodes whose pods were driven away because they were not ready.", labels);
  return at;
}

// Takes the node out of the counts and the queue of its zone.
void Zones::leave(Node& node, const std::string& name, Time now) {
  withdraw(name);
  const auto at = zones_.find(node.zone);
  CHECK(at != zones_.end());
  --(node.ready ? at->second.ready : at->second.down);
  update_state(at->second, now);
  if (at->second.ready + at->second.down > 0) return;
  zones_.erase(at);
}

void Zones::update_state(Zone& zone, Time now) {
  State state = State::Normal;
  if (zone.ready == 0 && zone.down > 0)
    state = State::Full;
  else if (mostly_down(zone.ready, zone.down))
    state = State::Partial;
  const std::size_t size = zone.ready + zone.down;
  zone.size.set(static_cast<double>(size));
  zone.unhealthy.set(static_cast<double>(zone.down));
  if (size > 0) zone.health.set(100 * static_cast<double>(zone.ready) / static_cast<double>(size));
  if (zone.state == State::Full) --down_zones_;
  if (state == State::Full) ++down_zones_;
  zone.state = state;
  set_pause(zone, now);
}

// A zone whose pace changes starts with an empty hand: its next turn is a whole pause away, unless
// one could be taken right now at the old pace.
void Zones::set_pause(Zone& zone, Time now) const {
  const bool large = zone.ready + zone.down > kLargeZone;
  const Duration pause = zone.state != State::Partial ? kPause
                         : large                      ? kPauseDegraded
                                                      : Duration{0};
  if (pause == zone.pause) return;
  const bool had_turn = zone.pause > Duration{0} && zone.next <= now;
  zone.pause = pause;
  if (!had_turn) zone.next = now + pause;
}

// When the last node went down or the first came up: nobody counts on turns taken before.
bool Zones::changed(bool was_all_down, Time now) {
  if (was_all_down == all_down()) return false;
  for (auto& [name, zone] : zones_) zone.next = std::max(zone.next, now + zone.pause);
  return true;
}

bool Zones::set(const std::string& node, const std::string& zone, bool ready, Time now) {
  const bool was_all_down = all_down();
  const auto [at, fresh] = nodes_.try_emplace(node);
  Node& entry = at->second;
  if (!fresh && entry.zone == zone && entry.ready == ready) return false;
  if (!fresh) leave(entry, node, now);
  entry.zone = zone;
  entry.ready = ready;
  Zone& home = enter(zone)->second;
  ++(ready ? home.ready : home.down);
  update_state(home, now);
  return changed(was_all_down, now);
}

bool Zones::remove(const std::string& node, Time now) {
  const auto at = nodes_.find(node);
  if (at == nodes_.end()) return false;
  const bool was_all_down = all_down();
  leave(at->second, node, now);
  nodes_.erase(at);
  return changed(was_all_down, now);
}

void Zones::ask(const std::string& node, Time from) {
  const auto at = nodes_.find(node);
  CHECK(at != nodes_.end());
  if (at->second.asked) return;
  at->second.asked = from;
  zones_.at(at->second.zone).waiting.emplace(from, node);
}

void Zones::withdraw(const std::string& node) {
  const auto at = nodes_.find(node);
  if (at == nodes_.end() || !at->second.asked) return;
  zones_.at(at->second.zone).waiting.erase({*at->second.asked, node});
  at->second.asked.reset();
}

bool Zones::take_turn(const std::string& node, Time now) {
  const auto at = nodes_.find(node);
  if (at == nodes_.end()) return false;
  const std::optional<Turn> turn = next_turn(at->second.zone);
  if (!turn || turn->node != node || turn->at > now) return false;
  Zone& zone = zones_.at(at->second.zone);
  withdraw(node);
  zone.next = now + zone.pause;
  zone.turns.add();
  return true;
}

std::optional<Zones::Turn> Zones::next_turn(const std::string& name) const {
  const auto at = zones_.find(name);
  if (at == zones_.end() || all_down()) return std::nullopt;
  const Zone& zone = at->second;
  if (zone.waiting.empty() || zone.pause == Duration{0}) return std::nullopt;
  const auto& [from, first] = *zone.waiting.begin();
  return Turn{.node = first, .at = std::max(from, zone.next)};
}

}  // namespace muster::controllers
