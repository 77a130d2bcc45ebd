#include "api/validation/lws_scheduling.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "api/reading.h"
#include "api/validation/group_rules.h"

namespace muster::api {
namespace {

constexpr std::string_view kExclusive = "leaderworkerset.sigs.k8s.io/exclusive-topology";
constexpr std::int64_t kRoles = 2;
const FieldPath kScheduling("spec.scheduling");
const FieldPath kTemplates("spec.leaderWorkerTemplate");

const Json& scheduling_of(const Json& set) { return part_of(part_of(set, "spec"), "scheduling"); }
const Json& replica_of(const Json& set) { return part_of(scheduling_of(set), "replica"); }
const Json& group_template(const Json& set) {
  return part_of(part_of(set, "spec"), "leaderWorkerTemplate");
}
std::int64_t size_of(const Json& set) {
  return find_integer(group_template(set), "size").value_or(1);
}
std::string_view exclusive_topology_of(const Json& set) {
  return find_string(part_of(part_of(set, "metadata"), "annotations"), kExclusive);
}

bool says_something(const Json& level) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"schedulingPolicy", "schedulingConstraints",
                                              "disruptionMode"},
      [&](std::string_view member) { return find_set(level, member) != nullptr; });
}

// The class that the pods of a template have; leaders are made from the workers' template if they
// have none of their own.
std::string_view priority_class(const Json& set, std::string_view member) {
  const Json* found = find_set(group_template(set), member);
  if (found == nullptr) found = &part_of(group_template(set), "workerTemplate");
  return find_string(part_of(*found, "spec"), "priorityClassName");
}

class SchedulingRules {
 public:
  SchedulingRules(const Json& set, const Gates& gates, FieldErrors& errors)
      : set_(set),
        levels_(lws_levels(set)),
        rules_(GroupRules::Write::Create, gates, errors),
        errors_(errors) {}

  void check() {
    const Json& replica = replica_of(set_);
    const FieldPath replica_path = kScheduling.child("replica");
    const bool alone = levels_.count() == 1;
    if (levels_.set) check_composite_block(scheduling_of(set_), kScheduling, {.of_groups = !alone});
    if (levels_.replica)
      check_composite_block(replica, replica_path,
                            {.of_groups = levels_.roles, .gang = alone, .most = kRoles});
    if (levels_.roles) {
      if (size_of(set_) < kRoles)
        errors_.invalid(kTemplates.child("size"), size_of(set_),
                        "must be at least 2 where spec.scheduling.replica tells leaders from "
                        "workers");
      check_role(replica, "leader", 1, replica_path);
      check_role(replica, "worker", size_of(set_) - 1, replica_path);
    }
    check_order();
    check_exclusive();
    check_templates();
  }

 private:
  // What a block of the set or of replicas is said of.
  struct Level {
    bool of_groups = false;  // rather than of pods
    bool gang = false;       // if it says no policy
    std::int64_t most = 0;   // groups it can have; 0: any number
  };
  void check_composite_block(const Json& block, const FieldPath& here, const Level& level) {
    const Json* policy = find_set(block, "schedulingPolicy");
    note_block(block, level.gang);
    mixed_gang_ |= policy == nullptr ? level.gang : find_set(*policy, "gang") != nullptr;
    check_common(block, here, "minGroupCount");
    const auto minimum =
        find_integer(part_of(part_of(block, "schedulingPolicy"), "gang"), "minGroupCount");
    if (!minimum) return;
    const FieldPath policy_path = here.child("schedulingPolicy");
    const FieldPath gang_path = policy_path.child("gang");
    const FieldPath path = gang_path.child("minGroupCount");
    if (!level.of_groups)
      errors_.forbidden(path, "this group consists of pods, all of which are needed");
    else if (level.most > 0 && *minimum > level.most)
      errors_.invalid(
          path, *minimum,
          fmt::format("must not be greater than the number of its groups ({})", level.most));
  }

  void check_role(const Json& replica, std::string_view name, std::int64_t members,
                  const FieldPath& replica_path) {
    const Json* block = find_set(replica, name);
    if (block == nullptr) return;
    const FieldPath here = replica_path.child(name);
    note_block(*block, false);
    check_common(*block, here, "minCount");
    rules_.claims_block(elements(*block, "resourceClaims"), here.child("resourceClaims"));
    const auto minimum =
        find_integer(part_of(part_of(*block, "schedulingPolicy"), "gang"), "minCount");
    const FieldPath policy_path = here.child("schedulingPolicy");
    const FieldPath gang_path = policy_path.child("gang");
    if (minimum && *minimum != members)
      errors_.invalid(gang_path.child("minCount"), *minimum,
                      fmt::format("must be the number of its pods ({})", members));
  }

  void check_common(const Json& block, const FieldPath& here, std::string_view minimum) {
    if (const Json* policy = find_set(block, "schedulingPolicy"))
      rules_.policy_block({.now = policy}, here.child("schedulingPolicy"), minimum);
    if (const Json* constraints = find_set(block, "schedulingConstraints"))
      rules_.constraints_block(*constraints, here.child("schedulingConstraints"));
    if (const Json* mode = find_set(block, "disruptionMode"))
      rules_.disruption_block({.now = mode}, here.child("disruptionMode"));
  }

  void note_block(const Json& block, bool gang_otherwise) {
    const Json* policy = find_set(block, "schedulingPolicy");
    gang_ |= policy == nullptr ? gang_otherwise : find_set(*policy, "gang") != nullptr;
    topology_ |= !elements(part_of(block, "schedulingConstraints"), "topology").empty();
  }

  // A gang some of whose members start only when others are ready would wait forever.
  void check_order() {
    if (mixed_gang_ && size_of(set_) > 1 &&
        find_string(part_of(set_, "spec"), "startupPolicy") == "LeaderReady")
      errors_.forbidden(kScheduling,
                        "spec.startupPolicy LeaderReady makes workers wait for their leader, and a "
                        "gang of both makes the leader wait for its workers: give the leader a "
                        "policy of its own");
  }

  void check_exclusive() {
    if ((!gang_ && !topology_) || exclusive_topology_of(set_).empty()) return;
    const FieldPath annotations("metadata.annotations");
    errors_.forbidden(annotations.key(kExclusive),
                      "places pods one after the other; use spec.scheduling's "
                      "schedulingConstraints instead of both");
  }

  void check_templates() {
    for (const std::string_view member : {"leaderTemplate", "workerTemplate"}) {
      const FieldPath path = kTemplates.child(member);
      const FieldPath pod = path.child("spec");
      if (find_set(part_of(part_of(group_template(set_), member), "spec"), "schedulingGroup") !=
          nullptr)
        errors_.forbidden(pod.child("schedulingGroup"),
                          "the pods' groups are made from spec.scheduling");
    }
    const std::string_view worker = priority_class(set_, "workerTemplate");
    const std::string_view leader = priority_class(set_, "leaderTemplate");
    if (leader != worker)
      errors_.invalid(kTemplates.child("leaderTemplate.spec.priorityClassName"), leader,
                      fmt::format("must be \"{}\" as in workerTemplate: what is scheduled as one "
                                  "workload has one priority",
                                  worker));
  }

  const Json& set_;
  const LwsLevels levels_;
  GroupRules rules_;
  FieldErrors& errors_;
  bool gang_ = false;
  bool mixed_gang_ = false;  // of leaders and workers together
  bool topology_ = false;
};

// spec.scheduling without the numbers that follow the size of replicas.
Json without_minimums(const Json& set) {
  const Json* scheduling = find_set(part_of(set, "spec"), "scheduling");
  if (scheduling == nullptr) return nullptr;
  Json out = *scheduling;
  if (find_set(out, "replica") == nullptr) return out;
  JsonObject& replica = ensure_object(out.get_object(), "replica");
  for (const std::string_view role : {"leader", "worker"}) {
    Json* block = replica.if_contains(role);
    Json* policy = block == nullptr || !block->is_object()
                       ? nullptr
                       : block->get_object().if_contains("schedulingPolicy");
    Json* gang = policy == nullptr || !policy->is_object()
                     ? nullptr
                     : policy->get_object().if_contains("gang");
    if (gang != nullptr && gang->is_object()) gang->get_object().erase("minCount");
  }
  return out;
}

void validate_scheduling_update(const Json& set, const Json& old, FieldErrors& errors) {
  const Json now = without_minimums(set);
  const Json before = without_minimums(old);
  if (now != before)
    return errors.forbidden(kScheduling,
                            "may not change: groups and pods were made from it; delete the set and "
                            "create it again");
  if (now.is_null()) return;
  const std::string_view was = priority_class(old, "workerTemplate");
  const std::string_view is = priority_class(set, "workerTemplate");
  if (is != was)
    errors.invalid(kTemplates.child("workerTemplate.spec.priorityClassName"), is,
                   fmt::format("must stay \"{}\": the Workload of the set was made with it", was));
}

}  // namespace

LwsLevels lws_levels(const Json& set) {
  LwsLevels levels;
  const Json* scheduling = find_set(part_of(set, "spec"), "scheduling");
  if (scheduling == nullptr) return levels;
  const Json& replica = replica_of(set);
  levels.set = says_something(*scheduling);
  levels.replica = says_something(replica);
  levels.roles = find_set(replica, "leader") != nullptr || find_set(replica, "worker") != nullptr;
  if (!levels.any()) levels.replica = true;  // {} and {replica: {}}
  return levels;
}

void validate_lws_scheduling(const Json& set, const Json* old, const Gates& gates,
                             FieldErrors& errors) {
  if (old != nullptr) {
    validate_scheduling_update(set, *old, errors);
    // One that was stored by a server without these rules can still be finalized and deleted.
    if (part_of(set, "spec") == part_of(*old, "spec") &&
        exclusive_topology_of(set) == exclusive_topology_of(*old))
      return;
  }
  if (lws_levels(set).any()) SchedulingRules(set, gates, errors).check();
}

}  // namespace muster::api
