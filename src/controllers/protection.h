#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "client/kit/controller.h"

namespace muster::controllers {

// Removes a finalizer from objects that are being deleted, once nothing uses them any more. The
// part that all protection controllers share; each says what a use is.
//
//   deleted, has the finalizer ──last user gone──▶ patch sent ──shown by the feed──▶ forgotten
//                                                   │    ▲
//                                                   └────┘ refused: again after a pause
class Protection : public client::Controller {
 protected:
  // `users` are the watches of what may use the objects; their keys are those of the objects.
  Protection(std::string_view name, client::ComponentContext context, const api::Kind& kind,
             std::string_view finalizer, std::vector<Watch> users);

  virtual bool is_used(const std::string& key) const = 0;
  // Which objects must be looked at when one of them changes. Only itself, unless overridden.
  virtual Keys keys_of_object(const Change& change);

  // Whether it waits to go: deleted and with the finalizer.
  bool is_leaving(const api::Object& object) const;

  client::Mirror objects_;

 private:
  void reconcile(const std::string& key, Time now) final;

  const std::string finalizer_;
  // Objects whose patch is under way, or was accepted but not yet shown by the feed: uid by key.
  std::map<std::string, std::string> released_;
};

}  // namespace muster::controllers
