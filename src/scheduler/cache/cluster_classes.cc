// Classes of pods: interned when first seen, freed when the last user releases them.
#include "base/check.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/cache/for_each_resource.h"

namespace muster::scheduler {
namespace {

bool same_text(const std::shared_ptr<const VolumeNeeds>& a,
               const std::shared_ptr<const VolumeNeeds>& b) {
  return a == nullptr || b == nullptr ? a == b : a->text == b->text;
}

}  // namespace

const PodClass& Cluster::class_of(const api::ObjectPtr& pod) {
  const auto& view = pod->view<api::PodView>();
  std::shared_ptr<const VolumeNeeds> volumes;
  std::uint64_t hash = view.needs_hash;
  if (!view.claims.empty() || !view.needs.disks.empty()) {
    volumes = volumes_.resolve(*pod);
    hash ^= TextHash{}(volumes->text);
  }
  std::vector<ClassId>& candidates = classes_->by_hash[hash];
  for (const ClassId id : candidates) {
    const PodClass& known = *classes_->by_id[index_of(id)];
    if (*known.needs == view.needs && same_text(known.volumes, volumes)) return known;
  }

  auto made = std::make_unique<PodClass>();
  made->sample = pod;
  made->needs = &view.needs;
  made->hash = hash;
  if (volumes != nullptr)
    for (const std::string& key : volumes->label_keys) watch_label(key);
  made->volumes = std::move(volumes);
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
  const auto at = classes_->by_hash.find(gone->hash);
  std::erase(at->second, id);
  if (at->second.empty()) classes_->by_hash.erase(at);
  classes_->free.push_back(id);
}

}  // namespace muster::scheduler
