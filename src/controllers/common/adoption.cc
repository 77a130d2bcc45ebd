#include "controllers/common/adoption.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/kit/controller.h"
#include "controllers/common/owners.h"

namespace muster::controllers {
namespace {

constexpr std::string_view kFree = "?";  // no name begins so

std::string free_term(std::string_view name_space) { return fmt::format("free/{}", name_space); }
std::string free_term(std::string_view name_space, std::string_view key, std::string_view value) {
  return fmt::format("free/{}/{}={}", name_space, key, value);
}
// Those that are found by none of their labels, since they have so many.
std::string crowded_term(std::string_view name_space) {
  return fmt::format("free*/{}", name_space);
}
std::string wants_term(std::string_view name_space) { return fmt::format("wants/{}", name_space); }
std::string wants_term(std::string_view name_space, std::string_view key, std::string_view value) {
  return fmt::format("wants/{}/{}={}", name_space, key, value);
}
// All owners that are found by a label, for the objects with many.
std::string wants_some_term(std::string_view name_space) {
  return fmt::format("wants*/{}", name_space);
}

bool has_many_labels(const api::ObjectMeta& meta) {
  return meta.labels.size() > client::Mirror::kLabelsMax;
}

// Whether it names values, no more of them than are worth an entry of an index each.
bool names_values(const api::LabelRequirement& requirement) {
  using enum api::LabelOperator;
  return (requirement.op() == In || requirement.op() == Equals ||
          requirement.op() == DoubleEquals) &&
         requirement.values().size() <= client::Mirror::kLabelsMax;
}

// Those without a controller that could be selected: by the label that the fewest have.
std::vector<const client::Mirror::Entries*> free_candidates(const client::Mirror& dependents,
                                                            std::string_view name_space,
                                                            const api::LabelSelector& selector) {
  std::vector<const client::Mirror::Entries*> best;
  std::size_t best_size = 0;
  for (const api::LabelRequirement& requirement : selector.requirements()) {
    if (!names_values(requirement)) continue;
    std::vector<const client::Mirror::Entries*> found;
    std::size_t size = 0;
    for (const std::string& value : requirement.values()) {
      found.push_back(&dependents.indexed(free_term(name_space, requirement.key(), value)));
      size += found.back()->size();
    }
    if (!best.empty() && size >= best_size) continue;
    best = std::move(found);
    best_size = size;
  }
  best.push_back(
      &dependents.indexed(best.empty() ? free_term(name_space) : crowded_term(name_space)));
  return best;
}

}  // namespace

void index_free(const api::Object& object, std::vector<std::string>& out) {
  const api::ObjectMeta& meta = object.meta();
  if (controller_of(object) != nullptr || meta.deletion_time) return;
  out.push_back(free_term(meta.name_space));
  if (has_many_labels(meta)) return out.push_back(crowded_term(meta.name_space));
  for (const auto& [key, value] : meta.labels)
    out.push_back(free_term(meta.name_space, key, value));
}

void index_selector(std::string_view name_space, const api::LabelSelector& selector,
                    std::vector<std::string>& out) {
  const auto& requirements = selector.requirements();
  const auto named = std::ranges::find_if(requirements, names_values);
  if (named == requirements.end()) return out.push_back(wants_term(name_space));
  for (const std::string& value : named->values())
    out.push_back(wants_term(name_space, named->key(), value));
  out.push_back(wants_some_term(name_space));
}

std::vector<api::ObjectPtr> find_adoptable(const client::Mirror& dependents,
                                           const api::Object& owner,
                                           const api::LabelSelector& selector) {
  std::vector<api::ObjectPtr> out;
  if (owner.meta().deletion_time) return out;
  for (const auto* entries : free_candidates(dependents, owner.meta().name_space, selector))
    for (const auto* entry : *entries)
      if (selector.matches(entry->object->meta().labels)) out.push_back(entry->object);
  return out;
}

Claim find_claim(const client::Mirror& dependents, const api::Object& owner,
                 const api::LabelSelector& selector) {
  Claim claim;
  const bool deleting = owner.meta().deletion_time.has_value();
  for (const auto* entry : dependents.owned_by(owner.meta().uid)) {
    const api::ObjectPtr& object = entry->object;
    if (!is_controlled_by(*object, owner.meta().uid)) continue;
    if (selector.matches(object->meta().labels))
      claim.owned.push_back(object);
    else if (!deleting)
      claim.release.push_back(object);
  }
  claim.adopt = find_adoptable(dependents, owner, selector);
  return claim;
}

api::ObjectPtr controller_in(const client::Mirror& owners, const api::Object& object) {
  const api::OwnerReference* reference = controller_of(object);
  if (reference == nullptr) return nullptr;
  api::ObjectPtr owner = owners.find(object.meta().name_space, reference->name);
  return owner != nullptr && owner->meta().uid == reference->uid ? owner : nullptr;
}

std::vector<api::ObjectPtr> find_selecting(const client::Mirror& owners,
                                           const api::Object& object) {
  std::vector<api::ObjectPtr> out;
  const api::ObjectMeta& meta = object.meta();
  const auto add = [&](const client::Mirror::Entries& entries) {
    for (const auto* entry : entries) out.push_back(entry->object);
  };
  add(owners.indexed(wants_term(meta.name_space)));
  if (has_many_labels(meta))
    add(owners.indexed(wants_some_term(meta.name_space)));
  else
    for (const auto& [key, value] : meta.labels)
      add(owners.indexed(wants_term(meta.name_space, key, value)));
  std::ranges::sort(out, {}, [](const api::ObjectPtr& owner) -> const std::string& {
    return owner->meta().name;
  });
  return out;
}

std::vector<std::string> free_key(const client::Mirror& owners, const api::ObjectPtr& object) {
  if (object == nullptr || controller_of(*object) != nullptr || object->meta().deletion_time)
    return {};
  const api::ObjectMeta& meta = object->meta();
  const auto is_wanted = [&](const std::string& term) { return !owners.indexed(term).empty(); };
  const bool wanted =
      is_wanted(wants_term(meta.name_space)) ||
      (has_many_labels(meta)
           ? is_wanted(wants_some_term(meta.name_space))
           : std::ranges::any_of(meta.labels, [&](const auto& label) {
               return is_wanted(wants_term(meta.name_space, label.first, label.second));
             }));
  if (!wanted) return {};
  return {fmt::format("{}/{}{}", meta.name_space, kFree, meta.name)};
}

bool is_free_key(std::string_view key) { return client::split_key(key).name.starts_with(kFree); }

api::ObjectPtr find_free(const client::Mirror& dependents, std::string_view key) {
  const auto [name_space, name] = client::split_key(key);
  return dependents.find(name_space, name.substr(kFree.size()));
}

}  // namespace muster::controllers
