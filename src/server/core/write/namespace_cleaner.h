#pragma once

#include <functional>
#include <map>
#include <string>

#include "api/request.h"
#include "base/time.h"
#include "store/store.h"

namespace muster::server {

// Empties namespaces that are being deleted, then lets them go, by ordinary requests: a
// deletecollection per kind, then an update of /finalize once nothing is left. Content that takes
// its time (pods with a grace period, objects with finalizers) holds the namespace until somebody
// removes it.
//
// It stands in for the namespace controller until there is one; such a controller could do all of
// this from outside.
class NamespaceCleaner {
 public:
  using Submit = std::function<void(api::Request)>;

  explicit NamespaceCleaner(const store::Store& store) : store_(store) {}

  // Namespaces have changed: look for terminating ones at the next run.
  void look_again() { stale_ = true; }

  // Submits the next request; false if there is none. Call it again once that is committed.
  bool run(const Submit& submit);

 private:
  void find_terminating();
  bool has_content(const std::string& name_space, std::string& found);

  const store::Store& store_;
  bool stale_ = true;
  enum class Stage { Found, Emptying, Finalizing };
  struct Terminating {
    Stage stage = Stage::Found;
    // Where content was seen last: while it is still there, no need to look elsewhere.
    std::string content = {};
  };
  std::map<std::string, Terminating> terminating_;  // by name
};

}  // namespace muster::server
