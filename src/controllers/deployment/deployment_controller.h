#pragma once

#include <string>
#include <vector>

#include "client/kit/mirror.h"
#include "controllers/common/writing_controller.h"
#include "controllers/deployment/deployment_plan.h"

namespace muster::controllers {

// Rolls Deployments out: a ReplicaSet for each of their templates, the newest growing while the
// old ones shrink, within the bounds of their strategy. What to do follows from what is stored
// (plan_deployment), so a rollout goes on wherever it was interrupted.
class DeploymentController final : public WritingController {
 public:
  explicit DeploymentController(client::ComponentContext context);

 private:
  Keys on_set(const Change& change);

  void reconcile(const std::string& key, Time now) override;
  void carry_out(const std::string& key, const api::ObjectPtr& deployment,
                 const DeploymentPlan& plan);
  void change_set(const std::string& key, const api::ObjectPtr& deployment,
                  const DeploymentPlan::Change& change);
  void create_set(const std::string& key, const api::ObjectPtr& deployment,
                  const DeploymentPlan::NewSet& set);
  void on_create_failed(const std::string& key, const api::ObjectPtr& deployment,
                        const std::string& name, const Error& error, Time now);
  void on_name_taken(const std::string& key, const api::Object& deployment,
                     const std::string& name);

  client::Mirror deployments_;
  client::Mirror sets_;
};

}  // namespace muster::controllers
