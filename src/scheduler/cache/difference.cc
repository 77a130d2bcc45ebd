#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scheduler/cache/cluster.h"

namespace muster::scheduler {

// Everything the table says about a row, as text, so that tables with different row numbers and
// interned ids can be compared.
std::string Cluster::describe_row(NodeId node) const {
  const Row& row = rows_[index_of(node)];
  std::string text = fmt::format("{}{}", alive_.contains(node) ? "" : "absent, ",
                                 unschedulable_.contains(node) ? "cordoned, " : "");
  // By name: whether a resource has columns is no difference.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> amounts;
  resources_.for_each([&](const ResourceColumns& columns) {
    if (columns.allocatable[node] != 0 || columns.requested[node] != 0)
      amounts[columns.name] = {columns.requested[node], columns.allocatable[node]};
  });
  resources_.for_each_unoffered(
      node, [&](const std::string& name, std::int64_t used) { amounts[name] = {used, 0}; });
  for (const auto& [name, amount] : amounts)
    text += fmt::format("{} {} of {}, ", name, amount.first, amount.second);
  text += fmt::format("cpu {} and memory {} by non-zero requests, {} of {} pods",
                      nonzero_cpu_[node], nonzero_memory_[node], pods_on_[node], pod_slots_[node]);
  std::vector<std::string> ports;
  for (const api::HostPort& port : ports_on(node))
    ports.push_back(fmt::format("{} {}:{}", port.protocol, port.ip, port.port));
  std::ranges::sort(ports);
  text += fmt::format(", ports [{}], taints [", fmt::join(ports, " "));
  for (const api::Taint& taint : taint_sets_[index_of(taint_set_[node])])
    text += fmt::format("{}={}:{} ", taint.key, taint.value, api::effect_name(taint.effect));
  text += fmt::format("], version {}", row.node == nullptr ? 0 : row.node->revision().value);
  return text;
}

std::map<std::string, std::string> Cluster::describe_pods() const {
  std::map<std::string, std::string> texts;
  for (const auto& [uid, record] : pods_)
    texts.emplace(api::key_text(record.pod->meta()),
                  record.phase == PodPhase::Succeeded ? std::string("succeeded")
                  : record.assumed                    ? "assumed on " + node_name(record.node)
                                                      : "on " + node_name(record.node));
  for (const auto& [key, group] : members_) {
    std::map<std::string, std::int32_t> running;
    for (const auto& [node, count] : group.running) running.emplace(node_name(node), count);
    texts.emplace("members of " + key, fmt::format("{} running {}, {} succeeded",
                                                   group.running_total, running, group.succeeded));
  }
  return texts;
}

std::string Cluster::difference(const Cluster& other) const {
  std::map<std::string, std::string> ours = describe_pods();
  std::map<std::string, std::string> theirs = other.describe_pods();
  const auto add_rows = [](const Cluster& cluster, std::map<std::string, std::string>& texts) {
    for (std::size_t row = 0; row < cluster.rows_.size(); ++row)
      if (cluster.rows_[row].used)
        texts.emplace("node " + cluster.rows_[row].name,
                      cluster.describe_row(static_cast<NodeId>(row)));
  };
  add_rows(*this, ours);
  add_rows(other, theirs);
  for (const auto& [name, text] : theirs) ours.try_emplace(name);
  for (const auto& [name, text] : ours) {
    const auto at = theirs.find(name);
    const std::string said = at == theirs.end() ? std::string() : at->second;
    if (text != said)
      return fmt::format("{}: {}; the other: {}", name, text.empty() ? "unknown here" : text,
                         said.empty() ? "unknown there" : said);
  }
  // Label columns answer for every living node what its object says.
  for (const auto& [key, column] : labels_)
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (!alive_.contains(static_cast<NodeId>(row))) continue;
      const LabelValueId value = column->values[static_cast<NodeId>(row)];
      const std::string& kept = column->names[index_of(value)];
      const std::string* said = api::lookup(rows_[row].node->meta().labels, key);
      if (said == nullptr ? value != LabelValueId::Absent : kept != *said)
        return fmt::format("node {}: label {} is \"{}\" in its column", rows_[row].name, key, kept);
    }
  return {};
}

}  // namespace muster::scheduler
