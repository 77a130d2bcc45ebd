#include "scheduler/bind/binder.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include "api/views/pod_facts.h"
#include "base/check.h"
#include "client/client.h"

namespace muster::scheduler {
namespace {

constexpr Duration kLookAgain = std::chrono::seconds{1};
constexpr Duration kLookAgainMax = std::chrono::seconds{10};

// The server may have done what it was asked.
bool is_unheard(const Error& error) {
  return error.reason == Reason::ServiceUnavailable || error.reason == Reason::Timeout ||
         error.reason == Reason::InternalError;
}

}  // namespace

void Binder::submit(std::span<const Assignment> assignments, Time now) {
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
  ++in_flight_;
  binding.in_flight = true;
  if (binding.suspected) return look(id, binding);
  ++binding.tries;
  calls_.send(client::bind_request(*binding.assignment.pod, binding.assignment.node),
              [this, id](const client::Outcome& outcome, Time now) { finish(id, outcome, now); });
}

void Binder::look(Id id, Binding& binding) {
  ++binding.looks;
  calls_.send(client::get_request(*binding.assignment.pod),
              [this, id](const client::Outcome& outcome, Time now) { finish(id, outcome, now); });
}

void Binder::finish(Id id, const client::Outcome& outcome, Time now) {
  CHECK(in_flight_ > 0);
  --in_flight_;
  const auto at = bindings_.find(id);
  if (at != bindings_.end()) {
    Binding& binding = at->second;
    binding.in_flight = false;
    if (binding.confirmed || (outcome && !binding.suspected))
      end(id, std::nullopt, now);
    else if (binding.suspected)
      on_look(id, binding, outcome, now);
    else
      on_failure(id, binding, outcome.error(), now);
  }
  run(now);
}

void Binder::on_failure(Id id, Binding& binding, const Error& error, Time now) {
  if (is_unheard(error)) binding.may_be_bound = true;
  if (const auto delay = client::retry_delay(error, binding.tries, {}))
    return try_again(id, binding, now + *delay);
  if (!binding.may_be_bound || error.reason == Reason::NotFound) return end(id, error, now);
  binding.suspected = error;
  try_again(id, binding, now);
}

void Binder::on_look(Id id, Binding& binding, const client::Outcome& outcome, Time now) {
  const auto* found = outcome ? std::get_if<api::ObjectAnswer>(&outcome->what) : nullptr;
  if (found != nullptr) {
    const bool is_there = found->object->meta().uid == binding.assignment.pod->meta().uid &&
                          api::view_of(found->object).node_name == binding.assignment.node;
    return end(id, is_there ? std::nullopt : binding.suspected, now);
  }
  if (outcome || outcome.error().reason == Reason::NotFound ||
      outcome.error().reason == Reason::Forbidden) {
    const std::optional<Error> why = binding.suspected;  // the binding does not outlive end()
    return end(id, why, now);
  }
  const Duration wait = std::min<Duration>(kLookAgain * binding.looks, kLookAgainMax);
  try_again(id, binding, now + wait);
}

void Binder::try_again(Id id, Binding& binding, Time at) {
  binding.retry_at = at;
  retries_.emplace(at, id);
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
  end_waiting(
      node, [](const Binding& /*binding*/) { return true; },
      make_error(Reason::NotFound, "node \"{}\" was deleted before the pod was bound to it", node),
      now);
}

void Binder::drop_unsent(std::string_view node, const Error& why, Time now) {
  end_waiting(node, [](const Binding& binding) { return !binding.may_be_bound; }, why, now);
}

template <typename Which>
void Binder::end_waiting(std::string_view node, const Which& which, const Error& why, Time now) {
  std::vector<Id> waiting;
  for (auto at = by_node_.lower_bound({std::string(node), 0});
       at != by_node_.end() && at->first == node; ++at)
    if (const Binding& binding = bindings_.at(at->second); !binding.in_flight && which(binding))
      waiting.push_back(at->second);
  for (const Id id : waiting) end(id, why, now);
}

std::optional<Time> Binder::next_deadline() const {
  return retries_.empty() ? std::nullopt : std::optional(retries_.begin()->first);
}

}  // namespace muster::scheduler
