#include "api/views/replica_set_view.h"

#include <algorithm>
#include <string_view>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/selectors.h"

namespace muster::api {
namespace {

StringPairs read_labels(const Json& pod_template) {
  StringPairs out;
  for (const auto& member : members(part_of(pod_template, "metadata"), "labels"))
    out.emplace_back(key_of(member), text_of(member.value()));
  std::ranges::sort(out);
  return out;
}

ReplicaSetView::Status read_status(const Json& status) {
  return {.replicas = find_integer(status, "replicas").value_or(0),
          .fully_labeled = find_integer(status, "fullyLabeledReplicas").value_or(0),
          .ready = find_integer(status, "readyReplicas").value_or(0),
          .available = find_integer(status, "availableReplicas").value_or(0),
          .terminating = find_integer(status, "terminatingReplicas"),
          .observed_generation = find_integer(status, "observedGeneration").value_or(0)};
}

std::optional<ReplicaSetView::Failure> read_failure(const Json& status) {
  for (const Json& condition : elements(status, "conditions")) {
    if (find_string(condition, "type") != "ReplicaFailure") continue;
    ReplicaSetView::Failure failure;
    failure.type = find_string(condition, "type");
    failure.status = find_string(condition, "status");
    failure.reason = find_string(condition, "reason");
    failure.message = find_string(condition, "message");
    failure.last_transition = parse_time(find_string(condition, "lastTransitionTime"));
    return failure;
  }
  return std::nullopt;
}

}  // namespace

std::string comparable_template(const Json& pod_template) {
  Json copy = pod_template;
  if (JsonObject* whole = copy.if_object())
    if (Json* metadata = whole->if_contains("metadata");
        metadata != nullptr && metadata->is_object())
      if (Json* labels = metadata->get_object().if_contains("labels");
          labels != nullptr && labels->is_object())
        labels->get_object().erase(kPodTemplateHash);
  return to_text(copy);
}

std::unique_ptr<ReplicaSetView> ReplicaSetView::read(const Object& set) {
  Scratch scratch;
  const Json document = members_in(scratch, set, {"spec", "status"});
  const Json& spec = part_of(document, "spec");
  const Json& status = part_of(document, "status");
  auto view = std::make_unique<ReplicaSetView>();
  view->replicas = find_integer(spec, "replicas").value_or(1);
  view->min_ready = std::chrono::seconds{find_integer(spec, "minReadySeconds").value_or(0)};
  if (auto selector = read_label_selector(find(spec, "selector")))
    view->selector = *std::move(selector);
  const Json& pod_template = part_of(spec, "template");
  view->template_labels = read_labels(pod_template);
  view->template_text = comparable_template(pod_template);
  view->status = read_status(status);
  view->failure = read_failure(status);
  return view;
}

}  // namespace muster::api
