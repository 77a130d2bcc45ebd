#include "sim/scenario/invariants.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/values/waits_for.h"
#include "api/views/group_view.h"
#include "api/views/node_view.h"
#include "api/views/pod_facts.h"

namespace muster::sim {
namespace {

using api::ObjectPtr;
using api::view_of;

const api::GroupView& group_view(const ObjectPtr& group) { return group->view<api::GroupView>(); }

bool is_leaf(const ObjectPtr& group) { return &group->kind() == &api::kinds::pod_group(); }

// Deeper than any valid tree: where the questions below stop on a cycle.
constexpr int kDepthMax = 8;

// Groups and pods as a tree, for the questions below.
class Tree {
 public:
  Tree(const std::vector<ObjectPtr>& groups, const std::vector<ObjectPtr>& pods)
      : groups_(groups), pods_(pods) {}

  std::vector<ObjectPtr> children(const ObjectPtr& group) const {
    std::vector<ObjectPtr> found;
    if (is_leaf(group)) return found;
    for (const ObjectPtr& other : groups_)
      if (group_view(other).parent == group->meta().name) found.push_back(other);
    return found;
  }

  std::vector<ObjectPtr> pods(const ObjectPtr& group, int depth = 0) const {
    std::vector<ObjectPtr> found;
    if (depth > kDepthMax) return found;
    if (is_leaf(group))
      for (const ObjectPtr& pod : pods_)
        if (view_of(pod).scheduling_group == group->meta().name) found.push_back(pod);
    for (const ObjectPtr& child : children(group)) {
      const std::vector<ObjectPtr> below = pods(child, depth + 1);
      found.insert(found.end(), below.begin(), below.end());
    }
    return found;
  }

  // Members that count for the minimum, of a leaf; children that have theirs, of a composite.
  int present(const ObjectPtr& group, int depth = 0) const {
    int count = 0;
    if (depth > kDepthMax) return count;
    if (is_leaf(group)) {
      for (const ObjectPtr& pod : pods(group))
        if (!pod->meta().deletion_time &&
            (!Stage::node_of(pod).empty() || view_of(pod).phase == "Succeeded"))
          ++count;
      return count;
    }
    for (const ObjectPtr& child : children(group))
      if (present(child, depth + 1) >= group_view(child).minimum) ++count;
    return count;
  }

 private:
  const std::vector<ObjectPtr>& groups_;
  const std::vector<ObjectPtr>& pods_;
};

}  // namespace

std::vector<std::string> Invariants::broken(const Stage& stage) {
  found_.clear();
  pods_ = stage.pods();
  groups_.clear();
  for (const api::Kind* kind : {&api::kinds::pod_group(), &api::kinds::composite_pod_group()})
    for (const ObjectPtr& group : stage.world().store().list(kind->store_prefix + "/").objects)
      groups_.push_back(group);
  remember(stage);
  check_nodes(stage);
  check_conditions(stage);
  check_domains(stage);
  check_gangs(stage);
  if (stage.world().scheduler().numbers().binding == 0)
    if (std::string wrong = stage.world().scheduler().audit(stage.nodes(), pods_); !wrong.empty())
      found_.push_back("the scheduler's books are wrong: " + wrong);
  return found_;
}

// Which node each pod was put on by the scheduler, as it was then.
void Invariants::remember(const Stage& stage) {
  for (const ObjectPtr& pod : pods_) {
    const std::string node = Stage::node_of(pod);
    if (node.empty() || !stage.log().assigned(pod->meta().uid)) continue;
    const ObjectPtr object = stage.world().get(api::kinds::node(), "", node);
    node_at_bind_.try_emplace(pod->meta().uid, object);
  }
}

void Invariants::check_nodes(const Stage& stage) {
  for (const ObjectPtr& node : stage.nodes()) {
    const auto& view = node->view<api::NodeView>();
    std::map<std::string, std::int64_t> used{{"cpu", 0}, {"memory", 0}, {"ephemeral-storage", 0}};
    for (const auto& [name, amount] : view.allocatable.scalars) used.emplace(name, 0);
    std::int64_t pods = 0;
    for (const ObjectPtr& pod : pods_) {
      if (Stage::node_of(pod) != node->meta().name) continue;
      ++pods;
      for (auto& [name, amount] : used) amount += view_of(pod).needs.requests.of(name);
    }
    for (const auto& [name, amount] : used)
      if (amount > view.allocatable.of(name))
        found_.push_back(fmt::format("node {} is overcommitted: {} {} of {}", node->meta().name,
                                     name, amount, view.allocatable.of(name)));
    if (pods > view.allocatable_pods)
      found_.push_back(fmt::format("node {} is overcommitted: {} pods of {}", node->meta().name,
                                   pods, view.allocatable_pods));
  }
}

void Invariants::check_conditions(const Stage&) {
  for (const ObjectPtr& pod : pods_)
    if (!Stage::node_of(pod).empty() && view_of(pod).condition(api::kWaitsForCondition) != nullptr)
      found_.push_back(fmt::format("{} has a node and says that it waits", pod->meta().name));
  for (const ObjectPtr& group : groups_) {
    const api::GroupCondition* said = group_view(group).condition(
        is_leaf(group) ? "PodGroupInitiallyScheduled" : "CompositePodGroupInitiallyScheduled");
    const bool is_true = said != nullptr && said->status == "True";
    if (is_true) once_true_.insert(group->meta().uid);
    if (!is_true && once_true_.contains(group->meta().uid))
      found_.push_back(
          fmt::format("{} was initially scheduled and no longer is", group->meta().name));
  }
}

void Invariants::check_domains(const Stage& stage) {
  const Tree tree(groups_, pods_);
  for (const ObjectPtr& group : groups_) {
    const std::string& key = group_view(group).topology_key;
    if (key.empty()) continue;
    std::map<std::string, std::string> domains;  // to one of its pods
    for (const ObjectPtr& pod : tree.pods(group)) {
      const auto bound = node_at_bind_.find(pod->meta().uid);
      if (bound == node_at_bind_.end() || bound->second == nullptr) continue;
      const std::string* then = api::lookup(bound->second->meta().labels, key);
      const std::string now = stage.domain_of(Stage::node_of(pod), key);
      if (then == nullptr)
        found_.push_back(
            fmt::format("{} was bound where label {} is missing", pod->meta().name, key));
      else if (*then == now)  // relabelled nodes prove nothing
        domains.emplace(now, pod->meta().name);
    }
    if (domains.size() > 1)
      found_.push_back(fmt::format("{} is in more than one domain of {}: {} with {}, {} with {}",
                                   group->meta().name, key, domains.begin()->first,
                                   domains.begin()->second, domains.rbegin()->first,
                                   domains.rbegin()->second));
  }
}

void Invariants::check_gangs(const Stage& stage) {
  const Tree tree(groups_, pods_);
  for (const ObjectPtr& group : groups_) {
    const int present = tree.present(group);
    const int minimum = group_view(group).minimum;
    if (present >= minimum) admitted_.insert(group->meta().uid);
    if (stage.has_refused_bindings() || admitted_.contains(group->meta().uid)) continue;
    for (const ObjectPtr& pod : tree.pods(group))
      if (node_at_bind_.contains(pod->meta().uid) && !Stage::node_of(pod).empty()) {
        found_.push_back(fmt::format("{} is partly bound: {} of at least {}, {} among them",
                                     group->meta().name, present, minimum, pod->meta().name));
        break;
      }
  }
}

}  // namespace muster::sim
