#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/component.h"
#include "client/kit/work_queue.h"
#include "controllers/calls.h"

namespace muster::controllers {

// Deletes pods that no kubelet will ever finish: those bound to a node that has been gone for a
// while, and those that shall end on a node that is not ready and was declared out of service. They
// are marked as failed and disrupted first, so that their owners know why.
class PodGarbage {
 public:
  explicit PodGarbage(client::Send send);

  static std::vector<const api::Kind*> watched_kinds();

  void apply(client::Input input, Time now);
  std::size_t run_once(Time now, std::size_t limit);
  std::optional<Time> next_deadline() const;

 private:
  struct Pod {
    api::ObjectPtr object;
    std::string node;
    bool ended = false;  // Succeeded or Failed
    bool asked = false;  // an answer is awaited
    Duration backoff{};
  };
  struct Node {
    bool exists = false;
    bool out_of_service = false;        // and not ready
    std::optional<Time> missing_since;  // since we know of it
    std::set<std::string> pods;         // by key
  };

  void see_pod(const client::Event& event);
  void see_node(const client::Event& event, Time now);
  void forget(const std::string& key);
  void decide(const std::string& key, Time now);
  void call(const std::string& key, Pod& pod, api::Request request);
  void take_in_outcome(const client::Called& called, Time now);

  Calls<std::string> calls_;  // about a pod
  bool started_ = false;
  std::map<std::string, Pod> pods_;    // bound ones, by namespace/name
  std::map<std::string, Node> nodes_;  // by name; also those that only pods speak of
  client::WorkQueue work_;
};

}  // namespace muster::controllers
