// Preemptors and trees that have waited for long keep room free: what a fresh attempt would place
// is left waiting for them and for nothing else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "scheduler/cycle/attempt.h"
#include "scheduler/groups/cluster_model.h"
#include "scheduler/plugins/default_profile.h"
#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace {

using testing::node_object;
using testing::pod_object;
using testing::PodText;
using testing::World;

constexpr const char* kLongAgo = "1999-01-01T00:00:00Z";

// Gangs have a priority each, by their number.
int priority_of(const std::string& gang) { return (gang.back() - '0') % 3; }

// So much may be kept for trees that have waited for long that it happens with five nodes.
Profile generous_profile() {
  Profile profile = default_profile();
  ProfileSettings settings = profile.settings();
  settings.preemption.reserve_nodes_percentage = 60;
  profile.set(std::move(settings));
  return profile;
}

// A world where evictions happen: a pod that is deleted ends later, and a nomination is seen.
class CrowdedWorld {
 public:
  explicit CrowdedWorld(std::uint32_t seed)
      : random_(seed),
        world_({.profiles = generous_profile(),
                .group_bindings = seed % 2 == 0,
                .observe = [this](const Plan& plan, Time) { observe(plan); }}) {
    world_.answers = [this](const World::Call& call) { return answer(call); };
    world_.synced();
  }

  void settle() { world_.settle(); }

  // One thing that may happen.
  void happen() {
    const std::string pod = "p" + std::to_string(below(40));
    const std::string node = "n" + std::to_string(below(5));
    const std::string group = "g" + std::to_string(below(6));
    const auto known = world_.pods.find(pod);
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        if (known == world_.pods.end()) come(pod, below(2) == 0 ? "" : group);
        break;
      case 4:
        if (known != world_.pods.end()) world_.delete_pod(pod);
        break;
      case 5:
      case 6: end_one(); break;
      case 7: world_.gang(group, static_cast<int>(below(5)), priority_of(group)); break;
      default:
        if (world_.nodes.contains(node) && below(5) == 0)
          world_.delete_node(node);
        else
          world_.node(node, {.cpu = std::to_string(1 + below(5)), .cordoned = below(6) == 0});
        break;
    }
  }

  // What a fresh look at all objects would place and nobody is waited for; empty if nothing.
  std::string left_behind() const {
    ClusterModel model(generous_profile(), {});
    for (const auto& [name, text] : world_.nodes) model.put(node_object(name, text));
    for (const auto& [name, minimum] : world_.gangs)
      model.put(World::gang_object(name, minimum, priority_of(name)));
    for (const auto& [name, text] : world_.pods) model.put(pod_object(name, text));
    for (const api::ObjectPtr& pod : model.lone(PodRole::Waiting))
      if (!attempt(model, pod).assignments.empty() && !is_held(pod->meta().uid))
        return pod->meta().name;
    for (const GroupKey& root : model.roots())
      if (model.runnable(root))
        if (const Plan plan = attempt(model, root);
            !plan.assignments.empty() && !is_held(root.name, plan))
          return root.name;
    return {};
  }

  // Everything there is, and what was last decided about an entity.
  std::string describe(const std::string& who) const {
    std::string text;
    for (const auto& [name, node] : world_.nodes)
      text += fmt::format("{} cpu {}{}\n", name, node.cpu, node.cordoned ? " cordoned" : "");
    for (const auto& [name, minimum] : world_.gangs)
      text += fmt::format("{} minimum {} priority {}\n", name, minimum, priority_of(name));
    for (const auto& [name, pod] : world_.pods)
      text += fmt::format("{} cpu {} priority {} group '{}' on '{}' nominated '{}' {} {}{}\n",
                          pod.uid, pod.cpu, pod.priority, pod.group, pod.node, pod.nominated,
                          pod.phase, pod.created, pod.terminating ? " terminating" : "");
    const auto last = last_words_.find(who);
    return text + "last: " + (last == last_words_.end() ? "never tried" : last->second);
  }

  int preemptions = 0;
  int reservations = 0;

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  void come(const std::string& name, const std::string& group) {
    PodText pod{
        .uid = fmt::format("{}-{}", name, ++pods_made_),
        .cpu = std::to_string(1 + below(3)),
        .priority = group.empty() ? static_cast<std::int32_t>(below(3)) : priority_of(group),
        .group = group};
    if (below(2) == 0) pod.created = kLongAgo;
    world_.pod(name, pod);
  }

  // One that is being evicted is gone at last; if there is none, one that runs ends by itself.
  void end_one() {
    std::vector<std::string> leaving;
    std::vector<std::string> running;
    for (const auto& [name, pod] : world_.pods)
      if (!pod.node.empty()) (pod.terminating ? leaving : running).push_back(name);
    const std::vector<std::string>& some = leaving.empty() ? running : leaving;
    if (!some.empty()) world_.delete_pod(some[below(static_cast<std::uint32_t>(some.size()))]);
  }

  // The pod that is called so now; an earlier one may have had the name.
  const PodText* find(const api::Request& request) const {
    const auto at = world_.pods.find(request.name);
    return at == world_.pods.end() ? nullptr : &at->second;
  }

  bool answer(const World::Call& call) {
    if (call.request.kind != &api::kinds::pod() || call.request.subresource == "binding")
      return false;
    const PodText* pod = find(call.request);
    const bool is_delete = call.request.verb == api::Verb::Delete;
    const api::Json* status = api::find(call.request.body, "status");
    const api::Json* nominated =
        status == nullptr ? nullptr : api::find(*status, "nominatedNodeName");
    if (!is_delete && nominated == nullptr) return false;
    if (pod == nullptr) {
      world_.refuse(call.ticket, Reason::NotFound);
      return true;
    }
    world_.scheduler.apply(client::Called{call.ticket, testing::accepted()}, world_.now);
    PodText changed = *pod;
    if (is_delete)
      changed.terminating = true;
    else
      changed.nominated = nominated->is_string() ? std::string(nominated->as_string()) : "";
    world_.pod(call.request.name, changed);
    return true;
  }

  void observe(const Plan& plan) {
    const std::string who = !plan.groups.empty()     ? plan.groups.front().key.name
                            : !plan.refusals.empty() ? plan.refusals.front().pod->meta().name
                                                     : std::string();
    last_words_[who] = !plan.groups.empty()    ? plan.groups.front().message
                       : plan.refusals.empty() ? "placed"
                                               : plan.refusals.front().message;
    reservations += plan.reservation ? 1 : 0;
    std::set<std::string> victims;
    if (plan.preemption && plan.preemption->found()) {
      ++preemptions;
      for (const VictimUnit& unit : plan.preemption->victims)
        for (const VictimUnit::Pod& victim : unit.pods) victims.insert(victim.pod->meta().uid);
      for (const api::ObjectPtr& pod : plan.preemption->leaving) victims.insert(pod->meta().uid);
    }
    for (const Refusal& refusal : plan.refusals) waits_for_[refusal.pod->meta().uid] = victims;
  }

  // Whether one of those who leave for it is still there.
  bool is_held(const std::string& uid) const {
    const auto at = waits_for_.find(uid);
    return at != waits_for_.end() && std::ranges::any_of(world_.pods, [&](const auto& entry) {
             return at->second.contains(entry.second.uid);
           });
  }
  // A tree waits as a whole, with those that joined it since; once its minimum runs, each pod waits
  // by itself.
  bool is_held(const std::string& gang, const Plan& plan) const {
    std::int64_t running = 0;
    bool is_any_held = false;
    for (const auto& [name, pod] : world_.pods) {
      if (pod.group != gang) continue;
      running += !pod.node.empty() && !pod.terminating ? 1 : 0;
      is_any_held |= is_held(pod.uid);
    }
    if (running < world_.gangs.at(gang)) return is_any_held;
    return std::ranges::all_of(plan.assignments, [this](const Assignment& assignment) {
      return is_held(assignment.pod->meta().uid);
    });
  }

  std::mt19937 random_;
  int pods_made_ = 0;
  std::map<std::string, std::set<std::string>> waits_for_;  // uids, by uid
  std::map<std::string, std::string> last_words_;
  World world_;
};

// No time passes, so that no flush helps.
TEST(Scheduler, OnlyPreemptorsAndAgedTreesKeepOthersOut) {
  int preemptions = 0;
  int reservations = 0;
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    CrowdedWorld world(seed);
    for (int step = 0; step < 150; ++step) {
      world.happen();
      if (step % 2 == 0) continue;
      world.settle();
      const std::string left = world.left_behind();
      ASSERT_EQ(left, "") << "after step " << step << "\n" << world.describe(left);
    }
    preemptions += world.preemptions;
    reservations += world.reservations;
  }
  EXPECT_GT(preemptions, 20);
  EXPECT_GT(reservations, 3);
}

}  // namespace
}  // namespace muster::scheduler
