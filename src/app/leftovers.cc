#include "app/leftovers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "api/json.h"
#include "api/views/pod_view.h"
#include "client/client.h"

namespace muster::app {
namespace {

using api::JsonObject;

constexpr std::string_view kDomain = "muster.dev";

// "muster.dev/x", "scheduling.muster.dev/x".
bool is_ours(std::string_view name) {
  const std::string_view domain = name.substr(0, std::min(name.find('/'), name.size()));
  return domain != name && domain.ends_with(kDomain) &&
         (domain.size() == kDomain.size() || domain[domain.size() - kDomain.size() - 1] == '.');
}

std::string name_of(const api::Object& object) {
  const api::ObjectMeta& meta = object.meta();
  return fmt::format("{} {}{}{}", object.kind().singular, meta.name_space,
                     meta.name_space.empty() ? "" : "/", meta.name);
}

api::Request patch(const api::Object& object, std::string_view subresource, api::PatchType type,
                   api::Json body) {
  return client::patch_request(object.kind(), object.meta().name_space, object.meta().name,
                               subresource, type, std::move(body));
}

// Takes items out of lists: each is tested to be what was read there, so that the whole is refused
// if somebody changed the list meanwhile. Later items must be taken first.
struct Removals {
  std::vector<std::string> names;
  api::JsonArray operations;

  void add(std::string name, const std::string& tested, const std::string& removed) {
    operations.emplace_back(JsonObject{{"op", "test"}, {"path", tested}, {"value", name}});
    operations.emplace_back(JsonObject{{"op", "remove"}, {"path", removed}});
    names.push_back(std::move(name));
  }
};

void find_finalizers(const api::Object& object, std::vector<Leftover>& out) {
  Removals ours;
  const std::vector<std::string>& finalizers = object.meta().finalizers;
  for (std::size_t i = finalizers.size(); i-- > 0;) {
    const std::string path = fmt::format("/metadata/finalizers/{}", i);
    if (is_ours(finalizers[i])) ours.add(finalizers[i], path, path);
  }
  if (ours.names.empty()) return;
  out.push_back({fmt::format("{}: finalizer {}", name_of(object), fmt::join(ours.names, ", ")),
                 patch(object, "", api::PatchType::JsonPatch, std::move(ours.operations))});
}

void find_annotations(const api::Object& object, std::vector<Leftover>& out) {
  std::vector<std::string> ours;
  JsonObject none;
  for (const auto& [key, value] : object.meta().annotations) {
    if (!is_ours(key)) continue;
    ours.push_back(key);
    none[key] = nullptr;
  }
  if (ours.empty()) return;
  out.push_back({fmt::format("{}: annotation {}", name_of(object), fmt::join(ours, ", ")),
                 patch(object, "", api::PatchType::Merge,
                       JsonObject{{"metadata", JsonObject{{"annotations", std::move(none)}}}})});
}

void find_conditions(const api::Object& object, std::vector<Leftover>& out) {
  const api::Json document = object.document();
  const api::Json* const conditions = api::find_path(document, "status.conditions");
  if (conditions == nullptr || !conditions->is_array()) return;
  Removals ours;
  for (std::size_t i = conditions->get_array().size(); i-- > 0;) {
    const std::string_view type = api::find_string(conditions->get_array()[i], "type");
    const std::string path = fmt::format("/status/conditions/{}", i);
    if (is_ours(type)) ours.add(std::string(type), path + "/type", path);
  }
  if (ours.names.empty()) return;
  out.push_back({fmt::format("{}: condition {}", name_of(object), fmt::join(ours.names, ", ")),
                 patch(object, "status", api::PatchType::JsonPatch, std::move(ours.operations))});
}

void find_nomination(const api::Object& pod, std::span<const std::string> scheduler_names,
                     std::vector<Leftover>& out) {
  const auto& view = pod.view<api::PodView>();
  if (view.nominated_node.empty() || !view.node_name.empty() ||
      std::ranges::find(scheduler_names, view.scheduler_name) == scheduler_names.end())
    return;
  out.push_back({fmt::format("{}: nomination for node {}", name_of(pod), view.nominated_node),
                 patch(pod, "status", api::PatchType::Merge,
                       JsonObject{{"status", JsonObject{{"nominatedNodeName", nullptr}}}})});
}

}  // namespace

std::vector<Leftover> leftovers_on(const api::Object& object,
                                   std::span<const std::string> scheduler_names) {
  std::vector<Leftover> out;
  if (&object.kind() == &api::kinds::pod()) find_nomination(object, scheduler_names, out);
  find_conditions(object, out);
  find_annotations(object, out);
  find_finalizers(object, out);  // last: an object that is being deleted goes with its last one
  return out;
}

}  // namespace muster::app
