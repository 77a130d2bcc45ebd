#include "explain/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "api/kinds/kind.h"
#include "api/views/pod_facts.h"
#include "explain/evictions.h"
#include "explain/missing_labels.h"
#include "explain/near_names.h"
#include "explain/node_reasons.h"
#include "explain/owner_picture.h"
#include "explain/relax.h"
#include "explain/roots.h"
#include "explain/sentences.h"
#include "explain/taints.h"
#include "explain/tree.h"
#include "explain/trial.h"
#include "explain/words.h"
#include "scheduler/cycle/attempt.h"
#include "scheduler/groups/group_spec.h"

namespace muster::explain {
namespace {

using api::ObjectPtr;
using api::view_of;
using scheduler::ClusterModel;
using scheduler::GroupKey;
using scheduler::Plan;
using scheduler::PodRole;

void add_placements(const std::map<std::string, std::int64_t>& by_node, Explanation& out) {
  for (const auto& [node, pods] : by_node) out.placements.push_back({node, pods});
}

// Where the members of the leaves below `key` are, or would be.
void count_members(const ClusterModel& model, const GroupKey& key, const Plan* plan,
                   std::map<std::string, std::int64_t>& by_node) {
  std::set<GroupKey> leaves;
  model.forest().each_leaf(key, [&](const GroupKey& leaf) { leaves.insert(leaf); });
  for (const GroupKey& leaf : leaves)
    for (const ObjectPtr& pod : model.members(leaf, PodRole::Running))
      ++by_node[view_of(pod).node_name];
  if (plan != nullptr)
    for (const scheduler::Assignment& assignment : plan->assignments)
      if (const auto leaf = model.leaf_of(*assignment.pod); leaf && leaves.contains(*leaf))
        ++by_node[assignment.node];
}

void place_members(const ClusterModel& model, const GroupKey& key, const Plan* plan,
                   Explanation& out) {
  std::map<std::string, std::int64_t> by_node;
  count_members(model, key, plan, by_node);
  add_placements(by_node, out);
}

// The waiting pods of the groups that are in the way, or have pods left over.
std::vector<ObjectPtr> pods_without_node(const ClusterModel& model, const Tree& tree) {
  std::vector<ObjectPtr> pods;
  std::set<std::string> placed;
  if (tree.plan)
    for (const scheduler::Assignment& assignment : tree.plan->assignments)
      placed.insert(assignment.pod->meta().uid);
  for (const Level& level : tree.levels)
    for (const ObjectPtr& pod : model.members(level.key, PodRole::Waiting))
      if (!placed.contains(pod->meta().uid)) pods.push_back(pod);
  return pods;
}

// The scheduler whose attempt is to be explained: the one that the pods of the subject ask for. If
// the pods of a tree ask for several, one that the model serves is preferred.
std::string scheduler_of(const Objects& objects, const ClusterModel& model,
                         const Subject& subject) {
  std::set<std::string> asked_for;
  if (const auto* key = std::get_if<PodKey>(&subject)) {
    for (const ObjectPtr& pod : objects.pods)
      if (pod->meta().name_space == key->name_space && pod->meta().name == key->name)
        asked_for.insert(view_of(pod).scheduler_name);
  } else if (const auto* group = std::get_if<GroupKey>(&subject)) {
    model.forest().each_leaf(*group, [&](const GroupKey& leaf) {
      for (const PodRole role : {PodRole::Waiting, PodRole::Gated, PodRole::Foreign})
        for (const ObjectPtr& pod : model.members(leaf, role))
          asked_for.insert(view_of(pod).scheduler_name);
    });
  }
  for (const scheduler::Profiles::Named& own : model.profiles().all())
    if (asked_for.empty() || asked_for.contains(own.scheduler_name)) return own.scheduler_name;
  return *asked_for.begin();
}

class Explainer {
 public:
  Explainer(const Objects& objects, ClusterModel& model, const ExplainOptions& options)
      : objects_(objects), model_(model), options_(options), naming_(options.may_name) {}

  Result<Explanation> group(const GroupKey& key) {
    if (model_.forest().find(key) == nullptr && model_.count(key, PodRole::Waiting) == 0 &&
        model_.forest().children(key).empty())
      return fail(unknown_group(nameable(), key));
    return about_group(key);
  }

  Explanation owner(const WorkloadOwner& owner, OwnerTrees trees) {
    Explanation out = about_group(trees.first);
    // Where all run, it says where all of them are.
    if (trees.line.scheduled == trees.line.groups && trees.roots.size() > 1) {
      out.placements.clear();
      std::map<std::string, std::int64_t> by_node;
      for (const GroupKey& root : trees.roots) count_members(model_, root, nullptr, by_node);
      add_placements(by_node, out);
    }
    add_picture(model_, owner, std::move(trees), objects_.read_at, out);
    return out;
  }

  Result<Explanation> pod(const PodKey& key) {
    const auto at = std::ranges::find_if(objects_.pods, [&](const ObjectPtr& pod) {
      return pod->meta().name_space == key.name_space && pod->meta().name == key.name;
    });
    if (at == objects_.pods.end()) return fail(unknown_pod(nameable(), key.name_space, key.name));
    return about_pod(*at);
  }

 private:
  // Groups and pods that may be named, to look for names that were perhaps meant.
  Objects nameable() const {
    Objects out;
    const auto may_name = [&](const ObjectPtr& object) {
      return naming_.may_name(object->meta().name_space);
    };
    std::ranges::copy_if(objects_.groups, std::back_inserter(out.groups), may_name);
    std::ranges::copy_if(objects_.pods, std::back_inserter(out.pods), may_name);
    return out;
  }

  Explanation about_group(const GroupKey& key) {
    const Tree tree = read_tree(model_, key, objects_.read_at);
    const Level& level = tree.subject();
    Explanation out;
    out.kind = kind_word(key.kind);
    out.name_space = key.name_space;
    out.name = key.name;
    out.state = level.state;
    out.steps = tree.plan ? tree.plan->steps : 0;
    if (!tree.no_root.empty() && out.state != State::Scheduled && out.state != State::Missing)
      out.state = State::Held;
    Trial trial(model_, {key, nullptr}, &tree, budget(), naming_);
    if (out.state == State::FitsNow) {
      out.ahead = trial.in_the_way();
      if (!out.ahead.empty()) out.state = State::BehindOthers;
    }
    out.tree = tree.levels;
    out.sentence = fmt::format("{} {}/{} {}.", out.kind, out.name_space, out.name,
                               predicate(model_, tree, out));
    out.note = note_of(tree);
    note_queue(trial, out);
    const bool has_place = out.state == State::Scheduled || out.state == State::FitsNow ||
                           out.state == State::BehindOthers;
    if (has_place) place_members(model_, key, tree.plan ? &*tree.plan : nullptr, out);
    if (!has_place) out.proof = proof_of(tree, *culprit_above(model_, tree, level));
    const bool may_preempt =
        tree.root && (out.state == State::Unschedulable || out.state == State::Unresolved);
    if (may_preempt) out.evictions = evictions_for(model_, *tree.root, objects_.read_at, naming_);
    if (tree.evicts_from && !out.evictions.empty())
      out.evictions = fmt::format("After {}: {}", format_time(*tree.evicts_from), out.evictions);
    const std::vector<ObjectPtr> without_node = pods_without_node(model_, tree);
    if (tree.fault.empty()) out.reasons = ask_nodes(model_, without_node);
    name_taints(model_, without_node, out);
    if (!has_place) out.no_such_label = missing_labels(model_, &tree, without_node);
    const bool is_relaxable = !has_place && tree.root && out.state != State::Missing &&
                              out.state != State::Invalid && out.state != State::Terminating;
    if (is_relaxable && tree.insisting.empty()) relax(trial, out);
    if (out.state == State::WaitsByPreference) shorten_wait(trial, tree, out);
    return out;
  }

  Explanation about_pod(const ObjectPtr& pod) {
    const api::PodView& view = view_of(pod);
    const std::optional<GroupKey> leaf = model_.leaf_of(*pod);
    const std::string subject = fmt::format("Pod {}", api::key_text(pod->meta()));
    std::string sentence;
    std::optional<State> state;
    if (view.is_terminal()) {
      sentence = fmt::format("{} has finished ({}).", subject, view.phase);
      state = State::Scheduled;
    } else if (!view.node_name.empty()) {
      sentence = fmt::format("{} is scheduled to node {}.", subject, view.node_name);
      state = State::Scheduled;
    } else if (pod->meta().deletion_time) {
      sentence = fmt::format("{} is being deleted and will get no node.", subject);
      state = State::Invalid;
    } else if (const auto gate = model_.profile_of(*pod).pre_enqueue(*pod)) {
      sentence = fmt::format("{} is held by scheduling gates: {}.", subject,
                             fmt::join(view.scheduling_gates, ", "));
      state = State::Gated;
    }
    Explanation out = leaf                ? member(*leaf, pod, subject)
                      : state.has_value() ? Explanation{}
                                          : lone(pod, subject);
    out.kind = "Pod";
    out.name_space = pod->meta().name_space;
    out.name = pod->meta().name;
    if (!state) return out;
    out.state = *state;
    out.sentence = leaf ? sentence + " " + out.sentence : sentence;
    out.placements.clear();
    if (!view.node_name.empty()) out.placements.push_back({view.node_name, 1});
    if (*state == State::Scheduled) out.reasons.clear();
    return out;
  }

  std::string note_of(const Tree& tree) const {
    if (objects_.workloads_unread.empty() || !tree.root) return "";
    const scheduler::GroupSpec& root = *model_.forest().find(*tree.root);
    if (root.workload.empty() || scheduler::was_scheduled(root)) return "";
    return fmt::format("Workload {}/{} could not be read, its templates were not compared: {}.",
                       root.key.name_space, root.workload,
                       without_full_stop(objects_.workloads_unread));
  }

  // A pod of a group fares with its group.
  Explanation member(const GroupKey& leaf, const ObjectPtr& pod, const std::string& subject) {
    Explanation out = about_group(leaf);
    if (!view_of(pod).node_name.empty()) return out;
    if (out.state != State::Scheduled) {
      if (!model_.profile_of(*pod).pre_enqueue(*pod))
        out.sentence = fmt::format("{} waits with its group. {}", subject, out.sentence);
      return out;
    }
    // Its group has what it needs; the pod is one more.
    if (model_.fault(leaf) != nullptr) {
      out.state = State::Invalid;
      out.sentence = fmt::format("{} is held back with its tree. {}", subject, out.sentence);
      return out;
    }
    const scheduler::GroupSpec* root = model_.forest().root_of(leaf);
    if (root == nullptr || !model_.runnable(root->key)) return out;
    const Plan plan = attempt(model_, root->key);
    const auto refusal =
        std::ranges::find_if(plan.refusals, [&](const scheduler::Refusal& refused) {
          return refused.pod->meta().uid == pod->meta().uid;
        });
    out.state = refusal == plan.refusals.end() ? State::FitsNow : State::Unschedulable;
    if (refusal == plan.refusals.end()) {
      out.sentence = fmt::format("{} fits now. {}", subject, out.sentence);
      return out;
    }
    out.sentence = fmt::format("{} finds no node beside its group: {}. {}", subject,
                               without_full_stop(bare_message(refusal->message)), out.sentence);
    return out;
  }

  Explanation lone(const ObjectPtr& pod, const std::string& subject) {
    Explanation out;
    const Plan plan = attempt(model_, pod);
    out.steps = plan.steps;
    Trial trial(model_, {std::nullopt, pod}, nullptr, budget(), naming_);
    if (!plan.assignments.empty()) {
      out.state = State::FitsNow;
      out.placements.push_back({plan.assignments.front().node, 1});
      out.ahead = trial.in_the_way();
      if (!out.ahead.empty()) out.state = State::BehindOthers;
      out.sentence =
          out.ahead.empty()
              ? fmt::format(
                    "{} fits now, on node {}: the scheduler will place it with its next "
                    "attempt.",
                    subject, plan.assignments.front().node)
              : fmt::format("{} would fit, but {} the room.", subject, ahead_text(out.ahead));
      note_queue(trial, out);
      return out;
    }
    out.state = State::Unschedulable;
    out.sentence =
        fmt::format("{} is unschedulable: {}", subject,
                    plan.refusals.empty() ? "no node takes it." : plan.refusals.front().message);
    if (!out.sentence.ends_with('.')) out.sentence += '.';
    if (!plan.refusals.empty() &&
        plan.refusals.front().outcome == scheduler::Outcome::Unschedulable)
      out.evictions = evictions_for(model_, pod, objects_.read_at, naming_);
    out.reasons = ask_nodes(model_, {pod});
    name_taints(model_, {pod}, out);
    out.no_such_label = missing_labels(model_, nullptr, {pod});
    relax(trial, out);
    note_queue(trial, out);
    return out;
  }

  // Says so if the queue is too long to be planned.
  static void note_queue(const Trial& trial, Explanation& out) {
    if (trial.unplanned_before() == 0 || out.state == State::Scheduled) return;
    out.note += fmt::format(
        "{}{} come before it in the queue; only the first {} of them were planned, so there may be "
        "less room than is said here.",
        out.note.empty() ? "" : " ", trial.unplanned_before() + kAheadMax, kAheadMax);
  }

  void relax(Trial& trial, Explanation& out) {
    if (!options_.tries_relaxations) return;
    out.tried_relaxations = true;
    out.relaxations = relaxations(trial);
    out.all_tried = !trial.is_spent();
  }

  // A group that waits by preference fits as soon as it stops waiting, unless others come first.
  void shorten_wait(Trial& trial, const Tree& tree, Explanation& out) {
    if (!options_.tries_relaxations) return;
    out.tried_relaxations = true;
    if (std::optional<Relaxation> relaxation = without_wait(trial, tree.insisting))
      out.relaxations.push_back(*std::move(relaxation));
  }

  Budget budget() const {
    return {.attempts = options_.attempts_max,
            .steps = options_.steps_max,
            .is_unwanted = options_.is_unwanted};
  }

  const Objects& objects_;
  ClusterModel& model_;
  const ExplainOptions options_;
  const Naming naming_;
};

}  // namespace

Result<Explanation> explain(const Objects& objects, const Subject& subject,
                            const scheduler::Profiles& profiles, const ExplainOptions& options) {
  const scheduler::ModelOptions as{.gates = options.gates};
  std::unique_ptr<ClusterModel> model = model_of(objects, profiles, as);
  const auto* owner = std::get_if<WorkloadOwner>(&subject);
  std::vector<GroupKey> groups;
  if (owner != nullptr) groups = TRY(root_groups(objects, *owner));
  // Another scheduler's: nothing is known of its profile, so it is taken to be like our first one.
  if (const std::string asked =
          scheduler_of(objects, *model, owner == nullptr ? subject : Subject(groups.front()));
      !profiles.serves(asked))
    model = model_of(objects, {asked, profiles.first().profile}, as);
  Explainer explainer(objects, *model, options);
  if (owner != nullptr) return explainer.owner(*owner, owner_trees(*model, *owner, groups));
  if (const auto* group = std::get_if<GroupKey>(&subject)) return explainer.group(*group);
  return explainer.pod(std::get<PodKey>(subject));
}

}  // namespace muster::explain
