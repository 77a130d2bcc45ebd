// Classes of pods: interned when first seen, freed when the last user releases them.
#include "base/check.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/cache/for_each_resource.h"

namespace muster::scheduler {

const PodClass& Cluster::class_of(const api::ObjectPtr& pod) {
  const auto& view = pod->view<api::PodView>();
  std::vector<ClassId>& candidates = classes_->by_hash[view.needs_hash];
  for (const ClassId id : candidates)
    if (*classes_->by_id[index_of(id)]->needs == view.needs) return *classes_->by_id[index_of(id)];

  auto made = std::make_unique<PodClass>();
  made->sample = pod;
  made->needs = &view.needs;
  for_each_resource(view.needs.requests, [&](std::string_view name, std::int64_t amount) {
    if (amount > 0) made->wants.push_back({resource_id(name), amount});
  });
  for_each_resource(view.needs.usage, [&](std::string_view name, std::int64_t amount) {
    if (amount != 0) made->usage.push_back({resource_id(name), amount});
  });
  for (const auto& [key, value] : view.needs.node_selector) watch_label(key);
  const auto watch_term = [&](const api::NodeSelectorTerm& term) {
    for (const api::NodeRequirement& requirement : term.expressions) watch_label(requirement.key);
  };
  for (const api::NodeSelectorTerm& term : view.needs.required) watch_term(term);
  for (const api::PreferredNodeTerm& preferred : view.needs.preferred) watch_term(preferred.term);

  if (classes_->free.empty()) {
    made->id = static_cast<ClassId>(classes_->by_id.size());
    classes_->by_id.emplace_back();
  } else {
    made->id = classes_->free.back();
    classes_->free.pop_back();
  }
  candidates.push_back(made->id);
  std::unique_ptr<PodClass>& slot = classes_->by_id[index_of(made->id)];
  slot = std::move(made);
  return *slot;
}

void Cluster::release_class(ClassId id) {
  CHECK(classes_->by_id[index_of(id)]->users > 0);
  if (--classes_->by_id[index_of(id)]->users > 0) return;
  const std::unique_ptr<PodClass> gone = std::move(classes_->by_id[index_of(id)]);
  const auto at = classes_->by_hash.find(gone->sample->view<api::PodView>().needs_hash);
  std::erase(at->second, id);
  if (at->second.empty()) classes_->by_hash.erase(at);
  classes_->free.push_back(id);
}

}  // namespace muster::scheduler
