#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kinds/kind.h"
#include "api/kinds/kinds_of_groups.h"
#include "base/check.h"

// Every kind the API serves.
namespace muster::api {
namespace {

// What most kinds have in common, and what all of them must have.
std::unique_ptr<const Kind> finished(Kind kind) {
  if (kind.stored_version.empty()) kind.stored_version = kind.versions.front();
  if (kind.store_prefix.empty()) kind.store_prefix = kind.plural;
  CHECK_THAT(kind.message->members.front()->name == "metadata", "{} has no metadata", kind.kind);
  return std::make_unique<const Kind>(std::move(kind));
}

// The order of upstream; groups that it does not have come last.
constexpr std::array<std::string_view, 14> kGroupOrder{"",
                                                       "apps",
                                                       "events.k8s.io",
                                                       "authentication.k8s.io",
                                                       "authorization.k8s.io",
                                                       "autoscaling",
                                                       "batch",
                                                       "policy",
                                                       "rbac.authorization.k8s.io",
                                                       "storage.k8s.io",
                                                       "scheduling.k8s.io",
                                                       "coordination.k8s.io",
                                                       "discovery.k8s.io",
                                                       "resource.k8s.io"};

bool stands_before(const Kind* a, const Kind* b) {
  const auto rank = [](const Kind* kind) { return std::ranges::find(kGroupOrder, kind->group); };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return a->group != b->group ? a->group < b->group : a->plural < b->plural;
}

struct Registry {
  std::vector<std::unique_ptr<const Kind>> kept;
  std::vector<const Kind*> all;  // in discovery order

  Registry() {
    for (auto make : {kinds::access_kinds, kinds::core_kinds, kinds::apps_kinds, kinds::batch_kinds,
                      kinds::coordination_kinds, kinds::discovery_kinds, kinds::events_kinds,
                      kinds::policy_kinds, kinds::rbac_kinds, kinds::resource_kinds,
                      kinds::scheduling_kinds, kinds::storage_kinds, kinds::third_party_kinds})
      for (Kind& kind : make()) kept.push_back(finished(std::move(kind)));
    for (const auto& kind : kept) all.push_back(kind.get());
    std::ranges::sort(all, stands_before);
  }
};

}  // namespace

std::span<const Kind* const> all_kinds() {
  static const Registry* const kRegistry = new Registry();
  return kRegistry->all;
}

}  // namespace muster::api
