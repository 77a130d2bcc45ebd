#pragma once

#include <string>

#include "api/object.h"

namespace muster::controllers {

// What a controller remembers of the object of a key, in a map of its own. Nothing is known about
// an object that replaced another of the same name: the memory's `uid` says whose it is.
template <typename Memories>
typename Memories::mapped_type& recall(Memories& memories, const std::string& key,
                                       const api::Object& object) {
  auto& memory = memories[key];
  if (memory.uid != object.meta().uid) {
    memory = typename Memories::mapped_type();
    memory.uid = object.meta().uid;
  }
  return memory;
}

}  // namespace muster::controllers
