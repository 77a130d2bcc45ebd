#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/validation/field_errors.h"

namespace muster::api {

// Names without a domain, or with kubernetes.io/ in it.
bool is_native_resource(std::string_view name);
// Countable things of a vendor: nvidia.com/gpu.
bool is_extended_resource(std::string_view name);
bool is_huge_page_resource(std::string_view name);
// Without a domain, and something that a ResourceQuota can limit.
bool is_quota_resource(std::string_view name);
// Whether requests may be below limits.
bool may_overcommit(std::string_view name);

// The name of an amount: qualified, and known if it has no domain. False if it is not.
bool validate_resource_name(std::string_view name, const FieldPath& path, FieldErrors& errors);
// The same, and it is something that a container can have.
void validate_container_resource_name(std::string_view name, const FieldPath& path,
                                      FieldErrors& errors);
// The same, and it is something that a ResourceQuota can limit.
void validate_quota_resource_name(std::string_view name, const FieldPath& path,
                                  FieldErrors& errors);

// Not negative, and an integer if the resource is not divisible.
void validate_resource_amount(std::string_view name, const Json& amount, const FieldPath& path,
                              FieldErrors& errors);

// The names of the resource claims that a pod declares; views into its spec.
class ClaimNames {
 public:
  void add(std::string_view name);
  bool contains(std::string_view name) const { return names_.contains(name); }
  // The words that a name must be one of these, for a message.
  std::string_view demand() const;

 private:
  std::vector<std::string_view> in_order_;
  std::set<std::string_view> names_;
  mutable std::string demand_;  // made when it is first asked for
};

// The `resources` of a container.
void validate_container_resources(const Json& requirements, const ClaimNames& claim_names,
                                  const FieldPath& path, FieldErrors& errors);
// The `resources` of a pod as a whole: cpu, memory and huge pages only.
void validate_pod_resources(const Json& requirements, const FieldPath& path, FieldErrors& errors);
// A map of amounts under container rules: `overhead`.
void validate_overhead(const Json& amounts, const FieldPath& path, FieldErrors& errors);

}  // namespace muster::api
