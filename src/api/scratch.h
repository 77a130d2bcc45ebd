#pragma once

#include <boost/json/monotonic_resource.hpp>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "api/json.h"
#include "api/object.h"

namespace muster::api {

// Memory for documents that are read or edited and then forgotten: nothing is freed until all of it
// is. Documents in it must not outlive it. What is put into such a document is copied into its
// memory, and what is moved out of it into another document is copied there, so parts never dangle.
class Scratch {
 public:
  Scratch() : resource_(first_.data(), first_.size()) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  boost::json::storage_ptr storage() { return &resource_; }

 private:
  // Meant to hold a usual pod; larger documents take more from the heap.
  std::array<unsigned char, 24U << 10U> first_;  // uninitialized: all of it is written before read
  boost::json::monotonic_resource resource_;
};

// As Object::document(), in `scratch`.
Json document_in(Scratch& scratch, const Object& object);
// Only these members of the document, for callers that read nothing else: a pod's view has no use
// for its managed fields.
Json members_in(Scratch& scratch, const Object& object,
                std::initializer_list<std::string_view> members);

}  // namespace muster::api
