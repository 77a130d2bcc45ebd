#pragma once

#include <map>
#include <optional>
#include <string>

#include "client/kit/controller.h"

namespace muster::controllers {

// Deletes pods that no kubelet will ever finish: those bound to a node that has been gone for a
// while, and those that are being deleted on a node that is not ready and was declared out of
// service. They are marked as failed and disrupted first, so that their owners know why.
class PodGarbage final : public client::Controller {
 public:
  explicit PodGarbage(client::ComponentContext context);

 private:
  Keys on_node(const Change& change);
  Keys on_pod(const Change& change);
  void reconcile(const std::string& key, Time now) override;

  client::Mirror nodes_;
  client::Mirror pods_;  // bound ones; indexed by node
  // Nodes that do not exist and that pods are bound to: since when we know.
  std::map<std::string, Time> missing_since_;
};

}  // namespace muster::controllers
