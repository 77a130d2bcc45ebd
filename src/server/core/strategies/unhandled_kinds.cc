#include "server/core/strategies/unhandled_kinds.h"

#include <fmt/format.h>

#include <string_view>

namespace muster::server {
namespace {

struct Unhandled {
  std::string_view group;
  std::string_view kind;
  std::string_view consequence;
};
constexpr Unhandled kUnhandled[] = {
    {"", "ReplicationController", "no pods are created for it"},
    {"", "Service", "no traffic is routed by it"},
    {"resource.k8s.io", "ResourceClaim", "no devices are allocated to it"},
    {"resource.k8s.io", "ResourceClaimTemplate", "no claims are made from it"},
    {"storage.k8s.io", "VolumeAttachment", "no volume is attached by it"},
};

}  // namespace

std::string unhandled_kind_warning(const api::Kind& kind) {
  for (const Unhandled& unhandled : kUnhandled)
    if (unhandled.kind == kind.kind && unhandled.group == kind.group)
      return fmt::format("{} is stored, but nothing in this control plane acts on it yet: {}",
                         kind.kind, unhandled.consequence);
  return {};
}

}  // namespace muster::server
