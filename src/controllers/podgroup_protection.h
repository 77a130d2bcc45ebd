#pragma once

#include <string>

#include "controllers/protection.h"

namespace muster::controllers {

// Lets a PodGroup that is being deleted go once no pod that names it runs or may still run:
// removes scheduling.k8s.io/podgroup-protection. Never adds it (admission does) and never
// looks at groups that are not being deleted. Pods that are done do not count, even while they
// exist; pods that are being deleted but have not ended do.
class PodGroupProtection final : public Protection {
 public:
  explicit PodGroupProtection(client::ComponentContext context);

 private:
  bool is_used(const std::string& key) const override { return !pods_.indexed(key).empty(); }

  client::Mirror pods_;  // indexed by the group they use
};

}  // namespace muster::controllers
