#pragma once

#include "client/kit/controller.h"

namespace muster::controllers {

// Deletes Jobs that have been finished for as long as they say (ttlSecondsAfterFinished), with all
// that belongs to them. Jobs that say nothing stay.
class TtlAfterFinished final : public client::Controller {
 public:
  explicit TtlAfterFinished(client::ComponentContext context);

 private:
  static Keys on_job(const Change& change);
  void reconcile(const std::string& key, Time now) override;

  client::Mirror jobs_;
};

}  // namespace muster::controllers
