#include "scheduler/cycle/kept_report.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <list>
#include <string>
#include <vector>

namespace muster::scheduler {
namespace {

constexpr char kSlot = 0;               // its address is the key beside the cluster
constexpr std::size_t kReportsMax = 8;  // classes
constexpr std::size_t kKindsMax = 256;  // ways in which nodes refuse

class KeptReport {
 public:
  explicit KeptReport(const Standing& standing)
      : class_(standing.pods().id),
        sample_(standing.pods().sample),
        profile_(standing.profile().identity()) {}

  // Numbers of classes are given again; a pod that is kept alive here is not.
  bool is_of(const Standing& standing) const {
    return class_ == standing.pods().id && sample_ == standing.pods().sample &&
           profile_ == standing.profile().identity();
  }

  // False if nodes refuse in too many ways to keep them.
  bool catch_up(const Standing& standing, const Cluster& cluster) {
    const RowLog& log = cluster.log();
    // To find that out again costs about as much as those changes did.
    if (gave_up_ && log.reaches(seen_) && log.end() - seen_ <= cluster.rows()) return false;
    const bool is_far_behind = log.end() - seen_ > cluster.rows() / 2 + 16;
    const bool starts_over = gave_up_ || kind_of_.size() != cluster.rows() || !log.reaches(seen_) ||
                             is_far_behind || kinds_.size() > kKindsMax;
    if (starts_over) {
      clear();
      kind_of_.assign(cluster.rows(), 0);
      cluster.nodes().for_each([&](NodeId node) {
        if (kinds_.size() <= kKindsMax) ask(standing, cluster, node);
      });
    } else {
      for (; seen_ < log.end(); ++seen_)
        if (!log.is_outdated(seen_)) ask(standing, cluster, log.at(seen_).node);
    }
    seen_ = log.end();
    gave_up_ = starts_over && kinds_.size() > kKindsMax;
    if (gave_up_) clear();
    return !gave_up_;
  }

  Histogram histogram(const Standing& standing) const {
    Histogram histogram;
    const auto refuses = [this](std::string_view plugin) {
      return std::ranges::any_of(
          kinds_, [&](const Kind& kind) { return kind.nodes > 0 && kind.plugin == plugin; });
    };
    for (std::size_t k = 1; k < kinds_.size(); ++k) {
      const Kind& kind = kinds_[k];
      if (kind.nodes == 0) continue;
      for (const std::string& reason : kind.reasons) histogram.reasons[reason] += kind.nodes;
      if (kind.remedy == Remedy::Eviction) histogram.hopeless = false;
    }
    for (const Standing::NamedFilter& filter : standing.filters())
      if (refuses(filter.name)) histogram.plugins.emplace_back(filter.name);
    return histogram;
  }

 private:
  // A way to refuse, and how many nodes do so.
  struct Kind {
    std::vector<std::string> reasons = {};
    std::string plugin = {};
    Remedy remedy = Remedy::Eviction;
    std::int64_t nodes = 0;
  };

  void ask(const Standing& standing, const Cluster& cluster, NodeId node) {
    const std::size_t kind = cluster.nodes().contains(node) ? kind_of(standing.ask(node)) : 0;
    std::uint32_t& known = kind_of_[index_of(node)];
    --kinds_[known].nodes;
    ++kinds_[kind].nodes;
    known = static_cast<std::uint32_t>(kind);
  }

  std::size_t kind_of(const Standing::Answer& answer) {
    if (answer.verdict.accepted()) return 0;
    std::string key(1, static_cast<char>(answer.verdict.remedy()));
    key += answer.plugin;
    for (const auto& reason : answer.verdict.reasons()) (key += '\0') += reason;
    const auto [at, is_new] = numbers_.try_emplace(std::move(key), kinds_.size());
    if (is_new)
      kinds_.push_back(
          {.reasons = {answer.verdict.reasons().begin(), answer.verdict.reasons().end()},
           .plugin = std::string(answer.plugin),
           .remedy = answer.verdict.remedy()});
    return at->second;
  }

  void clear() {
    kinds_.assign(1, {});  // the first stands for nodes that accept, and rows without a node
    numbers_.clear();
    kind_of_.clear();
  }

  ClassId class_;
  api::ObjectPtr sample_;
  const void* profile_;
  std::uint64_t seen_ = 0;  // the row log was read up to here
  bool gave_up_ = false;
  std::vector<Kind> kinds_;                                      // few
  boost::unordered_flat_map<std::string, std::size_t> numbers_;  // of kinds; never iterated
  std::vector<std::uint32_t> kind_of_;                           // by row
};

struct KeptReports final : Cluster::Derived {
  std::list<KeptReport> reports;  // the last used first
};

// Whether a node's answer depends on its row alone, and all nodes are asked.
bool can_be_kept(const Standing& standing) {
  return !standing.follows_moves() && standing.narrowing().empty() &&
         standing.pods().volumes == nullptr;
}

}  // namespace

Histogram why_not_kept(const Standing& standing, Cluster& cluster) {
  if (!can_be_kept(standing)) return why_not(standing, cluster);
  std::unique_ptr<Cluster::Derived>& slot = cluster.derived(&kSlot);
  if (slot == nullptr) slot = std::make_unique<KeptReports>();
  std::list<KeptReport>& reports = static_cast<KeptReports&>(*slot).reports;
  const auto known = std::ranges::find_if(
      reports, [&standing](const KeptReport& report) { return report.is_of(standing); });
  if (known != reports.end())
    reports.splice(reports.begin(), reports, known);
  else
    reports.emplace_front(standing);
  if (reports.size() > kReportsMax) reports.pop_back();
  if (!reports.front().catch_up(standing, cluster)) return why_not(standing, cluster);
  return reports.front().histogram(standing);
}

}  // namespace muster::scheduler
