#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/request.h"
#include "base/result.h"

// The only way a component talks to the API. Behind it is the server core in this process
// (server/loopback) or a Kubernetes API server (client/https).
namespace muster::client {

using Outcome = Result<api::Answer>;
using Done = std::function<void(Outcome)>;

// One thing that happened to an object, as a watch reports it.
struct Event {
  enum class Type : std::uint8_t { Added, Modified, Deleted };
  Type type = Type::Added;
  api::ObjectPtr object;  // the new state; for Deleted the last one
};

// The life of all objects of a kind: first an Added for each that exists, then every change in
// order. It heals itself: after a gap it reports the differences. Belongs to one component; poll()
// never blocks.
class Feed {
 public:
  virtual ~Feed() = default;
  // Moves up to `max` events that have arrived into `out`.
  struct Poll {
    bool synced = false;  // everything that existed at the start has been reported
    bool more = false;    // call again, there is more right now
  };
  virtual Poll poll(std::vector<Event>& out, std::size_t max) = 0;
};

class Client {
 public:
  virtual ~Client() = default;

  // Sends a request. `done` is called exactly once, later or at once, on a thread of the client's
  // choosing: components pass a function that posts the outcome to their own mailbox.
  virtual void send(api::Request request, Done done) = 0;

  // `wake` is called, from any thread, when poll() may have something; coalesced, cheap, never
  // after the feed is destroyed.
  virtual std::unique_ptr<Feed> watch(const api::Kind& kind, std::function<void()> wake) = 0;
};

// The requests our components make, each written once.
api::Request bind_request(const api::Object& pod, std::string_view node);
api::Request get_request(const api::Object& object);
api::Request create_request(const api::Kind& kind, std::string_view name_space, api::Json document);
api::Request patch_request(const api::Kind& kind, std::string_view name_space,
                           std::string_view name, std::string_view subresource, api::PatchType type,
                           api::Json patch);
api::Request delete_request(const api::Object& object, std::optional<std::int64_t> grace_period_s);

}  // namespace muster::client
