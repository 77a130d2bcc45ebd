#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/scenario/stage.h"

namespace muster::sim {

// What must hold after every step of every scenario, asked for or not:
// - no gang is partly bound before its first admission, nor a tree with too few of its groups;
// - no node is overcommitted;
// - pods that were bound for a group with a topology key share one value of it;
// - …InitiallyScheduled never goes from True to False;
// - every pending pod is in exactly one place of the queue;
// - the scheduler's table of the cluster is the one
//   that a fresh start would build.
class Invariants {
 public:
  // What is broken, a sentence each.
  std::vector<std::string> broken(const Stage& stage);

 private:
  void remember(const Stage& stage);
  void check_nodes(const Stage& stage);
  void check_conditions(const Stage& stage);
  void check_domains(const Stage& stage);
  void check_gangs(const Stage& stage);

  std::vector<std::string> found_;
  std::vector<api::ObjectPtr> pods_;
  std::vector<api::ObjectPtr> groups_;                  // leaves and composites
  std::map<std::string, api::ObjectPtr> node_at_bind_;  // by pod uid, of pods we saw bound
  std::set<std::string> admitted_;                      // by group uid
  std::set<std::string> once_true_;                     // likewise
};

}  // namespace muster::sim
