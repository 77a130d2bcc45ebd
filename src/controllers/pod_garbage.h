#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "client/kit/controller.h"

namespace muster::controllers {

// Deletes pods that no kubelet will ever finish: those bound to a node that has been gone for a
// while, those that are being deleted on a node that is not ready and was declared out of service,
// and those that are being deleted and were never bound. They are marked as failed first, and as
// disrupted, so that their owners know why. Only a limited number of finished pods is kept: evicted
// ones go first, then the oldest.
class PodGarbage final : public client::Controller {
 public:
  static constexpr std::size_t kFinishedMax = 12'500;
  explicit PodGarbage(client::ComponentContext context, std::size_t finished_max = kFinishedMax);

 private:
  Keys on_node(const Change& change);
  Keys on_pod(const Change& change);
  void reconcile(const std::string& key, Time now) override;
  // Keeps count of finished pods; adds the key of one that is too many.
  void count_finished(const Change& change, Keys& keys);

  // A finished pod in the order in which they go.
  struct Finished {
    bool not_evicted;
    Time created;
    std::string key;
    friend auto operator<=>(const Finished&, const Finished&) = default;
  };
  static Finished finished_entry(const api::Object& pod);

  const std::size_t finished_max_;
  client::Mirror nodes_;
  client::Mirror pods_;            // indexed by node
  std::set<Finished> finished_;    // that may stay
  std::set<std::string> surplus_;  // uids of finished pods that go
  // Nodes that do not exist and that pods are bound to: since when we know.
  std::map<std::string, Time> missing_since_;
};

}  // namespace muster::controllers
