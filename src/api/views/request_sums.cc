#include "api/views/request_sums.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "api/reading.h"

namespace muster::api {
namespace {

constexpr std::int64_t kDefaultCpuMilli = 100;
constexpr std::int64_t kDefaultMemory = std::int64_t{200} * 1024 * 1024;

Quantities quantities_at(const Json& value, std::string_view outer, std::string_view inner) {
  const Json* object = find(value, outer);
  return read_quantities(object == nullptr ? nullptr : find_object(*object, inner));
}

// One resource that one container asks for.
struct Ask {
  std::string_view name;
  const Quantity* amount;
  bool init;
  bool sidecar;
};

// The most that is needed of one resource; `asks` are all about it.
Quantity most_of(std::span<const Ask> asks) {
  Quantity together;  // containers and sidecars
  Quantity sidecars;  // those that have started
  Quantity starting;  // the most while init containers run
  bool beside_sidecars = false;
  bool starts = false;
  for (const Ask& ask : asks) {
    starts |= ask.init;
    if (!ask.init || ask.sidecar) together += *ask.amount;
    if (ask.sidecar) {
      sidecars += *ask.amount;
      beside_sidecars = true;
      starting = std::max(starting, sidecars);
    } else if (ask.init) {
      starting = std::max(starting, beside_sidecars ? *ask.amount + sidecars : *ask.amount);
    }
  }
  return starts ? std::max(together, starting) : together;
}

}  // namespace

Quantities most_needed(std::span<const ContainerNeed> needs, bool only_pod_level_names) {
  std::size_t count = 0;
  for (const ContainerNeed& need : needs) count += need.amounts->size();
  std::vector<Ask> asks;
  asks.reserve(count);
  for (const ContainerNeed& need : needs)
    for (const auto& [name, amount] : *need.amounts)
      if (!only_pod_level_names || is_pod_level_name(name))
        asks.push_back({name, &amount, need.init, need.init && need.sidecar});
  // Name by name, each in the order of containers: a sum kept for all names would be gone through
  // for every container, and who writes a pod chooses how many there are of both.
  // Those of one container are sorted already, and most pods have no more.
  if (!std::ranges::is_sorted(asks, {}, &Ask::name)) std::ranges::stable_sort(asks, {}, &Ask::name);
  Quantities most;
  if (!needs.empty()) most.reserve(needs.front().amounts->size());  // the others name the same
  for (auto first = asks.begin(); first != asks.end();) {
    const auto last =
        std::find_if(first, asks.end(), [&](const Ask& ask) { return ask.name != first->name; });
    most.emplace_back(std::string(first->name), most_of({first, last}));
    first = last;
  }
  return most;
}

bool is_pod_level_name(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

bool always_restarts(const Json& container) {
  return find_string(container, "restartPolicy") == "Always";
}

RequestSums::RequestSums(const Json& spec, const Json* status, std::string_view member,
                         const JsonObject* overhead)
    : overhead_(read_quantities(overhead)), pod_spec_(quantities_at(spec, "resources", member)) {
  std::erase_if(pod_spec_, [](const auto& pair) { return !is_pod_level_name(pair.first); });
  for (const Json& container : elements(spec, "initContainers"))
    add(container, member, /*init=*/true);
  for (const Json& container : elements(spec, "containers")) add(container, member, /*init=*/false);
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
  Form form{.with_status = true,
            .default_cpu = true,
            .default_memory = true,
            .only_pod_level_names = true};
  if (!pod_spec_.empty()) {
    const Quantities plain = total({.with_status = true, .only_pod_level_names = true});
    form.default_cpu = lookup(plain, "cpu") == nullptr;
    form.default_memory = lookup(plain, "memory") == nullptr;
  }
  return total(form);
}

void RequestSums::add(const Json& container, std::string_view member, bool init) {
  containers_.push_back({.spec = quantities_at(container, "resources", member),
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

const Quantities& RequestSums::amounts(const ContainerAmounts& container, Source source) const {
  static const Quantities kNone;
  if (source == Source::Actuated && container.actuated) return *container.actuated;
  if (source != Source::Spec && container.allocated) return *container.allocated;
  return source == Source::Spec || !infeasible_ ? container.spec : kNone;
}

Quantities RequestSums::container_sum(Source source, const Form& form) const {
  static const Quantities kCpu{{"cpu", Quantity::of_milli(kDefaultCpuMilli)}};
  static const Quantities kMemory{{"memory", Quantity::of_units(kDefaultMemory)}};
  std::vector<ContainerNeed> needs;
  for (const ContainerAmounts& container : containers_) {
    const Quantities& said = amounts(container, source);
    const auto add = [&](const Quantities& wanted) {
      needs.push_back({&wanted, container.init, container.sidecar});
    };
    add(said);
    if (form.default_cpu && lookup(said, "cpu") == nullptr) add(kCpu);
    if (form.default_memory && lookup(said, "memory") == nullptr) add(kMemory);
  }
  return most_needed(needs, form.only_pod_level_names);
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
  if (pod_spec_.empty()) return;
  Quantities asked;
  for (const auto& [name, quantity] : pod_spec_) {
    Quantity value = quantity;
    if (form.with_status && has_status_) {
      if (infeasible_) value = {};
      for (const std::optional<Quantities>* known : {&pod_actuated_, &pod_allocated_})
        if (const Quantity* other = *known ? lookup(**known, name) : nullptr;
            other != nullptr && value < *other)
          value = *other;
    }
    asked.emplace_back(name, std::move(value));
  }
  // Of a name that both have, the first one's entry is taken.
  Quantities replaced;
  std::ranges::set_union(asked, sum, std::back_inserter(replaced), {},
                         &Quantities::value_type::first, &Quantities::value_type::first);
  sum = std::move(replaced);
}

}  // namespace muster::api
