#include "app/live_leases.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <thread>
#include <variant>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/reading.h"

namespace muster::app {
namespace {

// Three renewals, if nothing goes wrong.
constexpr std::chrono::seconds kWatched{5};
// Nobody waits for longer, whatever a lease says.
constexpr std::chrono::seconds kWatchedMax{60};

// A lease that somebody holds.
struct Held {
  std::int64_t revision = 0;
  std::chrono::seconds duration{};  // without a renewal, after which another may take it
};

Result<std::optional<Held>> find_held(client::HttpsClient& client, std::string_view name_space,
                                      std::string_view name) {
  api::Request get;
  get.kind = &api::kinds::lease();
  get.version = get.kind->stored_version;
  get.name_space = name_space;
  get.name = name;
  const Result<api::Answer> answer = client.call(get);
  if (!answer && answer.error().reason == Reason::NotFound) return std::nullopt;
  if (!answer) return fail(answer.error());
  const auto* const object = std::get_if<api::ObjectAnswer>(&answer->what);
  if (object == nullptr) return std::nullopt;
  const api::Json document = object->object->document();
  const api::Json* const spec = api::find(document, "spec");
  if (spec == nullptr || api::find_string(*spec, "holderIdentity").empty()) return std::nullopt;
  const std::int64_t seconds = api::find_integer(*spec, "leaseDurationSeconds").value_or(0);
  return Held{object->object->revision().value,
              std::clamp(std::chrono::seconds{seconds}, kWatched, kWatchedMax)};
}

}  // namespace

bool sleep_really(std::chrono::seconds time) {
  std::this_thread::sleep_for(time);
  return true;
}

Result<std::vector<std::string>> live_leases(client::HttpsClient& client,
                                             std::string_view name_space,
                                             std::span<const std::string_view> names,
                                             const Sleep& sleep) {
  std::map<std::string_view, Held> held;
  for (const std::string_view name : names)
    if (const std::optional<Held> found = TRY(find_held(client, name_space, name)))
      held.emplace(name, *found);
  std::vector<std::string> live;
  for (std::chrono::seconds waited{}; !held.empty(); waited += kWatched) {
    if (!sleep(kWatched))
      return fail(Reason::Timeout, "the look at leases was ended before it was complete");
    for (auto at = held.begin(); at != held.end();) {
      const auto& [name, before] = *at;
      const std::optional<Held> now = TRY(find_held(client, name_space, name));
      const bool is_live = now && now->revision != before.revision;
      if (is_live) live.emplace_back(name);
      const bool is_over = is_live || !now || waited + kWatched >= before.duration;
      at = is_over ? held.erase(at) : std::next(at);
    }
  }
  std::ranges::sort(live);
  return live;
}

}  // namespace muster::app
