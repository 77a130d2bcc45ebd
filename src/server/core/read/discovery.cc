#include "server/core/read/discovery.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"

namespace muster::server {
namespace {

using api::Json;
using api::JsonArray;
using api::JsonObject;
using api::Kind;
using api::Subresource;

struct Group {
  std::string_view name;
  std::vector<std::string_view> versions;  // most preferred first
};

// Where a version stands among the versions of a group: v2 before v1 before v1beta2 before
// v1alpha3.
struct VersionRank {
  int stability;  // 0 alpha, 1 beta, 2 stable
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const VersionRank&, const VersionRank&) = default;
};

VersionRank rank(std::string_view version) {
  VersionRank out{.stability = 2};
  const auto number = [&version] {
    int value = 0;
    while (!version.empty() && version.front() >= '0' && version.front() <= '9') {
      value = value * 10 + (version.front() - '0');
      version.remove_prefix(1);
    }
    return value;
  };
  if (version.starts_with('v')) version.remove_prefix(1);
  out.major = number();
  if (version.starts_with("beta")) {
    out.stability = 1;
    version.remove_prefix(4);
  } else if (version.starts_with("alpha")) {
    out.stability = 0;
    version.remove_prefix(5);
  }
  out.minor = number();
  return out;
}

// Groups in the order of their first kind; core comes first because the kinds start with it.
std::vector<Group> all_groups(Kinds kinds) {
  std::vector<Group> groups;
  for (const Kind* kind : kinds) {
    auto at = std::ranges::find(groups, kind->group, &Group::name);
    if (at == groups.end()) at = groups.insert(at, {.name = kind->group, .versions = {}});
    for (const std::string& version : kind->versions)
      if (std::ranges::find(at->versions, version) == at->versions.end())
        at->versions.push_back(version);
  }
  for (Group& group : groups)
    std::ranges::stable_sort(group.versions, [](auto a, auto b) { return rank(a) > rank(b); });
  return groups;
}

std::string group_version(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

JsonArray strings(const std::vector<std::string>& texts) {
  JsonArray out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

JsonArray verbs_of(const Kind& kind) {
  if (!kind.stored) return {"create"};
  JsonArray verbs;
  constexpr std::array kVerbs{"create", "delete", "deletecollection", "get",
                              "list",   "patch",  "update",           "watch"};
  for (const std::string_view verb : kVerbs)
    if (verb != "deletecollection" || kind.deletes_collections) verbs.emplace_back(verb);
  return verbs;
}

JsonObject legacy_group(const Group& group) {
  JsonArray versions;
  for (const std::string_view version : group.versions)
    versions.push_back(
        JsonObject{{"groupVersion", group_version(group.name, version)}, {"version", version}});
  Json preferred = versions.front();
  return {{"name", group.name},
          {"versions", std::move(versions)},
          {"preferredVersion", std::move(preferred)}};
}

JsonObject legacy_resource(const Kind& kind) {
  JsonObject out{{"name", kind.plural},
                 {"singularName", kind.singular},
                 {"namespaced", kind.namespaced},
                 {"kind", kind.kind},
                 {"verbs", verbs_of(kind)}};
  if (!kind.short_names.empty()) out["shortNames"] = strings(kind.short_names);
  if (!kind.categories.empty()) out["categories"] = strings(kind.categories);
  return out;
}

JsonObject legacy_subresource(const Kind& kind, const Subresource& part) {
  JsonObject out{{"name", kind.plural + "/" + part.name},
                 {"singularName", ""},
                 {"namespaced", kind.namespaced}};
  if (!part.body_version.empty()) {
    out["group"] = part.body_group;
    out["version"] = part.body_version;
  }
  out["kind"] = part.kind;
  out["verbs"] = strings(part.verbs);
  return out;
}

// Empty group and version mean: the enclosing ones.
JsonObject response_kind(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

JsonObject aggregated_resource(const Kind& kind) {
  JsonObject out{{"resource", kind.plural},
                 {"responseKind", response_kind("", "", kind.kind)},
                 {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
                 {"singularResource", kind.singular},
                 {"verbs", verbs_of(kind)}};
  if (!kind.short_names.empty()) out["shortNames"] = strings(kind.short_names);
  if (!kind.categories.empty()) out["categories"] = strings(kind.categories);
  JsonArray parts;
  for (const Subresource& part : kind.subresources)
    parts.push_back(
        JsonObject{{"subresource", part.name},
                   {"responseKind", response_kind(part.body_group, part.body_version, part.kind)},
                   {"verbs", strings(part.verbs)}});
  if (!parts.empty()) out["subresources"] = std::move(parts);
  return out;
}

JsonObject aggregated_group(const Group& group, Kinds kinds) {
  JsonArray versions;
  for (const std::string_view version : group.versions) {
    JsonArray resources;
    for (const Kind* kind : kinds)
      if (kind->group == group.name && kind->serves(version))
        resources.push_back(aggregated_resource(*kind));
    versions.push_back(JsonObject{
        {"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
  }
  JsonObject metadata;
  if (!group.name.empty()) metadata["name"] = group.name;
  return {{"metadata", std::move(metadata)}, {"versions", std::move(versions)}};
}

std::string aggregated(bool core, Kinds kinds) {
  JsonArray items;
  for (const Group& group : all_groups(kinds))
    if (group.name.empty() == core) items.push_back(aggregated_group(group, kinds));
  return api::to_text(JsonObject{{"kind", "APIGroupDiscoveryList"},
                                 {"apiVersion", "apidiscovery.k8s.io/v2"},
                                 {"metadata", JsonObject()},
                                 {"items", std::move(items)}});
}

}  // namespace

std::string api_versions_json(std::string_view server_address) {
  return api::to_text(JsonObject{
      {"kind", "APIVersions"},
      {"versions", JsonArray{"v1"}},
      {"serverAddressByClientCIDRs",
       JsonArray{JsonObject{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server_address}}}}});
}

std::string api_group_list_json(Kinds kinds) {
  JsonArray groups;
  for (const Group& group : all_groups(kinds))
    if (!group.name.empty()) groups.push_back(legacy_group(group));
  return api::to_text(
      JsonObject{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}});
}

std::optional<std::string> api_group_json(std::string_view group, Kinds kinds) {
  if (group.empty()) return std::nullopt;
  const std::vector<Group> groups = all_groups(kinds);
  const auto at = std::ranges::find(groups, group, &Group::name);
  if (at == groups.end()) return std::nullopt;
  JsonObject out{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
  for (auto& member : legacy_group(*at)) out.emplace(member.key(), std::move(member.value()));
  return api::to_text(std::move(out));
}

std::optional<std::string> api_resource_list_json(std::string_view group, std::string_view version,
                                                  Kinds kinds) {
  JsonArray resources;
  for (const Kind* kind : kinds) {
    if (kind->group != group || !kind->serves(version)) continue;
    resources.push_back(legacy_resource(*kind));
    for (const Subresource& part : kind->subresources)
      resources.push_back(legacy_subresource(*kind, part));
  }
  if (resources.empty()) return std::nullopt;
  JsonObject out{{"kind", "APIResourceList"}};
  if (!group.empty()) out["apiVersion"] = "v1";
  out["groupVersion"] = group_version(group, version);
  out["resources"] = std::move(resources);
  return api::to_text(std::move(out));
}

std::string aggregated_core_json(Kinds kinds) { return aggregated(true, kinds); }
std::string aggregated_groups_json(Kinds kinds) { return aggregated(false, kinds); }

}  // namespace muster::server
