#include "client/kit/mirror.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace muster::client {
namespace {

// An entry of a std::set: colour, three pointers, the value, and what malloc adds.
constexpr std::size_t kSetNodeBytes = 64;
constexpr std::size_t kEntryBytes = 80;

// Namespaces and keys cannot contain these separators.
std::string label_term(std::string_view name_space, std::string_view key, std::string_view value) {
  std::string out;
  out.reserve(name_space.size() + key.size() + value.size() + 2);
  out.append(name_space).append(1, '\n').append(key).append(1, '=').append(value);
  return out;
}

bool same_owners(const api::ObjectMeta& a, const api::ObjectMeta& b) {
  return std::ranges::equal(a.owners, b.owners, {}, &api::OwnerReference::uid,
                            &api::OwnerReference::uid);
}

bool asks_by_value(const api::LabelRequirement& requirement) {
  return requirement.op() == api::LabelOperator::In ||
         requirement.op() == api::LabelOperator::Equals ||
         requirement.op() == api::LabelOperator::DoubleEquals;
}

}  // namespace

bool Mirror::ByName::operator()(const Entry* a, const Entry* b) const {
  const api::ObjectMeta& x = a->object->meta();
  const api::ObjectMeta& y = b->object->meta();
  return std::tie(x.name_space, x.name) < std::tie(y.name_space, y.name);
}

void Mirror::Index::add(const Entry& entry, std::string term) {
  const auto [at, fresh] = entries_.try_emplace(std::move(term));
  if (fresh) bytes_ += at->first.size() + sizeof(*at);
  if (at->second.insert(&entry).second) bytes_ += kSetNodeBytes;
}

void Mirror::Index::remove(const Entry& entry, std::string_view term) {
  const auto at = entries_.find(std::string(term));
  if (at == entries_.end()) return;
  bytes_ -= at->second.erase(&entry) * kSetNodeBytes;
  if (!at->second.empty()) return;
  bytes_ -= at->first.size() + sizeof(*at);
  entries_.erase(at);
}

const Mirror::Entries& Mirror::Index::at(std::string_view term) const {
  static const Entries kNone;
  const auto at = entries_.find(std::string(term));
  return at == entries_.end() ? kNone : at->second;
}

Mirror::Mirror() : Mirror(Indexes{}) {}

Mirror::Mirror(Indexes indexes)
    : indexes_([&] {
        indexes.namespaces |= indexes.labels;
        return std::move(indexes);
      }()) {}

api::ObjectPtr Mirror::find(std::string_view name_space, std::string_view name) const {
  const auto at = entries_.find(Key{name_space, name});
  if (at == entries_.end()) return nullptr;
  ++reads_;
  return at->object;
}

api::ObjectPtr Mirror::put(const api::ObjectPtr& object) {
  const auto [at, fresh] = entries_.insert(Entry{object});
  if (fresh) {
    enter(*at);
    return nullptr;
  }
  api::ObjectPtr before = at->object;
  replace(*at, object);
  return before;
}

api::ObjectPtr Mirror::remove(const api::Object& object) {
  const auto at = entries_.find(Key{object.meta().name_space, object.meta().name});
  if (at == entries_.end()) return nullptr;
  leave(*at);
  api::ObjectPtr before = at->object;
  entries_.erase(at);
  return before;
}

std::vector<std::string> Mirror::own_terms(const api::Object& object) const {
  std::vector<std::string> out;
  if (indexes_.own) indexes_.own(object, out);
  std::ranges::sort(out);
  return out;
}

void Mirror::enter_labels(const Entry& entry, const api::ObjectMeta& meta) {
  if (meta.labels.size() > kLabelsMax) return many_labels_.add(entry, meta.name_space);
  for (const auto& [key, value] : meta.labels)
    labels_.add(entry, label_term(meta.name_space, key, value));
}

void Mirror::leave_labels(const Entry& entry, const api::ObjectMeta& meta) {
  if (meta.labels.size() > kLabelsMax) return many_labels_.remove(entry, meta.name_space);
  for (const auto& [key, value] : meta.labels)
    labels_.remove(entry, label_term(meta.name_space, key, value));
}

void Mirror::enter(const Entry& entry) {
  const api::ObjectMeta& meta = entry.object->meta();
  if (indexes_.namespaces) namespaces_.add(entry, meta.name_space);
  if (indexes_.owners)
    for (const api::OwnerReference& owner : meta.owners) owners_.add(entry, owner.uid);
  if (indexes_.labels) enter_labels(entry, meta);
  for (std::string& term : own_terms(*entry.object)) own_.add(entry, std::move(term));
}

void Mirror::leave(const Entry& entry) {
  const api::ObjectMeta& meta = entry.object->meta();
  if (indexes_.namespaces) namespaces_.remove(entry, meta.name_space);
  if (indexes_.owners)
    for (const api::OwnerReference& owner : meta.owners) owners_.remove(entry, owner.uid);
  if (indexes_.labels) leave_labels(entry, meta);
  for (const std::string& term : own_terms(*entry.object)) own_.remove(entry, term);
}

// The entry keeps its place in every index whose terms are the same before and after.
void Mirror::replace(const Entry& entry, const api::ObjectPtr& object) {
  const api::ObjectPtr before = std::exchange(entry.object, object);
  const api::ObjectMeta& was = before->meta();
  const api::ObjectMeta& is = object->meta();
  if (indexes_.owners && !same_owners(was, is)) {
    for (const api::OwnerReference& owner : was.owners) owners_.remove(entry, owner.uid);
    for (const api::OwnerReference& owner : is.owners) owners_.add(entry, owner.uid);
  }
  if (indexes_.labels && was.labels != is.labels) {
    leave_labels(entry, was);
    enter_labels(entry, is);
  }
  if (!indexes_.own) return;
  const std::vector<std::string> old_terms = own_terms(*before);
  std::vector<std::string> new_terms = own_terms(*object);
  if (old_terms == new_terms) return;
  for (const std::string& term : old_terms) own_.remove(entry, term);
  for (std::string& term : new_terms) own_.add(entry, std::move(term));
}

const Mirror::Entries& Mirror::read(const Index& index, std::string_view term) const {
  const Entries& entries = index.at(term);
  reads_ += entries.size();
  return entries;
}

const Mirror::Entries& Mirror::in_namespace(std::string_view name_space) const {
  CHECK(indexes_.namespaces);
  return read(namespaces_, name_space);
}

const Mirror::Entries& Mirror::owned_by(std::string_view uid) const {
  CHECK(indexes_.owners);
  return read(owners_, uid);
}

const Mirror::Entries& Mirror::labeled(std::string_view name_space, std::string_view key,
                                       std::string_view value) const {
  CHECK(indexes_.labels);
  return read(labels_, label_term(name_space, key, value));
}

const Mirror::Entries& Mirror::with_many_labels(std::string_view name_space) const {
  CHECK(indexes_.labels);
  return read(many_labels_, name_space);
}

const Mirror::Entries& Mirror::indexed(std::string_view term) const {
  CHECK(indexes_.own != nullptr);
  return read(own_, term);
}

std::vector<api::ObjectPtr> Mirror::select(std::string_view name_space,
                                           const api::LabelSelector& selector) const {
  CHECK(indexes_.labels);
  if (selector.selects_nothing()) return {};
  std::vector<const Entries*> candidates{&namespaces_.at(name_space)};
  std::size_t fewest = candidates.front()->size();
  const Entries& many = many_labels_.at(name_space);
  for (const api::LabelRequirement& requirement : selector.requirements()) {
    if (!asks_by_value(requirement)) continue;
    std::vector<const Entries*> with_label;
    if (!many.empty()) with_label.push_back(&many);
    std::size_t count = many.size();
    for (const std::string& value : requirement.values()) {
      with_label.push_back(&labels_.at(label_term(name_space, requirement.key(), value)));
      count += with_label.back()->size();
    }
    if (count > fewest) continue;
    fewest = count;
    candidates = std::move(with_label);
  }
  reads_ += fewest;
  std::vector<api::ObjectPtr> out;
  for (const Entries* entries : candidates)
    for (const Entry* entry : *entries)
      if (selector.matches(entry->object->meta().labels)) out.push_back(entry->object);
  if (candidates.size() > 1)
    std::ranges::sort(out, {}, [](const api::ObjectPtr& object) { return object->meta().name; });
  return out;
}

std::size_t Mirror::bytes() const {
  return entries_.size() * kEntryBytes + namespaces_.bytes() + owners_.bytes() + labels_.bytes() +
         many_labels_.bytes() + own_.bytes();
}

}  // namespace muster::client
