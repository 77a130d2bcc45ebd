#include "controllers/job/job_pods.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <tuple>
#include <utility>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/values/string_pairs.h"
#include "controllers/common/pod_facts.h"

namespace muster::controllers {
namespace {

using api::Json;

constexpr std::array<std::string_view, 2> kStatusLists{"containerStatuses",
                                                       "initContainerStatuses"};

std::optional<std::int32_t> annotated_number(const api::Object& pod, std::string_view key) {
  const std::string* text = api::lookup(pod.meta().annotations, key);
  if (text == nullptr) return std::nullopt;
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size() || number < 0) return std::nullopt;
  return number;
}

// The end of the last container; none unless all have ended.
std::optional<Time> containers_end(const Json& status) {
  std::optional<Time> latest;
  for (const Json& container : api::elements(status, "containerStatuses")) {
    const Json& terminated = api::part_of(api::part_of(container, "state"), "terminated");
    const std::optional<Time> end = parse_time(api::find_string(terminated, "finishedAt"));
    if (!end) return std::nullopt;
    if (!latest || *end > *latest) latest = end;
  }
  return latest;
}

std::int64_t restarts_in(const Json& status) {
  std::int64_t sum = 0;
  for (const std::string_view list : kStatusLists)
    for (const Json& container : api::elements(status, list))
      sum += api::find_integer(container, "restartCount").value_or(0);
  return sum;
}

}  // namespace

bool is_tracked(const api::Object& pod) {
  return std::ranges::find(pod.meta().finalizers, kJobTracking) != pod.meta().finalizers.end();
}

JobPod::JobPod(api::ObjectPtr pod)
    : object(std::move(pod)),
      view(&object->view<api::PodView>()),
      index(annotated_number(*object, kCompletionIndex)),
      tracked(is_tracked(*object)) {
  ready = is_ready(*view);
}

bool JobPod::failed(const api::JobView& job) const {
  if (view->phase == "Failed") return true;
  return !job.replaces_failed_only && is_deleted() && !succeeded();
}

std::int32_t JobPod::index_failures() const {
  return annotated_number(*object, kIndexFailures).value_or(0);
}

std::int32_t JobPod::ignored_index_failures() const {
  return annotated_number(*object, kIndexIgnoredFailures).value_or(0);
}

bool has_valid_index(const JobPod& pod, const api::JobView& job) {
  return pod.index && *pod.index < job.completions.value_or(0);
}

Time finish_time(const api::Object& pod) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"status"});
  const Json& status = api::part_of(document, "status");
  if (const auto end = containers_end(status)) return *end;
  if (const auto since = ready_since(status, "False")) return *since;
  const api::ObjectMeta& meta = pod.meta();
  if (meta.deletion_time)
    return *meta.deletion_time - std::chrono::seconds{meta.deletion_grace_s.value_or(0)};
  return meta.creation_time.value_or(Time{});
}

std::int64_t restarts(const api::Object& pod) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"status"});
  return restarts_in(api::part_of(document, "status"));
}

void sort_for_removal(std::vector<const JobPod*>& pods) {
  // Everything that decides, smaller first; the name makes the order total.
  using Rank = std::tuple<bool, int, bool, Time::rep, std::int64_t, Time::rep, std::string_view>;
  std::vector<std::pair<Rank, const JobPod*>> ranked;
  ranked.reserve(pods.size());
  for (const JobPod* pod : pods) {
    const RemovalFacts facts = removal_facts(*pod->object);
    ranked.emplace_back(
        Rank{facts.assigned, facts.phase, facts.ready,
             -facts.ready_since.value_or(Time{}).time_since_epoch().count(), -facts.restarts,
             -facts.created.time_since_epoch().count(), pod->object->meta().name},
        pod);
  }
  std::ranges::sort(ranked);
  for (std::size_t i = 0; i < pods.size(); ++i) pods[i] = ranked[i].second;
}

}  // namespace muster::controllers
