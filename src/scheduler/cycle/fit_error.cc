#include "scheduler/cycle/fit_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scheduler/cycle/kept_report.h"

namespace muster::scheduler {
namespace {

// Counts refusals by the identity of their reasons first: thousands of nodes share a handful of
// texts.
class Tally {
 public:
  explicit Tally(const Standing& standing) : standing_(standing) {}

  void ask(NodeId node) {
    if (!standing_.narrowing().empty() && !standing_.is_looked_at(node)) {
      ++unseen_;
      return;
    }
    const Standing::Answer answer = standing_.ask(node);
    if (answer.verdict.accepted()) return;
    if (answer.verdict.remedy() == Remedy::Eviction) hopeless_ = false;
    for (const std::string_view reason : answer.verdict.reasons()) count(reason);
    if (std::ranges::find(plugins_, answer.plugin) == plugins_.end())
      plugins_.push_back(answer.plugin);
  }

  Histogram result() const {
    Histogram histogram;
    histogram.hopeless = hopeless_;
    for (const Counted& counted : counts_)
      histogram.reasons[std::string(counted.reason)] += counted.nodes;
    if (unseen_ > 0)
      histogram.reasons[fmt::format("node(s) didn't satisfy plugin(s) [{}]",
                                    fmt::join(standing_.narrowing(), " "))] += unseen_;
    // In the order of the profile, narrowing plugins included.
    for (const Standing::NamedFilter& filter : standing_.filters())
      if (std::ranges::find(plugins_, filter.name) != plugins_.end() ||
          std::ranges::find(standing_.narrowing(), filter.name) != standing_.narrowing().end())
        histogram.plugins.emplace_back(filter.name);
    return histogram;
  }

 private:
  struct Counted {
    std::string_view reason;
    std::int64_t nodes;
  };
  void count(std::string_view reason) {
    for (Counted& counted : counts_)
      if (counted.reason.data() == reason.data() && counted.reason.size() == reason.size()) {
        ++counted.nodes;
        return;
      }
    counts_.push_back({reason, 1});
  }

  const Standing& standing_;
  std::vector<Counted> counts_;
  std::vector<std::string_view> plugins_;
  std::int64_t unseen_ = 0;
  bool hopeless_ = true;
};

Refusal refusal_of(const api::ObjectPtr& pod, const Histogram& histogram, std::size_t nodes) {
  return {pod, histogram.hopeless ? Outcome::Unresolvable : Outcome::Unschedulable,
          histogram.text(nodes), histogram.plugins};
}

std::optional<Refusal> refused_everywhere(const api::ObjectPtr& pod, const Standing& standing,
                                          std::size_t nodes) {
  const auto& everywhere = standing.refused_everywhere();
  if (!everywhere) return std::nullopt;
  Refusal refusal{pod,
                  Outcome::Unresolvable,
                  fmt::format("0/{} nodes are available: {}.", nodes, everywhere->reason),
                  {}};
  if (!everywhere->plugin.empty()) refusal.plugins.emplace_back(everywhere->plugin);
  for (const std::string_view name : standing.narrowing())
    if (name != everywhere->plugin) refusal.plugins.emplace_back(name);
  return refusal;
}

}  // namespace

std::string Histogram::text(std::size_t nodes) const {
  std::vector<std::string> entries;
  entries.reserve(reasons.size());
  for (const auto& [reason, count] : reasons)
    entries.push_back(fmt::format("{} {}", count, reason));
  std::ranges::sort(entries);  // as byte strings: "10 x" before "2 y"
  std::string text = fmt::format("0/{} nodes are available:", nodes);
  if (!entries.empty()) text += fmt::format(" {}.", fmt::join(entries, ", "));
  return text;
}

Histogram why_not(const Standing& standing, const Cluster& cluster) {
  Tally tally(standing);
  cluster.nodes().for_each([&](NodeId node) { tally.ask(node); });
  return tally.result();
}

Histogram why_not(const Standing& standing, std::span<const NodeId> nodes) {
  Tally tally(standing);
  for (const NodeId node : nodes) tally.ask(node);
  return tally.result();
}

Refusal refuse(const api::ObjectPtr& pod, const Standing& standing, Cluster& cluster) {
  const std::size_t nodes = cluster.node_count();
  if (auto refusal = refused_everywhere(pod, standing, nodes)) return std::move(*refusal);
  return refusal_of(pod, why_not_kept(standing, cluster), nodes);
}

Refusal refuse(const api::ObjectPtr& pod, const Standing& standing, std::span<const NodeId> nodes) {
  if (auto refusal = refused_everywhere(pod, standing, nodes.size())) return std::move(*refusal);
  return refusal_of(pod, why_not(standing, nodes), nodes.size());
}

}  // namespace muster::scheduler
