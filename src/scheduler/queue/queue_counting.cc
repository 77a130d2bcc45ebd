#include "api/views/pod_view.h"
#include "scheduler/queue/queue_census.h"
#include "scheduler/queue/scheduling_queue.h"

namespace muster::scheduler {
namespace {

QueueCensus::Row* row_of(QueueCensus& census, Place place) {
  switch (place) {
    case Place::Active: return &census.active;
    case Place::Backoff:
    case Place::ErrorBackoff: return &census.backoff;
    case Place::Resting: return &census.unschedulable;
    case Place::Gated: return &census.gated;
    case Place::Nowhere:
    case Place::InFlight: break;
  }
  return nullptr;
}

}  // namespace

// Trees and leaves are walked; lone pods are what is left of the places they stand in.
QueueCensus SchedulingQueue::census() const {
  QueueCensus census;
  const Counts all = counts();
  census.active.lone = all.active;
  census.backoff.lone = all.backoff;
  census.unschedulable.lone = all.resting;
  census.gated.lone = all.gated;
  census.incomplete = all.incomplete;
  for (const auto& [root, entity] : groups_)
    if (QueueCensus::Row* row = row_of(census, entity->place)) {
      ++row->groups;
      --row->lone;
    }
  for (QueueCensus::Row* row :
       {&census.active, &census.backoff, &census.unschedulable, &census.gated})
    row->pods = row->lone;
  count_members(census);
  flight_.for_each(
      [&census](const ClusterEvent& event) { ++census.events[{event.resource, event.action}]; });
  resting_.for_each_class([&](const WaitClass& wait_class) {
    ++census.looked_at;
    const std::string& name = wait_class.example->view<api::PodView>().scheduler_name;
    std::size_t entities = wait_class.lone.size();
    for (const auto& [shape, trees] : wait_class.shapes) entities += trees;
    for (const std::string& plugin : *wait_class.key.plugins)
      census.refused[{plugin, name}] += entities;
  });
  return census;
}

void SchedulingQueue::count_members(QueueCensus& census) const {
  for (const auto& [leaf, pods] : pending_) {
    ++census.looked_at;
    const GroupSpec* root = forest_.root_of(leaf);
    const auto at = root == nullptr ? groups_.end() : groups_.find(root->key);
    if (at == groups_.end() || at->second->is_loose) continue;  // queued one by one
    if (QueueCensus::Row* row = row_of(census, at->second->place))
      row->pods += pods.size();
    else
      census.in_flight += pods.size();
  }
}

}  // namespace muster::scheduler
