#include "controllers/composite_protection.h"

#include <utility>

#include "api/values/well_known.h"
#include "api/views/group_view.h"
#include "base/check.h"

namespace muster::controllers {
namespace {

constexpr std::string_view kComposite = "CompositePodGroup";
// In front of the names of users that are composites: a PodGroup may have the same name.
constexpr std::string_view kCompositeUser = "composite ";
constexpr std::string_view kPodGroupUser = "podgroup ";

}  // namespace

CompositeProtection::CompositeProtection(client::Send send)
    : protection_(api::kCompositePodGroupFinalizer, std::move(send),
                  [this](const std::string& user, const std::string& composite) {
                    return !user.starts_with(kCompositeUser) ||
                           !is_above(user.substr(kCompositeUser.size()), composite);
                  }) {}

std::vector<const api::Kind*> CompositeProtection::watched_kinds() {
  const api::Kind* composite = api::find_kind(api::kSchedulingGroup, kComposite);
  const api::Kind* pod_group = api::find_kind(api::kSchedulingGroup, "PodGroup");
  CHECK(composite != nullptr && pod_group != nullptr);
  return {composite, pod_group};
}

void CompositeProtection::apply(client::Input input, Time now) {
  if (const auto* event = std::get_if<client::Event>(&input)) {
    take_in_group(*event);
  } else if (const auto* called = std::get_if<client::Called>(&input)) {
    protection_.take_in_outcome(*called, now);
  } else {
    protection_.start();
  }
}

void CompositeProtection::take_in_group(const client::Event& event) {
  const api::ObjectMeta& meta = event.object->meta();
  const std::string key = api::key_text(meta);
  const bool composite = event.object->kind().kind == kComposite;
  std::string parent;
  if (event.type != client::Event::Type::Deleted)
    if (const auto& group = event.object->view<api::GroupView>(); !group.parent.empty())
      parent = meta.name_space + "/" + group.parent;
  if (composite) {
    std::string& standing = parents_[key];
    if (standing != parent) protection_.look_again();
    standing = parent;
    if (parent.empty()) parents_.erase(key);
    protection_.see(event);
  }
  protection_.set_use(std::string(composite ? kCompositeUser : kPodGroupUser) + key, parent);
}

bool CompositeProtection::is_above(const std::string& ancestor, std::string composite) const {
  for (std::size_t steps = 0; steps <= parents_.size(); ++steps) {
    if (composite == ancestor) return true;
    const auto at = parents_.find(composite);
    if (at == parents_.end()) return false;
    composite = at->second;
  }
  return false;
}

}  // namespace muster::controllers
