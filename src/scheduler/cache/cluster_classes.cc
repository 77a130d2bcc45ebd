// Classes of pods: interned when first seen, freed when the last user releases them; and how they
// are split when somebody asks something new about pods.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/cache/for_each_resource.h"

namespace muster::scheduler {
namespace {

bool same_text(const std::shared_ptr<const VolumeNeeds>& a,
               const std::shared_ptr<const VolumeNeeds>& b) {
  return a == nullptr || b == nullptr ? a == b : a->text == b->text;
}

template <typename Id>
std::uint64_t mixed(std::uint64_t hash, std::span<const Id> ids) {
  for (const Id id : ids) hash = (std::rotl(hash, 23) ^ (index_of(id) + 1)) * 0x9e3779b97f4a7c15ULL;
  return hash;
}

std::string_view controller_of(const api::ObjectMeta& pod) {
  const auto at = std::ranges::find(pod.owners, true, &api::OwnerReference::controller);
  return at == pod.owners.end() ? std::string_view() : at->uid;
}
bool have_one_controller(const api::ObjectMeta& a, const api::ObjectMeta& b) {
  return controller_of(a) == controller_of(b);
}

}  // namespace

const PodClass& Cluster::class_of(const api::ObjectPtr& pod, Part part) {
  // Whom do those ask for that run already? From now on we know it of every pod.
  if (asking_pods_ > 0 && !followed_->on) follow_pods();
  const auto& view = pod->view<api::PodView>();
  const std::vector<TermId> terms = intern_terms(*pod, part);
  refresh_kept_classes();
  const std::vector<TermId> matches =
      terms_->empty() ? std::vector<TermId>() : terms_->matching(pod->meta(), namespaces_);
  const std::vector<ImageId> images = images_of(view);
  std::uint64_t hash =
      mixed<ImageId>(mixed<TermId>(mixed<TermId>(view.needs_hash, terms), matches), images);
  std::shared_ptr<const VolumeNeeds> volumes;
  if (!view.claims.empty() || !view.needs.disks.empty()) {
    volumes = volumes_.resolve(*pod);
    hash ^= TextHash{}(volumes->text);
  }
  std::vector<ClassId>& candidates = classes_->by_hash[hash];
  for (const ClassId id : candidates) {
    const PodClass& known = *classes_->by_id[index_of(id)];
    ResourceId column{};
    if (known.terms == terms && known.matches == matches && known.images == images &&
        *known.needs == view.needs && same_text(known.volumes, volumes) &&
        std::ranges::none_of(known.missing,
                             [&](std::string_view name) { return find_resource(name, column); }))
      return known;
  }

  auto made = std::make_unique<PodClass>();
  made->sample = pod;
  made->needs = &view.needs;
  made->hash = hash;
  made->volumes = std::move(volumes);
  made->terms = terms;
  if (terms.size() > view.needs.pod_terms.size() + view.needs.spread.size())
    made->default_term = terms.back();
  made->matches = matches;
  made->images = images;
  const auto add = [&](std::vector<PodClass::Want>& list, std::string_view name,
                       std::int64_t amount) {
    if (ResourceId id{}; find_resource(name, id))
      list.push_back({id, amount});
    else if (std::ranges::find(made->missing, name) == made->missing.end())
      made->missing.push_back(name);
  };
  for_each_resource(view.needs.requests, [&](std::string_view name, std::int64_t amount) {
    if (amount > 0) add(made->wants, name, amount);
  });
  for_each_resource(view.needs.usage, [&](std::string_view name, std::int64_t amount) {
    if (amount != 0) add(made->usage, name, amount);
  });
  watch_labels_of(*made);
  for (const auto* list : {&made->wants, &made->usage})
    for (const PodClass::Want& want : *list) resources_.use(want.resource);
  for (const TermId term : terms) terms_->use(term);

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

std::uint64_t Cluster::class_hash(const api::Object& pod) {
  if (asking_pods_ > 0 && !followed_->on) follow_pods();
  const auto& view = pod.view<api::PodView>();
  std::uint64_t hash = view.needs_hash;
  if (!terms_->empty()) hash = mixed<TermId>(hash, terms_->matching(pod.meta(), namespaces_));
  const auto mix_text = [&hash](std::string_view text) {
    for (const char letter : text)
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  };
  // What it asks itself depends on its namespace, and on the labels that its selectors mention.
  for (const Term& term : terms_of(pod, Part::Asks)) {
    for (const std::string& name : term.namespaces) mix_text(name);
    for (const api::NodeRequirement& test : term.selector.tests)
      if (const std::string* value = api::lookup(pod.meta().labels, test.key)) mix_text(*value);
  }
  return hash == 0 ? 1 : hash;
}

bool Cluster::are_alike(const api::Object& a, const api::Object& b) const {
  const auto& first = a.view<api::PodView>();
  const auto& second = b.view<api::PodView>();
  if (first.needs_hash != second.needs_hash || first.needs != second.needs) return false;
  if (!images_.empty() && first.images != second.images) return false;
  const bool may_belong_together = !default_spread_keys_.empty() && !selectors_.empty();
  if (asking_pods_ == 0 && terms_->empty() && !may_belong_together) return true;
  if (may_belong_together && !have_one_controller(a.meta(), b.meta())) return false;
  return a.meta().name_space == b.meta().name_space && a.meta().labels == b.meta().labels;
}

void Cluster::release_class(ClassId id) {
  CHECK(classes_->by_id[index_of(id)]->users > 0);
  if (--classes_->by_id[index_of(id)]->users > 0) return;
  const std::unique_ptr<PodClass> gone = std::move(classes_->by_id[index_of(id)]);
  const auto at = classes_->by_hash.find(gone->hash);
  std::erase(at->second, id);
  if (at->second.empty()) classes_->by_hash.erase(at);
  classes_->free.push_back(id);
  unwatch_labels_of(*gone);
  for (const auto* list : {&gone->wants, &gone->usage})
    for (const PodClass::Want& want : *list) resources_.release(want.resource);
  for (const TermId term : gone->terms) terms_->release(term);
}

// --- what classes ask about pods ---

// The pods that belong together with one that says nothing of spreading itself.
std::optional<Term> Cluster::default_term_of(const api::Object& pod) const {
  if (default_spread_keys_.empty() || selectors_.empty() ||
      !pod.view<api::PodView>().needs.spread.empty())
    return std::nullopt;
  api::PodSelector selector = selectors_.selector_of(pod.meta());
  if (selector.is_null) return std::nullopt;
  Term term;
  term.namespaces.push_back(pod.meta().name_space);
  term.selector = std::move(selector);
  return term;
}

std::vector<Term> Cluster::terms_of(const api::Object& pod, Part part) const {
  std::vector<Term> terms = resolve_terms(pod.meta(), pod.view<api::PodView>().needs);
  if (part == Part::IsCounted) return terms;
  if (std::optional<Term> together = default_term_of(pod)) terms.push_back(std::move(*together));
  return terms;
}

std::vector<TermId> Cluster::intern_terms(const api::Object& pod, Part part) {
  std::vector<TermId> ids;
  // Most pods ask nothing about others.
  const api::PodNeeds& needs = pod.view<api::PodView>().needs;
  const bool may_belong_together =
      part == Part::Asks && !default_spread_keys_.empty() && !selectors_.empty();
  if (needs.pod_terms.empty() && needs.spread.empty() && !may_belong_together) return ids;
  std::vector<TermId> added;
  for (const Term& term : terms_of(pod, part)) {
    const TermBook::Found found = terms_->intern(term);
    ids.push_back(found.id);
    if (found.is_new) added.push_back(found.id);
  }
  if (!added.empty()) {
    ++*term_epoch_;
    refine(added);
  }
  return ids;
}

// Pods on nodes that match a new term get a class of their own. Those who counted them under their
// old class know nothing of the new term, and what else they ask is answered alike by both: nothing
// needs to be logged for them. What pods on nodes ask themselves was interned when they came: no
// class is split in the middle of this.
//
// Pods of one class that match the same of the new terms are of one class again, which is found
// once for all of them. Claims may have changed since; pods that have some are looked up one by
// one.
void Cluster::refine(std::span<const TermId> added) {
  if (!followed_->on) return;
  std::vector<const api::Object*> candidates;
  for (const TermId id : added)
    for (const api::Object* pod : pod_labels().candidates(*find_term(id), namespaces_))
      if (terms_->matches(id, pod->meta(), namespaces_)) candidates.push_back(pod);
  if (candidates.empty()) return;
  std::ranges::sort(candidates);
  const auto repeated = std::ranges::unique(candidates);
  candidates.erase(repeated.begin(), repeated.end());
  std::map<std::pair<ClassId, std::vector<TermId>>, ClassId> found;
  for (PodRecord* record : records_of(candidates)) {
    std::vector<TermId> matched;
    for (const TermId id : added)
      if (terms_->matches(id, record->pod->meta(), namespaces_)) matched.push_back(id);
    const bool has_volumes = pod_class(record->pods).volumes != nullptr;
    auto at = found.find({record->pods, matched});
    if (at == found.end() || has_volumes)
      at = found
               .insert_or_assign({record->pods, std::move(matched)},
                                 counted_class_of(record->pod).id)
               .first;
    reclass(*record, at->second);
  }
}

// --- namespaces ---

bool Cluster::set_namespace(const api::Object& name_space) {
  const api::ObjectMeta& meta = name_space.meta();
  api::StringPairs& labels = namespaces_[meta.name];
  if (labels == meta.labels) return false;
  labels = meta.labels;
  reclass_namespace(meta.name);
  return terms_->reads_namespaces();
}

void Cluster::remove_namespace(std::string_view name) {
  const auto at = namespaces_.find(name);
  if (at == namespaces_.end()) return;
  namespaces_.erase(at);
  reclass_namespace(name);
}

// Here what is asked already gets another answer: for those who count, the pods leave and come
// back as others.
void Cluster::reclass_namespace(std::string_view name) {
  kept_classes_->terms_seen.reset();
  if (!followed_->on || !terms_->reads_namespaces()) return;
  for (PodRecord* record : records_of(pod_labels().in_namespace(name))) {
    const ClassId to = counted_class_of(record->pod).id;
    if (to == record->pods) continue;
    log_pod({.pods = record->pods, .node = record->node, .came = false});
    reclass(*record, to);
    log_pod({.pods = record->pods, .node = record->node, .came = true});
  }
}

}  // namespace muster::scheduler
