#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/config/scheduler_config.h"
#include "sim/scenario/attempt_log.h"
#include "sim/scenario/cast.h"
#include "sim/world.h"

namespace muster::sim {

// A world with its cast: what a scenario's verbs do to it and what its expectations see of it.
// While the verbs act, the scheduler learns what happens but decides nothing; cycle() and wait()
// let it decide.
class Stage {
 public:
  explicit Stage(std::uint64_t seed, const scheduler::SchedulerConfig& scheduler = {});

  World& world() { return world_; }
  const World& world() const { return world_; }
  Cast& cast() { return cast_; }
  const Cast& cast() const { return cast_; }
  const AttemptLog& log() const { return log_; }

  // --- verbs ---
  void begin_step() { log_.begin_step(); }
  void add_nodes(const ClusterShape& shape);
  Result<void> create(const api::Kind& kind, std::string_view name_space, api::Json document);
  void cycle();
  void wait(Duration duration);
  void restart_scheduler();
  // Each group, and each shape of its pods, is a second younger than the one before it.
  Result<void> send_group(std::size_t group);
  Result<void> send_pods(std::span<const std::size_t> pods);
  Result<void> run_pod(std::size_t pod, std::string_view node);
  Result<void> create_service(const std::string& name, const api::JsonObject& labels);
  // A PodDisruptionBudget over the pods with these labels.
  Result<void> create_budget(const std::string& name, const api::JsonObject& labels,
                             int min_available);
  // The pods end with this phase.
  Result<void> end_pods(std::span<const std::size_t> pods, std::string_view phase);
  Result<void> delete_pods(std::span<const std::size_t> pods,
                           std::optional<std::int64_t> grace_period_s);
  Result<void> delete_group(std::size_t group);
  Result<void> set_minimum(std::size_t group, int minimum);
  Result<void> set_preferred(std::size_t group, const std::string& topology_key);
  Result<void> scale(std::size_t group, int pods);
  Result<void> ungate(std::span<const std::size_t> pods);
  Result<void> remove_node(std::string_view node);
  Result<void> patch_node(std::string_view node, api::Json patch);
  Result<void> set_taint(std::string_view node, api::Json taint, bool present);
  // From now on the scheduler may not bind, or delete, these pods; none if empty.
  enum class Refused : std::uint8_t { Bindings, Deletions };
  void refuse(Refused what, std::set<std::string> pods);
  bool has_refused_bindings() const { return has_refused_bindings_; }
  // Names of what is gone may be used again.
  void retire_gone();

  // --- what is true ---
  api::ObjectPtr pod(std::size_t id) const;  // null: not there
  api::ObjectPtr group(std::size_t id) const;
  scheduler::GroupKey key(std::size_t group) const;
  std::vector<api::ObjectPtr> nodes() const;
  std::vector<api::ObjectPtr> pods() const;
  // The name of the node a pod holds; empty if it holds none or has ended.
  static std::string node_of(const api::ObjectPtr& pod);
  // The value of the node's label; "" if it has none, or is gone.
  std::string domain_of(std::string_view node, std::string_view label) const;
  struct RecordedEvent {
    std::string reason;
    std::string message;
    std::int64_t count = 1;
  };
  // The events about an object, oldest first.
  std::vector<RecordedEvent> events_about(const api::Object& object) const;

  // Everything that happened, as text: equal runs have equal histories, byte for byte.
  std::string history() const;

 private:
  Result<void> ask(api::Request request);
  Result<void> add_owner(std::string_view owner, api::Json& document) const;
  Result<void> ensure_priority_class(const PriorityLine& line);
  const api::Kind& kind_of(std::size_t group) const;
  void let_it_run(Duration duration);

  AttemptLog log_;
  World world_;
  Cast cast_;
  std::set<PriorityLine> priorities_;
  std::set<std::string> refused_bindings_;
  std::set<std::string> refused_deletions_;
  bool has_refused_bindings_ = false;
};

}  // namespace muster::sim
