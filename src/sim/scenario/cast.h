#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "sim/scenario/group_line.h"

namespace muster::sim {

inline constexpr std::string_view kScenarioNamespace = "default";
inline constexpr std::string_view kScenarioGate = "example.com/hold";

// Everybody a scenario mentions, by the name in the text: llm is a workload, llm/prefill
// one of its gangs, llm/prefill/0 a pod. Objects are called the same with dashes: llm-prefill-0.
class Cast {
 public:
  struct Group {
    std::string path;
    std::string name;  // of the object
    GroupLine line;    // without the lines below it
    std::optional<std::size_t> parent;
    int pod_count = 0;
    int child_count = 0;
    bool sent = false;
    bool retired = false;  // deleted: its name is free again

    bool is_leaf() const { return line.role != GroupRole::Composite; }
    int minimum() const { return line.minimum.value_or(is_leaf() ? pod_count : child_count); }
  };
  struct Pod {
    std::string path;
    std::string name;
    PodLine line;
    std::optional<std::size_t> group;
    bool sent = false;
    bool retired = false;
  };

  // A group with all below it. Returns its number; those below follow, parents first.
  Result<std::size_t> add(const GroupLine& line);
  Result<void> add(const LonePods& lone);
  // A pod under a name of its own, a member of a group or alone.
  Result<std::size_t> add_pod(std::string path, const PodLine& line,
                              std::optional<std::size_t> group);
  // Another pod like the first one of the group's last shape.
  Result<std::size_t> add_like(std::size_t group);

  Group& group(std::size_t id) { return groups_[id]; }
  const Group& group(std::size_t id) const { return groups_[id]; }
  Pod& pod(std::size_t id) { return pods_[id]; }
  const Pod& pod(std::size_t id) const { return pods_[id]; }
  std::size_t group_count() const { return groups_.size(); }
  std::size_t pod_count() const { return pods_.size(); }
  // The group's own number first, then all below it; retired ones are left out.
  std::vector<std::size_t> subtree(std::size_t group) const;
  std::vector<std::size_t> members(std::size_t group) const;  // of the subtree
  int priority(std::size_t group) const;
  int pod_priority(std::size_t pod) const;
  bool never_preempts(std::size_t group) const;
  bool pod_never_preempts(std::size_t pod) const;

  // Who is meant by "llm/prefill", or by "gang train" where a workload is called train too.
  struct Subject {
    std::string text;
    std::optional<std::size_t> group;
    std::vector<std::size_t> pods;  // all of them, if it is a group or a shape
  };
  Result<Subject> find(std::string_view role, std::string_view path) const;

  // The objects as they are sent. `node` is empty unless the pod is put there by hand.
  api::Json pod_manifest(std::size_t pod, std::string_view node) const;
  api::Json group_manifest(std::size_t group) const;

 private:
  Result<std::size_t> add_below(const GroupLine& line, std::optional<std::size_t> parent);
  Result<void> add_pods(std::size_t group, const std::string& base, const PodLine& line);

  std::vector<Group> groups_;
  std::vector<Pod> pods_;
};

struct PriorityLine {
  int priority = 0;
  bool never_preempts = false;
  friend auto operator<=>(const PriorityLine&, const PriorityLine&) = default;
};
std::string priority_class_name(const PriorityLine& line);
// The claim that each pod of a line with own-claim=CLASS:SIZE gets for itself.
std::string own_claim_name(std::string_view pod);
api::Json claim_manifest(std::string_view name, std::string_view storage_class,
                         std::string_view size);
// The role by the word a text uses for it; nullopt for other words.
std::optional<GroupRole> role_of(std::string_view word);

}  // namespace muster::sim
