// Classes of pods: interned when first seen, freed when the last user releases them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "scheduler/cache/cluster.h"
#include "scheduler/cache/for_each_resource.h"

namespace muster::scheduler {
namespace {

bool same_text(const std::shared_ptr<const VolumeNeeds>& a,
               const std::shared_ptr<const VolumeNeeds>& b) {
  return a == nullptr || b == nullptr ? a == b : a->text == b->text;
}

// Added up, so that the hash of a class can follow what is asked about it.
std::uint64_t hash_of(TermId match) {
  std::uint64_t hash = (index_of(match) + 1) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  return hash ^ (hash >> 31);
}

template <typename Id>
std::uint64_t mixed(std::uint64_t hash, std::span<const Id> ids) {
  for (const Id id : ids) hash = (std::rotl(hash, 23) ^ (index_of(id) + 1)) * 0x9e3779b97f4a7c15ULL;
  return hash;
}

std::uint64_t hash_of(const PodClass& made, std::uint64_t needs_hash) {
  std::uint64_t hash = mixed<ImageId>(mixed<TermId>(needs_hash, made.terms), made.images);
  if (made.is_counted) hash = ~hash;
  if (!made.node_name.empty()) hash ^= TextHash{}(made.node_name);
  if (made.volumes != nullptr) hash ^= TextHash{}(made.volumes->text);
  for (const TermId match : made.matches) hash += hash_of(match);
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
  // If running pods ask about others, what matches them is tracked for every class from now on.
  if (asking_pods_ > 0 && !followed_->on) follow_pods();
  const Asked asked = use_terms(*pod, part);
  refresh_nominated_classes();
  const PodClass& found = class_of(pod, part, asked);
  for (const TermId term : asked.terms) terms_->release(term);
  return found;
}

const PodClass& Cluster::class_of(const api::ObjectPtr& pod, Part part, const Asked& asked) {
  PodClass made = begin_class(*pod, part);
  made.terms = asked.terms;
  if (!terms_->empty()) made.matches = terms_->matching(pod->meta(), namespaces_);
  if (asked.excess != Excess::None) ask_nothing(*pod, asked.excess, made);
  made.hash = hash_of(made, pod->view<api::PodView>().needs_hash);
  if (const PodClass* known = find_class(made)) return *known;
  if (!made.matches.empty() && !has_room(made.matches)) return left_out_class(pod, part);
  return finish_class(std::move(made), pod);
}

// The class of a pod whose matches are not kept: nobody counts it, and it asks nothing.
const PodClass& Cluster::left_out_class(const api::ObjectPtr& pod, Part part) {
  PodClass made = begin_class(*pod, part);
  made.is_left_out = true;
  ask_nothing(*pod, Excess::OfMatches, made);
  made.hash = hash_of(made, pod->view<api::PodView>().needs_hash);
  if (const PodClass* known = find_class(made)) return *known;
  return finish_class(std::move(made), pod);
}

// All that makes it different, but for what it asks about others and others about it.
PodClass Cluster::begin_class(const api::Object& pod, Part part) const {
  const auto& view = pod.view<api::PodView>();
  PodClass made;
  made.is_counted = part == Part::IsCounted;
  if (!made.is_counted) {
    made.node_name = view.node_name;
    made.images = images_of(view);
  }
  if (!view.claims.empty() || !view.needs.disks.empty()) made.volumes = volumes_.resolve(pod);
  made.needs = &view.needs;
  return made;
}

// For pods that ask more about others than is judged, or whose namespace does: nobody pays for what
// they ask but themselves.
void Cluster::ask_nothing(const api::Object& pod, Excess excess, PodClass& made) const {
  const api::PodNeeds& needs = pod.view<api::PodView>().needs;
  auto left = std::make_shared<api::PodNeeds>(needs);
  left->pod_terms.clear();
  left->spread.clear();
  made.needs_left = std::move(left);
  made.needs = made.needs_left.get();
  if (made.is_counted) return;
  switch (excess) {
    case Excess::None: break;
    case Excess::OfPod:
      made.refusal = fmt::format(
          "the pod has {} terms of pod affinity and topology spread constraints, at most {} are "
          "judged",
          needs.pod_terms.size() + needs.spread.size(), kTermsMax);
      break;
    case Excess::OfForeignTerms:
      made.refusal = fmt::format(
          "pods of namespace {} have too many different terms of pod affinity about pods of other "
          "namespaces, at most {} are judged",
          pod.meta().name_space, term_limits_.foreign_terms);
      break;
    case Excess::OfMatches:
      made.refusal = fmt::format(
          "terms of pod affinity and topology spread constraints in namespace {} match too many "
          "kinds of its pods, at most {} matches are judged",
          pod.meta().name_space, term_limits_.matches);
      break;
  }
}

// What follows from what makes it different.
const PodClass& Cluster::finish_class(PodClass&& made, const api::ObjectPtr& pod) {
  const auto& view = pod->view<api::PodView>();
  made.sample = pod;
  if (const std::vector<TermId>& terms = made.terms;
      terms.size() > made.needs->pod_terms.size() + made.needs->spread.size())
    made.default_term = terms.back();
  const auto add = [&](std::vector<PodClass::Want>& list, std::string_view name,
                       std::int64_t amount) {
    if (ResourceId id{}; find_resource(name, id))
      list.push_back({id, amount});
    else if (std::ranges::find(made.missing, name) == made.missing.end())
      made.missing.push_back(name);
  };
  for_each_resource(view.needs.requests, [&](std::string_view name, std::int64_t amount) {
    if (amount > 0) add(made.wants, name, amount);
  });
  for_each_resource(view.needs.usage, [&](std::string_view name, std::int64_t amount) {
    if (amount != 0) add(made.usage, name, amount);
  });
  made.labels = labels_of(made);
  return store_class(std::make_unique<PodClass>(std::move(made)));
}

// The existing class that equals `made`; null if there is none.
const PodClass* Cluster::find_class(const PodClass& made) const {
  const auto at = classes_->by_hash.find(made.hash);
  if (at == classes_->by_hash.end()) return nullptr;
  const auto has_columns = [this](std::string_view name) {
    ResourceId column{};
    return find_resource(name, column);
  };
  for (const ClassId id : at->second) {
    const PodClass& known = pod_class(id);
    if (known.is_counted == made.is_counted && known.terms == made.terms &&
        known.matches == made.matches && known.images == made.images &&
        known.node_name == made.node_name && known.refusal == made.refusal &&
        known.is_left_out == made.is_left_out && *known.needs == *made.needs &&
        same_text(known.volumes, made.volumes) && std::ranges::none_of(known.missing, has_columns))
      return &known;
  }
  return nullptr;
}

// Gives it a number, and holds what it uses.
PodClass& Cluster::store_class(std::unique_ptr<PodClass> made) {
  for (const std::string& key : made->labels) ++*label_column(key).users;
  for (const auto* list : {&made->wants, &made->usage})
    for (const PodClass::Want& want : *list) resources_.use(want.resource);
  for (const TermId term : made->terms) terms_->use(term);
  for (const TermId match : made->matches) terms_->add_match(match);
  if (classes_->free.empty()) {
    made->id = static_cast<ClassId>(classes_->by_id.size());
    classes_->by_id.emplace_back();
  } else {
    made->id = classes_->free.back();
    classes_->free.pop_back();
  }
  classes_->by_hash[made->hash].push_back(made->id);
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
  mix_text(view.node_name);
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
  if (first.needs_hash != second.needs_hash || first.needs != second.needs ||
      first.node_name != second.node_name)
    return false;
  if (!images_.empty() && first.images != second.images) return false;
  const bool may_belong_together = !default_spread_keys_.empty() && !selectors_.empty();
  if (asking_pods_ == 0 && terms_->empty() && !may_belong_together) return true;
  if (may_belong_together && !have_one_controller(a.meta(), b.meta())) return false;
  return a.meta().name_space == b.meta().name_space && a.meta().labels == b.meta().labels;
}

void Cluster::Classes::forget_hash(const PodClass& pods) {
  const auto at = by_hash.find(pods.hash);
  std::erase(at->second, pods.id);
  if (at->second.empty()) by_hash.erase(at);
}

void Cluster::release_class(ClassId id) {
  CHECK(classes_->by_id[index_of(id)]->users > 0);
  if (--classes_->by_id[index_of(id)]->users > 0) return;
  const std::unique_ptr<PodClass> gone = std::move(classes_->by_id[index_of(id)]);
  classes_->forget_hash(*gone);
  classes_->free.push_back(id);
  for (const std::string& key : gone->labels) release_label(key);
  for (const auto* list : {&gone->wants, &gone->usage})
    for (const PodClass::Want& want : *list) resources_.release(want.resource);
  for (const TermId match : gone->matches) terms_->drop_match(match);
  for (const TermId term : gone->terms) terms_->release(term);
}

// Before the list grows, it forgets what nobody asks any more: somebody who keeps asking something
// new does not make it longer than twice what is alive.
void Cluster::add_match(PodClass& pods, TermId term) {
  classes_->forget_hash(pods);
  std::vector<TermId>& matches = pods.matches;
  if (matches.size() == matches.capacity()) {
    forget_gone_matches(pods);
    matches.reserve(2 * matches.size() + 4);
  }
  matches.push_back(term);  // greater than those before it
  terms_->add_match(term);
  pods.hash += hash_of(term);
  classes_->by_hash[pods.hash].push_back(pods.id);
}

// The caller removes the class from where it is found by its hash, and enters it again.
void Cluster::forget_gone_matches(PodClass& pods) {
  std::erase_if(pods.matches, [&](TermId match) {
    const bool is_asked = find_term(match) != nullptr;
    if (is_asked) return false;
    pods.hash -= hash_of(match);
    terms_->drop_match(match);
    return true;
  });
}

void Cluster::forget_gone_matches(std::string_view name_space) {
  const auto forget = [this](PodClass& pods) {
    classes_->forget_hash(pods);
    forget_gone_matches(pods);
    pods.matches.shrink_to_fit();
    classes_->by_hash[pods.hash].push_back(pods.id);
  };
  const auto is_sampled_here = [&](const PodClass& pods) {
    return pods.sample->meta().name_space == name_space;
  };
  for (const std::unique_ptr<PodClass>& pods : classes_->by_id)
    if (pods != nullptr && !pods->matches.empty() && is_sampled_here(*pods)) forget(*pods);
  // A class that was split off may have kept a sample from elsewhere.
  if (!followed_->labels) return;
  for (const auto& [id, count] : followed_->labels->classes_in(name_space))
    if (PodClass& pods = *classes_->by_id[index_of(id)]; !is_sampled_here(pods)) forget(pods);
}

// Whether so many matches more stay within what is kept for a namespace. Lists are searched for
// those that nobody asks any more only where these are many: each of them was added once.
bool Cluster::has_room(std::string_view name_space, std::size_t matches) {
  const auto is_left = [&] {
    return terms_->charge_of(name_space).matches + matches <= term_limits_.matches;
  };
  if (is_left()) return true;
  if (terms_->charge_of(name_space).gone >= term_limits_.matches / 8) {
    forget_gone_matches(name_space);
    if (is_left()) return true;
  }
  short_of_room_->emplace(name_space);
  return false;
}

bool Cluster::has_room(std::span<const TermId> matches) {
  const TermBook::OwnMatches own = terms_->own_matches(matches);
  return own.count == 0 || has_room(std::string(own.name_space), own.count);
}

}  // namespace muster::scheduler
