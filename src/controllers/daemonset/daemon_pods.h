#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/object.h"
#include "api/views/pod_view.h"

namespace muster::controllers {

// The pods of a DaemonSet: what they are made of, and where they belong.
class DaemonPods {
 public:
  // `hash`: of the revision of its template.
  DaemonPods(const api::Object& set, std::string_view hash);

  // The document of the pod of one node: it may run there and nowhere else.
  api::Json make(std::string_view node) const;

  struct Fit {
    bool should_run = false;
    bool may_stay = false;  // one that runs there already
  };
  Fit fit(const api::Object& node) const;

  const std::string& hash() const { return hash_; }

 private:
  std::string hash_;
  api::JsonObject pod_;                 // what all of them share
  std::unique_ptr<api::PodView> view_;  // of that
};

// The node a pod runs on, or is meant for before it is bound; empty if it is meant for none.
std::string_view node_of(const api::Object& pod);

}  // namespace muster::controllers
