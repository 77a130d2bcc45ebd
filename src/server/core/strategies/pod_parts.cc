#include "server/core/strategies/pod_parts.h"

#include <algorithm>
#include <utility>

#include "api/validation/pod_parts.h"
#include "server/core/strategies/document.h"
#include "server/core/strategies/qos.h"

namespace muster::server {
namespace {

constexpr std::string_view kResize = "resize";

const JsonArray* find_list(const Json& pod, std::string_view list) {
  const Json* spec = api::find(pod, "spec");
  return spec == nullptr ? nullptr : api::find_array(*spec, list);
}

bool same_names(const JsonArray& a, const JsonArray& b) {
  return std::ranges::equal(a, b, [](const Json& x, const Json& y) {
    return api::find_string(x, "name") == api::find_string(y, "name");
  });
}

// The old containers with the resources of the new ones. A list of other containers stays as it
// was sent, for validation to refuse.
Json resized(const JsonArray& containers, const JsonArray* old) {
  if (old == nullptr || !same_names(containers, *old)) return containers;
  JsonArray out = *old;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i].is_object()) copy_member(out[i].get_object(), containers[i], "resources");
  return out;
}

}  // namespace

void drop_other_changes(Json& pod, const Json& old, std::string_view subresource) {
  const bool resize = subresource == kResize;
  const std::vector<std::string_view> lists =
      resize ? std::vector<std::string_view>{"containers", "initContainers"}
             : std::vector<std::string_view>{"ephemeralContainers"};
  JsonObject part;
  for (const std::string_view list : lists)
    if (const JsonArray* sent = find_list(pod, list))
      part[list] = resize ? resized(*sent, find_list(old, list)) : Json(*sent);
  for (const std::string_view member : {"spec", "status"})
    copy_member(pod.get_object(), old, member);
  for (const std::string_view member :
       {"labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp"})
    copy_meta(pod, old, member);
  JsonObject& spec = api::ensure_object(pod.get_object(), "spec");
  for (const std::string_view list : lists)
    if (Json* value = part.if_contains(list))
      spec[list] = std::move(*value);
    else
      spec.erase(list);
}

std::vector<Cause> validate_pod_part(const Json& pod, const Json& old,
                                     std::string_view subresource) {
  return subresource == kResize ? api::validate_pod_resize(pod, old, pod_qos_class(pod)).causes()
                                : api::validate_ephemeral_containers_update(pod, old).causes();
}

}  // namespace muster::server
