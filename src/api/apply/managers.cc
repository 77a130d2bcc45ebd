#include "api/apply/managers.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace muster::api {
namespace {

constexpr std::size_t kUpdatersMax = 10;
constexpr std::string_view kAncientChanges = "ancient-changes";
constexpr std::string_view kManagedFields = "managedFields";

using Entry = std::pair<Manager, Owned>;

bool in_written_order(const Entry& a, const Entry& b) {
  return std::tie(a.first.operation, a.second.time, a.first.name, a.first.api_version,
                  a.first.subresource) < std::tie(b.first.operation, b.second.time, b.first.name,
                                                  b.first.api_version, b.first.subresource);
}

// Folds the oldest updaters into one entry per version until few enough are left. The first of a
// version is only renamed when a second one joins it.
void cap_updaters(Managers& managers) {
  if (managers.size() <= kUpdatersMax) return;
  std::vector<Entry> updaters;
  for (const auto& entry : managers)
    if (entry.first.operation == kOperationUpdate) updaters.emplace_back(entry);
  std::size_t count = updaters.size();
  if (count <= kUpdatersMax) return;
  std::ranges::sort(updaters, in_written_order);
  std::map<std::string, Manager> oldest;  // by version
  for (const auto& [manager, owned] : updaters) {
    if (count <= kUpdatersMax) return;
    const auto [first, is_first] = oldest.try_emplace(manager.api_version, manager);
    const Manager bucket{.name = std::string(kAncientChanges),
                         .operation = std::string(kOperationUpdate),
                         .api_version = manager.api_version,
                         .subresource = ""};
    if (is_first || manager == bucket) continue;
    if (!managers.contains(bucket)) {
      managers[bucket] = std::move(managers[first->second]);
      managers.erase(first->second);
    }
    Owned& ancient = managers[bucket];
    ancient.fields.add(owned.fields.set());
    ancient.time = std::max(ancient.time, owned.time);
    managers.erase(manager);
    --count;
  }
}

Json to_entry(const Manager& manager, Owned owned, const boost::json::storage_ptr& storage) {
  JsonObject out(storage);
  out.emplace("manager", manager.name);
  out.emplace("operation", manager.operation);
  out.emplace("apiVersion", manager.api_version);
  if (!owned.time.empty()) out.emplace("time", owned.time);
  out.emplace("fieldsType", "FieldsV1");
  out.emplace("fieldsV1", std::move(owned.fields).take_json());
  if (!manager.subresource.empty()) out.emplace("subresource", manager.subresource);
  return out;
}

// Moves what the managers own out of the entries.
Managers taken_from(JsonArray& entries) {
  Managers out;
  for (Json& entry : entries) {
    if (find_string(entry, "operation").empty()) continue;
    Json* const fields = entry.get_object().if_contains("fieldsV1");
    if (fields == nullptr) continue;
    auto taken = OwnedFields::extract(*fields);
    if (!taken) continue;
    Manager manager{.name = std::string(find_string(entry, "manager")),
                    .operation = std::string(find_string(entry, "operation")),
                    .api_version = std::string(find_string(entry, "apiVersion")),
                    .subresource = std::string(find_string(entry, "subresource"))};
    Owned& owned = out[std::move(manager)];
    if (owned.fields.empty())
      owned.fields = std::move(*taken);
    else
      owned.fields.add(taken->set());
    owned.time = std::max(owned.time, std::string(find_string(entry, "time")));
  }
  return out;
}

}  // namespace

Managers read_managers(const Json& document) {
  const Json* const entries = find_path(document, "metadata.managedFields");
  if (entries == nullptr || !entries->is_array()) return {};
  JsonArray copy = entries->get_array();
  return taken_from(copy);
}

Managers take_managers(Json& document) {
  JsonObject* const members = document.if_object();
  Json* const metadata = members == nullptr ? nullptr : members->if_contains("metadata");
  JsonObject* const fields = metadata == nullptr ? nullptr : metadata->if_object();
  Json* const entries = fields == nullptr ? nullptr : fields->if_contains(kManagedFields);
  if (entries == nullptr || !entries->is_array()) return {};
  return taken_from(entries->get_array());
}

void write_managers(Json& document, Managers managers) {
  std::erase_if(managers, [](const auto& entry) { return entry.second.fields.empty(); });
  cap_updaters(managers);
  JsonObject& metadata = ensure_object(document.as_object(), "metadata");
  if (managers.empty()) {
    metadata.erase(kManagedFields);
    return;
  }
  std::vector<Entry> entries;
  for (auto& [manager, owned] : managers) entries.emplace_back(manager, std::move(owned));
  std::ranges::sort(entries, in_written_order);
  JsonArray out(metadata.storage());
  for (auto& [manager, owned] : entries)
    out.push_back(to_entry(manager, std::move(owned), out.storage()));
  metadata.insert_or_assign(kManagedFields, std::move(out));
}

FieldSet owned_by_all(const Managers& managers) {
  FieldSet out;
  for (const auto& [manager, owned] : managers) out = united(std::move(out), owned.fields.set());
  return out;
}

}  // namespace muster::api
