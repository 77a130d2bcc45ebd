#include "api/views/request_sums.h"

#include <map>

#include "api/reading.h"

namespace muster::api {
namespace {

constexpr std::int64_t kDefaultCpuMilli = 100;
constexpr std::int64_t kDefaultMemory = std::int64_t{200} * 1024 * 1024;

bool pod_level_name(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

Quantities quantities_at(const Json& value, std::string_view outer, std::string_view inner) {
  const Json* object = find(value, outer);
  return read_quantities(object == nullptr ? nullptr : find_object(*object, inner));
}

}  // namespace

bool always_restarts(const Json& container) {
  return find_string(container, "restartPolicy") == "Always";
}

RequestSums::RequestSums(const Json& spec, const Json* status)
    : overhead_(read_quantities(find_object(spec, "overhead"))),
      pod_spec_(quantities_at(spec, "resources", "requests")) {
  std::erase_if(pod_spec_, [](const auto& pair) { return !pod_level_name(pair.first); });
  for (const Json& container : elements(spec, "initContainers")) add(container, /*init=*/true);
  for (const Json& container : elements(spec, "containers")) add(container, /*init=*/false);
  if (status != nullptr) read_status(spec, *status);
}

Quantities RequestSums::total(const Form& form) const {
  Quantities sum =
      form.with_status && has_status_ ? status_sum(form) : container_sum(Source::Spec, form);
  if (form.with_pod_level) replace_pod_level(form, sum);
  add_to(sum, overhead_);
  return sum;
}

Quantities RequestSums::nonzero_total() const {
  Form form{.with_status = true, .default_cpu = true, .default_memory = true};
  if (!pod_spec_.empty()) {
    const Quantities plain = total({.with_status = true});
    form.default_cpu = lookup(plain, "cpu") == nullptr;
    form.default_memory = lookup(plain, "memory") == nullptr;
  }
  return total(form);
}

void RequestSums::add(const Json& container, bool init) {
  containers_.push_back({.spec = quantities_at(container, "resources", "requests"),
                         .allocated = std::nullopt,
                         .actuated = std::nullopt,
                         .init = init,
                         .sidecar = init && always_restarts(container)});
}

void RequestSums::read_status(const Json& spec, const Json& status) {
  std::size_t index = 0;
  const auto match = [&](std::string_view containers, std::string_view statuses) {
    // By name, since a pod may have thousands of containers.
    std::multimap<std::string_view, const Json*> by_name;
    for (const Json& entry : elements(status, statuses))
      by_name.emplace(find_string(entry, "name"), &entry);
    for (const Json& container : elements(spec, containers)) {
      ContainerAmounts& amounts = containers_[index++];
      const auto [first, last] = by_name.equal_range(find_string(container, "name"));
      for (auto at = first; at != last; ++at) read_container_status(*at->second, amounts);
    }
  };
  match("initContainers", "initContainerStatuses");
  match("containers", "containerStatuses");
  if (const JsonObject* allocated = find_object(status, "allocatedResources"))
    pod_allocated_ = read_quantities(allocated);
  if (const Json* resources = find(status, "resources"))
    if (const JsonObject* requests = find_object(*resources, "requests"))
      pod_actuated_ = read_quantities(requests);
  for (const Json& condition : elements(status, "conditions"))
    infeasible_ |= find_string(condition, "type") == "PodResizePending" &&
                   find_string(condition, "reason") == "Infeasible";
  has_status_ |= infeasible_ || pod_allocated_ || pod_actuated_;
}

void RequestSums::read_container_status(const Json& status, ContainerAmounts& container) {
  if (const JsonObject* allocated = find_object(status, "allocatedResources"))
    container.allocated = read_quantities(allocated);
  if (const Json* resources = find(status, "resources"))
    if (const JsonObject* requests = find_object(*resources, "requests"))
      container.actuated = read_quantities(requests);
  has_status_ |= container.allocated || container.actuated;
}

Quantities RequestSums::amounts(const ContainerAmounts& container, Source source,
                                const Form& form) const {
  Quantities result;
  if (source == Source::Actuated && container.actuated)
    result = *container.actuated;
  else if (source != Source::Spec && container.allocated)
    result = *container.allocated;
  else if (source == Source::Spec || !infeasible_)
    result = container.spec;
  if (form.default_cpu && lookup(result, "cpu") == nullptr)
    entry(result, "cpu") = Quantity::of_milli(kDefaultCpuMilli);
  if (form.default_memory && lookup(result, "memory") == nullptr)
    entry(result, "memory") = Quantity::of_units(kDefaultMemory);
  return result;
}

Quantities RequestSums::container_sum(Source source, const Form& form) const {
  Quantities total;
  Quantities sidecars;
  Quantities init_most;
  for (const ContainerAmounts& container : containers_) {
    const Quantities wanted = amounts(container, source, form);
    if (!container.init || container.sidecar) add_to(total, wanted);
    if (!container.init) continue;
    if (container.sidecar) {
      add_to(sidecars, wanted);
      raise_to(init_most, sidecars);
    } else {
      Quantities running = sidecars;
      add_to(running, wanted);
      raise_to(init_most, running);
    }
  }
  raise_to(total, init_most);
  return total;
}

Quantities RequestSums::status_sum(const Form& form) const {
  const bool pod_status = pod_allocated_ && pod_actuated_;
  Quantities most;
  if (!infeasible_) raise_to(most, container_sum(Source::Spec, form));
  raise_to(most, pod_status ? *pod_actuated_ : container_sum(Source::Actuated, form));
  raise_to(most, pod_status ? *pod_allocated_ : container_sum(Source::Allocated, form));
  return most;
}

void RequestSums::replace_pod_level(const Form& form, Quantities& sum) const {
  for (const auto& [name, quantity] : pod_spec_) {
    Quantity value = quantity;
    if (form.with_status && has_status_) {
      if (infeasible_) value = {};
      for (const auto& known : {pod_actuated_, pod_allocated_})
        if (const Quantity* other = known ? lookup(*known, name) : nullptr;
            other != nullptr && value < *other)
          value = *other;
    }
    entry(sum, name) = value;
  }
}

}  // namespace muster::api
