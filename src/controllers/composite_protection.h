#pragma once

#include <string>
#include <vector>

#include "controllers/protection.h"

namespace muster::controllers {

// Lets a CompositePodGroup that is being deleted go when no group names it as its parent: removes
// scheduling.muster.dev/compositepodgroup-protection, so that trees go bottom up. Groups that
// are each other's parents hold nothing, or they could never go.
class CompositeProtection final : public Protection {
 public:
  explicit CompositeProtection(client::ComponentContext context);

 private:
  bool is_used(const std::string& key) const override;
  Keys keys_of_object(const Change& change) override;
  void index_object(const api::Object& object, std::vector<std::string>& out) const override;
  // Whether `ancestor` is the composite itself or above it.
  bool is_above(const std::string& ancestor, std::string composite) const;

  client::Mirror pod_groups_;  // indexed by parent, as objects_ is
};

}  // namespace muster::controllers
