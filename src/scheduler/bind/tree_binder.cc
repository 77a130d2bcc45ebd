#include "scheduler/bind/tree_binder.h"

#include <algorithm>
#include <iterator>

#include "api/kinds/kind.h"
#include "base/check.h"

namespace muster::scheduler {
namespace {

using api::JsonArray;
using api::JsonObject;

JsonObject reference_to(const api::Object& group) {
  return {{"kind", group.kind().kind}, {"name", group.meta().name}, {"uid", group.meta().uid}};
}

}  // namespace

// No resourceVersion: a changed label is no reason to refuse a gang. The uid makes sure that it is
// these pods, and the server checks whatever else could have changed.
api::Request tree_binding_request(const TreeBinding& tree) {
  JsonArray pods;
  for (const Assignment& assignment : tree.assignments)
    pods.push_back(JsonObject{{"name", assignment.pod->meta().name},
                              {"uid", assignment.pod->meta().uid},
                              {"nodeName", assignment.node}});
  JsonArray conditions;
  for (const GroupStatement& statement : tree.statements) {
    const api::Object& group = *statement.group;
    JsonObject condition{{"type", statement.condition.type},
                         {"status", statement.condition.status},
                         {"reason", statement.condition.reason},
                         {"message", statement.condition.message}};
    if (group.meta().generation > 0) condition["observedGeneration"] = group.meta().generation;
    JsonObject item = reference_to(group);
    item["condition"] = std::move(condition);
    conditions.push_back(std::move(item));
  }
  JsonObject spec{{"root", reference_to(*tree.object)}, {"pods", std::move(pods)}};
  if (!conditions.empty()) spec["conditions"] = std::move(conditions);
  return client::create_request(
      api::kinds::group_binding(), tree.root.name_space,
      JsonObject{{"metadata", JsonObject{{"name", tree.root.name}}}, {"spec", std::move(spec)}});
}

void TreeBinder::submit(TreeBinding tree, Time now) {
  const Id id = ++last_id_;
  for (std::size_t i = 0; i < tree.assignments.size(); ++i) {
    const Assignment& assignment = tree.assignments[i];
    const bool is_new = pods_.emplace(assignment.pod->meta().uid, Place{id, i}).second;
    CHECK_THAT(is_new, "pod {} is bound twice", assignment.pod->meta().uid);
    by_node_.emplace(assignment.node, id);
  }
  std::deque<Id>& same_root = by_root_[tree.root];
  same_root.push_back(id);
  if (same_root.size() == 1) waiting_.push_back(id);
  Call& call = trees_[id];
  call.open = tree.assignments.size();
  call.states.assign(call.open, State::Open);
  call.tree = std::move(tree);
  run(now);
}

void TreeBinder::run(Time now) {
  while (!retries_.empty() && retries_.begin()->first <= now) {
    const Id id = retries_.begin()->second;
    retries_.erase(retries_.begin());
    trees_.at(id).retry_at.reset();
    waiting_.push_back(id);
  }
  while (!waiting_.empty() && pods_in_flight_ < options_.pods_in_flight_max) {
    const Id id = waiting_.front();
    waiting_.pop_front();
    if (const auto at = trees_.find(id); at != trees_.end()) send(id, at->second);
  }
}

void TreeBinder::send(Id id, Call& call) {
  ++call.tries;
  call.in_flight = true;
  const std::size_t pods = call.tree.assignments.size();
  pods_in_flight_ += pods;
  calls_.send(tree_binding_request(call.tree),
              [this, id, pods](const client::Outcome& outcome, Time now) {
                CHECK(pods_in_flight_ >= pods);
                pods_in_flight_ -= pods;
                finish(id, outcome, now);
                run(now);
              });
}

void TreeBinder::finish(Id id, const client::Outcome& outcome, Time now) {
  const auto at = trees_.find(id);
  if (at == trees_.end()) return;
  Call& call = at->second;
  call.in_flight = false;
  // The watch is believed more than an answer that may have been lost on its way.
  if (outcome || (call.open == 0 && call.confirmed > 0)) return end(id, std::nullopt, now);
  if (!call.failure) {
    if (const auto delay = client::retry_delay(outcome.error(), call.tries, {})) {
      call.retry_at = now + *delay;
      retries_.emplace(*call.retry_at, id);
      return;
    }
  }
  end(id, outcome.error(), now);
}

// Something the call needs is gone. If it is under way the server says what became of it.
void TreeBinder::mark_failed(Id id, Error error, Time now) {
  Call& call = trees_.at(id);
  if (!call.failure) call.failure = std::move(error);
  const std::optional<Error> why = call.failure;  // the call does not outlive end()
  if (!call.in_flight) end(id, why, now);
}

TreeBinder::Call TreeBinder::extract(Id id) {
  const auto at = trees_.find(id);
  Call call = std::move(at->second);
  trees_.erase(at);
  for (const Assignment& assignment : call.tree.assignments) {
    by_node_.erase({assignment.node, id});
    const auto pod = pods_.find(assignment.pod->meta().uid);
    if (pod != pods_.end() && pod->second.id == id) pods_.erase(pod);
  }
  if (call.retry_at) retries_.erase({*call.retry_at, id});
  return call;
}

std::vector<Assignment> TreeBinder::pick(Call& call, State state, std::optional<State> or_else) {
  std::vector<Assignment> out;
  for (std::size_t i = 0; i < call.states.size(); ++i)
    if (call.states[i] == state || call.states[i] == or_else)
      out.push_back(std::move(call.tree.assignments[i]));
  return out;
}

void TreeBinder::end(Id id, const std::optional<Error>& error, Time now) {
  Call call = extract(id);
  TreeBinding& tree = call.tree;
  std::deque<Id>& same_root = by_root_.at(tree.root);
  CHECK(!same_root.empty());
  if (!error) {
    CHECK(same_root.front() == id);
    same_root.pop_front();
    if (same_root.empty())
      by_root_.erase(tree.root);
    else
      waiting_.push_back(same_root.front());
    tree.assignments = pick(call, State::Open, State::Confirmed);
    return on_done_(tree, std::nullopt, now);
  }
  // What was decided later falls with it.
  const auto first = std::ranges::find(same_root, id);
  CHECK(first != same_root.end());
  const std::vector<Id> behind(first + 1, same_root.end());
  same_root.erase(first, same_root.end());
  if (same_root.empty()) by_root_.erase(tree.root);
  const TreeBinding held{tree.root, tree.object, pick(call, State::Confirmed, std::nullopt), {}};
  tree.assignments = pick(call, State::Open, std::nullopt);
  for (const Id later : behind) {
    Call fallen = extract(later);
    std::ranges::move(pick(fallen, State::Open, std::nullopt),
                      std::back_inserter(tree.assignments));
    std::ranges::move(fallen.tree.statements, std::back_inserter(tree.statements));
  }
  if (!held.assignments.empty()) on_done_(held, std::nullopt, now);
  on_done_(tree, error, now);
}

std::optional<TreeBinder::Place> TreeBinder::find_open(std::string_view uid) const {
  const auto at = pods_.find(std::string(uid));
  if (at == pods_.end()) return std::nullopt;
  const Place place = at->second;
  if (trees_.at(place.id).states[place.index] != State::Open) return std::nullopt;
  return place;
}

void TreeBinder::set_state(const Place& place, State state) {
  Call& call = trees_.at(place.id);
  call.states[place.index] = state;
  --call.open;
  if (state == State::Confirmed)
    ++call.confirmed;
  else
    pods_.erase(call.tree.assignments[place.index].pod->meta().uid);
}

void TreeBinder::confirm(std::string_view uid, std::string_view node, Time now) {
  const std::optional<Place> place = find_open(uid);
  if (!place) return;
  const Call& call = trees_.at(place->id);
  const Assignment& planned = call.tree.assignments[place->index];
  if (planned.node != node) {
    Error error = make_error(Reason::Conflict, R"(pod {} is already assigned to node "{}")",
                             planned.pod->meta().name, node);
    set_state(*place, State::Withdrawn);
    return mark_failed(place->id, std::move(error), now);
  }
  set_state(*place, State::Confirmed);
  if (call.open == 0 && !call.in_flight) end(place->id, std::nullopt, now);
}

void TreeBinder::cancel(std::string_view uid, Time now) {
  const std::optional<Place> place = find_open(uid);
  if (!place) return;
  const std::string name = trees_.at(place->id).tree.assignments[place->index].pod->meta().name;
  set_state(*place, State::Withdrawn);
  mark_failed(place->id, make_error(Reason::Conflict, "pod {} does not exist any more", name), now);
}

void TreeBinder::node_vanished(std::string_view node, Time now) {
  drop_unsent(node, make_error(Reason::Conflict, R"(node "{}" does not exist any more)", node),
              now);
}

void TreeBinder::drop_unsent(std::string_view node, const Error& why, Time now) {
  std::vector<Id> unsent;
  for (auto at = by_node_.lower_bound({std::string(node), 0});
       at != by_node_.end() && at->first == node; ++at)
    if (!trees_.at(at->second).in_flight) unsent.push_back(at->second);
  for (const Id id : unsent)
    if (trees_.contains(id))  // it may have fallen with an earlier one
      mark_failed(id, why, now);
}

std::optional<Time> TreeBinder::next_deadline() const {
  return retries_.empty() ? std::nullopt : std::optional(retries_.begin()->first);
}

}  // namespace muster::scheduler
