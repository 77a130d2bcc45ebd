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
  if (at != selectors_.end() && *at->second.selector == selector) return;
  remove(object);
  if (selector.is_null || selector.tests.empty()) return;  // counts nobody
  Entry entry;
  if (object.kind().kind == kService) {
    entry.found_by = rarest_pair(object.meta().name_space, selector);
    services_[*entry.found_by].insert(key);
  }
  entry.selector = std::make_shared<const api::PodSelector>(std::move(selector));
  selectors_.emplace(key, std::move(entry));
}

void SelectorBook::remove(const api::Object& object) {
  const auto at = selectors_.find(key_of(object));
  if (at == selectors_.end()) return;
  if (const std::optional<Pair>& pair = at->second.found_by) {
    const auto services = services_.find(*pair);
    services->second.erase(at->first);
    if (services->second.empty()) services_.erase(services);
  }
  selectors_.erase(at);
}

SelectorBook::Pair SelectorBook::rarest_pair(const std::string& name_space,
                                             const api::PodSelector& selector) const {
  std::optional<Pair> rarest;
  std::size_t fewest = 0;
  for (const api::NodeRequirement& test : selector.tests) {
    Pair pair{name_space, test.key, test.values.front()};
    const auto at = services_.find(pair);
    const std::size_t found = at == services_.end() ? 0 : at->second.size();
    if (rarest && found >= fewest) continue;
    rarest = std::move(pair);
    fewest = found;
  }
  return *rarest;
}

api::PodSelector SelectorBook::selector_of(const api::ObjectMeta& pod) const {
  api::PodSelector all;
  if (!services_.empty())
    for (const auto& [label, value] : pod.labels)
      if (const auto at = services_.find(Pair{pod.name_space, label, value}); at != services_.end())
        for (const Key& service : at->second)
          if (const api::PodSelector& selector = *selectors_.at(service).selector;
              selector.matches(pod.labels))
            add_all(selector, all);
  for (const api::OwnerReference& owner : pod.owners) {
    if (!owner.controller || owner.api_version != version_of(owner.kind)) continue;
    const auto at = selectors_.find(Key{owner.kind, pod.name_space, owner.name});
    if (at == selectors_.end() || owner.kind == kService) continue;
    const api::PodSelector& selector = *at->second.selector;
    // Pairs of a ReplicationController take the place of those of Services.
    if (owner.kind == kReplicationController)
      for (const api::NodeRequirement& test : selector.tests)
        std::erase_if(all.tests, [&](const auto& known) { return known.key == test.key; });
    add_all(selector, all);
  }
  std::ranges::sort(all.tests);
  const auto repeated = std::ranges::unique(all.tests);
  all.tests.erase(repeated.begin(), repeated.end());
  return all;
}

}  // namespace muster::scheduler
