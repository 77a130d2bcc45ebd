#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/views/amounts.h"

namespace muster::api {

// Whether a pod as a whole may request it: cpu, memory and huge pages.
bool is_pod_level_name(std::string_view name);
// Whether an init container is a sidecar: it keeps running beside the others.
bool always_restarts(const Json& container);

// What one container asks for, and when it runs.
struct ContainerNeed {
  const Quantities* amounts = nullptr;
  bool init = false;
  bool sidecar = false;  // an init container that always restarts
};
// The most that all of them need at one time: init containers run one after the other before the
// others, sidecars keep running once started. Init containers must be in order. The cost depends on
// the number of requests, however they are spread over containers and names.
Quantities most_needed(std::span<const ContainerNeed> needs, bool only_pod_level_names = false);

// The requests of one pod in every form that readers need
// (docs/kubernetes-behaviour.md#pod-requests).
class RequestSums {
 public:
  // `status` may be null.
  RequestSums(const Json& spec, const Json* status)
      : RequestSums(spec, status, "requests", find_object(spec, "overhead")) {}
  // Of what stands in the spec alone, without overhead.
  static RequestSums of_containers(const Json& spec) {
    return {spec, nullptr, "requests", nullptr};
  }
  // Limits, summed by the same rules; overhead is not a limit.
  static RequestSums of_limits(const Json& spec) { return {spec, nullptr, "limits", nullptr}; }

  struct Form {
    bool with_status = false;
    bool with_pod_level = true;
    bool default_cpu = false;
    bool default_memory = false;
    bool only_pod_level_names = false;  // leave out what a pod as a whole may not request
  };
  Quantities total(const Form& form) const;
  // Whether the status makes a difference to `total`.
  bool has_status() const { return has_status_; }
  // cpu and memory with a default for containers that name none. With pod-level requests only a
  // resource that nobody names is defaulted.
  Quantities nonzero_total() const;

 private:
  // A container's requests, as the spec and the status know them.
  struct ContainerAmounts {
    Quantities spec;
    std::optional<Quantities> allocated;
    std::optional<Quantities> actuated;
    bool init = false;
    bool sidecar = false;  // init container with restartPolicy Always
  };
  enum class Source : std::uint8_t { Spec, Allocated, Actuated };

  // `member` of resources is summed; `overhead` may be null.
  RequestSums(const Json& spec, const Json* status, std::string_view member,
              const JsonObject* overhead);
  void add(const Json& container, std::string_view member, bool init);
  void read_status(const Json& spec, const Json& status);
  void read_container_status(const Json& status, ContainerAmounts& container);
  const Quantities& amounts(const ContainerAmounts& container, Source source) const;
  Quantities container_sum(Source source, const Form& form) const;
  Quantities status_sum(const Form& form) const;
  void replace_pod_level(const Form& form, Quantities& sum) const;

  std::vector<ContainerAmounts> containers_;  // init containers first, in order
  Quantities overhead_;
  Quantities pod_spec_;  // spec.resources.requests of the names allowed there
  std::optional<Quantities> pod_allocated_;
  std::optional<Quantities> pod_actuated_;
  bool infeasible_ = false;
  bool has_status_ = false;
};

}  // namespace muster::api
