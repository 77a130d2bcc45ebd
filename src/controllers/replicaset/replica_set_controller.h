#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/views/condition.h"
#include "api/views/replica_set_view.h"
#include "client/kit/mirror.h"
#include "controllers/common/pod_controller.h"

namespace muster::controllers {

// Keeps as many pods running as each ReplicaSet wants: makes missing ones, deletes surplus ones,
// adopts pods that match its selector and belong to nobody, and says in the status how many there
// are.
class ReplicaSetController final : public PodController {
 public:
  explicit ReplicaSetController(client::ComponentContext context);

 private:
  using Pods = std::vector<api::ObjectPtr>;
  // What is remembered of a set between looks.
  struct Memory {
    std::optional<api::Condition> failure;  // why the last change of pods did not succeed
    bool tried = false;                     // pods were changed since the start
    bool failed = false;                    // some call of the last look failed
  };

  Keys on_pod(const Change& change);

  void reconcile(const std::string& key, Time now) override;
  void change_pods(const std::string& key, const api::ObjectPtr& set, const Pods& active, Time now);
  // Pods of all sets that have the same owner: those that crowd a node together.
  Pods related_pods(const api::Object& set, const Pods& active) const;
  void on_changed(const std::string& key, std::string_view reason, const client::Outcome& outcome,
                  Time now);
  void write_status(const std::string& key, const api::ObjectPtr& set, const Pods& pods, Time now);

  client::Mirror sets_;  // also by owner
  client::Mirror pods_;
  std::map<std::string, Memory, std::less<>> memory_;  // by key; of sets that exist
};

}  // namespace muster::controllers
