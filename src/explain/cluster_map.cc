#include "explain/cluster_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "api/kinds/kind.h"
#include "api/views/group_view.h"
#include "api/views/node_view.h"
#include "api/views/pod_facts.h"
#include "explain/near_names.h"
#include "explain/words.h"
#include "scheduler/groups/group_spec.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;
using api::view_of;
using scheduler::GroupKey;
using scheduler::GroupKind;

constexpr std::string_view kNone = "(none)";
constexpr std::string_view kDefaultLevels[] = {
    "topology.kubernetes.io/zone", "topology.muster.dev/block", "topology.kubernetes.io/rack"};
constexpr std::string_view kSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwyz";

bool is_gpu(std::string_view resource) { return resource.ends_with("/gpu"); }

// GPUs if any node has them, else another extended resource, else cpu; of several the one there is
// most of.
std::string usual_resource(const std::vector<ObjectPtr>& nodes) {
  std::map<std::string, std::int64_t> totals;
  for (const ObjectPtr& node : nodes)
    for (const auto& [name, amount] : node->view<api::NodeView>().allocatable.scalars)
      if (name.find('/') != std::string::npos && amount > 0) totals[name] += amount;
  const auto best = std::ranges::max_element(
      totals, {}, [](const auto& entry) { return std::pair(is_gpu(entry.first), entry.second); });
  return best == totals.end() ? "cpu" : best->first;
}

std::vector<std::string> levels_in_use(const std::vector<ObjectPtr>& nodes,
                                       const std::vector<std::string>& asked) {
  std::vector<std::string> levels = asked;
  if (levels.empty()) levels.assign(std::begin(kDefaultLevels), std::end(kDefaultLevels));
  std::erase_if(levels, [&](const std::string& key) {
    return std::ranges::none_of(nodes, [&](const ObjectPtr& node) {
      return api::lookup(node->meta().labels, key) != nullptr;
    });
  });
  return levels;
}

bool is_closed(const ObjectPtr& node) {
  const auto& view = node->view<api::NodeView>();
  const auto ready = std::ranges::find(view.conditions, "Ready", &api::Condition::type);
  return view.unschedulable || (ready != view.conditions.end() && ready->status != "True");
}

// The name of the tree that each PodGroup belongs to.
class Trees {
 public:
  explicit Trees(const std::vector<ObjectPtr>& groups) {
    for (const ObjectPtr& group : groups)
      if (const auto key = scheduler::group_key(*group))
        parents_[*key] = group->view<api::GroupView>().parent;
  }

  std::string name_of_tree(const ObjectPtr& pod) const {
    const std::string& group = view_of(pod).scheduling_group;
    if (group.empty()) return "";
    GroupKey key{GroupKind::PodGroup, pod->meta().name_space, group};
    for (std::size_t level = 0; level < scheduler::kTreeDepthMax; ++level) {
      const auto at = parents_.find(key);
      if (at == parents_.end() || at->second.empty()) break;
      key = {GroupKind::CompositePodGroup, key.name_space, at->second};
    }
    return name_of(key);
  }

 private:
  std::map<GroupKey, std::string> parents_;
};

// Numbers tenants in the order they are met, then by what they use.
class Tenants {
 public:
  std::size_t number_of(const std::string& name) {
    const auto [at, is_new] = numbers_.try_emplace(name, tenants_.size());
    if (is_new) tenants_.push_back({.name = name});
    return at->second;
  }
  Tenant& operator[](std::size_t number) { return tenants_[number]; }

  // The tenants by amount, and the new number of each old one.
  std::vector<Tenant> sorted(std::vector<std::size_t>& renumbered) const {
    std::vector<std::size_t> order(tenants_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      const Tenant& x = tenants_[a];
      const Tenant& y = tenants_[b];
      if (x.name.empty() != y.name.empty()) return y.name.empty();
      return std::tie(y.amount, y.pods, x.name) < std::tie(x.amount, x.pods, y.name);
    });
    std::vector<Tenant> tenants;
    renumbered.resize(order.size());
    for (const std::size_t old : order) {
      renumbered[old] = tenants.size();
      Tenant tenant = tenants_[old];
      if (!tenant.name.empty())
        tenant.sign = tenants.size() < kSigns.size() ? kSigns[tenants.size()] : '*';
      tenants.push_back(std::move(tenant));
    }
    return tenants;
  }

 private:
  std::vector<Tenant> tenants_;
  std::map<std::string, std::size_t> numbers_;
};

void renumber(Usage& usage, const std::vector<std::size_t>& numbers) {
  for (auto& [tenant, amount] : usage.by_tenant) tenant = numbers[tenant];
  std::ranges::sort(usage.by_tenant);
}

// Puts nodes into the domains of the level at `depth` and below.
MapDomain gather(std::string name, std::vector<std::pair<ObjectPtr, MapNode>> nodes,
                 const std::vector<std::string>& levels, std::size_t depth) {
  MapDomain domain;
  domain.name = std::move(name);
  domain.node_count = static_cast<std::int64_t>(nodes.size());
  if (depth == levels.size()) {
    std::ranges::sort(nodes, natural_less, [](const auto& node) { return node.second.name; });
    for (auto& [object, node] : nodes) {
      domain.usage.add(node.usage);
      domain.nodes.push_back(std::move(node));
    }
    return domain;
  }
  std::map<std::string, std::vector<std::pair<ObjectPtr, MapNode>>> by_value;
  for (auto& entry : nodes) {
    const std::string* value = api::lookup(entry.first->meta().labels, levels[depth]);
    by_value[value == nullptr ? std::string(kNone) : *value].push_back(std::move(entry));
  }
  for (auto& [value, members] : by_value) {
    domain.domains.push_back(gather(value, std::move(members), levels, depth + 1));
    domain.usage.add(domain.domains.back().usage);
  }
  std::ranges::sort(domain.domains, natural_less, &MapDomain::name);
  return domain;
}

}  // namespace

void Usage::add(std::size_t tenant, std::int64_t amount) {
  used += amount;
  const auto at = std::ranges::lower_bound(by_tenant, tenant, {},
                                           [](const auto& entry) { return entry.first; });
  if (at != by_tenant.end() && at->first == tenant)
    at->second += amount;
  else
    by_tenant.insert(at, {tenant, amount});
}

void Usage::add(const Usage& other) {
  total += other.total;
  std::vector<std::pair<std::size_t, std::int64_t>> merged;
  auto mine = by_tenant.begin();
  auto theirs = other.by_tenant.begin();
  while (mine != by_tenant.end() || theirs != other.by_tenant.end()) {
    if (theirs == other.by_tenant.end() ||
        (mine != by_tenant.end() && mine->first < theirs->first)) {
      merged.push_back(*mine++);
    } else if (mine == by_tenant.end() || theirs->first < mine->first) {
      merged.push_back(*theirs++);
    } else {
      merged.emplace_back(mine->first, mine->second + theirs->second);
      ++mine;
      ++theirs;
    }
  }
  by_tenant = std::move(merged);
  used += other.used;
}

std::string wrong_option(const Objects& objects, const MapOptions& options,
                         std::string_view depth) {
  if (objects.nodes.empty()) return "";
  const auto or_near = [](const std::string& word, const std::set<std::string>& known) {
    const std::string near = nearest(word, known);
    return near.empty() ? std::string() : fmt::format("; did you mean {}?", near);
  };
  std::set<std::string> resources{"cpu", "memory", "ephemeral-storage"};
  std::set<std::string> labels;
  for (const ObjectPtr& node : objects.nodes) {
    for (const auto& [name, amount] : node->view<api::NodeView>().allocatable.scalars)
      resources.insert(name);
    for (const auto& [key, value] : node->meta().labels) labels.insert(key);
  }
  if (!options.resource.empty() && !resources.contains(options.resource))
    return fmt::format("--resource {}: no node has it{}", options.resource,
                       or_near(options.resource, resources));
  for (const std::string& key : options.levels)
    if (!labels.contains(key))
      return fmt::format("--levels {}: no node has the label{}", key, or_near(key, labels));
  std::vector<std::string> words;
  for (const std::string& key : levels_in_use(objects.nodes, options.levels)) {
    if (depth == key) return "";
    words.emplace_back(word_of(key));
  }
  words.emplace_back("node");
  if (depth.empty() || std::ranges::find(words, depth) != words.end()) return "";
  return fmt::format("--depth {}: there is no such level; there are {}", depth,
                     fmt::join(words, ", "));
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto number = [&](std::string_view text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t start = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(start, at - start);
    };
    const std::string_view x = number(a, i);
    const std::string_view y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  // "r01" and "r1" are equal as numbers: their letters decide.
  if (i == a.size() && j == b.size()) return a < b;
  return i == a.size();
}

ClusterMap map_of(const Objects& objects, const MapOptions& options) {
  ClusterMap map;
  map.resource = options.resource.empty() ? usual_resource(objects.nodes) : options.resource;
  map.unit = map.resource == "cpu" ? 1000 : 1;
  map.levels = levels_in_use(objects.nodes, options.levels);

  std::unordered_map<std::string_view, std::size_t> by_name;
  std::vector<std::pair<ObjectPtr, MapNode>> nodes;
  for (const ObjectPtr& node : objects.nodes) {
    by_name.emplace(node->meta().name, nodes.size());
    MapNode entry{.name = node->meta().name, .closed = is_closed(node)};
    entry.usage.total = node->view<api::NodeView>().allocatable.of(map.resource);
    nodes.emplace_back(node, std::move(entry));
  }

  const Trees trees(objects.groups);
  Tenants tenants;
  for (const ObjectPtr& pod : objects.pods) {
    if (view_of(pod).is_terminal()) continue;
    if (view_of(pod).node_name.empty()) {
      map.waiting += api::is_terminating(pod) ? 0 : 1;
      continue;
    }
    const auto at = by_name.find(view_of(pod).node_name);
    if (at == by_name.end()) continue;
    const std::size_t number = tenants.number_of(trees.name_of_tree(pod));
    Usage& usage = nodes[at->second].second.usage;
    const std::int64_t amount = view_of(pod).needs.usage.of(map.resource);
    const bool is_new_here = std::ranges::none_of(
        usage.by_tenant, [&](const auto& entry) { return entry.first == number; });
    usage.add(number, amount);
    Tenant& tenant = tenants[number];
    ++tenant.pods;
    tenant.amount += amount;
    tenant.nodes += is_new_here ? 1 : 0;
  }
  std::vector<std::size_t> numbers;
  map.tenants = tenants.sorted(numbers);
  for (auto& [place, node] : nodes) {
    renumber(node.usage, numbers);
    if (node.usage.used > 0 || node.usage.total == 0 || node.closed) continue;
    ++map.empty_nodes;
    map.free_on_empty += node.usage.total;
  }
  map.all = gather("", std::move(nodes), map.levels, 0);
  return map;
}

}  // namespace muster::explain
