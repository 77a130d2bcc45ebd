#include "witness/exact.h"

#include <algorithm>

namespace muster::scheduler::witness {

Exact::Exact(const Case& from) : from_(from) {
  for (const Case::Node& node : from.nodes) {
    room_.cpu.push_back(node.cpu);
    room_.gpu.push_back(node.gpu);
    room_.slots.push_back(node.slots);
  }
  for (const Case::Running& pod : from.running)
    if (!pod.succeeded)
      for (std::size_t n = 0; n < from.nodes.size(); ++n)
        if (from.nodes[n].name == pod.node)
          take({.cpu = pod.cpu, .gpu = pod.gpu, .tolerates = true}, n, room_);
}

Room Exact::room_with(const std::map<std::string, std::string>& placed) const {
  Room room = room_;
  const std::function<void(const Case::Group&)> visit = [&](const Case::Group& group) {
    for (std::size_t i = 0; i < group.pods.size(); ++i)
      if (const auto at = placed.find(group.name + "-" + std::to_string(i)); at != placed.end())
        for (std::size_t n = 0; n < from_.nodes.size(); ++n)
          if (from_.nodes[n].name == at->second) take(group.pods[i], n, room);
    for (const Case::Group& child : group.children) visit(child);
  };
  visit(from_.root);
  return room;
}

bool Exact::fits() {
  wants_new_pod_ = true;
  takes_extras_ = false;
  saw_idle_plan_ = false;
  failed_.clear();
  start_ = room_;
  if (solve({{.group = &from_.root, .nodes = everywhere()}}, room_)) return true;
  if (!saw_idle_plan_) return false;
  // The minimums are met as things stand: one pod more, anywhere, is what remains to be found.
  takes_extras_ = true;
  failed_.clear();
  return solve({{.group = &from_.root, .nodes = everywhere()}}, room_);
}

bool Exact::can_meet_minimum(const Case::Group& group, const Nodes& within, const Room& room) {
  wants_new_pod_ = false;
  takes_extras_ = false;
  failed_.clear();
  return solve({{.group = &group, .nodes = within}}, room);
}

bool Exact::solve(Todo todo, const Room& room) {
  if (todo.empty()) {
    saw_idle_plan_ |= room == start_;
    return !wants_new_pod_ || room != start_;
  }
  if (failed_.contains({todo, room})) return false;
  const std::pair<Todo, Room> state{todo, room};
  const Task& task = todo.back();
  bool found = false;
  if (!task.has_domain) {
    const Task next = task;
    todo.pop_back();
    found = choose_domain(todo, next, room);
  } else {
    found = task.group->composite ? go_on_with_children(todo, room) : go_on_with_pods(todo, room);
  }
  if (!found) failed_.insert(state);
  return found;
}

bool Exact::choose_domain(const Todo& rest, const Task& task, const Room& room) {
  for (const auto& [name, nodes] : domains(*task.group, task.nodes)) {
    Todo todo = rest;
    todo.push_back({.group = task.group, .nodes = nodes, .has_domain = true});
    if (solve(std::move(todo), room)) return true;
  }
  return false;
}

bool Exact::go_on_with_pods(Todo todo, const Room& room) {
  Task& task = todo.back();
  const std::vector<Case::Shape>& pods = task.group->pods;
  const bool is_met = task.done >= needed(*task.group);
  if (is_met && (!takes_extras_ || task.at == pods.size())) {
    todo.pop_back();
    return solve(std::move(todo), room);
  }
  if (task.at == pods.size()) return false;
  const Case::Shape& pod = pods[task.at++];
  for (const std::size_t node : task.nodes)
    if (fits_on(pod, node, room)) {
      Room less = room;
      take(pod, node, less);
      Todo placed = todo;
      ++placed.back().done;
      if (solve(std::move(placed), less)) return true;
    }
  return solve(std::move(todo), room);  // without it
}

bool Exact::go_on_with_children(Todo todo, const Room& room) {
  Task& task = todo.back();
  const std::vector<Case::Group>& children = task.group->children;
  const bool is_met = task.done >= needed(*task.group);
  if (is_met && (!takes_extras_ || task.at == children.size())) {
    todo.pop_back();
    return solve(std::move(todo), room);
  }
  if (task.at == children.size()) return false;
  const Case::Group& child = children[task.at++];
  Todo with = todo;
  ++with.back().done;
  with.push_back({.group = &child, .nodes = task.nodes});
  return solve(std::move(with), room) || solve(std::move(todo), room);
}

// --- the most ---

std::int64_t Exact::most_pods(const Case::Group& group, const Nodes& domain, const Room& room) {
  known_most_.clear();
  return most({{.group = &group, .nodes = domain, .has_domain = true}}, room);
}

std::int64_t Exact::most(Todo todo, const Room& room) {
  if (todo.empty()) return 0;
  const std::pair<Todo, Room> state{todo, room};
  if (const auto at = known_most_.find(state); at != known_most_.end()) return at->second;
  const Task task = todo.back();
  std::int64_t best = 0;
  if (!task.has_domain) {
    todo.pop_back();
    best = most(todo, room);  // it stays out
    for (const auto& [name, nodes] : domains(*task.group, task.nodes)) {
      Todo inside = todo;
      inside.push_back({.group = task.group, .nodes = nodes, .has_domain = true});
      best = std::max(best, most(std::move(inside), room));
    }
  } else if (task.group->composite) {
    todo.pop_back();
    for (const Case::Group& child : task.group->children)
      todo.push_back({.group = &child, .nodes = task.nodes});
    best = most(std::move(todo), room);
  } else {
    best = most_of_pods(std::move(todo), room);
  }
  known_most_.emplace(state, best);
  return best;
}

std::int64_t Exact::most_of_pods(Todo todo, const Room& room) {
  Task& task = todo.back();
  if (task.at == task.group->pods.size()) {
    todo.pop_back();
    return most(std::move(todo), room);
  }
  const Case::Shape& pod = task.group->pods[task.at++];
  std::int64_t best = most(todo, room);
  for (const std::size_t node : task.nodes)
    if (fits_on(pod, node, room)) {
      Room less = room;
      take(pod, node, less);
      best = std::max(best, 1 + most(todo, less));
    }
  return best;
}

// --- the rules ---

Nodes Exact::everywhere() const {
  Nodes nodes;
  for (std::size_t n = 0; n < from_.nodes.size(); ++n) nodes.push_back(n);
  return nodes;
}

bool Exact::fits_on(const Case::Shape& shape, std::size_t node, const Room& room) const {
  const Case::Node& there = from_.nodes[node];
  if ((there.tainted || there.cordoned) && !shape.tolerates) return false;
  const auto enough = [](std::int64_t wanted, std::int64_t free) {
    return wanted == 0 || wanted <= free;
  };
  return room.slots[node] >= 1 && enough(shape.cpu, room.cpu[node]) &&
         enough(shape.gpu, room.gpu[node]);
}

void Exact::take(const Case::Shape& shape, std::size_t node, Room& room) {
  room.cpu[node] -= shape.cpu;
  room.gpu[node] -= shape.gpu;
  --room.slots[node];
}

std::int64_t Exact::held(const Case::Group& leaf) const {
  return std::ranges::count(from_.running, leaf.name, &Case::Running::group);
}

std::int64_t Exact::needed(const Case::Group& group) const {
  const std::int64_t minimum = group.gang ? group.minimum : 1;
  return group.composite ? minimum : std::max<std::int64_t>(0, minimum - held(group));
}

// A running member anywhere below binds the group to its domain; members in several, or in none,
// leave it no choice at all.
std::map<std::string, Nodes> Exact::domains(const Case::Group& group, const Nodes& within) const {
  if (group.key.empty()) return {{"", within}};
  std::set<std::string> below;
  const std::function<void(const Case::Group&)> collect = [&](const Case::Group& g) {
    below.insert(g.name);
    for (const Case::Group& child : g.children) collect(child);
  };
  collect(group);
  const auto value_on = [&](const Case::Node& node) {
    const auto at = node.labels.find(group.key);
    return at == node.labels.end() ? std::string() : at->second;
  };
  std::set<std::string> pinned;
  for (const Case::Running& pod : from_.running)
    if (!pod.succeeded && below.contains(pod.group))
      for (const Case::Node& node : from_.nodes)
        if (node.name == pod.node) pinned.insert(value_on(node));
  if (pinned.size() > 1 || pinned.contains("")) return {};
  std::map<std::string, Nodes> domains;
  for (const std::size_t n : within)
    if (const std::string value = value_on(from_.nodes[n]);
        !value.empty() && (pinned.empty() || pinned.contains(value)))
      domains[value].push_back(n);
  return domains;
}

}  // namespace muster::scheduler::witness
