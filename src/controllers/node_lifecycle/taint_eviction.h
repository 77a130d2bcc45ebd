#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/object.h"
#include "base/time.h"

namespace muster::controllers {

// Whether the node has a taint, of any key, that drives pods away.
bool has_no_execute(const api::Object& node);
// Whether those of two versions of a node differ; null: it has none.
bool no_execute_differs(const api::Object* before, const api::Object* after);

// How long a pod may stay on a node despite its NoExecute taints.
struct Stay {
  bool forever = false;
  Duration length{};  // if not forever; 0: it must go at once
};
// Every taint must be tolerated; of those that are only for a time, the shortest counts. A taint is
// answered by the first toleration that matches it.
Stay tolerated_stay(const api::Object& pod, const api::Object& node);

// Which pods must leave their nodes, and since when their time runs. The time keeps running
// when one taint replaces another, and counts from the taint's own time if we have just
// started.
class Evictions {
 public:
  // When the pod must go; none: it may stay. `cancelled` is set if it had to go until now.
  struct Departure {
    std::optional<Time> leaves_at;
    bool cancelled = false;
  };
  Departure judge(const api::Object& pod, const api::Object& node, Time now);
  // The pod may stay after all; true if it had to go until now.
  bool cancel(std::string_view uid);
  void forget(std::string_view uid) { since_.erase(std::string(uid)); }
  std::size_t size() const { return since_.size(); }

 private:
  std::map<std::string, Time> since_;  // by uid; pods that are to leave
};

}  // namespace muster::controllers
