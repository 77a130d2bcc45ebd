#include "witness/upstream.h"

#include <algorithm>

#include "api/views/node_view.h"
#include "api/views/pod_view.h"

namespace muster::scheduler::witness {
namespace {

const api::PodView& view_of(const api::Object& pod) { return pod.view<api::PodView>(); }

template <typename Visit>
void for_each_leaf(const Group& group, Visit&& visit) {
  if (group.key.kind == GroupKind::PodGroup) visit(group);
  for (const Group& child : group.children) for_each_leaf(child, visit);
}

}  // namespace

UpstreamOrder::UpstreamOrder(const Objects& objects) : objects_(objects) {
  for (const api::ObjectPtr& node : objects.nodes) nodes_[node->meta().name] = node;
  naive_.nodes = nodes_;
  for (const api::ObjectPtr& pod : objects.running)
    if (view_of(*pod).phase != "Succeeded")
      naive_.pods[pod->meta().uid] = {pod, view_of(*pod).node_name};
}

bool UpstreamOrder::run() {
  Names everywhere;
  for (const auto& [name, node] : nodes_) everywhere.insert(name);
  const Trial trial = evaluate(objects_.root, everywhere);
  placed_ = trial.placed;
  ready_ = trial.ready;
  return trial.succeeded;
}

// Every placement is tried and taken back; the best of those that succeed is assumed.
UpstreamOrder::Trial UpstreamOrder::evaluate(const Group& group, const Names& within) {
  struct Success {
    std::string placement;
    Trial trial;
    std::int64_t fullness;
  };
  std::vector<Success> successes;
  std::size_t queued = 0;
  for_each_leaf(group, [&](const Group& leaf) { queued += leaf.pods.size(); });
  for (const auto& [name, nodes] : placements(group, within)) {
    Trial trial = try_in(group, nodes);
    if (!trial.succeeded) continue;
    successes.push_back({name, trial, fullness(group, nodes)});
    forget(trial);
  }
  if (successes.empty()) return {};
  std::int64_t most = 1;
  const auto pods = [&](const Success& s) {
    return held(group) + static_cast<std::int64_t>(s.trial.placed.size());
  };
  for (const Success& s : successes) most = std::max(most, pods(s));
  const auto rank = [&](const Success& s) {
    return std::pair(s.trial.placed.size() == queued, s.fullness + pods(s) * 100 / most);
  };
  const Success* best = &successes.front();  // in the order of names
  for (const Success& s : successes)
    if (rank(s) > rank(*best)) best = &s;
  assume(best->trial);
  return best->trial;
}

UpstreamOrder::Trial UpstreamOrder::try_in(const Group& group, const Names& nodes) {
  Trial trial =
      group.key.kind == GroupKind::PodGroup ? try_leaf(group, nodes) : try_composite(group, nodes);
  if (trial.succeeded) {
    trial.ready.insert(group.key.name);
    return trial;
  }
  forget(trial);
  return {};
}

UpstreamOrder::Trial UpstreamOrder::try_leaf(const Group& group, const Names& nodes) {
  Trial trial;
  std::int64_t scheduled = held(group);
  for (const PendingPod& pending : group.pods) {
    const auto node = best_node(*pending.pod, nodes);
    if (!node) continue;
    naive_.pods[pending.pod->meta().uid] = {pending.pod, *node};
    trial.placed[pending.pod->meta().name] = *node;
    trial.pods[pending.pod->meta().name] = pending.pod;
    ++scheduled;
  }
  trial.succeeded = scheduled >= group.minimum;
  return trial;
}

UpstreamOrder::Trial UpstreamOrder::try_composite(const Group& group, const Names& nodes) {
  Trial trial;
  std::int64_t ready = 0;
  for (const Group& child : group.children) {
    const Trial inner = evaluate(child, nodes);
    if (inner.succeeded) ++ready;
    trial.placed.insert(inner.placed.begin(), inner.placed.end());
    trial.pods.insert(inner.pods.begin(), inner.pods.end());
    trial.ready.insert(inner.ready.begin(), inner.ready.end());
  }
  trial.succeeded = ready >= group.minimum;
  return trial;
}

std::map<std::string, UpstreamOrder::Names> UpstreamOrder::placements(const Group& group,
                                                                      const Names& within) const {
  if (group.topology_key.empty()) return {{"", within}};
  const auto value_on = [&](const std::string& node) {
    const std::string* value = api::lookup(nodes_.at(node)->meta().labels, group.topology_key);
    return value == nullptr ? std::string() : *value;
  };
  Names below;
  for_each_leaf(group, [&](const Group& leaf) { below.insert(leaf.key.name); });
  Names required;
  for (const api::ObjectPtr& pod : objects_.running)
    if (view_of(*pod).phase != "Succeeded" && below.contains(view_of(*pod).scheduling_group))
      required.insert(value_on(view_of(*pod).node_name));
  if (required.size() > 1 || required.contains("")) return {};
  std::map<std::string, Names> placements;
  for (const std::string& node : within)
    if (const std::string value = value_on(node);
        !value.empty() && (required.empty() || required.contains(value)))
      placements[value].insert(node);
  return placements;
}

std::optional<std::string> UpstreamOrder::best_node(const api::Object& pod, const Names& nodes) {
  naive_.nodes.clear();
  for (const std::string& name : nodes) naive_.nodes[name] = nodes_.at(name);
  std::optional<std::string> best;
  std::int64_t most = -1;
  for (const auto& [name, total] : naive_.totals(pod))
    if (total > most) {
      most = total;
      best = name;
    }
  return best;
}

// NodeResourcesFit's placement score (5.4), with extended resources that the group asks for.
std::int64_t UpstreamOrder::fullness(const Group& group, const Names& nodes) const {
  std::map<std::string, std::int64_t> has;
  std::map<std::string, std::int64_t> used;
  Names asked{"cpu", "memory"};
  for_each_leaf(group, [&](const Group& leaf) {
    for (const PendingPod& pending : leaf.pods)
      for (const auto& [name, amount] : view_of(*pending.pod).needs.requests.scalars)
        if (amount > 0) asked.insert(name);
  });
  for (const std::string& name : nodes) {
    const auto& view = nodes_.at(name)->view<api::NodeView>();
    has["cpu"] += view.allocatable.cpu_milli;
    has["memory"] += view.allocatable.memory;
    for (const auto& [scalar, amount] : view.allocatable.scalars) has[scalar] += amount;
  }
  for (const auto& [uid, record] : naive_.pods) {
    if (!nodes.contains(record.second)) continue;
    const api::PodNeeds& needs = view_of(*record.first).needs;
    used["cpu"] += needs.nonzero_cpu_milli;
    used["memory"] += needs.nonzero_memory;
    for (const auto& [scalar, amount] : needs.usage.scalars) used[scalar] += amount;
  }
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (const std::string& resource : asked) {
    if (has[resource] == 0) continue;
    sum += 100 * std::min(used[resource], has[resource]) / has[resource];
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

std::int64_t UpstreamOrder::held(const Group& group) const {
  std::int64_t sum = 0;
  for_each_leaf(group, [&](const Group& leaf) {
    sum += std::ranges::count_if(objects_.running, [&](const api::ObjectPtr& pod) {
      return view_of(*pod).scheduling_group == leaf.key.name;
    });
  });
  return sum;
}

void UpstreamOrder::assume(const Trial& trial) {
  for (const auto& [name, pod] : trial.pods)
    naive_.pods[pod->meta().uid] = {pod, trial.placed.at(name)};
}

void UpstreamOrder::forget(const Trial& trial) {
  for (const auto& [name, pod] : trial.pods) naive_.pods.erase(pod->meta().uid);
}

}  // namespace muster::scheduler::witness
