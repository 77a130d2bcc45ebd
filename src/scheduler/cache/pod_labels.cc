#include "scheduler/cache/pod_labels.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "base/check.h"
#include "scheduler/cache/text_hash.h"

namespace muster::scheduler {
namespace {

// Parts differ in number between a namespace, a label in it and a value of that label.
std::uint64_t hash_of(std::initializer_list<std::string_view> parts) {
  std::uint64_t hash = parts.size();
  for (const std::string_view part : parts)
    hash = (std::rotl(hash, 23) ^ TextHash{}(part)) * 0x9e3779b97f4a7c15ULL;
  return hash;
}

}  // namespace

std::vector<PodLabels::Key> PodLabels::keys_of(const api::Object& pod) {
  const api::ObjectMeta& meta = pod.meta();
  std::vector<Key> keys;
  keys.reserve(1 + 2 * meta.labels.size());
  keys.push_back(hash_of({meta.name_space}));
  for (const auto& [key, value] : meta.labels) {
    keys.push_back(hash_of({meta.name_space, key}));
    keys.push_back(hash_of({meta.name_space, key, value}));
  }
  std::ranges::sort(keys);
  const auto repeated = std::ranges::unique(keys);
  keys.erase(repeated.begin(), repeated.end());
  return keys;
}

PodLabels::Seat PodLabels::add(const api::Object& pod) {
  if (free_.empty()) {
    free_.push_back(static_cast<Seat>(pods_.size()));
    pods_.push_back(nullptr);
  }
  const Seat seat = free_.back();
  free_.pop_back();
  pods_[seat] = &pod;
  ++namespaces_[pod.meta().name_space];
  for (const Key key : keys_of(pod)) {
    List& list = lists_[key];
    ++list.live;
    list.seats.push_back(seat);
  }
  return seat;
}

void PodLabels::remove(Seat seat) {
  const api::Object& pod = *pods_[seat];
  const auto home = namespaces_.find(pod.meta().name_space);
  if (--home->second == 0) namespaces_.erase(home);
  pods_[seat] = nullptr;
  free_.push_back(seat);
  for (const Key key : keys_of(pod)) {
    const auto at = lists_.find(key);
    CHECK(at != lists_.end());
    if (--at->second.live == 0)
      lists_.erase(at);
    else
      tidy(key, at->second);
  }
}

void PodLabels::replace(Seat seat, const api::Object& pod) {
  const api::ObjectMeta& before = pods_[seat]->meta();
  if (before.name_space == pod.meta().name_space && before.labels == pod.meta().labels) {
    pods_[seat] = &pod;
    return;
  }
  remove(seat);
  CHECK(add(pod) == seat);  // the last that became free
}

bool PodLabels::is_in(Seat seat, Key key) const {
  if (pods_[seat] == nullptr) return false;
  const api::ObjectMeta& pod = pods_[seat]->meta();
  return key == hash_of({pod.name_space}) ||
         std::ranges::any_of(pod.labels, [&](const auto& label) {
           return key == hash_of({pod.name_space, label.first, label.second}) ||
                  key == hash_of({pod.name_space, label.first});
         });
}

// A seat that was given again may be listed twice.
void PodLabels::tidy(Key key, List& list) {
  if (list.seats.size() <= 2 * std::size_t{list.live} + 8) return;
  std::ranges::sort(list.seats);
  const auto repeated = std::ranges::unique(list.seats);
  list.seats.erase(repeated.begin(), repeated.end());
  std::erase_if(list.seats, [&](Seat seat) { return !is_in(seat, key); });
  list.seats.shrink_to_fit();
  CHECK(list.seats.size() == list.live);
}

// The lists that together hold all pods of a namespace which pass the test; none if it cannot be
// answered by lists.
std::vector<PodLabels::Key> PodLabels::keys_of(const api::NodeRequirement& test,
                                               std::string_view name_space) {
  std::vector<Key> keys;
  if (test.op == api::SelectorOperator::Exists) {
    keys.push_back(hash_of({name_space, test.key}));
  } else if (test.op == api::SelectorOperator::In) {
    for (const std::string& value : test.values)
      keys.push_back(hash_of({name_space, test.key, value}));
  }
  return keys;
}

std::size_t PodLabels::size_of(const std::vector<Key>& keys) const {
  std::size_t size = 0;
  for (const Key key : keys)
    if (const auto at = lists_.find(key); at != lists_.end()) size += at->second.seats.size();
  return size;
}

void PodLabels::collect(const std::vector<Key>& keys, std::vector<const api::Object*>& into) const {
  for (const Key key : keys)
    if (const auto at = lists_.find(key); at != lists_.end())
      for (const Seat seat : at->second.seats)
        if (pods_[seat] != nullptr) into.push_back(pods_[seat]);
}

// Each once, in no order that means anything.
std::vector<const api::Object*> PodLabels::candidates(const Term& term,
                                                      const TermBook::Labels& namespaces) const {
  std::vector<const api::Object*> found;
  if (term.selector.is_null) return found;
  const auto add_from = [&](std::string_view name_space) {
    std::vector<Key> fewest = {hash_of({name_space})};
    for (const api::NodeRequirement& test : term.selector.tests) {
      if (test.op != api::SelectorOperator::In && test.op != api::SelectorOperator::Exists)
        continue;
      std::vector<Key> keys = keys_of(test, name_space);
      if (size_of(keys) < size_of(fewest)) fewest = std::move(keys);
    }
    collect(fewest, found);
  };
  if (!term.namespace_selector) {
    for (const std::string& name_space : term.namespaces) add_from(name_space);
  } else {
    for (const auto& [name_space, pods] : namespaces_)
      if (TermBook::is_about(term, name_space, namespaces)) add_from(name_space);
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

std::vector<const api::Object*> PodLabels::in_namespace(std::string_view name_space) const {
  std::vector<const api::Object*> found;
  collect({hash_of({name_space})}, found);
  std::erase_if(found,
                [&](const api::Object* pod) { return pod->meta().name_space != name_space; });
  return found;
}

}  // namespace muster::scheduler
