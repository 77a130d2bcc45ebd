#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "api/views/pod_needs.h"

namespace muster::api {

// Keeps what pods have in common once, as long as one of them lives. One thread reads pods with it;
// any thread may drop them.
class PodTemplates {
 public:
  // An equal one: the existing one if some pod has it.
  std::shared_ptr<const PodTemplate> share(PodTemplate&& read);
  // How many are kept, including some that nobody has any more.
  std::size_t size() const { return known_.size(); }

 private:
  void drop_unused();

  std::unordered_multimap<std::uint64_t, std::weak_ptr<const PodTemplate>> known_;
  std::size_t drop_at_ = 0;  // the size at which those without pods are removed
};

}  // namespace muster::api
