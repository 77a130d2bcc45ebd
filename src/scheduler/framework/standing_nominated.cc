// Nodes that are kept for expected pods. What those take of a node (resources, ports, volumes) is
// counted in the node table. Filters that look beyond their node judge such a node twice, as it is
// and with these pods on it, and both must accept: an expected pod may never come, so nobody may
// rely on it. Pods expected on other nodes do not count.
#include <algorithm>
#include <ranges>

#include "scheduler/framework/standing.h"

namespace muster::scheduler {

void Standing::find_nominated_rows() {
  if (following_filters_.empty() || nominated_seen_ == cluster_.nominated_epoch()) return;
  nominated_seen_ = cluster_.nominated_epoch();
  nominated_rows_.clear();
  const auto matters = [this](ClassId id) {
    const PodClass& pods = cluster_.pod_class(id);
    return std::ranges::any_of(following_filters_,
                               [&](const FilterPass* filter) { return filter->depends_on(pods); });
  };
  for (const auto& [node, classes] : cluster_.nominated_rows())
    if (cluster_.nodes().contains(node) && std::ranges::any_of(classes, matters))
      nominated_rows_.push_back(node);
}

// Any move may change what holds with the pods that are to come.
void Standing::touch_nominated_rows() {
  for (const NodeId node : nominated_rows_) touched_.row(node);
}

void Standing::place_nominated(NodeId node) const {
  for (const ClassId id : cluster_.nominated_on(node))
    for (FilterPass* filter : following_filters_)
      if (const PodClass& pods = cluster_.pod_class(id); filter->depends_on(pods))
        filter->placed(pods, node, ignored_);
}

void Standing::unplace_nominated(NodeId node) const {
  for (const ClassId id : std::views::reverse(cluster_.nominated_on(node)))
    for (FilterPass* filter : std::views::reverse(following_filters_))
      if (const PodClass& pods = cluster_.pod_class(id); filter->depends_on(pods))
        filter->removed(pods, node, ignored_);
}

bool Standing::admits_with_nominated(NodeId node) const {
  place_nominated(node);
  const bool admits = std::ranges::all_of(
      filters_, [&](const NamedFilter& filter) { return filter.pass->admits(node); });
  unplace_nominated(node);
  return admits;
}

Standing::Answer Standing::ask(NodeId node) const {
  if (is_nominated(node)) {
    place_nominated(node);
    Answer answer = ask_as_is(node);
    unplace_nominated(node);
    if (!answer.verdict.accepted()) return answer;
  }
  return ask_as_is(node);
}

}  // namespace muster::scheduler
