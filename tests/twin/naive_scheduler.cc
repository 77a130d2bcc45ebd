#include "twin/naive_scheduler.h"

#include <algorithm>
#include <set>

#include "api/views/node_view.h"
#include "api/views/pod_view.h"
#include "twin/naive_nodes.h"

namespace muster::scheduler::twin {
namespace {

std::map<std::string, std::int64_t> as_map(const api::Amounts& amounts) {
  std::map<std::string, std::int64_t> map{{"cpu", amounts.cpu_milli},
                                          {"memory", amounts.memory},
                                          {"ephemeral-storage", amounts.ephemeral_storage}};
  for (const auto& [name, amount] : amounts.scalars) map[name] = amount;
  return map;
}

}  // namespace

// --- what happens ---

// An image has the size that the first node said, until no node has it.
void NaiveScheduler::set_node(const api::ObjectPtr& node) {
  const std::string& name = node->meta().name;
  remove_node(name);
  nodes[name] = node;
  for (const api::ContainerImage& image : node->view<api::NodeView>().images)
    for (const std::string& image_name : image.names) {
      const auto [at, is_new] = images_.try_emplace(image_name);
      if (is_new) at->second.size = image.size_bytes;
      at->second.nodes.insert(name);
    }
}

void NaiveScheduler::remove_node(const std::string& name) {
  nodes.erase(name);
  for (auto& [image_name, image] : images_) image.nodes.erase(name);
  std::erase_if(images_, [](const auto& entry) { return entry.second.nodes.empty(); });
}

void NaiveScheduler::place(const api::ObjectPtr& pod, const std::string& node) {
  const std::string& uid = pod->meta().uid;
  NaiveStorage::Held held = storage.reserve(*pod, *nodes.at(node));
  if (!held.volumes.empty() || !held.provisioned.empty()) storage.held[uid] = std::move(held);
  pods[uid] = {pod, node};
}

void NaiveScheduler::remove(const std::string& uid) {
  pods.erase(uid);
  storage.held.erase(uid);
}

std::set<std::string> NaiveScheduler::shared_claims() const {
  std::map<std::string, std::set<std::string>> users;  // by claim
  const auto add = [&](const api::Object& user) {
    for (const api::PodClaim& claim : user.view<api::PodView>().claims)
      users[user.meta().name_space + "/" +
            (claim.ephemeral ? user.meta().name + "-" + claim.name : claim.name)]
          .insert(user.meta().uid);
  };
  for (const auto& [uid, record] : pods) add(*record.first);
  for (const auto& [uid, waits] : waiting) add(*waits);
  std::set<std::string> shared;
  for (const auto& [claim, uids] : users)
    if (uids.size() > 1) shared.insert(claim);
  return shared;
}

void NaiveScheduler::place_copy(const api::ObjectPtr& pod, const std::string& name,
                                const std::string& node) {
  if (pod->view<api::PodView>().claims.empty()) {
    pods[name] = {pod, node};
    return;
  }
  place(storage.copy_of(*pod, name, shared_claims()), node);
}

// --- filters ---

NaiveScheduler::Used NaiveScheduler::used_on(const std::string& node) const {
  Used used;
  for (const auto& [uid, record] : pods) {
    if (record.second != node) continue;
    const api::PodNeeds& needs = needs_of(*record.first);
    for (const auto& [name, amount] : as_map(needs.usage)) used.requested[name] += amount;
    used.nonzero_cpu += needs.nonzero_cpu_milli;
    used.nonzero_memory += needs.nonzero_memory;
    ++used.pods;
  }
  return used;
}

NaiveScheduler::Verdict NaiveScheduler::fit(const api::Object& pod, const std::string& name,
                                            const Used& used) const {
  const auto& view = nodes.at(name)->view<api::NodeView>();
  Verdict verdict;
  if (used.pods + 1 > view.allocatable_pods) verdict.reasons.push_back("Too many pods");
  const auto requests = as_map(needs_of(pod).requests);
  const auto allocatable = as_map(view.allocatable);
  const auto check = [&](const std::string& resource) {
    const std::int64_t wanted = requests.at(resource);
    const std::int64_t has = allocatable.contains(resource) ? allocatable.at(resource) : 0;
    const std::int64_t taken = used.requested.contains(resource) ? used.requested.at(resource) : 0;
    if (wanted <= 0 || wanted <= has - taken) return;
    verdict.reasons.push_back("Insufficient " + resource);
    verdict.unresolvable |= wanted > has;
  };
  for (const char* resource : {"cpu", "memory", "ephemeral-storage"}) check(resource);
  for (const auto& [resource, amount] : needs_of(pod).requests.scalars) check(resource);
  return verdict;
}

bool NaiveScheduler::ports_clash(const api::Object& pod, const std::string& name) const {
  for (const auto& [uid, record] : pods) {
    if (record.second != name) continue;
    for (const api::HostPort& held : needs_of(*record.first).host_ports)
      for (const api::HostPort& wanted : needs_of(pod).host_ports)
        if (held.port == wanted.port && held.protocol == wanted.protocol &&
            (held.ip == wanted.ip || held.ip == "0.0.0.0" || wanted.ip == "0.0.0.0"))
          return true;
  }
  return false;
}

std::vector<NaiveScheduler::Verdict> NaiveScheduler::filters(const api::Object& pod,
                                                             const std::string& name) const {
  const api::Object& node = *nodes.at(name);
  const auto& view = node.view<api::NodeView>();
  const api::PodNeeds& needs = needs_of(pod);
  std::vector<Verdict> verdicts;
  const auto say = [&](const char* plugin, bool refuses, const char* reason, bool unresolvable) {
    verdicts.push_back({{}, plugin, refuses && unresolvable});
    if (refuses) verdicts.back().reasons.emplace_back(reason);
  };

  const api::Taint cordon{"node.kubernetes.io/unschedulable", "", api::TaintEffect::NoSchedule};
  say("NodeUnschedulable", view.unschedulable && !tolerated(cordon, needs.tolerations, false),
      "node(s) were unschedulable", true);

  bool repelled = false;
  for (const api::Taint& taint : view.taints)
    repelled |= taint.effect != api::TaintEffect::PreferNoSchedule &&
                !tolerated(taint, needs.tolerations, false);
  say("TaintToleration", repelled, "node(s) had untolerated taint(s)", true);

  bool selected = true;
  for (const auto& [key, value] : needs.node_selector) {
    const std::string* have = api::lookup(node.meta().labels, key);
    selected &= have != nullptr && *have == value;
  }
  if (needs.has_required)
    selected &= std::ranges::any_of(needs.required,
                                    [&](const auto& term) { return term_matches(term, node); });
  say("NodeAffinity", !selected, "node(s) didn't match Pod's node affinity/selector", true);

  say("NodePorts", ports_clash(pod, name),
      "node(s) didn't have free ports for the requested pod ports", false);
  verdicts.push_back(fit(pod, name, used_on(name)));
  verdicts.back().plugin = "NodeResourcesFit";
  verdicts.push_back(storage.restrictions(pod, name, pods));
  verdicts.push_back(storage.limits(pod, name, pods, shared_claims()));
  verdicts.push_back(storage.binding(pod, node));
  verdicts.push_back(storage.zone(pod, node));
  verdicts.push_back(spread(pod, name));
  verdicts.push_back(affinity(pod, name));
  say("NodeDeclaredFeatures", misses_features(pod, node),
      "node(s) didn't match Pod's required features", true);
  return verdicts;
}

bool NaiveScheduler::misses_features(const api::Object& pod, const api::Object& node) const {
  const api::Json document = pod.document();
  const auto& spec = document.at("spec").as_object();
  std::vector<std::string> features;
  const auto is = [&](const char* member, bool value) {
    return spec.contains(member) && spec.at(member) == api::Json(value);
  };
  if (is("hostNetwork", true) && is("hostUsers", false))
    features.emplace_back("UserNamespacesHostNetworkSupport");
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.contains(list)) continue;
    for (const api::Json& each : spec.at(list).as_array()) {
      const auto& container = each.as_object();
      if (container.contains("restartPolicyRules"))
        for (const api::Json& rule : container.at("restartPolicyRules").as_array())
          if (rule.at("action") == "RestartAllContainers")
            features.emplace_back("RestartAllContainersOnContainerExits");
      if (container.contains("volumeMounts"))
        for (const api::Json& mount : container.at("volumeMounts").as_array())
          if (mount.as_object().contains("bindMountOptions"))
            features.emplace_back("VolumeBindMountOptions");
    }
  }
  const auto& declared = node.view<api::NodeView>().declared_features;
  return !std::ranges::all_of(features, [&](const std::string& feature) {
    return std::ranges::count(declared, feature) > 0;
  });
}

NaiveScheduler::Verdict NaiveScheduler::filter(const api::Object& pod,
                                               const std::string& name) const {
  if (std::optional<Verdict> refusal = refuses_everywhere(pod)) return *refusal;
  if (const auto expected = nominated.find(name); expected != nominated.end()) {
    NaiveScheduler with(*this);
    for (const api::ObjectPtr& comes : expected->second)
      with.pods[comes->meta().uid] = {comes, name};
    for (const Verdict& verdict : with.filters(pod, name)) {
      if (!verdict.reasons.empty()) return verdict;
      // Ours: this one speaks for both at once, so its reason comes before those of later plugins.
      if (verdict.plugin != "NodeVolumeLimits") continue;
      if (Verdict without = storage.limits(pod, name, pods, shared_claims());
          !without.reasons.empty())
        return without;
    }
  }
  for (const Verdict& verdict : filters(pod, name))
    if (!verdict.reasons.empty()) return verdict;
  return {};
}

std::int64_t NaiveScheduler::cap(const api::ObjectPtr& pod, const std::string& name) const {
  NaiveScheduler with_copies(*this);
  std::int64_t copies = 0;
  for (; with_copies.filter(*pod, name).reasons.empty(); ++copies)
    with_copies.place_copy(pod, "twin-copy-" + std::to_string(copies), name);
  return copies;
}

std::string NaiveScheduler::fit_error(const api::Object& pod) const {
  std::map<std::string, int> counts;
  for (const auto& [name, node] : nodes)
    for (const std::string& reason : filter(pod, name).reasons) ++counts[reason];
  std::set<std::string> entries;
  for (const auto& [reason, count] : counts) entries.insert(std::to_string(count) + " " + reason);
  std::string text = "0/" + std::to_string(nodes.size()) + " nodes are available:";
  const char* separator = " ";
  for (const std::string& entry : entries) {
    text += separator + entry;
    separator = ", ";
  }
  return text + (entries.empty() ? "" : ".");
}

}  // namespace muster::scheduler::twin
