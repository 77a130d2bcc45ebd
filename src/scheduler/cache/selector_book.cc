#include "scheduler/cache/selector_book.h"

#include <algorithm>
#include <utility>

#include "api/kinds/kind.h"
#include "api/reading.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kService = "Service";
constexpr std::string_view kReplicationController = "ReplicationController";

// Services and ReplicationControllers have a map, which selects nothing if it is not there.
api::PodSelector read_selector(const api::Object& object) {
  const api::Json document = object.document();
  const api::Json& spec = api::part_of(document, "spec");
  const std::string_view kind = object.kind().kind;
  if (kind != kService && kind != kReplicationController)
    return api::read_pod_selector(api::find_set(spec, "selector"));
  api::PodSelector selector;
  const api::Json* pairs = api::find_set(spec, "selector");
  if (pairs == nullptr || !pairs->is_object()) return selector;
  selector.is_null = false;
  for (const auto& [key, value] : pairs->as_object())
    selector.require(key, api::SelectorOperator::In, std::string(api::text_of(value)));
  return selector;
}

// Another kind may have the same name in a group of its own.
std::string_view version_of(std::string_view kind) {
  return kind == kReplicationController ? "v1" : "apps/v1";
}

void add_all(const api::PodSelector& from, api::PodSelector& into) {
  into.is_null = false;
  into.tests.insert(into.tests.end(), from.tests.begin(), from.tests.end());
}

}  // namespace

const std::vector<const api::Kind*>& SelectorBook::kinds() {
  static const std::vector<const api::Kind*> kKinds = [] {
    std::vector<const api::Kind*> found;
    for (const auto& [group, kind] : {std::pair<std::string_view, std::string_view>{"", kService},
                                      {"", kReplicationController},
                                      {"apps", "ReplicaSet"},
                                      {"apps", "StatefulSet"}})
      if (const api::Kind* known = api::find_kind(group, kind)) found.push_back(known);
    return found;
  }();
  return kKinds;
}

bool SelectorBook::keeps(const api::Kind& kind) {
  return std::ranges::find(kinds(), &kind) != kinds().end();
}

SelectorBook::Key SelectorBook::key_of(const api::Object& object) {
  return {std::string(object.kind().kind), object.meta().name_space, object.meta().name};
}

void SelectorBook::put(const api::Object& object) {
  api::PodSelector selector = read_selector(object);
  const Key key = key_of(object);
  const auto at = selectors_.find(key);
  if (at != selectors_.end() && *at->second == selector) return;
  remove(object);
  if (selector.is_null || selector.tests.empty()) return;  // counts nobody
  index(key, selector, true);
  selectors_.emplace(key, std::make_shared<const api::PodSelector>(std::move(selector)));
}

void SelectorBook::remove(const api::Object& object) {
  const auto at = selectors_.find(key_of(object));
  if (at == selectors_.end()) return;
  index(at->first, *at->second, false);
  selectors_.erase(at);
}

void SelectorBook::index(const Key& key, const api::PodSelector& selector, bool is_there) {
  if (std::get<0>(key) != kService) return;
  const api::NodeRequirement& first = selector.tests.front();
  const Pair pair{std::get<1>(key), first.key, first.values.front()};
  std::set<Key>& services = services_[pair];
  if (is_there)
    services.insert(key);
  else
    services.erase(key);
  if (services.empty()) services_.erase(pair);
}

api::PodSelector SelectorBook::selector_of(const api::ObjectMeta& pod) const {
  api::PodSelector all;
  if (!services_.empty())
    for (const auto& [label, value] : pod.labels)
      if (const auto at = services_.find(Pair{pod.name_space, label, value}); at != services_.end())
        for (const Key& service : at->second)
          if (const api::PodSelector& selector = *selectors_.at(service);
              selector.matches(pod.labels))
            add_all(selector, all);
  for (const api::OwnerReference& owner : pod.owners)
    if (owner.controller && owner.api_version == version_of(owner.kind))
      if (const auto at = selectors_.find(Key{owner.kind, pod.name_space, owner.name});
          at != selectors_.end() && owner.kind != kService)
        add_all(*at->second, all);
  std::ranges::sort(all.tests);
  const auto repeated = std::ranges::unique(all.tests);
  all.tests.erase(repeated.begin(), repeated.end());
  return all;
}

}  // namespace muster::scheduler
