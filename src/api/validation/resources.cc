#include "api/validation/resources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "api/reading.h"

namespace muster::api {
namespace {

constexpr std::string_view kStandardNames[] = {"cpu",
                                               "memory",
                                               "ephemeral-storage",
                                               "requests.cpu",
                                               "requests.memory",
                                               "requests.ephemeral-storage",
                                               "limits.cpu",
                                               "limits.memory",
                                               "limits.ephemeral-storage",
                                               "pods",
                                               "resourcequotas",
                                               "services",
                                               "replicationcontrollers",
                                               "secrets",
                                               "configmaps",
                                               "persistentvolumeclaims",
                                               "storage",
                                               "requests.storage",
                                               "services.nodeports",
                                               "services.loadbalancers"};
constexpr std::string_view kCountedNames[] = {"pods",
                                              "resourcequotas",
                                              "services",
                                              "replicationcontrollers",
                                              "secrets",
                                              "configmaps",
                                              "persistentvolumeclaims",
                                              "services.nodeports",
                                              "services.loadbalancers"};
constexpr std::string_view kContainerNames[] = {"cpu", "memory", "ephemeral-storage"};
constexpr std::string_view kPodLevelNames[] = {"cpu", "hugepages-", "memory"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::optional<Quantity> quantity_of(const Json& amount) {
  Result<Quantity> parsed = Quantity::parse(text_of(amount));
  return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

void validate_pod_level_name(std::string_view name, const FieldPath& path, FieldErrors& errors) {
  if (!validate_resource_name(name, path, errors)) return;
  if (name != "cpu" && name != "memory" && !is_huge_page_resource(name))
    errors.not_supported(path, name, kPodLevelNames);
}

void validate_huge_pages(std::string_view name, const Json& amount, const FieldPath& path,
                         FieldErrors& errors) {
  const std::optional<Quantity> quantity = quantity_of(amount);
  const Result<Quantity> size = Quantity::parse(name.substr(name.find('-') + 1));
  if (!quantity || !size) return;
  const std::int64_t page = size->value();
  if (page <= 0 || quantity->value() % page != 0)
    errors.invalid(
        path, *quantity,
        fmt::format("{} is not positive integer multiple of {}", quantity->text(), name));
}

void validate_against_limit(std::string_view name, const Json& request, const Json* limit,
                            const FieldPath& requests, const FieldPath& limits,
                            FieldErrors& errors) {
  if (limit == nullptr) {
    if (!may_overcommit(name))
      errors.required(limits, "Limit must be set for non overcommitable resources");
    return;
  }
  if (request == *limit) return;  // as most are: none has to be read
  const std::optional<Quantity> asked = quantity_of(request);
  const std::optional<Quantity> allowed = quantity_of(*limit);
  if (!asked || !allowed) return;
  if (*asked != *allowed && !may_overcommit(name))
    errors.invalid(requests, *asked,
                   fmt::format("must be equal to {} limit of {}", name, allowed->text()));
  else if (*asked > *allowed)
    errors.invalid(
        requests, *asked,
        fmt::format("must be less than or equal to {} limit of {}", name, allowed->text()));
}

using NameCheck = void (*)(std::string_view, const FieldPath&, FieldErrors&);

void validate_requirements(const Json& requirements, NameCheck check_name, const FieldPath& path,
                           FieldErrors& errors) {
  const FieldPath limits_path = path.child("limits");
  const FieldPath requests_path = path.child("requests");
  const JsonObject& limits = members(requirements, "limits");
  bool computes = false;
  bool has_huge_pages = false;
  const auto validate_amount = [&](const JsonObject::value_type& amount, const FieldPath& here) {
    const std::string_view name = key_of(amount);
    check_name(name, here, errors);
    validate_resource_amount(name, amount.value(), here, errors);
    computes = computes || name == "cpu" || name == "memory";
    if (!is_huge_page_resource(name)) return;
    has_huge_pages = true;
    validate_huge_pages(name, amount.value(), here, errors);
  };
  for (const auto& limit : limits) validate_amount(limit, limits_path.key(key_of(limit)));
  for (const auto& request : members(requirements, "requests")) {
    validate_amount(request, requests_path.key(key_of(request)));
    validate_against_limit(key_of(request), request.value(), limits.if_contains(request.key()),
                           requests_path, limits_path, errors);
  }
  if (has_huge_pages && !computes) errors.forbidden(path, "HugePages require cpu or memory");
}

void validate_claims(const Json& requirements, const ClaimNames& claim_names, const FieldPath& path,
                     FieldErrors& errors) {
  std::set<std::string, std::less<>> seen;
  std::size_t at = 0;
  for (const Json& claim : elements(requirements, "claims")) {
    const FieldPath here = path.index(at++);
    const std::string_view name = find_string(claim, "name");
    if (name.empty()) {
      errors.required(here);
      continue;
    }
    const std::string_view request = find_string(claim, "request");
    std::string key(name);
    if (!request.empty()) {
      errors.invalid_each(here.child("request"), request, check_dns_label(request));
      key = fmt::format("{}/{}", name, request);
    }
    if (seen.contains(key) || seen.contains(name)) errors.duplicate(here, key);
    seen.insert(std::move(key));
    if (!claim_names.contains(name)) errors.not_found(here, name, claim_names.demand());
  }
}

}  // namespace

bool is_quota_resource(std::string_view name) {
  return (contains(kStandardNames, name) && name != "storage") || is_huge_page_resource(name) ||
         name.starts_with("requests.hugepages-");
}

// Requests of what cannot be over-committed must equal its limits.
bool may_overcommit(std::string_view name) {
  return is_native_resource(name) && !is_huge_page_resource(name);
}

bool validate_resource_name(std::string_view name, const FieldPath& path, FieldErrors& errors) {
  if (const Messages messages = check_qualified_name(name); !messages.empty()) {
    errors.invalid_each(path, name, messages);
    return false;
  }
  const bool standard = contains(kStandardNames, name) || is_huge_page_resource(name) ||
                        name.starts_with("requests.hugepages-");
  if (name.find('/') != std::string_view::npos || standard) return true;
  errors.invalid(path, name, "must be a standard resource type or fully qualified");
  return false;
}

void validate_container_resource_name(std::string_view name, const FieldPath& path,
                                      FieldErrors& errors) {
  validate_resource_name(name, path, errors);
  if (name.find('/') == std::string_view::npos) {
    if (!contains(kContainerNames, name) && !is_huge_page_resource(name))
      errors.invalid(path, name, "must be a standard resource for containers");
  } else if (!is_native_resource(name) && !is_extended_resource(name)) {
    errors.invalid(path, name, "doesn't follow extended resource name standard");
  }
}

void validate_quota_resource_name(std::string_view name, const FieldPath& path,
                                  FieldErrors& errors) {
  validate_resource_name(name, path, errors);
  if (name.find('/') == std::string_view::npos && !is_quota_resource(name))
    errors.invalid(path, name, "must be a standard resource for quota");
}

bool is_native_resource(std::string_view name) {
  return name.find('/') == std::string_view::npos ||
         name.find("kubernetes.io/") != std::string_view::npos;
}

bool is_extended_resource(std::string_view name) {
  if (is_native_resource(name) || name.starts_with("requests.")) return false;
  return check_qualified_name("requests." + std::string(name)).empty();
}

bool is_huge_page_resource(std::string_view name) { return name.starts_with("hugepages-"); }

void validate_resource_amount(std::string_view name, const Json& amount, const FieldPath& path,
                              FieldErrors& errors) {
  const std::optional<Quantity> quantity = quantity_of(amount);
  if (!quantity) return;
  if (quantity->is_negative())
    errors.invalid(path, *quantity, "must be greater than or equal to 0");
  const bool counted = contains(kCountedNames, name) || is_extended_resource(name);
  if (counted && !quantity->is_whole()) errors.invalid(path, *quantity, "must be an integer");
}

void ClaimNames::add(std::string_view name) {
  in_order_.push_back(name);
  names_.insert(name);
}

std::string_view ClaimNames::demand() const {
  if (in_order_.empty())
    return "must be one of the names in pod.spec.resourceClaims which is empty";
  if (demand_.empty())
    demand_ = shortened(fmt::format("must be one of the names in pod.spec.resourceClaims: {}",
                                    fmt::join(in_order_, ", ")));
  return demand_;
}

void validate_container_resources(const Json& requirements, const ClaimNames& claim_names,
                                  const FieldPath& path, FieldErrors& errors) {
  validate_requirements(requirements, validate_container_resource_name, path, errors);
  validate_claims(requirements, claim_names, path.child("claims"), errors);
}

void validate_pod_resources(const Json& requirements, const FieldPath& path, FieldErrors& errors) {
  if (!elements(requirements, "claims").empty())
    errors.forbidden(path.child("claims"), "claims cannot be set for Resources at pod-level");
  validate_requirements(requirements, validate_pod_level_name, path, errors);
}

void validate_overhead(const Json& amounts, const FieldPath& path, FieldErrors& errors) {
  const Json as_limits = JsonObject{{"limits", amounts}};
  validate_requirements(as_limits, validate_container_resource_name, path, errors);
}

}  // namespace muster::api
