#include "scheduler/bind/binder.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "client/client.h"

namespace muster::scheduler {

void Binder::commit(std::span<const Assignment> assignments, Time now) {
  for (const Assignment& assignment : assignments) {
    const Id id = ++last_id_;
    const bool is_new = by_uid_.emplace(assignment.pod->meta().uid, id).second;
    CHECK_THAT(is_new, "pod {} is bound twice", assignment.pod->meta().uid);
    by_node_.emplace(assignment.node, id);
    bindings_[id].assignment = assignment;
    waiting_.push_back(id);
  }
  run(now);
}

void Binder::run(Time now) {
  while (!retries_.empty() && retries_.begin()->first <= now) {
    const Id id = retries_.begin()->second;
    retries_.erase(retries_.begin());
    bindings_.at(id).retry_at.reset();
    waiting_.push_back(id);
  }
  while (!waiting_.empty() && in_flight_ < options_.in_flight_max) {
    const Id id = waiting_.front();
    waiting_.pop_front();
    if (const auto at = bindings_.find(id); at != bindings_.end()) send(id, at->second);
  }
}

void Binder::send(Id id, Binding& binding) {
  ++binding.tries;
  ++in_flight_;
  binding.in_flight = true;
  calls_.send(client::bind_request(*binding.assignment.pod, binding.assignment.node),
              [this, id](const client::Outcome& outcome, Time now) { finish(id, outcome, now); });
}

void Binder::finish(Id id, const client::Outcome& outcome, Time now) {
  CHECK(in_flight_ > 0);
  --in_flight_;
  const auto at = bindings_.find(id);
  if (at != bindings_.end()) {
    Binding& binding = at->second;
    binding.in_flight = false;
    if (outcome || binding.confirmed) {
      end(id, std::nullopt, now);
    } else if (const auto delay = client::retry_delay(outcome.error(), binding.tries, {})) {
      binding.retry_at = now + *delay;
      retries_.emplace(*binding.retry_at, id);
    } else {
      end(id, outcome.error(), now);
    }
  }
  run(now);
}

void Binder::end(Id id, const std::optional<Error>& error, Time now) {
  const Assignment assignment = bindings_.at(id).assignment;
  erase(id);
  on_done_(assignment, error, now);
}

void Binder::erase(Id id) {
  const auto at = bindings_.find(id);
  const Binding& binding = at->second;
  by_uid_.erase(binding.assignment.pod->meta().uid);
  by_node_.erase({binding.assignment.node, id});
  if (binding.retry_at) retries_.erase({*binding.retry_at, id});
  bindings_.erase(at);
}

void Binder::confirm(std::string_view uid, std::string_view node, Time now) {
  const auto at = by_uid_.find(std::string(uid));
  if (at == by_uid_.end()) return;
  const Id id = at->second;
  Binding& binding = bindings_.at(id);
  if (binding.assignment.node != node) return erase(id);
  if (binding.in_flight)
    binding.confirmed = true;
  else
    end(id, std::nullopt, now);
}

void Binder::cancel(std::string_view uid) {
  if (const auto at = by_uid_.find(std::string(uid)); at != by_uid_.end()) erase(at->second);
}

void Binder::node_vanished(std::string_view node, Time now) {
  drop_unsent(
      node,
      make_error(Reason::NotFound, "node \"{}\" was deleted before the pod was bound to it", node),
      now);
}

void Binder::drop_unsent(std::string_view node, const Error& why, Time now) {
  std::vector<Id> unsent;
  for (auto at = by_node_.lower_bound({std::string(node), 0});
       at != by_node_.end() && at->first == node; ++at)
    if (!bindings_.at(at->second).in_flight) unsent.push_back(at->second);
  for (const Id id : unsent) end(id, why, now);
}

std::optional<Time> Binder::next_deadline() const {
  return retries_.empty() ? std::nullopt : std::optional(retries_.begin()->first);
}

}  // namespace muster::scheduler
