#include "server/core/write/limit_range.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/reading.h"
#include "api/views/amounts.h"
#include "api/views/request_sums.h"
#include "base/check.h"
#include "server/core/request/errors.h"
#include "server/core/strategies/document.h"

namespace muster::server {
namespace {

using api::Quantities;
using api::Quantity;

constexpr std::string_view kAnnotation = "kubernetes.io/limit-ranger";
using Errors = std::set<std::string>;  // sorted, each once

std::vector<api::ObjectPtr> limit_ranges(Context& context, std::string_view name_space) {
  static const api::Kind* const kKind = api::find_kind("", "LimitRange");
  CHECK(kKind != nullptr);
  return context.staging.list(fmt::format("{}/{}/", kKind->store_prefix, name_space));
}

Quantities amounts(const Json& holder, std::string_view member) {
  return api::read_quantities(api::find_object(holder, member));
}

// What one container, a whole pod or a claim asks for.
struct Asked {
  std::string_view what;  // Container, Pod, PersistentVolumeClaim
  Quantities requests;
  Quantities limits;
};

void check_min(const Asked& asked, const std::string& name, const Quantity& least, Errors& errors) {
  const std::string rule =
      fmt::format("minimum {} usage per {} is {}", name, asked.what, least.text());
  const Quantity* request = api::lookup(asked.requests, name);
  const Quantity* limit = api::lookup(asked.limits, name);
  if (request == nullptr)
    errors.insert(rule + ".  No request is specified");
  else if (*request < least)
    errors.insert(fmt::format("{}, but request is {}", rule, request->text()));
  if (limit != nullptr && *limit < least)
    errors.insert(fmt::format("{}, but limit is {}", rule, limit->text()));
}

void check_max(const Asked& asked, const std::string& name, const Quantity& most, Errors& errors) {
  const std::string rule =
      fmt::format("maximum {} usage per {} is {}", name, asked.what, most.text());
  const Quantity* request = api::lookup(asked.requests, name);
  const Quantity* limit = api::lookup(asked.limits, name);
  const bool claim = asked.what == "PersistentVolumeClaim";
  if (limit == nullptr && !claim)
    errors.insert(rule + ".  No limit is specified");
  else if (limit != nullptr && *limit > most)
    errors.insert(fmt::format("{}, but limit is {}", rule, limit->text()));
  if (request != nullptr && *request > most)
    errors.insert(fmt::format("{}, but request is {}", rule, request->text()));
}

void check_ratio(const Asked& asked, const std::string& name, const Quantity& most,
                 Errors& errors) {
  const std::string rule =
      fmt::format("{} max limit to request ratio per {} is {}", name, asked.what, most.text());
  const Quantity* request = api::lookup(asked.requests, name);
  const Quantity* limit = api::lookup(asked.limits, name);
  if (request == nullptr || request->is_zero()) {
    errors.insert(rule + ", but no request is specified or request is 0");
  } else if (limit == nullptr || limit->is_zero()) {
    errors.insert(rule + ", but no limit is specified or limit is 0");
  } else {
    const double ratio =
        static_cast<double>(limit->milli_value()) / static_cast<double>(request->milli_value());
    if (ratio > static_cast<double>(most.milli_value()) / 1000)
      errors.insert(fmt::format("{}, but provided ratio is {:f}", rule, ratio));
  }
}

void check_item(const Json& item, const Asked& asked, Errors& errors) {
  if (api::find_string(item, "type") != asked.what) return;
  for (const auto& [name, amount] : amounts(item, "min")) check_min(asked, name, amount, errors);
  for (const auto& [name, amount] : amounts(item, "max")) check_max(asked, name, amount, errors);
  for (const auto& [name, amount] : amounts(item, "maxLimitRequestRatio"))
    check_ratio(asked, name, amount, errors);
}

Asked asked_by(std::string_view what, const Json& resources) {
  return {.what = what,
          .requests = amounts(resources, "requests"),
          .limits = amounts(resources, "limits")};
}

// Init containers run one after the other, before the others.
Quantities summed(const Json& spec, std::string_view member) {
  Quantities sum;
  for (const Json& container : api::elements(spec, "containers"))
    api::add_to(sum, amounts(api::part_of(container, "resources"), member));
  Quantities sidecars;
  Quantities start;
  for (const Json& container : api::elements(spec, "initContainers")) {
    Quantities own = amounts(api::part_of(container, "resources"), member);
    if (api::always_restarts(container)) {
      api::add_to(sum, own);
      api::add_to(sidecars, own);
      own = sidecars;
    } else {
      api::add_to(own, sidecars);
    }
    api::raise_to(start, own);
  }
  api::raise_to(sum, start);
  return sum;
}

std::vector<Asked> asked_by_pod(const Json& pod) {
  const Json& spec = api::part_of(pod, "spec");
  std::vector<Asked> out;
  for (const std::string_view list : {"containers", "initContainers"})
    for (const Json& container : api::elements(spec, list))
      out.push_back(asked_by("Container", api::part_of(container, "resources")));
  out.push_back(
      {.what = "Pod", .requests = summed(spec, "requests"), .limits = summed(spec, "limits")});
  return out;
}

// The names that were missing and are set now, "cpu, memory".
std::string fill_in(JsonObject& resources, std::string_view member, const Json& defaults) {
  std::vector<std::string> set;
  JsonObject& said = api::ensure_object(resources, member);
  for (const auto& [name, amount] :
       amounts(defaults, member == "limits" ? "default" : "defaultRequest"))
    if (said.if_contains(name) == nullptr) {
      said[name] = amount.text();
      set.push_back(name);
    }
  if (said.empty()) resources.erase(member);
  return fmt::format("{}", fmt::join(set, ", "));
}

void fill_in_containers(JsonObject& spec, std::string_view list, const Json& item,
                        std::vector<std::string>& notes) {
  Json* containers = spec.if_contains(list);
  if (containers == nullptr || !containers->is_array()) return;
  for (Json& container : containers->get_array()) {
    if (!container.is_object()) continue;
    JsonObject& resources = api::ensure_object(container.get_object(), "resources");
    const std::string_view what = list == "containers" ? "container" : "init container";
    const std::string name(api::find_string(container, "name"));
    const std::string limits = fill_in(resources, "limits", item);
    const std::string requests = fill_in(resources, "requests", item);
    if (!requests.empty())
      notes.push_back(fmt::format("{} request for {} {}", requests, what, name));
    if (!limits.empty()) notes.push_back(fmt::format("{} limit for {} {}", limits, what, name));
  }
}

void fill_in_pod(JsonObject& pod, const Json& item, std::vector<std::string>& notes) {
  if (api::find_string(item, "type") != "Container") return;
  JsonObject& spec = api::ensure_object(pod, "spec");
  fill_in_containers(spec, "containers", item, notes);
  fill_in_containers(spec, "initContainers", item, notes);
}

Result<void> refuse(const api::Request& request, const Json& document, const Errors& errors) {
  if (errors.empty()) return {};
  const std::string text =
      errors.size() == 1 ? *errors.begin() : fmt::format("[{}]", fmt::join(errors, ", "));
  return fail(forbidden(*request.kind, spoken_name(document), text));
}

}  // namespace

Result<void> admit_by_limit_ranges(Context& context, const api::Request& request, Json& document) {
  const bool is_pod = request.kind == &api::kinds::pod();
  if (!is_pod && request.kind != &api::kinds::persistent_volume_claim()) return {};
  std::vector<Json> items;
  for (const api::ObjectPtr& range : limit_ranges(context, request.name_space)) {
    const Json ranged = range->document();
    for (const Json& item : api::elements(api::part_of(ranged, "spec"), "limits"))
      items.push_back(item);
  }
  if (items.empty()) return {};
  if (is_pod) {
    std::vector<std::string> notes;
    for (const Json& item : items) fill_in_pod(document.get_object(), item, notes);
    if (!notes.empty())
      api::ensure_object(metadata(document), "annotations")[kAnnotation] =
          fmt::format("LimitRanger plugin set: {}", fmt::join(notes, "; "));
  }
  const std::vector<Asked> all =
      is_pod
          ? asked_by_pod(document)
          : std::vector<Asked>{asked_by("PersistentVolumeClaim",
                                        api::part_of(api::part_of(document, "spec"), "resources"))};
  Errors errors;
  for (const Json& item : items)
    for (const Asked& asked : all) check_item(item, asked, errors);
  return refuse(request, document, errors);
}

}  // namespace muster::server
