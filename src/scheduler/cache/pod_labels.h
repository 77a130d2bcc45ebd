#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "scheduler/cache/ids.h"
#include "scheduler/cache/term_book.h"
#include "scheduler/cache/text_table.h"

namespace muster::scheduler {

// Pods on nodes by namespace, label and label value, with their classes: those that match a new
// question about pods are found without looking at all the others, by numbers instead of texts. A
// few lists of numbers for each pod and label.
class PodLabels {
 public:
  using Slot = std::uint32_t;

  // The object stays alive until its slot is removed or given to another version of the pod.
  Slot add(const api::Object& pod, ClassId pods);
  void remove(Slot slot);
  void replace(Slot slot, const api::Object& pod);

  const api::Object& pod(Slot slot) const { return *slots_[slot].pod; }
  ClassId class_of(Slot slot) const { return classes_[slot]; }
  void set_class(Slot slot, ClassId pods);
  // One more than the greatest. The class of those that are free is None.
  Slot slots() const { return static_cast<Slot>(slots_.size()); }

  // The pods that match the term, each once. `namespaces`: the labels of each.
  std::vector<Slot> matching(const Term& term, const TermBook::Labels& namespaces) const;
  // If all pods of the namespaces that the term is about match it, because it only excludes what
  // none of them has: how many there are of each class. No pod is looked at. nullopt: matching()
  // must find out.
  using ClassCounts = std::map<ClassId, std::uint32_t>;
  std::optional<ClassCounts> matching_all(const Term& term,
                                          const TermBook::Labels& namespaces) const;
  // The classes of pods of a namespace, and how many of each there are there.
  const ClassCounts& classes_in(std::string_view name_space) const;
  // For tests: how many pods were looked at to find those that match.
  std::uint64_t looks() const { return looks_; }
  std::vector<const api::Object*> in_namespace(std::string_view name_space) const;
  std::size_t lists() const { return lists_.size(); }

 private:
  using Text = TextTable::Id;
  struct Label {
    Text key;
    Text value;
  };
  struct Entry {
    const api::Object* pod = nullptr;  // null: free
    Text name_space = TextTable::kNone;
    bool is_terminating = false;
    boost::container::small_vector<Label, 6> labels;
  };
  // The pods of a namespace that have a label, with this value; kNone stands for any.
  struct Key {
    Text name_space;
    Text label = TextTable::kNone;
    Text value = TextTable::kNone;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    using is_avalanching = void;
    std::size_t operator()(const Key& key) const;
  };
  // Slots in no order. Those of pods that left stay until they are the majority.
  struct List {
    std::uint32_t live = 0;
    std::vector<Slot> slots;
  };
  // A test of a selector by numbers. Texts that no pod has are left out, or kNone.
  struct Test {
    api::SelectorOperator op;
    Text label;
    std::vector<Text> values;  // sorted
  };
  struct Search;
  // The pods of a namespace.
  struct NamespacePods {
    std::uint32_t pods = 0;
    std::uint32_t terminating = 0;
    ClassCounts classes = {};
  };
  using Namespaces = std::map<std::string, NamespacePods, std::less<>>;

  static void count_class(NamespacePods& name_space_pods, ClassId pods, std::int32_t change);
  template <typename Visit>
  static void for_each_key(const Entry& pod, Visit&& visit);
  static bool is_in(const Entry& pod, const Key& key);
  static bool passes(const Entry& pod, const Test& test);
  std::vector<Test> compile(const api::PodSelector& selector) const;
  template <typename Visit>
  void for_each_namespace(const Term& term, const TermBook::Labels& namespaces,
                          Visit&& visit) const;
  bool excludes_some(const std::vector<Test>& tests, Text name_space) const;
  std::vector<Key> fewest(const std::vector<Test>& tests, Text name_space) const;
  std::size_t size_of(const Key& key) const;
  void search_in(Text name_space, Search& search) const;
  void tidy(const Key& key, List& list);

  TextTable texts_;
  boost::unordered_flat_map<Key, List, KeyHash> lists_;
  Namespaces namespaces_;  // that have pods
  std::vector<Entry> slots_;
  std::vector<ClassId> classes_;  // by slot
  std::vector<Slot> free_;
  mutable std::uint64_t looks_ = 0;
};

}  // namespace muster::scheduler
