#include "server/core/write/limit_range.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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

// Ranges and pods are each as large as an object may be; what they cost together is bounded here.
constexpr std::size_t kDefaultsMax = 20'000;  // set in one pod: no object may have more values
constexpr std::size_t kChecksMax = 250'000;   // names times containers: some 30 ms
constexpr std::size_t kErrorsMax = 1'000;     // told in one answer

std::vector<api::ObjectPtr> limit_ranges(Context& context, std::string_view name_space) {
  static const api::Kind* const kKind = api::find_kind("", "LimitRange");
  CHECK(kKind != nullptr);
  return context.staging.list(fmt::format("{}/{}/", kKind->store_prefix, name_space));
}

Quantities amounts(const Json& holder, std::string_view member) {
  return api::read_quantities(api::find_object(holder, member));
}

// One of a range's limits, read once however many containers it is for.
struct Item {
  std::string type;
  Quantities min;
  Quantities max;
  Quantities ratio;
  // Only names of which no item before has a default: that one has filled them in everywhere.
  Quantities default_limits;
  Quantities default_requests;

  std::size_t checks() const { return min.size() + max.size() + ratio.size(); }
  bool has_defaults() const { return !default_limits.empty() || !default_requests.empty(); }
};

std::vector<Item> read_items(Context& context, std::string_view name_space) {
  std::vector<Item> items;
  std::set<std::string> limited;
  std::set<std::string> requested;
  const auto unsaid = [](const Json& item, std::string_view member, std::set<std::string>& said) {
    Quantities defaults = amounts(item, member);
    std::erase_if(defaults, [&](const auto& pair) { return !said.insert(pair.first).second; });
    return defaults;
  };
  for (const api::ObjectPtr& range : limit_ranges(context, name_space)) {
    const Json ranged = range->document();
    for (const Json& from : api::elements(api::part_of(ranged, "spec"), "limits")) {
      Item& item = items.emplace_back();
      item.type = api::find_string(from, "type");
      item.min = amounts(from, "min");
      item.max = amounts(from, "max");
      item.ratio = amounts(from, "maxLimitRequestRatio");
      if (item.type != "Container") continue;
      item.default_limits = unsaid(from, "default", limited);
      item.default_requests = unsaid(from, "defaultRequest", requested);
    }
  }
  return items;
}

// What one container, a whole pod or a claim asks for.
struct Asked {
  std::string_view what;  // Container, Pod, PersistentVolumeClaim
  Quantities requests;
  Quantities limits;
};

std::string min_rule(const Asked& asked, const std::string& name, const Quantity& least) {
  return fmt::format("minimum {} usage per {} is {}", name, asked.what, least.text());
}

void check_min(const Asked& asked, const std::string& name, const Quantity& least, Errors& errors) {
  const Quantity* request = api::lookup(asked.requests, name);
  const Quantity* limit = api::lookup(asked.limits, name);
  if (request == nullptr)
    errors.insert(min_rule(asked, name, least) + ".  No request is specified");
  else if (*request < least)
    errors.insert(
        fmt::format("{}, but request is {}", min_rule(asked, name, least), request->text()));
  if (limit != nullptr && *limit < least)
    errors.insert(fmt::format("{}, but limit is {}", min_rule(asked, name, least), limit->text()));
}

std::string max_rule(const Asked& asked, const std::string& name, const Quantity& most) {
  return fmt::format("maximum {} usage per {} is {}", name, asked.what, most.text());
}

void check_max(const Asked& asked, const std::string& name, const Quantity& most, Errors& errors) {
  const Quantity* request = api::lookup(asked.requests, name);
  const Quantity* limit = api::lookup(asked.limits, name);
  const bool claim = asked.what == "PersistentVolumeClaim";
  if (limit == nullptr && !claim)
    errors.insert(max_rule(asked, name, most) + ".  No limit is specified");
  else if (limit != nullptr && *limit > most)
    errors.insert(fmt::format("{}, but limit is {}", max_rule(asked, name, most), limit->text()));
  if (request != nullptr && *request > most)
    errors.insert(
        fmt::format("{}, but request is {}", max_rule(asked, name, most), request->text()));
}

std::string ratio_rule(const Asked& asked, const std::string& name, const Quantity& most) {
  return fmt::format("{} max limit to request ratio per {} is {}", name, asked.what, most.text());
}

void check_ratio(const Asked& asked, const std::string& name, const Quantity& most,
                 Errors& errors) {
  const Quantity* request = api::lookup(asked.requests, name);
  const Quantity* limit = api::lookup(asked.limits, name);
  if (request == nullptr || request->is_zero()) {
    errors.insert(ratio_rule(asked, name, most) + ", but no request is specified or request is 0");
  } else if (limit == nullptr || limit->is_zero()) {
    errors.insert(ratio_rule(asked, name, most) + ", but no limit is specified or limit is 0");
  } else {
    const double ratio =
        static_cast<double>(limit->milli_value()) / static_cast<double>(request->milli_value());
    if (ratio > static_cast<double>(most.milli_value()) / 1000)
      errors.insert(
          fmt::format("{}, but provided ratio is {:f}", ratio_rule(asked, name, most), ratio));
  }
}

void check_item(const Item& item, const Asked& asked, Errors& errors) {
  const auto check_all = [&](const Quantities& bounds, auto check) {
    for (const auto& [name, bound] : bounds)
      if (errors.size() < kErrorsMax) check(asked, name, bound, errors);
  };
  check_all(item.min, check_min);
  check_all(item.max, check_max);
  check_all(item.ratio, check_ratio);
}

// Checks what each item is for; refuses to if that is too much.
Result<Errors> check_items(const std::vector<Item>& items, const std::vector<Asked>& all) {
  std::map<std::string_view, std::vector<const Asked*>> by_type;
  for (const Asked& asked : all) by_type[asked.what].push_back(&asked);
  Errors errors;
  std::size_t checks = 0;
  for (const Item& item : items) {
    const auto at = by_type.find(item.type);
    if (at == by_type.end() || item.checks() == 0) continue;
    checks += item.checks() * at->second.size();
    if (checks > kChecksMax)
      return fail(Reason::Forbidden,
                  "its containers times the names that the limit ranges of its namespace limit are "
                  "more than {}",
                  kChecksMax);
    for (const Asked* asked : at->second) check_item(item, *asked, errors);
  }
  return errors;
}

Asked asked_by(std::string_view what, const Json& resources) {
  return {.what = what,
          .requests = amounts(resources, "requests"),
          .limits = amounts(resources, "limits")};
}

std::vector<Asked> asked_by_pod(const Json& pod) {
  const Json& spec = api::part_of(pod, "spec");
  std::vector<Asked> out;
  std::vector<api::ContainerNeed> needs;  // one for each of `out`
  for (const std::string_view list : {"containers", "initContainers"})
    for (const Json& container : api::elements(spec, list)) {
      out.push_back(asked_by("Container", api::part_of(container, "resources")));
      needs.push_back({.amounts = nullptr,
                       .init = list == "initContainers",
                       .sidecar = api::always_restarts(container)});
    }
  const auto sum = [&](Quantities Asked::* member) {
    for (std::size_t i = 0; i < needs.size(); ++i) needs[i].amounts = &(out[i].*member);
    return api::most_needed(needs);
  };
  Asked whole{.what = "Pod", .requests = sum(&Asked::requests), .limits = sum(&Asked::limits)};
  out.push_back(std::move(whole));
  return out;
}

// Fills in the defaults of one pod, and writes down what it has set.
class Filling {
 public:
  explicit Filling(JsonObject& pod) : pod_(pod) {}

  // False once it is more than a pod may have; what is filled in is not all then.
  bool fill_in(const std::vector<Item>& items) {
    bool is_first = true;
    for (const Item& item : items) {
      if (item.type != "Container") continue;
      // The first one leaves no empty lists, whether it has defaults or not.
      if (!std::exchange(is_first, false) && !item.has_defaults()) continue;
      JsonObject& spec = api::ensure_object(pod_, "spec");
      if (!fill_in_containers(spec, "containers", item)) return false;
      if (!fill_in_containers(spec, "initContainers", item)) return false;
    }
    return true;
  }

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  bool fill_in_containers(JsonObject& spec, std::string_view list, const Item& item) {
    Json* containers = spec.if_contains(list);
    if (containers == nullptr || !containers->is_array()) return true;
    for (Json& container : containers->get_array()) {
      if (!container.is_object()) continue;
      JsonObject& resources = api::ensure_object(container.get_object(), "resources");
      const std::string_view what = list == "containers" ? "container" : "init container";
      const std::string name(api::find_string(container, "name"));
      const std::string limits = set_missing(resources, "limits", item.default_limits);
      const std::string requests = set_missing(resources, "requests", item.default_requests);
      if (!requests.empty())
        notes_.push_back(fmt::format("{} request for {} {}", requests, what, name));
      if (!limits.empty()) notes_.push_back(fmt::format("{} limit for {} {}", limits, what, name));
      if (count_ > kDefaultsMax) return false;
    }
    return true;
  }

  // The names that were missing and are set now, "cpu, memory".
  std::string set_missing(JsonObject& resources, std::string_view member,
                          const Quantities& defaults) {
    std::vector<std::string_view> set;
    JsonObject& said = api::ensure_object(resources, member);
    for (const auto& [name, amount] : defaults)
      if (said.if_contains(name) == nullptr) {
        if (++count_ > kDefaultsMax) break;
        said[name] = amount.text();
        set.push_back(name);
      }
    if (said.empty()) resources.erase(member);
    return fmt::format("{}", fmt::join(set, ", "));
  }

  JsonObject& pod_;
  std::vector<std::string> notes_;
  std::size_t count_ = 0;
};

Result<void> fill_in_pod(const api::Request& request, const std::vector<Item>& items,
                         Json& document) {
  Filling filling(document.get_object());
  const bool is_whole = filling.fill_in(items);
  if (filling.notes().empty()) return {};
  if (!is_whole || !check_values(document, nullptr))
    return fail(forbidden(*request.kind, spoken_name(document),
                          "with the defaults of the limit ranges of its namespace it would have "
                          "more fields than an object may have"));
  api::ensure_object(metadata(document), "annotations")[kAnnotation] =
      fmt::format("LimitRanger plugin set: {}", fmt::join(filling.notes(), "; "));
  return {};
}

Result<void> refuse(const api::Request& request, const Json& document, const Errors& errors) {
  if (errors.empty()) return {};
  const std::string_view more = errors.size() < kErrorsMax ? "" : ", and perhaps more";
  const std::string text =
      errors.size() == 1 ? *errors.begin() : fmt::format("[{}{}]", fmt::join(errors, ", "), more);
  return fail(forbidden(*request.kind, spoken_name(document), text));
}

}  // namespace

Result<void> admit_by_limit_ranges(Context& context, const api::Request& request, Json& document) {
  const bool is_pod = request.kind == &api::kinds::pod();
  if (!is_pod && request.kind != &api::kinds::persistent_volume_claim()) return {};
  const std::vector<Item> items = read_items(context, request.name_space);
  if (items.empty()) return {};
  if (is_pod) TRY(fill_in_pod(request, items, document));
  const std::vector<Asked> all =
      is_pod
          ? asked_by_pod(document)
          : std::vector<Asked>{asked_by("PersistentVolumeClaim",
                                        api::part_of(api::part_of(document, "spec"), "resources"))};
  const Result<Errors> errors = check_items(items, all);
  if (!errors) return fail(forbidden(*request.kind, spoken_name(document), errors.error().message));
  return refuse(request, document, *errors);
}

}  // namespace muster::server
