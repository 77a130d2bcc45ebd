#include "scheduler/cache/selector_book.h"

#include <algorithm>
#include <utility>

#include "api/kinds/kind.h"
#include "api/reading.h"
#include "base/check.h"

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
  Key key = key_of(object);
  const auto at = selectors_.find(key);
  if (at != selectors_.end() && *at->second == selector) return;
  remove(object);
  if (selector.is_null || selector.tests.empty()) return;  // counts nobody
  if (object.kind().kind == kService) add_service(object.meta().name_space, selector);
  selectors_.emplace(std::move(key), std::make_shared<const api::PodSelector>(std::move(selector)));
}

void SelectorBook::remove(const api::Object& object) {
  const auto at = selectors_.find(key_of(object));
  if (at == selectors_.end()) return;
  if (object.kind().kind == kService) drop_service(object.meta().name_space, *at->second);
  selectors_.erase(at);
}

// --- the tree of what Services select ---

void SelectorBook::add_service(const std::string& name_space, const api::PodSelector& selector) {
  Place* place = nullptr;
  const auto go = [&](std::string key, std::string value) {
    const std::uint64_t from = place == nullptr ? 0 : place->id;
    const auto [at, is_new] = places_.try_emplace({from, std::move(key), std::move(value)});
    if (is_new) {
      at->second.id = next_place_++;
      if (place != nullptr) ++place->steps;
    }
    place = &at->second;
  };
  go({}, name_space);
  for (const api::NodeRequirement& test : selector.tests) go(test.key, test.values.front());
  ++place->services;
}

// Places that lead nowhere any more go, from the last to the first.
void SelectorBook::drop_service(const std::string& name_space, const api::PodSelector& selector) {
  std::vector<std::map<Step, Place>::iterator> path;
  const auto go = [&](const Step& step) {
    path.push_back(places_.find(step));
    CHECK(path.back() != places_.end());
  };
  go({0, {}, name_space});
  for (const api::NodeRequirement& test : selector.tests)
    go({path.back()->second.id, test.key, test.values.front()});
  --path.back()->second.services;
  while (!path.empty()) {
    const auto last = path.back();
    path.pop_back();
    if (last->second.services > 0 || last->second.steps > 0) return;
    places_.erase(last);
    if (!path.empty()) --path.back()->second.steps;
  }
}

// Those of a pod's labels that some Service asks for which selects the pod.
std::vector<bool> SelectorBook::asked_labels(const api::ObjectMeta& pod) const {
  std::vector<bool> asked(pod.labels.size());
  const auto root = places_.find({0, {}, pod.name_space});
  if (root == places_.end()) return asked;
  struct Visit {
    const Place* place;
    std::size_t next;  // label; the one before it was the last step from here
  };
  std::vector<Visit> path;
  path.push_back({.place = &root->second, .next = 0});
  for (std::size_t left = kStepsMax + pod.labels.size(); !path.empty() && left > 0;) {
    Visit& here = path.back();
    if (here.next == pod.labels.size()) {
      path.pop_back();
      continue;
    }
    const auto& [key, value] = pod.labels[here.next++];
    --left;
    ++steps_;
    const auto at = places_.find({here.place->id, key, value});
    if (at == places_.end()) continue;
    if (at->second.services > 0) {
      for (const Visit& visit : path) asked[visit.next - 1] = true;
      left -= std::min(left, path.size());
      steps_ += path.size();
    }
    if (at->second.steps > 0) path.push_back({.place = &at->second, .next = here.next});
  }
  return asked;
}

api::PodSelector SelectorBook::selector_of(const api::ObjectMeta& pod) const {
  api::PodSelector all;
  const std::vector<bool> asked = asked_labels(pod);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!asked[i]) continue;
    const auto& [key, value] = pod.labels[i];
    all.is_null = false;
    all.tests.push_back({.key = key, .op = api::SelectorOperator::In, .values = {value}});
  }
  for (const api::OwnerReference& owner : pod.owners) {
    if (!owner.controller || owner.api_version != version_of(owner.kind)) continue;
    const auto at = selectors_.find(Key{owner.kind, pod.name_space, owner.name});
    if (at == selectors_.end() || owner.kind == kService) continue;
    const std::vector<api::NodeRequirement>& tests = at->second->tests;
    // Pairs of a ReplicationController take the place of those of Services.
    if (owner.kind == kReplicationController)
      std::erase_if(all.tests, [&](const api::NodeRequirement& known) {
        return std::ranges::binary_search(tests, known.key, {}, &api::NodeRequirement::key);
      });
    all.is_null = false;
    all.tests.insert(all.tests.end(), tests.begin(), tests.end());
  }
  std::ranges::sort(all.tests);
  const auto repeated = std::ranges::unique(all.tests);
  all.tests.erase(repeated.begin(), repeated.end());
  return all;
}

}  // namespace muster::scheduler
