#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "api/object.h"
#include "api/values/label_selector.h"

namespace muster::client {

// The newest version of every object of one kind that the feed has shown, found by name or by an
// index. A change costs the index entries it changes: an update that keeps labels and owners
// touches no index at all.
class Mirror {
 public:
  // The texts under which an object is found in the component's own index: appended to `out`.
  using TermsOf = std::function<void(const api::Object& object, std::vector<std::string>& out)>;
  struct Indexes {
    bool namespaces = false;
    bool owners = false;  // by the uid of each owner
    // By namespace, key and value; brings `namespaces` with it. An object with more than kLabelsMax
    // labels is found by none of them.
    bool labels = false;
    TermsOf own = nullptr;
  };

  // An object may have twenty thousand labels, and an entry of an index takes more memory than most
  // labels. Those with more than this many are kept in one list of their namespace, which each
  // search for a label in that namespace reads too: the namespace that makes them pays for them.
  static constexpr std::size_t kLabelsMax = 32;

  struct Entry {
    mutable api::ObjectPtr object;  // replaced by others of the same name only
  };
  struct ByName {
    bool operator()(const Entry* a, const Entry* b) const;
  };
  // In the order of namespaces and names. Valid until the next put() or remove().
  using Entries = std::set<const Entry*, ByName>;

  Mirror();  // found by name alone
  explicit Mirror(Indexes indexes);
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  // Null if there is none.
  api::ObjectPtr find(std::string_view name_space, std::string_view name) const;
  // Both return what was known before, or null.
  api::ObjectPtr put(const api::ObjectPtr& object);
  api::ObjectPtr remove(const api::Object& object);

  // Each needs its index.
  const Entries& in_namespace(std::string_view name_space) const;
  const Entries& owned_by(std::string_view uid) const;
  // Of those with at most kLabelsMax labels.
  const Entries& labeled(std::string_view name_space, std::string_view key,
                         std::string_view value) const;
  // All that have more, whatever they are.
  const Entries& with_many_labels(std::string_view name_space) const;
  const Entries& indexed(std::string_view term) const;
  // The objects of a namespace that the selector matches, by name. If the selector asks for labels
  // by value, looks only at objects with the rarest of them. Needs `labels`.
  std::vector<api::ObjectPtr> select(std::string_view name_space,
                                     const api::LabelSelector& selector) const;

  std::size_t size() const { return entries_.size(); }
  // How many objects it has handed out so far.
  std::uint64_t reads() const { return reads_; }
  // What it holds besides the objects themselves, in bytes, roughly.
  std::size_t bytes() const;

 private:
  struct Key {
    std::string_view name_space;
    std::string_view name;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static Key key_of(const Entry& entry) {
    return {entry.object->meta().name_space, entry.object->meta().name};
  }
  static Key key_of(const Key& key) { return key; }
  struct Hash {
    using is_transparent = void;
    template <typename T>
    std::size_t operator()(const T& named) const {
      const std::hash<std::string_view> hash;
      const Key key = key_of(named);
      return hash(key.name) * 31 + hash(key.name_space);
    }
  };
  struct Equal {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return key_of(a) == key_of(b);
    }
  };
  // Objects by term. Terms that no object has are not kept.
  class Index {
   public:
    void add(const Entry& entry, std::string term);
    void remove(const Entry& entry, std::string_view term);
    const Entries& at(std::string_view term) const;
    std::size_t bytes() const { return bytes_; }

   private:
    boost::unordered_flat_map<std::string, Entries> entries_;
    std::size_t bytes_ = 0;
  };

  std::vector<std::string> own_terms(const api::Object& object) const;
  void enter_labels(const Entry& entry, const api::ObjectMeta& meta);
  void leave_labels(const Entry& entry, const api::ObjectMeta& meta);
  void enter(const Entry& entry);
  void leave(const Entry& entry);
  void replace(const Entry& entry, const api::ObjectPtr& object);
  // What `index` has at `term`, counted as read.
  const Entries& read(const Index& index, std::string_view term) const;

  const Indexes indexes_;
  std::unordered_set<Entry, Hash, Equal> entries_;  // never iterated
  Index namespaces_, owners_, labels_, many_labels_, own_;
  mutable std::uint64_t reads_ = 0;
};

}  // namespace muster::client
