#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "api/values/label_selector.h"
#include "client/kit/mirror.h"
#include "controllers/common/owners.h"

// Owners find their objects by reference, and those that nobody owns yet by labels. Both ways are
// indexed by label, so that a namespace full of others costs nothing.
namespace muster::controllers {

// For the own index of a mirror of dependents: those that may be adopted, with no controller and
// not being deleted, are found by each of their labels. So they cost as much as their own labels;
// indexing only labels that somebody asks for would make each new selector cost a whole namespace.
// Those with more than Mirror::kLabelsMax labels are in one list, which all searches in their
// namespace read.
void index_free(const api::Object& object, std::vector<std::string>& out);
// For the own index of a mirror of owners: found by a label that their dependents must have, if
// there is one with at most Mirror::kLabelsMax values.
void index_selector(std::string_view name_space, const api::LabelSelector& selector,
                    std::vector<std::string>& out);

// What an owner has, and what should change about it.
struct Claim {
  std::vector<api::ObjectPtr> owned;    // controlled by it, and selected
  std::vector<api::ObjectPtr> adopt;    // selected, controlled by nobody
  std::vector<api::ObjectPtr> release;  // controlled by it, no longer selected
};
// `dependents` needs the index of owners and index_free(). An owner that is being deleted neither
// adopts nor releases.
Claim find_claim(const client::Mirror& dependents, const api::Object& owner,
                 const api::LabelSelector& selector);
// Claim::adopt alone: costs nothing for what the owner has.
std::vector<api::ObjectPtr> find_adoptable(const client::Mirror& dependents,
                                           const api::Object& owner,
                                           const api::LabelSelector& selector);

// The one of `owners` that controls the object; null if none of them does.
api::ObjectPtr controller_in(const client::Mirror& owners, const api::Object& object);

// Owners whose selector may match the object, in the order of their names; `owners` needs
// index_selector().
std::vector<api::ObjectPtr> find_selecting(const client::Mirror& owners, const api::Object& object);
// Keys of the owners whose selector matches; none if the object, which may be null, has a
// controller or is being deleted. `View` is that of the owners.
template <typename View>
std::vector<std::string> find_adopters(const client::Mirror& owners, const api::ObjectPtr& object) {
  std::vector<std::string> keys;
  if (object == nullptr || controller_of(*object) != nullptr || object->meta().deletion_time)
    return keys;
  for (const api::ObjectPtr& owner : find_selecting(owners, *object))
    if (owner->view<View>().selector->matches(object->meta().labels))
      keys.push_back(api::key_text(owner->meta()));
  return keys;
}

// Thousands of owners may want one object that belongs to nobody. Looking for them gets a key of
// its own, so that it takes turns with others, which reading a feed does not. Empty if nobody may
// adopt it, or none of `owners`, which need index_selector(), asks for a label that it has; one
// with many labels gets a key if there is any owner.
std::vector<std::string> free_key(const client::Mirror& owners, const api::ObjectPtr& object);
bool is_free_key(std::string_view key);
// The object of such a key; null if there is none any more.
api::ObjectPtr find_free(const client::Mirror& dependents, std::string_view key);

}  // namespace muster::controllers
