#include "explain/relax.h"

namespace muster::explain {

std::vector<Relaxation> relaxations(Trial& trial) {
  std::vector<Relaxation> found;
  lower_minimums(trial, found);
  widen_topology(trial, found);
  widen_placements(trial, found);
  open_nodes(trial, found);
  add_nodes(trial, found);
  let_others_finish(trial, found);
  return found;
}

}  // namespace muster::explain
