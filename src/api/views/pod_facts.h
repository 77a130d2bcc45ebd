#pragma once

#include "api/object.h"
#include "api/views/pod_view.h"

// What everybody asks of a pod.
namespace muster::api {

inline const PodView& view_of(const ObjectPtr& pod) { return pod->view<PodView>(); }

inline bool is_terminating(const ObjectPtr& object) {
  return object->meta().deletion_time.has_value();
}

// It counts on the node that its spec names.
inline bool holds_node(const ObjectPtr& pod) {
  return !view_of(pod).node_name.empty() && !view_of(pod).is_terminal();
}

}  // namespace muster::api
