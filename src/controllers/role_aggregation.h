#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/values/label_selector.h"
#include "client/kit/controller.h"

namespace muster::controllers {

// Keeps the rules of aggregated ClusterRoles up to date: the rules of all ClusterRoles that one of
// their selectors finds, each once, selector by selector and by name. So `edit` consists of what is
// labelled as part of it.
class RoleAggregation final : public client::Controller {
 public:
  explicit RoleAggregation(client::ComponentContext context);

 private:
  Keys on_role(const Change& change);
  void reconcile(const std::string& key, Time now) override;
  api::JsonArray gathered(const std::string& name,
                          const std::vector<api::LabelSelector>& selectors) const;

  client::Mirror roles_;
  std::map<std::string, std::vector<api::LabelSelector>> aggregated_;  // by name of the role
};

}  // namespace muster::controllers
