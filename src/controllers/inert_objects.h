#pragma once

#include <cstdint>
#include <string>

#include "api/inert/inert.h"
#include "client/kit/controller.h"
#include "client/kit/recently_used.h"

namespace muster::controllers {

// Puts an event, NotActedOn, on every new object that is stored and acted on by nobody, or has a
// field that is: kubectl describe shows it to those who did not see the warning of the server. Once
// per object, and none on objects that a controller made: their owner has it.
//
// Events are for people. A namespace gets a few about each kind, all namespaces together a few a
// second; whatever goes beyond has no event. Objects that are older than a minute when first seen
// get none, unless a component that acted on them is switched off.
class InertObjects final : public client::Controller {
 public:
  static constexpr std::string_view kReason = "NotActedOn";
  static constexpr Duration kNewFor = std::chrono::minutes{1};
  // How many events at once, and how long until there may be one more.
  struct Rate {
    std::int64_t burst;
    Duration refill;
  };
  static constexpr Rate kRatePerKind{20, std::chrono::minutes{1}};  // and namespace
  static constexpr Rate kRate{500, std::chrono::milliseconds{200}};
  static constexpr std::size_t kRememberedMax = 4096;

  InertObjects(api::Absent absent, client::ComponentContext context);

 private:
  std::vector<Watch> watches();
  void look_at(const api::ObjectPtr& object, Time now);
  void reconcile(const std::string& /*key*/, Time /*now*/) override {}
  bool may_speak(const api::Object& about, Time now);

  const api::Absent absent_;
  client::RecentlyUsed<bool> seen_{kRememberedMax};  // by uid
  // When the allowance is full again: of a kind in a namespace, and of all.
  client::RecentlyUsed<Time> full_by_kind_{kRememberedMax};
  Time full_;
};

}  // namespace muster::controllers
