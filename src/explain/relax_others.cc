#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/views/pod_view.h"
#include "explain/relax.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;
using scheduler::GroupKey;

constexpr std::size_t kSinglesMax = 30;
constexpr std::size_t kPlacesMax = 3;
constexpr std::size_t kNamesMax = 3;

// Pods that finish together: a tree of groups, or a pod alone.
struct Job {
  std::string name;
  Edits pods;  // gone
};

// The pods that run now and are worth no more than the target, by who they belong to; small ones
// first.
std::vector<Job> jobs_that_run(Trial& trial, const std::set<std::string>* on_nodes) {
  const scheduler::WorkloadForest& forest = trial.model().forest();
  const scheduler::GroupSpec* own =
      trial.target().group ? forest.root_of(*trial.target().group) : nullptr;
  std::map<std::string, Job> jobs;
  for (const ObjectPtr& pod : trial.model().running()) {
    const auto& view = pod->view<api::PodView>();
    if (view.priority > trial.priority()) continue;
    if (on_nodes != nullptr && !on_nodes->contains(view.node_name)) continue;
    const std::optional<GroupKey> leaf = trial.model().leaf_of(*pod);
    const scheduler::GroupSpec* root = leaf ? forest.root_of(*leaf) : nullptr;
    if (root != nullptr && root == own) continue;
    const std::string key =
        root != nullptr ? name_of(root->key) : "pod " + api::key_text(pod->meta());
    Job& job = jobs[key];
    const Naming& naming = trial.naming();
    job.name = root != nullptr ? naming.group(root->key) : naming.pod(pod->meta());
    job.pods.push_back({pod, nullptr});
  }
  std::vector<Job> sorted;
  for (auto& [name, job] : jobs) sorted.push_back(std::move(job));
  std::ranges::stable_sort(sorted, {}, [](const Job& job) { return job.pods.size(); });
  return sorted;
}

Relaxation relaxation_of(const std::vector<Job>& jobs, std::string domain, Edits edits) {
  std::vector<std::string> names;
  for (const Job& job : jobs)
    if (names.size() < kNamesMax) names.push_back(job.name);
  const auto pods = static_cast<std::int64_t>(edits.size());
  const std::string more =
      jobs.size() > kNamesMax ? fmt::format(" and {} others", jobs.size() - kNamesMax) : "";
  return {.kind = RelaxationKind::OthersFinish,
          .sentence = fmt::format("wait until {}{} {} finished ({} that {} now)",
                                  fmt::join(names, ", "), more, jobs.size() == 1 ? "has" : "have",
                                  count_of(pods, "pod"), pods == 1 ? "runs" : "run"),
          .command = "",
          .amount = pods,
          .domain = std::move(domain),
          .edits = std::move(edits)};
}

bool one_finishes(Trial& trial, const std::vector<Job>& jobs, std::vector<Relaxation>& out) {
  for (std::size_t i = 0; i < jobs.size() && i < kSinglesMax; ++i)
    if (std::optional<std::string> domain = trial.fits_in_room(jobs[i].pods)) {
      out.push_back(relaxation_of({jobs[i]}, *std::move(domain), jobs[i].pods));
      return true;
    }
  return false;
}

bool several_finish(Trial& trial, const std::vector<Job>& jobs, std::vector<Relaxation>& out) {
  std::vector<Edits> parts;
  for (const Job& job : jobs) parts.push_back(job.pods);
  if (parts.empty() || !trial.fits_in_room(joined(parts))) return false;
  parts = trial.essential(std::move(parts));
  std::vector<Job> needed;
  for (const Job& job : jobs)
    if (std::ranges::any_of(parts, [&](const Edits& part) {
          return part.front().before == job.pods.front().before;
        }))
      needed.push_back(job);
  Edits edits = joined(parts);
  std::optional<std::string> domain = trial.fits_in_room(edits);
  if (!domain) return false;
  out.push_back(relaxation_of(needed, *std::move(domain), std::move(edits)));
  return true;
}

}  // namespace

void let_others_finish(Trial& trial, std::vector<Relaxation>& out) {
  const std::vector<Job> all = jobs_that_run(trial, nullptr);
  if (all.empty() || one_finishes(trial, all, out)) return;
  for (const Trial::Place& place : trial.places(kPlacesMax)) {
    std::set<std::string> nodes;
    for (const ObjectPtr& node : place.nodes) nodes.insert(node->meta().name);
    if (several_finish(trial, jobs_that_run(trial, &nodes), out)) return;
  }
  several_finish(trial, all, out);
}

}  // namespace muster::explain
