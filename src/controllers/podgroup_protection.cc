#include "controllers/podgroup_protection.h"

#include <utility>

#include "api/kinds/kind.h"
#include "api/values/well_known.h"
#include "api/views/pod_view.h"

namespace muster::controllers {
namespace {

// The key of the group the pod uses; empty if none.
std::string group_of(const api::Object& object) {
  const auto& pod = object.view<api::PodView>();
  if (pod.scheduling_group.empty() || pod.is_terminal()) return {};
  return object.meta().name_space + "/" + pod.scheduling_group;
}

}  // namespace

PodGroupProtection::PodGroupProtection(client::ComponentContext context)
    : Protection("podgroup-protection", std::move(context), api::kinds::pod_group(),
                 api::kPodGroupFinalizer, Adds::Nothing,
                 {{.kind = &api::kinds::pod(),
                   .mirror = &pods_,
                   .keys_of =
                       [](const Change& change) {
                         // Only a pod that stops to use a group can set it free.
                         const std::string before = change.before ? group_of(*change.before) : "";
                         const std::string after = change.after ? group_of(*change.after) : "";
                         return before.empty() || before == after ? Keys{} : Keys{before};
                       }}}),
      pods_({.own = [](const api::Object& pod, std::vector<std::string>& out) {
        if (std::string group = group_of(pod); !group.empty()) out.push_back(std::move(group));
      }}) {}

}  // namespace muster::controllers
