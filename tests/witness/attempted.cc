#include "witness/attempted.h"

#include "scheduler/framework/standings.h"
#include "scheduler/placement/workspace.h"

namespace muster::scheduler::witness {

Attempted attempt(const Objects& objects, Cluster& cluster, const Profile& profile,
                  PlacementOptions options, const Look& look) {
  const GroupTree tree(objects.root, cluster, Standings::of(cluster, profile));
  Workspace workspace(cluster, *tree.topology, tree.standings);
  Placer placer(tree, workspace, options);
  Attempted attempted;
  attempted.answer = placer.run();
  attempted.steps = placer.steps();
  attempted.is_budget_spent = placer.is_budget_spent();
  for (const Draft::Move& move : workspace.draft().moves())
    attempted.placed[tree.members[move.tag].pending->pod->meta().name] =
        cluster.node_name(move.node);
  for (std::uint32_t id = 0; id < tree.items.size(); ++id) {
    const GroupTree::Item& item = tree.items[id];
    if (attempted.answer == SearchResult::Feasible && placer.is_placed(id))
      attempted.ready[item.group->key.name] = item.key ? placer.domain(id).name : "";
    if (placer.is_unresolved(id)) attempted.unresolved.insert(item.group->key.name);
  }
  if (look) look(tree, placer, attempted);
  return attempted;
}

}  // namespace muster::scheduler::witness
