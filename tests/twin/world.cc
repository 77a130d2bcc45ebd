// The product's cluster and the twin's, fed the same changes.
#include "api/kinds/kind.h"
#include "scheduler/plugins/plugin_registry.h"
#include "twin/script.h"

namespace muster::scheduler::twin {
namespace {

Profile profile_with(const PodTopologySpreadArgs& spread) {
  PluginArgs args;
  args.spread = spread;
  Profile profile;
  for (const RegisteredPlugin& plugin : plugin_registry())
    profile.add(plugin.make(args), Points::all(), plugin.weight);
  ProfileSettings settings;
  settings.default_spread_keys = spread.default_keys();
  profile.set(std::move(settings));
  return profile;
}

PodTopologySpreadArgs list_of(const std::vector<NaiveScheduler::DefaultSpread>& defaults) {
  PodTopologySpreadArgs args{.is_system_defaulting = false};
  for (const NaiveScheduler::DefaultSpread& constraint : defaults)
    args.default_constraints.push_back({.topology_key = constraint.topology_key,
                                        .max_skew = constraint.max_skew,
                                        .is_hard = constraint.is_hard});
  return args;
}

}  // namespace

World::World(const std::vector<NaiveScheduler::DefaultSpread>& defaults)
    : profile(profile_with(list_of(defaults))) {
  naive.default_spread = defaults;
  naive.is_system_default = false;
  cluster.set_default_spread_keys(profile.settings().default_spread_keys);
}

void World::ask(const std::vector<api::ObjectPtr>& pods) {
  for (const api::ObjectPtr& pod : pods) {
    cluster.count_claim_users(*pod, 1);
    naive.waiting[pod->meta().uid] = pod;
  }
}

void World::apply(const Change& change) {
  switch (change.kind) {
    case Change::Kind::SetNode: {
      const api::ObjectPtr node = change.node.make();
      cluster.set_node(node);
      naive.set_node(node);
      return;
    }
    case Change::Kind::RemoveNode:
      cluster.remove_node(change.node.name);
      naive.remove_node(change.node.name);
      return;
    case Change::Kind::SetPod:
    case Change::Kind::AssumePod:
    case Change::Kind::RemovePod: return apply_pod(change);
    case Change::Kind::KeepFor: {
      PodSample sample = change.pod;
      sample.node_name.clear();
      const api::ObjectPtr pod = sample.make();
      cluster.count_claim_users(*pod, 1);
      cluster.count_nominated(pod, change.pod.node_name);
      naive.waiting[pod->meta().uid] = pod;
      naive.nominated[change.pod.node_name].push_back(pod);
      return;
    }
    case Change::Kind::SetNamespace: {
      const api::ObjectPtr made = namespace_of(change.node.name, change.node.labels);
      cluster.set_namespace(*made);
      naive.namespaces[change.node.name] = made->meta().labels;
      return;
    }
    case Change::Kind::SetObject:
    case Change::Kind::RemoveObject: return apply_object(change);
    case Change::Kind::Look: return;
  }
}

void World::apply_pod(const Change& change) {
  const std::string uid = change.pod.name_space + "-" + change.pod.name;
  if (const auto known = naive.pods.find(uid); known != naive.pods.end())
    cluster.count_claim_users(*known->second.first, -1);
  if (change.kind == Change::Kind::RemovePod) {
    if (cluster.is_assumed(uid))
      cluster.forget(uid);
    else
      cluster.remove_pod(uid);
    cluster.release_volumes(uid);
    naive.remove(uid);
    return;
  }
  const bool is_assumed = change.kind == Change::Kind::AssumePod;
  const std::string& node = change.pod.node_name;
  PodSample sample = change.pod;
  if (is_assumed) sample.node_name.clear();
  const api::ObjectPtr pod = sample.make();
  cluster.count_claim_users(*pod, 1);
  if (!is_assumed) {
    naive.pods[uid] = {pod, node};
    cluster.set_pod(pod);
    return;
  }
  // What waits for its first consumer is reserved where it can be had.
  const bool gets_volumes = naive.nodes.contains(node) && !naive.refuses_everywhere(*pod) &&
                            naive.storage.binding(*pod, *naive.nodes.at(node)).reasons.empty();
  if (gets_volumes) {
    naive.place(pod, node);
    cluster.reserve_volumes(*pod, node);
  } else {
    naive.pods[uid] = {pod, node};
  }
  cluster.assume(pod, node);
}

void World::apply_object(const Change& change) {
  const bool is_set = change.kind == Change::Kind::SetObject;
  const api::Object& object = *change.object;
  if (SelectorBook::keeps(object.kind())) {
    const std::string key =
        std::string(object.kind().kind) + "/" + object.meta().name_space + "/" + object.meta().name;
    if (is_set) {
      cluster.put_selector(object);
      naive.sets[key] = change.object;
    } else {
      cluster.remove_selector(object);
      naive.sets.erase(key);
    }
    return;
  }
  if (is_set) {
    cluster.put_volume_object(change.object);
    naive.storage.put(change.object);
  } else {
    cluster.remove_volume_object(object);
    naive.storage.remove(object);
  }
}

}  // namespace muster::scheduler::twin
