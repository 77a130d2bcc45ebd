#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "client/component.h"
#include "client/kit/work_queue.h"
#include "controllers/calls.h"

namespace muster::controllers {

// Takes a finalizer off objects that are being deleted, once nothing uses them any more. The part
// that all protection controllers share; they tell it what uses what.
//
//   deleted, has the finalizer ──last user gone──▶ patch sent ──told by the feed──▶ forgotten
//                                                   │    ▲
//                                                   └────┘ refused: again after a while
//
// Objects and users are named by text: "namespace/name" for objects, anything unique for users.
class Protection {
 public:
  // Whether a user holds an object; one that does not is as good as gone.
  using Holds = std::function<bool(const std::string& user, const std::string& object)>;
  Protection(std::string_view finalizer, client::Send send, Holds holds = nullptr);

  // An event of the protected kind.
  void see(const client::Event& event);
  // The user uses this object, or, if empty, none; replaces what it used before.
  void set_use(const std::string& user, const std::string& object);
  // Something changed that `holds` looks at.
  void look_again();
  // All objects and users that exist have been told. Nothing is decided before.
  void start() { started_ = true; }
  void take_in_outcome(const client::Called& called, Time now);

  std::size_t run_once(Time now, std::size_t limit);
  std::optional<Time> next_deadline() const;

 private:
  struct Deleting {
    api::ObjectPtr object;
    bool asked = false;  // a patch is under way, or was accepted and the feed has yet to tell
    Duration backoff{};
  };

  bool used(const std::string& object) const;
  void decide(const std::string& object);

  std::string finalizer_;
  Calls<std::string> calls_;  // about an object
  Holds holds_;
  bool started_ = false;
  std::map<std::string, std::string> uses_;             // object by user
  std::map<std::string, std::set<std::string>> users_;  // by object
  std::map<std::string, Deleting> deleting_;            // by object; all have the finalizer
  client::WorkQueue work_;
};

}  // namespace muster::controllers
