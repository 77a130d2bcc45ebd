#include "api/validation/node.h"

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "api/reading.h"
#include "api/validation/addresses.h"
#include "api/validation/object_meta.h"
#include "api/validation/placement_rules.h"
#include "api/validation/resources.h"

namespace muster::api {
namespace {

// podCIDRs, or podCIDR alone: one list, as upstream keeps it.
std::vector<std::string_view> pod_cidrs(const Json& document) {
  const Json& spec = part_of(document, "spec");
  std::vector<std::string_view> cidrs;
  for (const Json& cidr : elements(spec, "podCIDRs")) cidrs.push_back(text_of(cidr));
  if (const std::string_view only = find_string(spec, "podCIDR"); cidrs.empty() && !only.empty())
    cidrs.push_back(only);
  return cidrs;
}

void validate_pod_cidrs(const Json& document, FieldErrors& errors) {
  const std::vector<std::string_view> cidrs = pod_cidrs(document);
  const FieldPath path("spec.podCIDRs");
  std::set<IpFamily> families;
  for (std::size_t i = 0; i < cidrs.size(); ++i) {
    const IpFamily family = cidr_family(cidrs[i]);
    if (family == IpFamily::None) errors.invalid(path.index(i), cidrs[i], kBadCidr);
    families.insert(family);
  }
  if (cidrs.size() > 2 || families.size() < cidrs.size())
    errors.invalid(path, part_of(part_of(document, "spec"), "podCIDRs"),
                   "may specify no more than one CIDR for each IP family");
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < cidrs.size(); ++i)
    if (!seen.insert(cidrs[i]).second) errors.duplicate(path.index(i), cidrs[i]);
}

void validate_node_taints(const Json& document, FieldErrors& errors) {
  // The path is upstream's: it says metadata where spec is meant.
  validate_taints(elements(part_of(document, "spec"), "taints"), FieldPath("metadata.taints"),
                  errors);
}

void validate_node_resources(const Json& document, FieldErrors& errors) {
  const Json& status = part_of(document, "status");
  for (const std::string_view member : {"capacity", "allocatable"}) {
    const FieldPath base("status");
    const FieldPath path = base.child(member);
    for (const auto& amount : members(status, member))
      validate_resource_amount(key_of(amount), amount.value(), path.child(key_of(amount)), errors);
  }
}

void validate_addresses(const Json& document, FieldErrors& errors) {
  const JsonArray& addresses = elements(part_of(document, "status"), "addresses");
  const FieldPath path("status.addresses");
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < addresses.size(); ++i)
    if (!seen.emplace(find_string(addresses[i], "type"), find_string(addresses[i], "address"))
             .second)
      errors.duplicate(path.index(i), addresses[i]);
}

}  // namespace

FieldErrors validate_node(const Json& document) {
  FieldErrors errors;
  validate_object_meta(document, {.namespaced = false, .known_finalizers = true}, errors);
  validate_node_taints(document, errors);
  validate_node_resources(document, errors);
  validate_pod_cidrs(document, errors);
  return errors;
}

FieldErrors validate_node_update(const Json& now, const Json& old) {
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  validate_node_resources(now, errors);
  validate_addresses(now, errors);
  const std::vector<std::string_view> cidrs = pod_cidrs(old);
  if (!cidrs.empty() && cidrs != pod_cidrs(now))
    errors.forbidden(FieldPath("spec.podCIDRs"),
                     "node updates may not change podCIDR except from \"\" to valid");
  const std::string_view provider = find_string(part_of(old, "spec"), "providerID");
  if (!provider.empty() && provider != find_string(part_of(now, "spec"), "providerID"))
    errors.forbidden(FieldPath("spec.providerID"),
                     "node updates may not change providerID except from \"\" to valid");
  validate_node_taints(now, errors);
  return errors;
}

}  // namespace muster::api
