#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/views/daemon_set_view.h"
#include "client/kit/mirror.h"
#include "controllers/common/pod_controller.h"
#include "controllers/daemonset/daemon_plan.h"

namespace muster::controllers {

// Keeps a pod of each DaemonSet on every node it is for, and replaces them when its template
// changes. The scheduler binds them: each names its node by affinity.
class DaemonSetController final : public PodController {
 public:
  explicit DaemonSetController(client::ComponentContext context);

 private:
  // Pods that keep failing are replaced less and less often.
  struct Backoff {
    Duration pause{};
    Time until{};
  };
  using Memory = std::map<std::string, Backoff, std::less<>>;  // by node

  static std::vector<Watch> watches(DaemonSetController& self);
  Keys on_pod(const Change& change);
  Keys on_node(const Change& change);
  Keys on_revision(const Change& change);
  void make_all_due(Time now);

  void reconcile(const std::string& key, Time now) override;
  // The newest revision; null if it must be made first, which is then under way.
  api::ObjectPtr newest_revision_of(const std::string& key, const api::Object& set,
                                    const std::vector<api::ObjectPtr>& revisions);
  void carry_out(const std::string& key, const api::ObjectPtr& set, const DaemonPods& pods,
                 const DaemonPlan& plan, Time now);
  void say_ended(const std::string& key, const api::Object& set, const api::Object& pod, Time now);
  void forget_history(const std::string& key, const api::Object& set,
                      const std::vector<api::ObjectPtr>& revisions, const api::Object& newest,
                      const std::vector<api::ObjectPtr>& pods);

  client::Mirror sets_;
  client::Mirror pods_;
  client::Mirror nodes_;
  client::Mirror revisions_;
  std::map<std::string, Memory, std::less<>> memory_;  // by key; of sets that exist
  bool nodes_changed_ = false;                         // since make_all_due() began
  bool going_over_sets_ = false;                       // it has not come to the end:
  api::ObjectPtr last_set_;                            // how far it has come
};

}  // namespace muster::controllers
