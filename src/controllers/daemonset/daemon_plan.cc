#include "controllers/daemonset/daemon_plan.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/values/string_pairs.h"
#include "controllers/common/pod_facts.h"
#include "controllers/common/revisions.h"

namespace muster::controllers {
namespace {

using api::DaemonSetView;
using api::ObjectPtr;
using Pods = std::vector<ObjectPtr>;

// How many pods are made or deleted in one look.
constexpr std::size_t kChangesMax = 250;

// Of several pods of a node the first is the one that counts: bound ones, then the oldest.
void sort_pods(Pods& pods) {
  std::ranges::sort(pods, {}, [](const ObjectPtr& pod) {
    return std::make_tuple(pod->view<api::PodView>().node_name.empty(),
                           pod->meta().creation_time.value_or(Time{}),
                           std::string_view(pod->meta().name));
  });
}

class Planner {
 public:
  explicit Planner(const DaemonState& state)
      : state_(state), view_(state.set.view<DaemonSetView>()) {
    for (const ObjectPtr& pod : state.existing) by_node_[node_of(*pod)].push_back(pod);
    for (auto& [node, pods] : by_node_) sort_pods(pods);
  }

  DaemonPlan plan() {
    const bool deleting = state_.set.meta().deletion_time.has_value();
    for (const auto* entry : state_.nodes) {
      const api::Object& node = *entry->object;
      const DaemonPods::Fit fit = state_.pods.fit(node);
      const auto at = by_node_.find(node.meta().name);
      const Pods* pods = at == by_node_.end() ? nullptr : &at->second;
      count(fit, pods);
      if (!deleting) manage(node.meta().name, fit, pods);
    }
    finish_status();
    if (deleting) return std::move(plan_);
    remove_lost();
    // What is missing or too many comes first; the next look goes on.
    if (plan_.create.empty() && plan_.remove.empty() && !view_.on_delete) {
      if (surge() > 0)
        roll_with_surge();
      else
        roll();
    }
    cut(plan_.create);
    cut(plan_.remove);
    return std::move(plan_);
  }

 private:
  template <typename T>
  static void cut(std::vector<T>& list) {
    if (list.size() > kChangesMax) list.resize(kChangesMax);
  }

  std::int64_t surge() const { return view_.max_surge.of_rounded_up(plan_.status.desired); }
  std::int64_t unavailable_max() const {
    const std::int64_t max = view_.max_unavailable.of_rounded_up(plan_.status.desired);
    return max == 0 && surge() == 0 ? 1 : max;
  }

  bool is_updated(const api::Object& pod) const {
    const std::string* hash = api::lookup(pod.meta().labels, kPodRevision);
    return hash != nullptr && *hash == state_.pods.hash();
  }

  bool is_available(const api::Object& pod) {
    const std::optional<Time> since = available_at(pod, view_.min_ready);
    if (since && *since > state_.now) look_again(*since);
    return since && *since <= state_.now;
  }

  void look_again(Time at) { plan_.again = plan_.again ? std::min(*plan_.again, at) : at; }

  void count(const DaemonPods::Fit& fit, const Pods* pods) {
    DaemonSetView::Status& status = plan_.status;
    if (!fit.should_run) {
      if (pods != nullptr) ++status.misscheduled;
      return;
    }
    ++status.desired;
    if (pods == nullptr) return;
    ++status.current;
    const api::Object& pod = *pods->front();
    if (is_ready(pod.view<api::PodView>())) {
      ++status.ready;
      if (is_available(pod)) ++status.available;
    }
    if (is_updated(pod)) ++status.updated;
  }

  void finish_status() {
    plan_.status.unavailable = plan_.status.desired - plan_.status.available;
    plan_.status.observed_generation = state_.set.meta().generation;
    plan_.status.collisions = view_.status.collisions;
  }

  void manage(const std::string& node, const DaemonPods::Fit& fit, const Pods* pods) {
    if (pods == nullptr) {
      if (fit.should_run) plan_.create.push_back(node);
    } else if (!fit.may_stay) {
      for (const ObjectPtr& pod : *pods) remove(pod);
    } else {
      keep_one(node, fit, *pods);
    }
  }

  void remove(const ObjectPtr& pod) {
    if (!pod->meta().deletion_time) plan_.remove.push_back(pod);
  }

  void keep_one(const std::string& node, const DaemonPods::Fit& fit, const Pods& pods) {
    Pods running;
    for (const ObjectPtr& pod : pods) {
      if (pod->meta().deletion_time) continue;
      if (!pod->view<api::PodView>().is_terminal())
        running.push_back(pod);
      else
        remove_ended(node, pod);
    }
    const bool surges = view_.max_surge.value > 0;
    if (surges && running.empty() && fit.should_run &&
        std::ranges::all_of(pods, [](const ObjectPtr& pod) { return is_terminating(*pod); }))
      plan_.create.push_back(node);
    if (running.size() <= 1) return;
    if (surges) return keep_two(running);
    for (std::size_t i = 1; i < running.size(); ++i) remove(running[i]);
  }

  void remove_ended(const std::string& node, const ObjectPtr& pod) {
    if (pod->view<api::PodView>().phase == "Failed") {
      const Time at = state_.retry_at(node);
      if (at > state_.now) return look_again(at);
    }
    plan_.ended.push_back(pod);
    remove(pod);
  }

  // With a surge, an old pod stays until the new one is available, unless it does not work.
  void keep_two(const Pods& running) {
    ObjectPtr updated;
    ObjectPtr old;
    for (const ObjectPtr& pod : running) {
      ObjectPtr& place = is_updated(*pod) ? updated : old;
      if (place == nullptr)
        place = pod;
      else
        remove(pod);
    }
    if (updated == nullptr || old == nullptr) return;
    if (!is_ready(old->view<api::PodView>()) || is_available(*updated)) remove(old);
  }

  // Pods for nodes that are gone and to which they were never bound: nobody else would miss them.
  void remove_lost() {
    std::map<std::string_view, bool> exists;
    for (const auto* entry : state_.nodes) exists.emplace(entry->object->meta().name, true);
    for (const auto& [node, pods] : by_node_)
      if (!exists.contains(node))
        for (const ObjectPtr& pod : pods)
          if (pod->view<api::PodView>().node_name.empty()) remove(pod);
  }

  // The updated and the old pod of a node that are not going; false if there are several of a kind.
  bool find_pods(const Pods& pods, ObjectPtr& updated, ObjectPtr& old) const {
    for (const ObjectPtr& pod : pods) {
      if (pod->meta().deletion_time) continue;
      ObjectPtr& place = is_updated(*pod) ? updated : old;
      if (place != nullptr) return false;
      place = pod;
    }
    return true;
  }

  void roll() {
    std::int64_t unavailable = 0;
    Pods candidates;
    for (const auto& [node, pods] : by_node_) {
      ObjectPtr updated;
      ObjectPtr old;
      if (!find_pods(pods, updated, old) || (updated == nullptr) == (old == nullptr))
        ++unavailable;
      else if (updated != nullptr)
        unavailable += is_available(*updated) ? 0 : 1;
      else if (!is_available(*old))
        plan_.remove.push_back(old);  // nobody misses it
      else
        candidates.push_back(old);
    }
    const std::int64_t left = unavailable_max() - unavailable;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(left, std::ssize(candidates)); ++i)
      plan_.remove.push_back(candidates[static_cast<std::size_t>(i)]);
  }

  void roll_with_surge() {
    std::int64_t surging = 0;
    std::vector<std::string> candidates;
    for (const auto& [node, pods] : by_node_) {
      ObjectPtr updated;
      ObjectPtr old;
      if (!find_pods(pods, updated, old)) {
        ++surging;
      } else if (old != nullptr && updated == nullptr) {
        (is_available(*old) ? candidates : plan_.create).emplace_back(node);
      } else if (old != nullptr) {
        if (is_available(*updated))
          remove(old);
        else
          ++surging;
      }
    }
    const std::int64_t left = surge() - surging;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(left, std::ssize(candidates)); ++i)
      plan_.create.push_back(std::move(candidates[static_cast<std::size_t>(i)]));
  }

  const DaemonState& state_;
  const DaemonSetView& view_;
  std::map<std::string_view, Pods> by_node_;
  DaemonPlan plan_;
};

}  // namespace

DaemonPlan plan_daemons(const DaemonState& state) { return Planner(state).plan(); }

}  // namespace muster::controllers
