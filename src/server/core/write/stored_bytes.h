#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <mutex>
#include <span>
#include <string>

#include "api/object.h"
#include "store/store.h"

namespace muster::server {

// How many bytes of memory the durable objects take (Object::memory), by namespace: anyone who may
// create objects could otherwise take all of it.
class StoredBytes {
 public:
  // Listens to the store from now on, so it must exist before the first commit and outlive the
  // last.
  explicit StoredBytes(store::Store& store);

  // Any thread. Objects without a namespace are in "".
  std::size_t of(const std::string& name_space) const;
  std::size_t total() const;

 private:
  void on_changes(std::span<const store::Change> changes);
  void add(const api::Object& object);
  void remove(const api::Object& object);

  const api::Revision counted_up_to_;  // by the constructor
  mutable std::mutex mutex_;
  boost::unordered_flat_map<std::string, std::size_t> by_namespace_;  // under mutex_, as is total_
  std::size_t total_ = 0;
};

}  // namespace muster::server
