#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/views/pod_view.h"
#include "base/time.h"

// What controllers that keep pods running ask of a pod.
namespace muster::controllers {

bool is_ready(const api::PodView& pod);
// Neither ended nor being deleted.
bool is_active(const api::Object& pod);
// Being deleted and not ended yet.
bool is_terminating(const api::Object& pod);
// When a ready pod will have been ready for `wait`; none if it is not ready. With no wait this is
// the beginning of time.
std::optional<Time> available_at(const api::Object& pod, Duration wait);
// When the condition Ready got this status, from the pod's `status`; none if it has another.
std::optional<Time> ready_since(const api::Json& status, std::string_view wanted);

// What decides which pods go first when there are too many.
struct RemovalFacts {
  bool assigned = false;
  int phase = 0;  // pending, unknown, running
  bool ready = false;
  std::optional<Time> ready_since;
  std::int64_t restarts = 0;  // of the container that restarted most
  Time created{};
};
RemovalFacts removal_facts(const api::Object& pod);

// Of more pods than `count`, the first to go: not assigned, pending, not ready, of lower
// controller.kubernetes.io/pod-deletion-cost, on a node with more of `related`, younger by powers
// of two (by how long they are ready, restarts, by age); among equals by uid, which is as good as
// random. `related` are the active pods that count as crowding a node.
struct RemovalChoice {
  std::vector<api::ObjectPtr> pods;
  std::vector<api::ObjectPtr> related;
  std::size_t count = 0;
  Time now{};
};
std::vector<api::ObjectPtr> choose_for_removal(RemovalChoice choice);

}  // namespace muster::controllers
