#include "server/core/write/quota_usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/views/request_sums.h"
#include "server/core/strategies/qos.h"

namespace muster::server {
namespace {

using api::Json;
using api::Quantities;
using api::Quantity;

constexpr std::string_view kClassPart = ".storageclass.storage.k8s.io/";
// Kinds that quotas also know by a short name.
constexpr std::array<std::string_view, 4> kPlainCounts{"configmaps", "replicationcontrollers",
                                                       "resourcequotas", "secrets"};

bool is_core(const api::Kind& kind, std::string_view name) {
  return kind.group.empty() && kind.kind == name;
}

std::string count_name(const api::Kind& kind) {
  return kind.group.empty() ? "count/" + kind.plural
                            : fmt::format("count/{}.{}", kind.plural, kind.group);
}

void add_one(Quantities& usage, std::string_view name) {
  api::entry(usage, name) += Quantity::of_units(1);
}

bool has_ended(const Json& pod) {
  const std::string_view phase = api::find_string(api::part_of(pod, "status"), "phase");
  return phase == "Succeeded" || phase == "Failed";
}

bool is_compute(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage";
}

// Each list of names is in order and added at once: one by one, each would move all behind it.
void add_compute(const Quantities& requests, const Quantities& limits, Quantities& usage) {
  Quantities plain;
  Quantities requested;
  Quantities limited;
  for (const auto& [name, amount] : requests) {
    const bool huge = name.starts_with("hugepages-");
    if (is_compute(name) || huge) plain.emplace_back(name, amount);
    if (is_compute(name) || huge || name.find('/') != std::string::npos)
      requested.emplace_back("requests." + name, amount);
  }
  for (const auto& [name, amount] : limits)
    if (is_compute(name)) limited.emplace_back("limits." + name, amount);
  for (const Quantities* more : {&plain, &requested, &limited}) api::add_to(usage, *more);
}

void add_pod(const Json& pod, Quantities& usage) {
  if (has_ended(pod)) return;
  add_one(usage, "pods");
  const Json& spec = api::part_of(pod, "spec");
  add_compute(api::RequestSums(spec, nullptr).total({}),
              api::RequestSums::of_limits(spec).total({}), usage);
}

void add_service(const Json& service, Quantities& usage) {
  const Json& spec = api::part_of(service, "spec");
  const std::string_view type = api::find_string(spec, "type");
  add_one(usage, "services");
  const bool balanced = type == "LoadBalancer";
  if (balanced) add_one(usage, "services.loadbalancers");
  if (type != "NodePort" && !balanced) return;
  const Json* allocates = api::find(spec, "allocateLoadBalancerNodePorts");
  const bool all = !balanced || allocates == nullptr || *allocates != Json(false);
  for (const Json& port : api::elements(spec, "ports"))
    if (all || api::find_integer(port, "nodePort").value_or(0) != 0)
      add_one(usage, "services.nodeports");
}

void add_claim(const Json& claim, Quantities& usage) {
  const Json& spec = api::part_of(claim, "spec");
  const std::string storage_class(api::find_string(spec, "storageClassName"));
  add_one(usage, "persistentvolumeclaims");
  if (!storage_class.empty())
    add_one(usage, storage_class + std::string(kClassPart) + "persistentvolumeclaims");
  const Quantities requests =
      api::read_quantities(api::find_object(api::part_of(spec, "resources"), "requests"));
  const Quantity* storage = api::lookup(requests, "storage");
  if (storage == nullptr) return;
  api::entry(usage, "requests.storage") += *storage;
  if (!storage_class.empty())
    api::entry(usage, storage_class + std::string(kClassPart) + "requests.storage") += *storage;
}

const api::Kind* core_kind(std::string_view plural) { return api::find_resource("", "v1", plural); }

const api::Kind* kind_using(std::string_view name) {
  static const auto kCounted = [] {
    std::map<std::string, const api::Kind*, std::less<>> kinds;
    for (const api::Kind* kind : api::all_kinds())
      if (kind->stored && kind->namespaced) kinds.try_emplace(count_name(*kind), kind);
    return kinds;
  }();
  if (name.starts_with("count/")) {
    const auto at = kCounted.find(name);
    return at == kCounted.end() ? nullptr : at->second;
  }
  if (std::ranges::find(kPlainCounts, name) != kPlainCounts.end()) return core_kind(name);
  if (name.starts_with("services")) return core_kind("services");
  if (name == "persistentvolumeclaims" || name == "requests.storage" ||
      name.find(kClassPart) != std::string_view::npos)
    return core_kind("persistentvolumeclaims");
  return &api::kinds::pod();
}

bool crosses_namespaces(const Json& affinity) {
  const auto crosses = [](const Json& term) {
    return !api::elements(term, "namespaces").empty() ||
           api::find_set(term, "namespaceSelector") != nullptr;
  };
  for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    const Json& terms = api::part_of(affinity, kind);
    for (const Json& term : api::elements(terms, "requiredDuringSchedulingIgnoredDuringExecution"))
      if (crosses(term)) return true;
    for (const Json& term : api::elements(terms, "preferredDuringSchedulingIgnoredDuringExecution"))
      if (crosses(api::part_of(term, "podAffinityTerm"))) return true;
  }
  return false;
}

bool matches_class(std::string_view op, const std::vector<std::string>& values,
                   std::string_view name) {
  const bool listed = std::ranges::binary_search(values, name);
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  return op == "DoesNotExist" ? name.empty() : !name.empty();
}

}  // namespace

Quantities usage_of(const api::Kind& kind, const Json& document) {
  Quantities usage;
  add_one(usage, count_name(kind));
  if (&kind == &api::kinds::pod())
    add_pod(document, usage);
  else if (is_core(kind, "Service"))
    add_service(document, usage);
  else if (is_core(kind, "PersistentVolumeClaim"))
    add_claim(document, usage);
  else if (kind.group.empty() && std::ranges::find(kPlainCounts, kind.plural) != kPlainCounts.end())
    add_one(usage, kind.plural);
  return usage;
}

std::vector<const api::Kind*> kinds_using(const Quantities& hard) {
  std::vector<const api::Kind*> out;
  for (const auto& [name, amount] : hard)
    if (const api::Kind* kind = kind_using(name);
        kind != nullptr && std::ranges::find(out, kind) == out.end())
      out.push_back(kind);
  return out;
}

// Iterates over the shorter one: quotas and pods may each have thousands of names.
Quantities masked(const Quantities& usage, const Quantities& hard) {
  Quantities out;
  if (hard.size() < usage.size()) {
    for (const auto& [name, limit] : hard)
      if (const Quantity* amount = api::lookup(usage, name)) out.emplace_back(name, *amount);
  } else {
    for (const auto& [name, amount] : usage)
      if (api::lookup(hard, name) != nullptr) out.emplace_back(name, amount);
  }
  return out;
}

ObjectUse use_of(const api::Kind& kind, const Json& document) {
  ObjectUse use{.traits = {}, .amounts = usage_of(kind, document)};
  if (&kind != &api::kinds::pod()) return use;
  const Json& spec = api::part_of(document, "spec");
  use.traits.is_pod = true;
  use.traits.ends = api::find_integer(spec, "activeDeadlineSeconds").value_or(-1) >= 0;
  use.traits.best_effort = pod_qos_class(document) == "BestEffort";
  use.traits.crosses_namespaces = crosses_namespaces(api::part_of(spec, "affinity"));
  use.traits.priority_class = api::find_string(spec, "priorityClassName");
  return use;
}

ObjectUse use_of(const api::Kind& kind, const api::Object& object) {
  const bool matters = &kind == &api::kinds::pod() || is_core(kind, "Service") ||
                       is_core(kind, "PersistentVolumeClaim");
  if (!matters) return use_of(kind, Json());
  api::Scratch scratch;
  return use_of(kind, api::document_in(scratch, object));
}

QuotaScopes::QuotaScopes(const Json& quota_spec) {
  for (const Json& scope : api::elements(quota_spec, "scopes"))
    scopes_.push_back({.name = std::string(api::text_of(scope)), .op = "Exists", .values = {}});
  for (const Json& from :
       api::elements(api::part_of(quota_spec, "scopeSelector"), "matchExpressions")) {
    Scope scope{.name = std::string(api::find_string(from, "scopeName")),
                .op = std::string(api::find_string(from, "operator")),
                .values = {}};
    for (const Json& value : api::elements(from, "values"))
      scope.values.emplace_back(api::text_of(value));
    std::ranges::sort(scope.values);
    scopes_.push_back(std::move(scope));
  }
}

bool QuotaScopes::match(const ScopeTraits& traits) const {
  if (scopes_.empty()) return true;
  if (!traits.is_pod) return false;
  return std::ranges::all_of(scopes_, [&](const Scope& scope) {
    if (scope.name == "Terminating") return traits.ends;
    if (scope.name == "NotTerminating") return !traits.ends;
    if (scope.name == "BestEffort") return traits.best_effort;
    if (scope.name == "NotBestEffort") return !traits.best_effort;
    if (scope.name == "PriorityClass")
      return matches_class(scope.op, scope.values, traits.priority_class);
    return scope.name == "CrossNamespacePodAffinity" && traits.crosses_namespaces;
  });
}

UnsaidResources::UnsaidResources(const Json& pod) {
  constexpr std::array<std::string_view, 6> kMustBeSaid{
      "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"};
  for (const std::string_view list : {"containers", "initContainers"})
    for (const Json& container : api::elements(api::part_of(pod, "spec"), list)) {
      const Json& resources = api::part_of(container, "resources");
      Quantities said;
      add_compute(api::read_quantities(api::find_object(resources, "requests")),
                  api::read_quantities(api::find_object(resources, "limits")), said);
      for (const std::string_view name : kMustBeSaid)
        if (api::lookup(said, name) == nullptr)
          missing_[std::string(name)].emplace(api::find_string(container, "name"));
    }
}

std::string UnsaidResources::text(const Quantities& hard) const {
  std::vector<std::string> texts;
  for (const auto& [name, containers] : missing_)
    if (api::lookup(hard, name) != nullptr)
      texts.push_back(fmt::format("{} for: {}", name, fmt::join(containers, ",")));
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace muster::server
