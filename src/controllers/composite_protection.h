#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/protection.h"

namespace muster::controllers {

// Lets a CompositePodGroup that is being deleted go when no group names it as its parent: takes
// scheduling.muster.dev/compositepodgroup-protection off, so that trees go bottom up. Groups that
// are each other's parents hold nothing, or they could never go.
class CompositeProtection {
 public:
  explicit CompositeProtection(client::Send send);
  CompositeProtection(const CompositeProtection&) = delete;
  CompositeProtection& operator=(const CompositeProtection&) = delete;

  void apply(client::Input input, Time now);
  std::size_t run_once(Time now, std::size_t limit) { return protection_.run_once(now, limit); }
  std::optional<Time> next_deadline() const { return protection_.next_deadline(); }
  static std::vector<const api::Kind*> watched_kinds();

 private:
  void take_in_group(const client::Event& event);
  // Whether `ancestor` is the composite itself or stands above it.
  bool is_above(const std::string& ancestor, std::string composite) const;

  std::map<std::string, std::string> parents_;  // of composites, by namespace/name
  Protection protection_;
};

}  // namespace muster::controllers
