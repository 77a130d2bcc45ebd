#include "explain/owner_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "explain/tree.h"
#include "explain/trial.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

using scheduler::ClusterModel;
using scheduler::GroupKey;

constexpr std::size_t kTreesShown = 24;
// To know how one that waits stands costs an attempt.
constexpr std::size_t kAttemptsBeside = 8;

// Those beside the first one that are shown, in their order.
std::vector<GroupKey> shown_beside(const ClusterModel& model, const OwnerTrees& trees) {
  std::set<std::size_t> shown;
  for (const bool waits : {true, false}) {
    const std::size_t most = waits ? kAttemptsBeside : kTreesShown - 1;
    for (std::size_t at = 0; at < trees.roots.size() && shown.size() < most; ++at)
      if (trees.roots[at] != trees.first && holds_minimum(model, trees.roots[at]) != waits)
        shown.insert(at);
  }
  std::vector<GroupKey> out;
  for (const std::size_t at : shown) out.push_back(trees.roots[at]);
  return out;
}

std::string headline(const WorkloadOwner& owner, const OwnerLine& line) {
  const std::string name = fmt::format("{} {}/{}", owner.kind, owner.name_space, owner.name);
  if (line.scheduled == line.groups)
    return fmt::format("{} is scheduled: all of its {} are.", name, count_of(line.groups, "group"));
  return fmt::format("{}: {} of {} {} scheduled.", name, line.scheduled,
                     count_of(line.groups, "group"), line.scheduled == 1 ? "is" : "are");
}

}  // namespace

OwnerTrees owner_trees(const ClusterModel& model, const WorkloadOwner& owner,
                       const std::vector<GroupKey>& groups) {
  OwnerTrees out;
  out.line = {.kind = owner.kind, .name = owner.name};
  std::set<GroupKey> seen;
  for (const GroupKey& group : groups) {
    const scheduler::GroupSpec* top = model.forest().root_of(group);
    const GroupKey root = top == nullptr ? group : top->key;
    if (seen.insert(root).second) out.roots.push_back(root);
  }
  out.line.groups = std::ssize(out.roots);
  out.first = out.roots.front();
  bool found = false;
  for (const GroupKey& root : out.roots) {
    if (holds_minimum(model, root)) {
      ++out.line.scheduled;
    } else if (!found) {
      out.first = root;
      found = true;
    }
  }
  return out;
}

void add_picture(ClusterModel& model, const WorkloadOwner& owner, OwnerTrees trees, Time now,
                 Explanation& about) {
  about.kind = owner.kind;
  about.name = owner.name;
  if (trees.roots.size() > 1)
    about.sentence = trees.line.scheduled == trees.line.groups
                         ? headline(owner, trees.line)
                         : headline(owner, trees.line) + " " + about.sentence;
  std::map<GroupKey, std::vector<Level>> levels;
  levels.emplace(trees.first, std::move(about.tree));
  for (const GroupKey& root : shown_beside(model, trees)) {
    std::vector<Level>& beside = levels[root] = read_tree(model, root, now).levels;
    for (Level& level : beside) {
      level.is_subject = false;
      level.closest.clear();  // said of the first alone
    }
  }
  about.tree.clear();
  for (const GroupKey& root : trees.roots)
    if (const auto shown = levels.find(root); shown != levels.end())
      std::ranges::move(shown->second, std::back_inserter(about.tree));
  trees.line.left_out = trees.line.groups - std::ssize(levels);
  about.owner = std::move(trees.line);
}

}  // namespace muster::explain
