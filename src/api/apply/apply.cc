#include "api/apply/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "api/apply/managers.h"
#include "api/apply/typed.h"
#include "api/budget.h"
#include "api/decode.h"

namespace muster::api {
namespace {

// Owns what stood in an object that was not tracked when somebody first applied to it.
constexpr std::string_view kBeforeFirstApply = "before-first-apply";
constexpr std::string_view kKubectl = "kubectl";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// The object's identity and the server's own notes belong to no manager.
const FieldSet& never_owned() {
  static const FieldSet kSet = field_set(
      {"apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace",
       "metadata.creationTimestamp", "metadata.selfLink", "metadata.uid", "metadata.clusterName",
       "metadata.generation", "metadata.managedFields", "metadata.resourceVersion"});
  return kSet;
}

FieldSet ownable(FieldSet set, const Write& write) {
  return without_subtrees(without(std::move(set), never_owned()), write.beyond);
}

Json without_managers(Json document) {
  if (JsonObject* object = document.if_object())
    if (Json* metadata = object->if_contains("metadata"); metadata != nullptr)
      if (JsonObject* members = metadata->if_object()) members->erase("managedFields");
  return document;
}

Comparison ownable_changes(const schema::Message& message, const Write& write, const Json& before,
                           const Json& after) {
  Comparison out = compare(message, before, after);
  out.added = ownable(std::move(out.added), write);
  out.modified = ownable(std::move(out.modified), write);
  out.removed = ownable(std::move(out.removed), write);
  return out;
}

Manager manager_of(const Write& write, std::string_view operation) {
  return {.name = write.manager,
          .operation = std::string(operation),
          .api_version = write.api_version,
          .subresource = write.subresource};
}

using Conflicts = std::map<Manager, FieldSet>;

// What others own and this change would take.
Conflicts conflicts_with(const Managers& managers, const Manager& self, const Comparison& changes) {
  const FieldSet taken = united(changes.modified, changes.added);
  Conflicts out;
  for (const auto& [manager, owned] : managers) {
    if (manager == self) continue;
    if (owned.fields.meets(taken)) out.emplace(manager, common(owned.fields.set(), taken));
  }
  return out;
}

void remove_from_others(Managers& managers, const Manager& self, const Comparison& changes) {
  if (std::ranges::all_of(managers, [&](const auto& entry) { return entry.first == self; })) return;
  const FieldSet lost = united(united(changes.modified, changes.added), changes.removed);
  for (auto& [manager, owned] : managers)
    if (manager != self) owned.fields.remove(lost);
}

// `"m" with subresource "status" using v1`; those who apply go by their name alone.
std::string spoken(const Manager& manager) {
  std::string out = fmt::format(R"("{}")", manager.name);
  if (!manager.subresource.empty())
    out += fmt::format(R"( with subresource "{}")", manager.subresource);
  if (manager.operation == kOperationUpdate) out += fmt::format(" using {}", manager.api_version);
  return out;
}

Error conflict_error(const Conflicts& conflicts) {
  Error error;
  error.reason = Reason::Conflict;
  std::string list;
  std::size_t count = 0;
  Budget bytes(kLimits.cause_bytes);
  for (const auto& [manager, set] : conflicts) {
    const std::string who = spoken(manager);
    const std::size_t paths_max = bytes.left() > 0 ? kLimits.causes - error.causes.size() : 0;
    const PrintedPaths paths = printed_paths(set, paths_max);
    count += paths.count;
    if (!paths.first.empty())
      list += fmt::format("{}conflicts with {}:", list.empty() ? "" : "\n", who);
    for (const std::string& path : paths.first) {
      if (!bytes.spend(path.size() + who.size())) break;
      list += "\n- " + path;
      error.causes.push_back(
          {.type = "FieldManagerConflict", .field = path, .message = "conflict with " + who});
    }
  }
  if (const std::size_t left_out = count - error.causes.size(); left_out > 0) {
    list += fmt::format("\n- and {} more", left_out);
    error.causes.push_back({.type = "FieldManagerConflict",
                            .field = "",
                            .message = fmt::format("and {} more conflicts", left_out)});
  }
  error.message = count == 1 ? fmt::format("Apply failed with 1 conflict: {}: {}",
                                           error.causes.front().message, error.causes.front().field)
                             : fmt::format("Apply failed with {} conflicts: {}", count, list);
  return error;
}

// Someone who moves from client-side to server-side kubectl apply meets nobody but himself: what
// his last client-side apply said is his.
bool was_applied_by_kubectl(const schema::Message& message, const Write& write, const Json& live,
                            const Conflicts& conflicts) {
  if (write.manager != kKubectl) return false;
  const Json* const annotations = find_path(live, "metadata.annotations");
  if (annotations == nullptr) return false;
  auto last = parse_json(find_string(*annotations, kLastApplied));
  if (!last) return false;
  auto decoded = decode(message, std::move(*last));
  if (!decoded) return false;
  const FieldSet said = fields_of(message, decoded->document);
  return std::ranges::all_of(
      conflicts, [&](const auto& entry) { return without(entry.second, said).empty(); });
}

// Later client-side applies compare with what is applied now.
void renew_last_applied(const Write& write, const Json& config, Json& document) {
  if (write.manager != kKubectl) return;
  const Json* const annotations = find_path(document, "metadata.annotations");
  if (annotations == nullptr || find_string(*annotations, kLastApplied).empty()) return;
  if (const Json* said = find_path(config, "metadata.annotations");
      said != nullptr && find(*said, kLastApplied) != nullptr)
    return;
  JsonObject& metadata = ensure_object(document.as_object(), "metadata");
  ensure_object(metadata, "annotations").insert_or_assign(kLastApplied, to_text(config) + "\n");
}

}  // namespace

bool resets_managers(const Json& document) {
  const Json* const entries = find_path(document, "metadata.managedFields");
  return entries != nullptr && *entries == Json(JsonArray{JsonObject()});
}

void record_update(const schema::Message& message, const Write& write, const Json& before,
                   Json& after) {
  if (resets_managers(after)) return;
  Managers managers = take_managers(after);
  if (managers.empty()) managers = read_managers(before);
  if (managers.empty() && !before.is_null()) return;
  // What is left of managedFields does not matter: it is one value, which nobody can own.
  Comparison changes = ownable_changes(message, write, before, after);
  const Manager self = manager_of(write, kOperationUpdate);
  remove_from_others(managers, self, changes);
  Owned& mine = managers[self];
  FieldSet gained = united(std::move(changes.modified), std::move(changes.added));
  if (!gained.empty() || !changes.removed.empty()) mine.time = write.now;
  mine.fields.remove(changes.removed);
  mine.fields.add(gained);
  write_managers(after, std::move(managers));
}

Result<Json> apply(const schema::Message& message, const Write& write, Json live,
                   const Json& config, bool force) {
  TRY(check_lists(message, config));
  Managers managers = take_managers(live);
  live = without_managers(std::move(live));
  const Manager self = manager_of(write, kOperationApply);
  if (managers.empty() && !live.is_null())
    managers[{.name = std::string(kBeforeFirstApply),
              .operation = std::string(kOperationUpdate),
              .api_version = write.api_version,
              .subresource = ""}] = {
        .fields = OwnedFields(ownable(fields_of(message, live), write)), .time = write.now};

  const std::string last_time = managers[self].time;
  const FieldSet last = std::exchange(managers[self], {}).fields.set();
  FieldSet said = fields_of(message, config);
  Json out = live.is_null() ? config : merged(message, live, config);
  prune(message, out, last, united(owned_by_all(managers), said));

  const Comparison changes = ownable_changes(message, write, live, out);
  const Conflicts conflicts = conflicts_with(managers, self, changes);
  if (!conflicts.empty() && !force && !was_applied_by_kubectl(message, write, live, conflicts))
    return fail(conflict_error(conflicts));
  remove_from_others(managers, self, changes);
  said = ownable(std::move(said), write);
  const bool changed = said != last || !changes.added.empty() || !changes.modified.empty() ||
                       !changes.removed.empty();
  managers[self] = {.fields = OwnedFields(said), .time = changed ? write.now : last_time};
  renew_last_applied(write, config, out);
  write_managers(out, std::move(managers));
  return out;
}

}  // namespace muster::api
