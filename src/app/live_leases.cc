#include "app/live_leases.h"

#include <chrono>
#include <map>
#include <thread>
#include <variant>

#include "api/json.h"
#include "api/kinds/kind.h"

namespace muster::app {
namespace {

// Three renewals, if nothing goes wrong.
constexpr std::chrono::seconds kWatched{5};

// The revision of a lease; 0: nobody holds it.
Result<std::int64_t> revision_of(client::HttpsClient& client, std::string_view name_space,
                                 std::string_view name) {
  api::Request get;
  get.kind = &api::kinds::lease();
  get.version = get.kind->stored_version;
  get.name_space = name_space;
  get.name = name;
  const Result<api::Answer> answer = client.call(get);
  if (!answer && answer.error().reason == Reason::NotFound) return 0;
  if (!answer) return fail(answer.error());
  const auto* const object = std::get_if<api::ObjectAnswer>(&answer->what);
  if (object == nullptr) return 0;
  const api::Json document = object->object->document();
  const api::Json* const spec = api::find(document, "spec");
  const bool is_held = spec != nullptr && !api::find_string(*spec, "holderIdentity").empty();
  return is_held ? object->object->revision().value : 0;
}

}  // namespace

Result<std::vector<std::string>> live_leases(client::HttpsClient& client,
                                             std::string_view name_space,
                                             std::span<const std::string_view> names) {
  std::map<std::string_view, std::int64_t> held;
  for (const std::string_view name : names)
    if (const std::int64_t revision = TRY(revision_of(client, name_space, name)); revision != 0)
      held[name] = revision;
  std::vector<std::string> live;
  if (held.empty()) return live;
  std::this_thread::sleep_for(kWatched);
  for (const auto& [name, before] : held) {
    const std::int64_t after = TRY(revision_of(client, name_space, name));
    if (after != 0 && after != before) live.emplace_back(name);
  }
  return live;
}

}  // namespace muster::app
