#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/framework/profile.h"

namespace muster::scheduler {

inline constexpr std::string_view kDefaultSchedulerName = "default-scheduler";

// The profiles of one scheduler by the name that pods ask for in spec.schedulerName. There is at
// least one. A value: copies share what they hold.
class Profiles {
 public:
  struct Named {
    std::string scheduler_name;
    Profile profile;
  };

  // One profile under the usual name.
  Profiles(Profile only) : Profiles(std::string(kDefaultSchedulerName), std::move(only)) {}
  Profiles(std::string scheduler_name, Profile only) {
    add(std::move(scheduler_name), std::move(only));
  }

  // A name that is there already gets the new profile.
  void add(std::string scheduler_name, Profile profile);
  // Null: pods that ask for this name wait for another scheduler.
  const Profile* find(std::string_view scheduler_name) const;
  bool serves(std::string_view scheduler_name) const { return find(scheduler_name) != nullptr; }
  const Named& first() const { return all_.front(); }
  // In the order they were added.
  std::span<const Named> all() const { return all_; }
  // What plugins say about the group's placements, if not by a node label: GroupSpec::placements.
  // All profiles are asked, since a group is known before its pods name one.
  std::string placements_of(const GroupSpec& group) const;
  // Whether such an event could help a pod that the plugin refused: asked of those profiles that
  // have the plugin. If none has, it could.
  bool listens(std::string_view plugin, Resource resource, Action action) const;

 private:
  std::vector<Named> all_;
};

}  // namespace muster::scheduler
