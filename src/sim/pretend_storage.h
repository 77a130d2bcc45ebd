#pragma once

#include <string>
#include <vector>

#include "api/request.h"
#include "client/kit/controller.h"
#include "client/kit/mirror.h"

namespace muster::sim {

// Plays the storage drivers of a cluster, as pretend nodes play its machines: makes volumes
// for claims where a real driver would, binds claims and volumes to each other, and removes volumes
// whose claim is gone. No byte is ever stored.
//
//   claim ──class binds at once──▶ an open volume that suits, or a new one ──▶ both Bound
//      └────waits for a consumer──▶ (the scheduler names a volume or a node) ──▶ the same
//
// It answers for every provisioner: a pretend cluster has no other. Claims of ephemeral volumes are
// made for their pods, and claims without a class get the default one.
class PretendStorage final : public client::Controller {
 public:
  explicit PretendStorage(client::ComponentContext context);

  // Who it is to the server.
  static api::User user();

 private:
  Keys on_claim(const Change& change) const;
  Keys on_volume(const Change& change) const;
  Keys on_class(const Change& change) const;
  static Keys on_pod(const Change& change);

  void reconcile(const std::string& key, Time now) override;
  void reconcile_claim(const std::string& key, const api::ObjectPtr& claim);
  void reconcile_volume(const std::string& key, const api::ObjectPtr& volume);
  void reconcile_class(std::string_view name, Time now);
  void reconcile_pod(const std::string& key, const api::ObjectPtr& pod);

  void bind(const std::string& key, const api::ObjectPtr& claim, const api::ObjectPtr& volume);
  void provision(const std::string& key, const api::ObjectPtr& claim,
                 const api::ObjectPtr& storage_class);
  api::ObjectPtr volume_for(const api::ObjectPtr& claim) const;
  api::ObjectPtr open_volume_for(const api::ObjectPtr& claim) const;
  api::ObjectPtr default_class() const;

  client::Mirror claims_;   // those without a volume are found by their class
  client::Mirror volumes_;  // by the claim they name, or by class if they name none
  client::Mirror classes_;  // found together
  client::Mirror nodes_;
  client::Mirror pods_;
};

}  // namespace muster::sim
