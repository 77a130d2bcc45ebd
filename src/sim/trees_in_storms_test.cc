#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "api/views/group_view.h"
#include "sim/job_sets_testing.h"
#include "sim/leader_worker_sets_testing.h"

// Trees of groups that restart, scale, rest, resume and roll over at random, with and without
// trouble: what must never happen never does, and the end is the same.
namespace muster::sim {
namespace {

using api::Json;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kJobSetName = "jobset.sigs.k8s.io/jobset-name";
constexpr std::string_view kGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";

std::string label_of(const api::Object& object, std::string_view key) {
  const std::string* value = api::lookup(object.meta().labels, key);
  return value == nullptr ? std::string() : *value;
}

// Replays everything that happened, in the order of revisions, and counts what must not.
class Observer {
 public:
  explicit Observer(const World& world) : world_(world), seen_(world.store().revision()) {}

  void look() {
    std::vector<std::shared_ptr<const watch::Entry>> entries;
    const api::Revision newest = world_.window().newest();
    for (const api::Kind* kind :
         {&job_set_kind(), &lws_kind(), &api::kinds::workload(), &api::kinds::composite_pod_group(),
          &api::kinds::pod_group(), &api::kinds::pod()}) {
      const auto batch = world_.window().read(kind->store_prefix, seen_, SIZE_MAX);
      ASSERT_TRUE(batch) << batch.error().message;
      entries.insert(entries.end(), batch->entries.begin(), batch->entries.end());
    }
    seen_ = newest;
    std::ranges::sort(entries, {}, [](const auto& entry) { return entry->change().revision; });
    for (const auto& entry : entries) on_change(entry->change());
  }
  const Texts& faults() const { return faults_; }
  std::size_t groups_gone() const { return groups_gone_; }

 private:
  using Present = std::map<std::string, api::ObjectPtr, std::less<>>;

  void on_change(const store::Change& change) {
    using Type = store::Change::Type;
    const bool gone = change.type == Type::Deleted;
    const api::ObjectPtr& object = gone ? change.previous : change.object;
    auto& present = present_[&object->kind()];
    if (gone) {
      present.erase(object->meta().name);
      return on_gone(*object);
    }
    if (change.type == Type::Added) on_came(*object);
    present.insert_or_assign(object->meta().name, object);
  }

  void on_came(const api::Object& object) {
    const auto& groups = present_[&api::kinds::pod_group()];
    const auto& composites = present_[&api::kinds::composite_pod_group()];
    if (&object.kind() == &api::kinds::pod()) return on_pod_came(object, groups);
    if (&object.kind() != &api::kinds::pod_group() &&
        &object.kind() != &api::kinds::composite_pod_group())
      return;
    const auto& view = object.view<api::GroupView>();
    if (!view.parent.empty() && !composites.contains(view.parent))
      fault("{} came before its parent {}", object.meta().name, view.parent);
    if (!present_[&api::kinds::workload()].contains(view.workload))
      fault("{} came before its Workload {}", object.meta().name, view.workload);
  }

  void on_pod_came(const api::Object& pod, const Present& groups) {
    const std::string& group = pod.view<api::PodView>().scheduling_group;
    if (group.empty()) return fault("pod {} is in no group", pod.meta().name);
    const auto in = groups.find(group);
    if (in == groups.end()) return fault("pod {} came before its group {}", pod.meta().name, group);
    // A set that is gone takes its Jobs along one after the other: until then they go on.
    const bool stays = has_owner(*in->second);
    for (const auto& [name, other] : present_[&api::kinds::pod()]) {
      const auto& view = other->view<api::PodView>();
      if (stays && view.scheduling_group == group && other->meta().deletion_time &&
          !view.is_terminal())
        fault("pod {} joins {}, of which {} is going", pod.meta().name, group, name);
      const std::string index = label_of(pod, "batch.kubernetes.io/job-completion-index");
      if (!index.empty() && !other->meta().deletion_time && !view.is_terminal() &&
          other->meta().owners[0].uid == pod.meta().owners[0].uid &&
          label_of(*other, "batch.kubernetes.io/job-completion-index") == index)
        fault("pods {} and {} are the same of their Job", pod.meta().name, name);
    }
  }

  void on_gone(const api::Object& object) {
    const auto& groups = present_[&api::kinds::pod_group()];
    const auto& composites = present_[&api::kinds::composite_pod_group()];
    const std::string& name = object.meta().name;
    if (&object.kind() == &api::kinds::pod_group()) {
      ++groups_gone_;
      for (const auto& [pod, each] : present_[&api::kinds::pod()])
        if (each->view<api::PodView>().scheduling_group == name &&
            !each->view<api::PodView>().is_terminal())
          fault("group {} went before its pod {}", name, pod);
    }
    for (const Present* children : {&groups, &composites})
      for (const auto& [child, each] : *children) {
        const auto& view = each->view<api::GroupView>();
        if (&object.kind() == &api::kinds::composite_pod_group() && view.parent == name)
          fault("composite {} went before its child {}", name, child);
        // With its root owner a Workload may go in any order: nobody is scheduled by it any more.
        if (&object.kind() == &api::kinds::workload() && view.workload == name && has_owner(object))
          fault("Workload {} went before its group {}", name, child);
      }
  }

  bool has_owner(const api::Object& object) {
    for (const api::Kind* kind : {&job_set_kind(), &lws_kind()})
      for (const auto& [name, set] : present_[kind])
        if (set->meta().uid == object.meta().owners[0].uid && !set->meta().deletion_time)
          return true;
    return false;
  }

  template <typename... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    if (faults_.size() < 5) faults_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  const World& world_;
  api::Revision seen_;
  std::map<const api::Kind*, Present> present_;
  Texts faults_;
  std::size_t groups_gone_ = 0;
};

// One of the shapes of each kind, by the seed.
constexpr std::string_view kJobSetShapes[] = {
    "{}", R"({"schedulingPolicy":{"gang":{}}})",
    R"({"schedulingPolicy":{"gang":{}},"replicatedJobs":[{"targetReplicatedJobs":["d"]},
        {"targetReplicatedJobs":["w"],"job":{}}]})",
    R"({"replicatedJobs":[{"targetReplicatedJobs":["d","w"]}]})"};
constexpr std::string_view kLwsShapes[] = {
    "{}", R"({"replica":{"worker":{"schedulingPolicy":{"gang":{}}}}})",
    R"({"replica":{"schedulingPolicy":{"gang":{}},"leader":{}}})",
    R"({"schedulingPolicy":{"basic":{}},"replica":{"schedulingPolicy":{"gang":{}},"worker":{}}})"};

// A JobSet "js" and a LeaderWorkerSet "llm" to which things happen at random. What users do depends
// on the seed of the play alone, so that runs with different trouble can be compared.
class Storm : public Play {
 public:
  Storm(const Trouble& trouble, std::uint64_t seed, std::uint64_t trouble_seed)
      : Play(trouble, trouble_seed), entropy_(seed), seed_(seed), observer_(world()) {
    create_job_set();
    create(lws_kind(), "llm", lws_spec(replicas_, 3, kLwsShapes[seed % std::size(kLwsShapes)]));
  }

  // So many things happen, then it becomes calm.
  void rage(int times, Duration calm) {
    for (int i = 0; i < times; ++i) {
      advance(seconds{1 + static_cast<int>(entropy_.below(6))});
      happen();
    }
    if (suspended_) suspend(false);
    if (replicas_ == 0) scale(2);
    advance(calm);
  }
  const Observer& observer() const { return observer_; }

  // What there is in the end, without what differs from run to run: uids, times, restarts and the
  // names that go with them.
  Texts rest() {
    std::multiset<std::string> out;
    for (const api::ObjectPtr& pod : all(api::kinds::pod())) {
      const Json document = pod->document();
      const Json& containers = api::part_of(api::part_of(document, "spec"), "containers");
      out.insert(fmt::format("pod of {} {} {}{}", pod->meta().owners[0].name,
                             pod->view<api::PodView>().phase,
                             api::find_string(containers.get_array()[0], "image"),
                             pod->meta().deletion_time ? " going" : ""));
    }
    for (const api::ObjectPtr& job : all(job_kind())) out.insert("job " + job->meta().name);
    for (const api::Kind* kind : {&api::kinds::pod_group(), &api::kinds::composite_pod_group()})
      for (const api::ObjectPtr& group : all(*kind)) {
        const auto& view = group->view<api::GroupView>();
        out.insert(fmt::format("{} {} of {} {} at least {}", kind->kind, view.template_name,
                               group->meta().owners[0].name, label_of(*group, kGroupIndex),
                               view.minimum));
      }
    for (const api::ObjectPtr& workload : all(api::kinds::workload()))
      out.insert("workload of " + workload->meta().owners[0].name);
    out.insert("llm " +
               status(lws_kind(), "llm", {"replicas", "readyReplicas", "updatedReplicas"}) +
               condition("llm", "Available") + condition("llm", "WorkloadSchedulingCreated"));
    out.insert("js " + status(job_set_kind(), "js", {"replicatedJobsStatus"}));
    return {out.begin(), out.end()};
  }

 protected:
  void on_second() override { observer_.look(); }

 private:
  void happen() {
    switch (entropy_.below(8)) {
      case 0: return suspend(!suspended_);
      case 1: return scale(static_cast<int>(entropy_.below(4)));
      case 2: return roll();
      case 3: return fail_pod(static_cast<std::size_t>(entropy_.below(100)));
      case 4:
      case 5: return kill_pod(static_cast<std::size_t>(entropy_.below(100)));
      case 6: return resize(2 + static_cast<int>(entropy_.below(3)));
      default: return replace_job_set();
    }
  }

  void create_job_set() {
    const std::vector<Replicated> jobs{{.name = "d"},
                                       {.name = "w", .replicas = 2, .pods = workers_}};
    std::string list;
    for (const Replicated& job : jobs) list += (list.empty() ? "" : ",") + job.text();
    create(job_set_kind(), "js",
           fmt::format(
               R"("replicatedJobs":[{}],"scheduling":{},"failurePolicy":{{"maxRestarts":1000}})",
               list, kJobSetShapes[seed_ % std::size(kJobSetShapes)]));
    suspended_ = false;
  }
  void suspend(bool now) {
    suspended_ = now;
    patch(job_set_kind(), "js", fmt::format(R"({{"spec":{{"suspend":{}}}}})", now));
  }
  void scale(int replicas) {
    replicas_ = replicas;
    patch(lws_kind(), "llm", fmt::format(R"({{"spec":{{"replicas":{}}}}})", replicas));
  }
  void roll() {
    patch(lws_kind(), "llm",
          fmt::format(R"({{"spec":{{"leaderWorkerTemplate":{{"workerTemplate":{{"spec":
          {{"containers":[{{"name":"c","image":"llm:{}","resources":{{"requests":{{"cpu":"1"}}}}}}]
          }}}}}}}}}})",
                      ++image_));
  }
  // The pods of one of the two that run, by name.
  std::vector<api::ObjectPtr> running(bool of_job_set) {
    std::vector<api::ObjectPtr> out;
    for (const api::ObjectPtr& pod : all(api::kinds::pod()))
      if (pod->view<api::PodView>().phase == "Running" && !pod->meta().deletion_time &&
          label_of(*pod, kJobSetName).empty() != of_job_set)
        out.push_back(pod);
    return out;
  }
  // Neither finds its pod if it has just gone.
  void fail_pod(std::size_t which) {
    const std::vector<api::ObjectPtr> pods = running(true);
    if (pods.empty()) return;
    std::ignore = world().ask(client::patch_request(
        api::kinds::pod(), "default", pods[which % pods.size()]->meta().name, "status",
        api::PatchType::Merge, parsed(R"({"status":{"phase":"Failed"}})")));
  }
  void kill_pod(std::size_t which) {
    const std::vector<api::ObjectPtr> pods = running(false);
    if (pods.empty()) return;
    std::ignore =
        world().ask(client::delete_request(*pods[which % pods.size()], which % 2 == 0 ? 0 : 5));
  }
  void resize(int workers) {
    workers_ = workers;
    Json jobs = *api::find_path(world().get(job_set_kind(), "default", "js")->document(),
                                "spec.replicatedJobs");
    api::JsonObject& spec =
        jobs.as_array()[1].as_object()["template"].as_object()["spec"].as_object();
    spec["parallelism"] = workers;
    spec["completions"] = workers;
    patch(job_set_kind(), "js",
          fmt::format(R"({{"spec":{{"replicatedJobs":{}}}}})", api::to_text(jobs)));
  }
  void replace_job_set() {
    api::Request request =
        client::delete_request(*world().get(job_set_kind(), "default", "js"), std::nullopt);
    request.remove.propagation_policy = "Background";
    ASSERT_TRUE(world().ask(std::move(request)));
    create_job_set();
  }

  SeededEntropy entropy_;
  const std::uint64_t seed_;
  Observer observer_;
  bool suspended_ = false;
  int replicas_ = 2;
  int workers_ = 2;
  int image_ = 1;
};

Texts end_of_storm(std::uint64_t seed, const Trouble& trouble, Duration calm,
                   std::uint64_t trouble_seed = 1) {
  Storm storm(trouble, seed, trouble_seed);
  storm.rage(12, calm);
  EXPECT_EQ(storm.observer().faults(), Texts{}) << "seed " << seed;
  EXPECT_GT(storm.observer().groups_gone(), 0U) << "seed " << seed;
  return storm.rest();
}

class TreesInStorms : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(TreesInStorms, ComeToTheSameEnd) {
  const std::uint64_t seed = GetParam();
  const Texts expected = end_of_storm(seed, {}, minutes{3});
  EXPECT_FALSE(std::ranges::any_of(
      expected, [](const std::string& line) { return line.ends_with(" going"); }));
  const int step = static_cast<int>(seed);
  EXPECT_EQ(end_of_storm(seed, {.crash_every = 7 + step}, minutes{5}), expected) << "restarts";
  EXPECT_EQ(end_of_storm(seed, {.flaky = 4}, minutes{15}, seed), expected) << "conflicts, errors";
  EXPECT_EQ(end_of_storm(seed, {.refuse_from = 20 * step, .refuse_for = minutes{1}}, minutes{15}),
            expected)
      << "a server that is away";
  EXPECT_EQ(end_of_storm(seed, {.feeds = {.late = 3, .single = 3, .twice = 3, .gaps = 3}},
                         minutes{8}, seed),
            expected)
      << "feeds that are late, repeat, have gaps";
  EXPECT_EQ(end_of_storm(seed,
                         {.crash_every = 29 + step,
                          .flaky = 6,
                          .feeds = {.late = 4, .single = 4, .twice = 4, .gaps = 4}},
                         minutes{15}, seed),
            expected)
      << "everything";
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, TreesInStorms,
    ::testing::Range<std::uint64_t>(1, std::getenv("MUSTER_TEST_LONG") != nullptr ? 61 : 5));

}  // namespace
}  // namespace muster::sim
