#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "store/store.h"

namespace muster::server {

// Whether both name the same owners, as two versions of an object nearly always do: then no owner
// gains or loses a dependent, and a write of many objects need not count them again.
bool name_same_owners(const api::Object& one, const api::Object& other);

// Which objects are named as owners, and by how many others: whether an object has dependents is
// asked for every object that is deleted with a propagation policy, and looking at everything in
// its namespace each time would make a deletecollection quadratic.
class OwnerIndex {
 public:
  // Listens to the store from now on, so it must exist before the first commit and outlive the
  // last.
  explicit OwnerIndex(store::Store& store);

  // Whether anything durable names `owner`: in its namespace, or anywhere if it has none. Any
  // thread.
  bool has_dependents(const api::Object& owner) const;

 private:
  void on_changes(std::span<const store::Change> changes);
  void add(const api::Object& dependent, std::int64_t sign);

  const api::Revision counted_up_to_;  // by the constructor
  mutable std::mutex mutex_;
  // References by "UID" and by "UID/namespace of the dependent"; under mutex_.
  boost::unordered_flat_map<std::string, std::int64_t> references_;
};

}  // namespace muster::server
