#include "server/core/write/crowd_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "server/core/request/errors.h"

namespace muster::server {
namespace {

struct Limit {
  std::string_view group;
  std::string_view kind;
  std::size_t bytes;
};
// A request that reads all of them takes a few milliseconds then. Thousands of usual size fit.
constexpr std::size_t kMany = std::size_t{4} << 20U;
constexpr std::size_t kFew = std::size_t{256} << 10U;
constexpr std::array<Limit, 5> kLimits = {{{"", "LimitRange", kFew},
                                           {"", "ResourceQuota", kFew},
                                           {"policy", "PodDisruptionBudget", kMany},
                                           {"rbac.authorization.k8s.io", "Role", kMany},
                                           {"rbac.authorization.k8s.io", "RoleBinding", kMany}}};

}  // namespace

Result<void> check_crowd(Context& context, const api::Object& object, const api::Object* old) {
  const api::Kind& kind = object.kind();
  const auto* const limit = std::ranges::find_if(kLimits, [&](const Limit& each) {
    return each.kind == kind.kind && each.group == kind.group;
  });
  const std::size_t before = old == nullptr ? 0 : old->bytes().size();
  if (limit == kLimits.end() || object.bytes().size() <= before) return {};
  const std::string& name_space = object.meta().name_space;
  std::size_t bytes = object.bytes().size() - before;
  for (const api::ObjectPtr& other :
       context.staging.list(fmt::format("{}/{}/", kind.store_prefix, name_space)))
    bytes += other->bytes().size();
  if (bytes <= limit->bytes) return {};
  return fail(forbidden(kind, object.meta().name,
                        fmt::format("all {} of the namespace \"{}\" together would be {} bytes, "
                                    "at most {} are kept",
                                    kind.plural, name_space, bytes, limit->bytes)));
}

}  // namespace muster::server
