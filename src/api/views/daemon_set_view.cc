#include "api/views/daemon_set_view.h"

#include <string_view>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/selectors.h"

namespace muster::api {
namespace {

DaemonSetView::Status read_status(const Json& status) {
  const auto number = [&](std::string_view member) {
    return find_integer(status, member).value_or(0);
  };
  return {.current = number("currentNumberScheduled"),
          .misscheduled = number("numberMisscheduled"),
          .desired = number("desiredNumberScheduled"),
          .ready = number("numberReady"),
          .updated = number("updatedNumberScheduled"),
          .available = number("numberAvailable"),
          .unavailable = number("numberUnavailable"),
          .observed_generation = number("observedGeneration"),
          .collisions = find_integer(status, "collisionCount")};
}

}  // namespace

std::unique_ptr<DaemonSetView> DaemonSetView::read(const Object& set) {
  Scratch scratch;
  const Json document = members_in(scratch, set, {"spec", "status"});
  const Json& spec = part_of(document, "spec");
  auto view = std::make_unique<DaemonSetView>();
  if (auto selector = read_label_selector(find(spec, "selector")))
    view->selector = *std::move(selector);
  view->min_ready = std::chrono::seconds{find_integer(spec, "minReadySeconds").value_or(0)};
  view->history_limit = find_integer(spec, "revisionHistoryLimit").value_or(10);
  const Json& strategy = part_of(spec, "updateStrategy");
  view->on_delete = find_string(strategy, "type") == "OnDelete";
  const Json& rolling = part_of(strategy, "rollingUpdate");
  view->max_surge = read_int_or_percent(rolling, "maxSurge", {});
  view->max_unavailable = read_int_or_percent(rolling, "maxUnavailable", {.value = 1});
  view->status = read_status(part_of(document, "status"));
  return view;
}

}  // namespace muster::api
