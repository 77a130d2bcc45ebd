#pragma once

#include <string>
#include <vector>

#include "explain/objects.h"
#include "explain/tree.h"

namespace muster::explain {

// A sentence for each label that the groups of a tree or the pods ask for but no node has, with
// what was perhaps meant: "no node has the label gpu=h200; gpu is h100 on 32 nodes". No full
// stops. `tree` may be null.
std::vector<std::string> missing_labels(const scheduler::ClusterModel& model, const Tree* tree,
                                        const std::vector<api::ObjectPtr>& pods);

}  // namespace muster::explain
