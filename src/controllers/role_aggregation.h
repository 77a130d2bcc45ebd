#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/values/label_selector.h"
#include "client/component.h"
#include "client/kit/work_queue.h"
#include "controllers/calls.h"

namespace muster::controllers {

// Keeps the rules of aggregated ClusterRoles: those of all ClusterRoles that one of their selectors
// finds, each once, selector by selector and in the order of names. So `edit` is what everybody
// labels as part of it.
class RoleAggregation {
 public:
  explicit RoleAggregation(client::Send send);

  static std::vector<const api::Kind*> watched_kinds();

  void apply(client::Input input, Time now);
  std::size_t run_once(Time now, std::size_t limit);
  std::optional<Time> next_deadline() const;

 private:
  struct Role {
    api::ObjectPtr object;
    std::vector<api::LabelSelector> selectors;  // empty: not aggregated
  };
  struct Call {
    bool asked = false;    // an answer is awaited
    bool waiting = false;  // something changed meanwhile
    Duration backoff{};
  };

  void see(const client::Event& event);
  api::JsonArray gathered(const std::string& name, const Role& role) const;
  void decide(const std::string& name);
  void take_in_outcome(const client::Called& called, Time now);

  Calls<std::string> writes_;  // about an aggregated role
  bool started_ = false;
  std::map<std::string, Role> roles_;  // by name
  std::map<std::string, Call> calls_;  // by name of the aggregated role
  client::WorkQueue work_;
};

}  // namespace muster::controllers
