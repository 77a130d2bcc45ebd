#include "scheduler/cache/pod_labels.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"

namespace muster::scheduler {

std::size_t PodLabels::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = (std::uint64_t{key.name_space} << 32 | key.label) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 32) ^ key.value) * 0xbf58476d1ce4e5b9ULL;
  return hash ^ (hash >> 29);
}

// --- pods that come and go ---

// The lists that a pod stands in.
template <typename Visit>
void PodLabels::for_each_key(const Entry& pod, Visit&& visit) {
  visit(Key{.name_space = pod.name_space});
  for (const Label& label : pod.labels) {
    visit(Key{.name_space = pod.name_space, .label = label.key});
    visit(Key{.name_space = pod.name_space, .label = label.key, .value = label.value});
  }
}

PodLabels::Slot PodLabels::add(const api::Object& pod, ClassId pods) {
  if (free_.empty()) {
    free_.push_back(static_cast<Slot>(slots_.size()));
    slots_.emplace_back();
    classes_.push_back(ClassId::None);
  }
  const Slot slot = free_.back();
  free_.pop_back();
  classes_[slot] = pods;
  const api::ObjectMeta& meta = pod.meta();
  Entry& entry = slots_[slot];
  entry.pod = &pod;
  entry.name_space = texts_.use(meta.name_space);
  entry.is_terminating = meta.deletion_time.has_value();
  entry.labels.reserve(meta.labels.size());
  for (const auto& [key, value] : meta.labels)
    entry.labels.push_back({.key = texts_.use(key), .value = texts_.use(value)});
  NamespacePods& name_space_pods = namespaces_[meta.name_space];
  ++name_space_pods.pods;
  if (entry.is_terminating) ++name_space_pods.terminating;
  count_class(name_space_pods, pods, 1);
  for_each_key(entry, [&](const Key& key) {
    List& list = lists_[key];
    ++list.live;
    list.slots.push_back(slot);
  });
  return slot;
}

void PodLabels::remove(Slot slot) {
  const Entry gone = std::exchange(slots_[slot], {});
  const auto name_space_pods = namespaces_.find(gone.pod->meta().name_space);
  if (gone.is_terminating) --name_space_pods->second.terminating;
  count_class(name_space_pods->second, classes_[slot], -1);
  if (--name_space_pods->second.pods == 0) namespaces_.erase(name_space_pods);
  classes_[slot] = ClassId::None;
  free_.push_back(slot);
  for_each_key(gone, [&](const Key& key) {
    const auto at = lists_.find(key);
    CHECK(at != lists_.end());
    if (--at->second.live == 0)
      lists_.erase(at);
    else
      tidy(key, at->second);
  });
  // Numbers of texts may be given again once no list has them in its key.
  for (const Label& label : gone.labels) {
    texts_.release(label.key);
    texts_.release(label.value);
  }
  texts_.release(gone.name_space);
}

void PodLabels::count_class(NamespacePods& name_space_pods, ClassId pods, std::int32_t change) {
  const auto at = name_space_pods.classes.try_emplace(pods, 0).first;
  at->second += static_cast<std::uint32_t>(change);
  if (at->second == 0) name_space_pods.classes.erase(at);
}

void PodLabels::set_class(Slot slot, ClassId pods) {
  NamespacePods& name_space_pods = namespaces_.find(slots_[slot].pod->meta().name_space)->second;
  count_class(name_space_pods, classes_[slot], -1);
  count_class(name_space_pods, pods, 1);
  classes_[slot] = pods;
}

void PodLabels::replace(Slot slot, const api::Object& pod) {
  Entry& entry = slots_[slot];
  const api::ObjectMeta& before = entry.pod->meta();
  const api::ObjectMeta& after = pod.meta();
  if (before.name_space == after.name_space && before.labels == after.labels) {
    const bool is_terminating = after.deletion_time.has_value();
    if (is_terminating != entry.is_terminating) {
      std::uint32_t& terminating = namespaces_.find(after.name_space)->second.terminating;
      if (is_terminating)
        ++terminating;
      else
        --terminating;
    }
    entry.pod = &pod;
    entry.is_terminating = is_terminating;
    return;
  }
  const ClassId pods = classes_[slot];
  remove(slot);
  CHECK(add(pod, pods) == slot);  // the last that became free
}

bool PodLabels::is_in(const Entry& pod, const Key& key) {
  if (pod.pod == nullptr || pod.name_space != key.name_space) return false;
  if (key.label == TextTable::kNone) return true;
  const auto label = std::ranges::find(pod.labels, key.label, &Label::key);
  return label != pod.labels.end() && (key.value == TextTable::kNone || key.value == label->value);
}

// A slot that was given again may be listed twice.
void PodLabels::tidy(const Key& key, List& list) {
  if (list.slots.size() <= 2 * std::size_t{list.live} + 8) return;
  std::ranges::sort(list.slots);
  const auto repeated = std::ranges::unique(list.slots);
  list.slots.erase(repeated.begin(), repeated.end());
  std::erase_if(list.slots, [&](Slot slot) { return !is_in(slots_[slot], key); });
  list.slots.shrink_to_fit();
  CHECK(list.slots.size() == list.live);
}

// --- who matches ---

std::vector<PodLabels::Test> PodLabels::compile(const api::PodSelector& selector) const {
  std::vector<Test> tests;
  tests.reserve(selector.tests.size());
  for (const api::NodeRequirement& written : selector.tests) {
    Test& test = tests.emplace_back();
    test.op = written.op;
    test.label = texts_.find(written.key);
    for (const std::string& value : written.values)
      if (const Text known = texts_.find(value); known != TextTable::kNone)
        test.values.push_back(known);
    std::ranges::sort(test.values);
    const auto repeated = std::ranges::unique(test.values);
    test.values.erase(repeated.begin(), repeated.end());
  }
  return tests;
}

bool PodLabels::passes(const Entry& pod, const Test& test) {
  const auto label = std::ranges::find(pod.labels, test.label, &Label::key);
  const bool has_label = label != pod.labels.end();
  switch (test.op) {
    case api::SelectorOperator::In:
      return has_label && std::ranges::binary_search(test.values, label->value);
    case api::SelectorOperator::NotIn:
      return !has_label || !std::ranges::binary_search(test.values, label->value);
    case api::SelectorOperator::Exists: return has_label;
    case api::SelectorOperator::DoesNotExist: return !has_label;
    default: return false;  // kept out by validation
  }
}

std::size_t PodLabels::size_of(const Key& key) const {
  const auto at = lists_.find(key);
  return at == lists_.end() ? 0 : at->second.slots.size();
}

// The lists that together hold all pods of the namespace which pass the test that fewest do. Values
// are not even counted if there are more of them than pods to look at.
std::vector<PodLabels::Key> PodLabels::fewest(const std::vector<Test>& tests,
                                              Text name_space) const {
  std::vector<Key> best(1, Key{.name_space = name_space});
  std::size_t best_size = size_of(best.front());
  for (const Test& test : tests) {
    const bool is_any = test.op == api::SelectorOperator::Exists;
    if (!is_any && test.op != api::SelectorOperator::In) continue;
    if (test.label == TextTable::kNone) return {};  // nobody has such a label
    if (test.values.size() > best_size) continue;
    std::vector<Key> keys;
    if (is_any) keys.push_back({.name_space = name_space, .label = test.label});
    for (const Text value : test.values)
      keys.push_back({.name_space = name_space, .label = test.label, .value = value});
    std::size_t size = 0;
    for (const Key& key : keys) size += size_of(key);
    if (size >= best_size) continue;
    best = std::move(keys);
    best_size = size;
  }
  return best;
}

struct PodLabels::Search {
  std::vector<Test> tests;
  bool spares_terminating = false;
  std::vector<Slot> found = {};
  std::vector<bool> is_found = {};  // by slot; if some list may have a slot twice
};

void PodLabels::search_in(Text name_space, Search& search) const {
  std::vector<const List*> lists;
  bool may_repeat = false;
  for (const Key& key : fewest(search.tests, name_space))
    if (const auto at = lists_.find(key); at != lists_.end()) {
      lists.push_back(&at->second);
      may_repeat |= at->second.slots.size() != at->second.live;
    }
  if (may_repeat) search.is_found.resize(slots_.size());
  const auto matches = [&](const Entry& pod) {
    return pod.pod != nullptr && pod.name_space == name_space &&
           !(search.spares_terminating && pod.is_terminating) &&
           std::ranges::all_of(search.tests, [&](const Test& test) { return passes(pod, test); });
  };
  for (const List* list : lists) {
    looks_ += list->slots.size();
    for (const Slot slot : list->slots) {
      if (!matches(slots_[slot]) || (may_repeat && search.is_found[slot])) continue;
      if (may_repeat) search.is_found[slot] = true;
      search.found.push_back(slot);
    }
  }
}

// The namespaces with pods that a term is about, in their order, each once; until `visit` is false.
template <typename Visit>
void PodLabels::for_each_namespace(const Term& term, const TermBook::Labels& namespaces,
                                   Visit&& visit) const {
  if (term.namespace_selector) {
    for (const auto& [name_space, name_space_pods] : namespaces_)
      if (TermBook::is_about(term, name_space, namespaces) && !visit(name_space, name_space_pods))
        return;
    return;
  }
  const std::set<std::string_view> names(term.namespaces.begin(), term.namespaces.end());
  for (const std::string_view name_space : names)
    if (const auto at = namespaces_.find(name_space);
        at != namespaces_.end() && !visit(at->first, at->second))
      return;
}

std::optional<PodLabels::ClassCounts> PodLabels::matching_all(
    const Term& term, const TermBook::Labels& namespaces) const {
  const bool is_count = term.role == Term::Role::Counts;
  if (term.selector.is_null || (is_count && term.selector.is_empty())) return std::nullopt;
  const std::vector<Test> tests = compile(term.selector);
  if (!std::ranges::all_of(tests, [](const Test& test) {
        return test.op == api::SelectorOperator::NotIn ||
               test.op == api::SelectorOperator::DoesNotExist;
      }))
    return std::nullopt;
  std::optional<ClassCounts> found = ClassCounts();
  for_each_namespace(term, namespaces,
                     [&](const std::string& name_space, const NamespacePods& name_space_pods) {
                       const bool spares_some = is_count && name_space_pods.terminating > 0;
                       if (spares_some || excludes_some(tests, texts_.find(name_space)))
                         found.reset();
                       else
                         for (const auto& [pods, count] : name_space_pods.classes)
                           (*found)[pods] += count;
                       return found.has_value();
                     });
  return found;
}

// Whether some pod of the namespace has what tests forbid, all of which forbid something.
bool PodLabels::excludes_some(const std::vector<Test>& tests, Text name_space) const {
  return std::ranges::any_of(tests, [&](const Test& test) {
    if (test.label == TextTable::kNone) return false;
    Key key{.name_space = name_space, .label = test.label};
    if (test.op == api::SelectorOperator::DoesNotExist) return lists_.contains(key);
    return std::ranges::any_of(test.values, [&](Text value) {
      key.value = value;
      return lists_.contains(key);
    });
  });
}

std::vector<PodLabels::Slot> PodLabels::matching(const Term& term,
                                                 const TermBook::Labels& namespaces) const {
  const bool is_count = term.role == Term::Role::Counts;
  if (term.selector.is_null || (is_count && term.selector.is_empty())) return {};
  Search search{.tests = compile(term.selector), .spares_terminating = is_count};
  for_each_namespace(term, namespaces, [&](const std::string& name_space, const NamespacePods&) {
    search_in(texts_.find(name_space), search);
    return true;
  });
  return std::move(search.found);
}

const PodLabels::ClassCounts& PodLabels::classes_in(std::string_view name_space) const {
  static const ClassCounts kNone;
  const auto at = namespaces_.find(name_space);
  return at == namespaces_.end() ? kNone : at->second.classes;
}

std::vector<const api::Object*> PodLabels::in_namespace(std::string_view name_space) const {
  Search search{.tests = {}};
  if (namespaces_.contains(name_space)) search_in(texts_.find(name_space), search);
  std::vector<const api::Object*> found;
  found.reserve(search.found.size());
  for (const Slot slot : search.found) found.push_back(slots_[slot].pod);
  return found;
}

}  // namespace muster::scheduler
