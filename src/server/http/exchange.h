#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/access/identity.h"
#include "server/core/request/request_meter.h"
#include "server/http/audit.h"
#include "server/http/channel.h"
#include "server/http/client_ledger.h"
#include "server/http/inbox.h"
#include "server/http/options.h"
#include "server/http/render.h"
#include "server/http/router.h"
#include "watch/window.h"

namespace muster::server {

// A read of a revision that the store has not reached: it is tried again after every change, until
// its time is up.
struct ParkedRead {
  std::unique_ptr<watch::Window::Subscription> any_change;
  SteadyTime until;
};

// One request on its way from head to answer; kept by the connection meanwhile.
struct Exchange {
  Route route;
  std::int64_t judged_as_of = 0;  // the authorizer's generation, from before it was judged
  Identity who;
  AccountPtr account;  // of the real user, not of the one they act as; null until that is known
  Rendering rendering;
  RequestMeter::Labels labels;
  std::string audit_id;
  std::unique_ptr<AuditRecord> audit;  // null unless there is an audit log
  SteadyTime started;
  std::optional<ParkedRead> parked;
  DeleteReply delete_reply;
  bool known_user = false;  // authenticated, not anonymous
  bool pretty = false;
  bool gzip = false;

  bool anonymous() const { return !known_user; }
  // Whether anybody reads the request's body.
  bool wants_body() const;
};

// Where the core's answers and wakes go.
struct ReturnAddress {
  std::shared_ptr<Inbox> inbox;
  std::weak_ptr<Recipient> recipient;
  // What all exchanges of an HTTP/2 connection hold together; null for HTTP/1.1.
  AccountPtr connection = nullptr;
};

// Wakes the recipient, from any thread. Wakes that come while one is under way add nothing. The
// flag is cleared before the recipient looks for what has changed (Recipient::on_wake runs after
// it), so no wake is lost.
inline std::function<void()> wake_of(const ReturnAddress& from) {
  return [from, on_its_way = std::make_shared<std::atomic<bool>>(false)] {
    if (!on_its_way->exchange(true)) from.inbox->put_wake(from.recipient, on_its_way);
  };
}

}  // namespace muster::server
