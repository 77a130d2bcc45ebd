#include "controllers/node_lifecycle/taint_eviction.h"

#include <algorithm>
#include <set>
#include <vector>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/views/node_view.h"
#include "api/views/tolerations.h"

namespace muster::controllers {
namespace {

using api::Json;

bool is_no_execute(const api::Taint& taint) { return taint.effect == api::TaintEffect::NoExecute; }

std::set<api::Taint> no_execute_taints(const api::Object* node) {
  std::set<api::Taint> out;
  if (node == nullptr) return out;
  for (const api::Taint& taint : node->view<api::NodeView>().taints)
    if (is_no_execute(taint)) out.insert(taint);
  return out;
}

// When the first of the node's NoExecute taints came, as far as they say.
std::optional<Time> tainted_since(const api::Object& node) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, node, {"spec"});
  std::optional<Time> since;
  for (const Json& taint : api::elements(api::part_of(document, "spec"), "taints")) {
    if (api::find_string(taint, "effect") != "NoExecute") continue;
    const std::optional<Time> added = parse_time(api::find_string(taint, "timeAdded"));
    if (added && (!since || *added < *since)) since = added;
  }
  return since;
}

}  // namespace

bool has_no_execute(const api::Object& node) {
  return std::ranges::any_of(node.view<api::NodeView>().taints, is_no_execute);
}

bool no_execute_differs(const api::Object* before, const api::Object* after) {
  return no_execute_taints(before) != no_execute_taints(after);
}

Stay tolerated_stay(const api::Object& pod, const api::Object& node) {
  api::Scratch scratch;
  const Json document = api::members_in(scratch, pod, {"spec"});
  const api::JsonArray& tolerations = api::elements(api::part_of(document, "spec"), "tolerations");
  Stay stay{.forever = true};
  for (const api::Taint& taint : node.view<api::NodeView>().taints) {
    if (!is_no_execute(taint)) continue;
    const auto used = std::ranges::find_if(tolerations, [&](const Json& toleration) {
      return api::tolerates(api::read_toleration(toleration), taint);
    });
    if (used == tolerations.end()) return {};
    const std::optional<std::int64_t> seconds = api::find_integer(*used, "tolerationSeconds");
    if (!seconds) continue;
    // No pod lives that long; more would not fit a time.
    constexpr std::int64_t kSecondsMax = 1'000'000'000;
    const Duration length =
        std::chrono::seconds{std::clamp<std::int64_t>(*seconds, 0, kSecondsMax)};
    stay = {.forever = false, .length = stay.forever ? length : std::min(stay.length, length)};
  }
  return stay;
}

Evictions::Departure Evictions::judge(const api::Object& pod, const api::Object& node, Time now) {
  const Stay stay = tolerated_stay(pod, node);
  if (stay.forever) return {.leaves_at = std::nullopt, .cancelled = cancel(pod.meta().uid)};
  const auto [at, fresh] = since_.try_emplace(pod.meta().uid, now);
  // A pod that came after the taint has its whole time from now on.
  const Time came = pod.meta().creation_time.value_or(now);
  if (fresh) at->second = std::clamp(tainted_since(node).value_or(now), std::min(came, now), now);
  return {.leaves_at = at->second + stay.length};
}

bool Evictions::cancel(std::string_view uid) { return since_.erase(std::string(uid)) > 0; }

}  // namespace muster::controllers
