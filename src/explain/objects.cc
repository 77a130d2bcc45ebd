#include "explain/objects.h"

#include <ranges>

namespace muster::explain {
namespace {

void replace(scheduler::ClusterModel& model, const api::ObjectPtr& from, const api::ObjectPtr& to) {
  if (to != nullptr)
    model.put(to);
  else if (from != nullptr)
    model.remove(*from);
}

}  // namespace

std::unique_ptr<scheduler::ClusterModel> model_of(const Objects& objects,
                                                  const scheduler::Profiles& profiles,
                                                  const scheduler::ModelOptions& options) {
  auto model = std::make_unique<scheduler::ClusterModel>(profiles, options);
  for (const auto* list : {&objects.nodes, &objects.storage, &objects.namespaces,
                           &objects.workloads, &objects.groups, &objects.pods})
    for (const api::ObjectPtr& object : *list) model->put(object);
  // By now the scheduler has compared trees that wait for long with their Workloads.
  for (const scheduler::GroupKey& root : model->roots())
    if (const auto due = model->comparison_due(root, objects.read_at);
        due && *due <= objects.read_at)
      model->compare(root);
  return model;
}

void apply(scheduler::ClusterModel& model, const Edits& edits) {
  for (const Edit& edit : edits) replace(model, edit.before, edit.after);
}

void revert(scheduler::ClusterModel& model, const Edits& edits) {
  for (const Edit& edit : std::views::reverse(edits)) replace(model, edit.after, edit.before);
}

}  // namespace muster::explain
