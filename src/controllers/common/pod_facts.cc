#include "controllers/common/pod_facts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/values/string_pairs.h"

namespace muster::controllers {
namespace {

using api::Json;

constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

int phase_rank(std::string_view phase) {
  if (phase == "Pending") return 0;
  return phase == "Running" ? 2 : 1;
}

std::int64_t most_restarts(const Json& status) {
  std::int64_t most = 0;
  for (const std::string_view list : {"containerStatuses", "initContainerStatuses"})
    for (const Json& container : api::elements(status, list))
      most = std::max(most, api::find_integer(container, "restartCount").value_or(0));
  return most;
}

// 0 unless the annotation is a number of 32 bits, written without a plus or leading zeros.
std::int32_t deletion_cost(const api::Object& pod) {
  const std::string* text = api::lookup(pod.meta().annotations, kDeletionCost);
  if (text == nullptr) return 0;
  std::int32_t cost = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), cost);
  const bool whole = error == std::errc{} && end == text->data() + text->size();
  return whole ? cost : 0;
}

// Ages differ only if one is about twice the other; what has no age is the youngest.
int age_rank(std::optional<Time> since, Time now) {
  if (!since || *since >= now) return 0;
  const auto age = std::chrono::duration_cast<std::chrono::nanoseconds>(now - *since);
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(age.count())));
}

}  // namespace

bool is_ready(const api::PodView& pod) {
  const api::Condition* ready = pod.condition("Ready");
  return ready != nullptr && ready->status == "True";
}

bool is_active(const api::Object& pod) {
  return !pod.view<api::PodView>().is_terminal() && !pod.meta().deletion_time;
}

bool is_terminating(const api::Object& pod) {
  return !pod.view<api::PodView>().is_terminal() && pod.meta().deletion_time;
}

std::optional<Time> ready_since(const Json& status, std::string_view wanted) {
  for (const Json& condition : api::elements(status, "conditions"))
    if (api::find_string(condition, "type") == "Ready" &&
        api::find_string(condition, "status") == wanted)
      return parse_time(api::find_string(condition, "lastTransitionTime"));
  return std::nullopt;
}

std::optional<Time> available_at(const api::Object& pod, Duration wait) {
  if (!is_ready(pod.view<api::PodView>())) return std::nullopt;
  if (wait <= Duration{}) return Time{};
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"status"});
  const std::optional<Time> since = ready_since(api::part_of(document, "status"), "True");
  if (!since) return std::nullopt;
  return *since + wait;
}

RemovalFacts removal_facts(const api::Object& pod) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"status"});
  const Json& status = api::part_of(document, "status");
  const auto& view = pod.view<api::PodView>();
  RemovalFacts facts{.assigned = !view.node_name.empty(),
                     .phase = phase_rank(view.phase),
                     .ready = is_ready(view),
                     .ready_since = std::nullopt,
                     .restarts = most_restarts(status),
                     .created = pod.meta().creation_time.value_or(Time{})};
  if (facts.ready) facts.ready_since = ready_since(status, "True");
  return facts;
}

std::vector<api::ObjectPtr> choose_for_removal(RemovalChoice choice) {
  if (choice.count >= choice.pods.size()) return std::move(choice.pods);
  std::map<std::string_view, std::int64_t> crowd;  // by node
  for (const api::ObjectPtr& pod : choice.related)
    if (const auto& view = pod->view<api::PodView>(); !view.node_name.empty())
      ++crowd[view.node_name];
  using Rank = std::tuple<bool, int, bool, std::int32_t, std::int64_t, int, std::int64_t, int,
                          std::string_view>;
  std::vector<std::pair<Rank, api::ObjectPtr>> ranked;
  ranked.reserve(choice.pods.size());
  for (api::ObjectPtr& pod : choice.pods) {
    const RemovalFacts facts = removal_facts(*pod);
    const auto node = crowd.find(pod->view<api::PodView>().node_name);
    ranked.emplace_back(
        Rank{facts.assigned, facts.phase, facts.ready, deletion_cost(*pod),
             node == crowd.end() ? 0 : -node->second, age_rank(facts.ready_since, choice.now),
             -facts.restarts, age_rank(facts.created, choice.now), pod->meta().uid},
        std::move(pod));
  }
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(choice.count);
  std::ranges::partial_sort(ranked, end, {},
                            [](const auto& entry) -> const Rank& { return entry.first; });
  std::vector<api::ObjectPtr> out;
  for (auto at = ranked.begin(); at != end; ++at) out.push_back(std::move(at->second));
  return out;
}

}  // namespace muster::controllers
