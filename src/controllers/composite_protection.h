#pragma once

#include <string>

#include "controllers/parent_links.h"
#include "controllers/protection.h"

namespace muster::controllers {

// Lets a CompositePodGroup that is being deleted go when no group names it as its parent: removes
// scheduling.muster.dev/compositepodgroup-protection, so that trees go bottom up. Groups that
// are each other's parents hold nothing, or they could never go.
class CompositeProtection final : public Protection {
 public:
  explicit CompositeProtection(client::ComponentContext context);

 private:
  bool is_used(const std::string& key) const override { return links_.is_used(key); }
  Keys keys_of_object(const Change& change) override;
  Keys keys_of_pod_group(const Change& change);

  client::Mirror pod_groups_;
  // Of all groups in the mirrors; pod groups are leaves. Mutable, because a question rearranges its
  // trees without changing any answer.
  mutable ParentLinks links_;
};

}  // namespace muster::controllers
