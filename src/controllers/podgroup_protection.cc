#include "controllers/podgroup_protection.h"

#include <string>
#include <utility>

#include "api/values/well_known.h"
#include "api/views/pod_view.h"
#include "base/check.h"

namespace muster::controllers {

PodGroupProtection::PodGroupProtection(client::Send send)
    : protection_(api::kPodGroupFinalizer, std::move(send)) {}

std::vector<const api::Kind*> PodGroupProtection::watched_kinds() {
  const api::Kind* pod_group = api::find_kind(api::kSchedulingGroup, "PodGroup");
  CHECK(pod_group != nullptr);
  return {pod_group, &api::kinds::pod()};
}

void PodGroupProtection::apply(client::Input input, Time now) {
  if (const auto* event = std::get_if<client::Event>(&input)) {
    if (event->object->kind().kind == "PodGroup")
      protection_.see(*event);
    else
      take_in_pod(*event);
  } else if (const auto* called = std::get_if<client::Called>(&input)) {
    protection_.take_in_outcome(*called, now);
  } else {
    protection_.start();
  }
}

void PodGroupProtection::take_in_pod(const client::Event& event) {
  const api::ObjectMeta& meta = event.object->meta();
  std::string group;
  if (event.type != client::Event::Type::Deleted) {
    const auto& pod = event.object->view<api::PodView>();
    if (!pod.scheduling_group.empty() && !pod.is_terminal())
      group = meta.name_space + "/" + pod.scheduling_group;
  }
  protection_.set_use(api::key_text(meta), group);
}

}  // namespace muster::controllers
