#include "api/views/stateful_set_view.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/selectors.h"

namespace muster::api {
namespace {

std::int32_t number(const Json& holder, std::string_view member, std::int32_t otherwise) {
  const std::int64_t value = find_integer(holder, member).value_or(otherwise);
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::int32_t>::max()));
}

// A number of pods or a percentage of them, rounded down; at least one.
std::int32_t read_unavailable(const Json& rolling, std::int32_t replicas) {
  const Json* amount = find_set(rolling, "maxUnavailable");
  if (amount == nullptr) return 1;
  std::int64_t pods = integer_of(*amount).value_or(0);
  if (const std::string_view text = text_of(*amount); text.ends_with('%')) {
    std::int64_t percent = 0;
    std::from_chars(text.data(), text.data() + text.size(), percent);
    pods = percent * replicas / 100;
  }
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(pods, 1, std::numeric_limits<std::int32_t>::max()));
}

StatefulSetView::Status read_status(const Json& status) {
  StatefulSetView::Status out;
  out.observed_generation = find_integer(status, "observedGeneration").value_or(0);
  out.replicas = number(status, "replicas", 0);
  out.ready = number(status, "readyReplicas", 0);
  out.available = number(status, "availableReplicas", 0);
  out.current = number(status, "currentReplicas", 0);
  out.updated = number(status, "updatedReplicas", 0);
  out.current_revision = find_string(status, "currentRevision");
  out.update_revision = find_string(status, "updateRevision");
  if (find_integer(status, "collisionCount")) out.collisions = number(status, "collisionCount", 0);
  return out;
}

}  // namespace

std::unique_ptr<StatefulSetView> StatefulSetView::read(const Object& set) {
  Scratch scratch;
  const Json document = members_in(scratch, set, {"spec", "status"});
  const Json& spec = part_of(document, "spec");
  auto view = std::make_unique<StatefulSetView>();
  view->replicas = number(spec, "replicas", 1);
  view->first_ordinal = number(part_of(spec, "ordinals"), "start", 0);
  if (const auto selector = read_label_selector(find(spec, "selector"))) view->selector = *selector;
  view->parallel = find_string(spec, "podManagementPolicy") == "Parallel";
  const Json& strategy = part_of(spec, "updateStrategy");
  view->on_delete = find_string(strategy, "type") == "OnDelete";
  const Json& rolling = part_of(strategy, "rollingUpdate");
  view->partition = number(rolling, "partition", 0);
  view->unavailable_max = read_unavailable(rolling, view->replicas);
  view->min_ready_s = number(spec, "minReadySeconds", 0);
  view->history_limit = number(spec, "revisionHistoryLimit", 10);
  const Json& retention = part_of(spec, "persistentVolumeClaimRetentionPolicy");
  view->claims_go_with_set = find_string(retention, "whenDeleted") == "Delete";
  view->claims_go_with_pod = find_string(retention, "whenScaled") == "Delete";
  for (const Json& claim : elements(spec, "volumeClaimTemplates"))
    view->claim_templates.emplace_back(find_string(part_of(claim, "metadata"), "name"));
  view->status = read_status(part_of(document, "status"));
  return view;
}

}  // namespace muster::api
