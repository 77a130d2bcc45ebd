#pragma once

#include <optional>
#include <vector>

#include "controllers/protection.h"

namespace muster::controllers {

// Lets a PodGroup that is being deleted go when no pod that names it is still to run or running:
// takes scheduling.k8s.io/podgroup-protection off. Never puts it on (admission does) and never
// looks at groups that are not being deleted. Pods that are done do not count, even while they
// exist; pods that are being deleted but have not ended do.
class PodGroupProtection {
 public:
  explicit PodGroupProtection(client::Send send);

  void apply(client::Input input, Time now);
  std::size_t run_once(Time now, std::size_t limit) { return protection_.run_once(now, limit); }
  std::optional<Time> next_deadline() const { return protection_.next_deadline(); }
  static std::vector<const api::Kind*> watched_kinds();

 private:
  void take_in_pod(const client::Event& event);

  Protection protection_;
};

}  // namespace muster::controllers
