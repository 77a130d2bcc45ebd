#include "scheduler/cycle/why_not.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

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

}  // namespace muster::scheduler
