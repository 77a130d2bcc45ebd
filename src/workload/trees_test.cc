#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/decode.h"
#include "api/reading.h"
#include "api/validation/composite_pod_group.h"
#include "api/validation/pod_group.h"
#include "api/validation/workload.h"
#include "workload/builder.h"
#include "workload/names.h"
#include "workload/stamper.h"
#include "workload/workload_testing.h"

// Controllers of several levels: a set of Jobs as its controller would describe it, and trees of
// any shape.
namespace muster::workload {
namespace {

using api::Json;

// A set of replicated Jobs that says its scheduling in one place: for the whole, for each
// replicated job, for each Job of it.
const std::string_view kJobSet = R"(
metadata: {name: js, namespace: ml, uid: js-uid, annotations: {scheduling.muster.dev/team: vision}}
spec:
  scheduling:
    schedulingPolicy: {gang: {}}
  replicatedJobs:
  - {name: driver, replicas: 1, parallelism: 1}
  - name: workers
    replicas: 3
    parallelism: 4
    scheduling:
      job: {schedulingConstraints: {topology: [{key: rack}]}}
)";

Item replicated_job(const Json& job) {
  const std::string name(api::find_string(job, "name"));
  const Json& own = api::part_of(api::part_of(job, "scheduling"), "job");
  Item leaf{.name = name,
            .defaults = {.policy = Gang{}},
            .user = map_pod_group_config(pod_group_blocks(own)),
            .callbacks = {default_minimum(*api::find_integer(job, "parallelism"))},
            .path = fmt::format("spec.replicatedJobs[{}].scheduling.job", name)};
  const std::int64_t replicas = *api::find_integer(job, "replicas");
  if (replicas == 1) return leaf;
  leaf.name += "-job";
  return {.name = name,
          .defaults = {.policy = Gang{}},
          .callbacks = {default_minimum(replicas)},
          .children = {std::move(leaf)}};
}

Item job_set(const Json& set) {
  const Json& spec = api::part_of(set, "spec");
  Item root{
      .name = "root",
      .user = map_composite_group_config(composite_group_blocks(api::part_of(spec, "scheduling"))),
      .path = "spec.scheduling"};
  for (const Json& job : api::elements(spec, "replicatedJobs"))
    root.children.push_back(replicated_job(job));
  root.callbacks = {default_minimum(static_cast<std::int64_t>(root.children.size()))};
  return root;
}

BuildOptions job_set_options() {
  BuildOptions out = options();
  out.name = "js-w";
  out.name_space = "ml";
  out.owner = {
      .api_version = "jobset.x-k8s.io/v1alpha2", .kind = "JobSet", .name = "js", .uid = "js-uid"};
  out.annotations = {{"scheduling.muster.dev/team", "vision"}};
  return out;
}

TEST(JobSetTree, CompilesToNestedTemplates) {
  expect_document(build(job_set(yaml(kJobSet)), job_set_options()), R"(
metadata:
  name: js-w
  namespace: ml
  annotations: {scheduling.muster.dev/team: vision}
  ownerReferences:
  - {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: js, uid: js-uid, controller: true,
     blockOwnerDeletion: true}
spec:
  controllerRef: {apiGroup: jobset.x-k8s.io, kind: JobSet, name: js}
  compositePodGroupTemplates:
  - name: root
    schedulingPolicy: {gang: {minGroupCount: 2}}
    podGroupTemplates:
    - {name: driver, schedulingPolicy: {gang: {minCount: 1}}}
    compositePodGroupTemplates:
    - name: workers
      schedulingPolicy: {gang: {minGroupCount: 3}}
      podGroupTemplates:
      - name: workers-job
        schedulingPolicy: {gang: {minCount: 4}}
        schedulingConstraints: {topology: [{key: rack}]}
)");
}

TEST(JobSetTree, GivesACompositeWithItsChildren) {
  const Json workload = *build(job_set(yaml(kJobSet)), job_set_options());
  const Stamper stamper(workload);
  std::map<std::string, std::string> parents;
  const auto keep = [&](const Result<Json>& group) {
    ASSERT_TRUE(group) << group.error().message;
    parents.emplace(api::find_string(*api::find(*group, "metadata"), "name"),
                    api::find_string(*api::find(*group, "spec"), "parentCompositePodGroupName"));
    const Json* annotations = api::find_path(*group, "metadata.annotations");
    ASSERT_NE(annotations, nullptr);
    EXPECT_EQ(api::to_text(*annotations), R"({"scheduling.muster.dev/team":"vision"})");
  };
  keep(stamper.composite({.name = "js-root", .template_name = "root"}));
  keep(stamper.composite({.name = "js-workers", .template_name = "workers", .parent = "js-root"}));
  keep(stamper.pod_group({.name = "js-driver-0", .template_name = "driver", .parent = "js-root"}));
  for (const int replica : {0, 1, 2})
    keep(stamper.pod_group({.name = fmt::format("js-workers-{}", replica),
                            .template_name = "workers-job",
                            .parent = "js-workers"}));
  EXPECT_EQ(parents, (std::map<std::string, std::string>{{"js-root", ""},
                                                         {"js-workers", "js-root"},
                                                         {"js-driver-0", "js-root"},
                                                         {"js-workers-0", "js-workers"},
                                                         {"js-workers-1", "js-workers"},
                                                         {"js-workers-2", "js-workers"}}));
}

TEST(JobSetTree, TheUserMayLetItsPartsStartOneByOne) {
  Json set = yaml(kJobSet);
  set.as_object()["spec"].as_object()["scheduling"] = yaml("{schedulingPolicy: {basic: {}}}");
  const Json workload = *build(job_set(set), job_set_options());
  const Json& root =
      api::find_path(workload, "spec.compositePodGroupTemplates")->get_array().front();
  EXPECT_EQ(api::to_text(*api::find(root, "schedulingPolicy")), R"({"basic":{}})");
}

TEST(JobSetTree, ANewSizeChangesTheMinimumAndNothingElse) {
  Json set = yaml(kJobSet);
  const Json before = *build(job_set(set), job_set_options());
  set.at("spec").at("replicatedJobs").at(1).as_object()["parallelism"] = 6;
  const Json after = *build(job_set(set), job_set_options());
  EXPECT_TRUE(api::validate_workload_update(after, before, api::Gates()).empty())
      << "so the server takes it as an update";
  const Stamper stamper(after);
  const Json group = *stamper.pod_group({.name = "g", .template_name = "workers-job"});
  EXPECT_EQ(api::to_text(*api::find_path(group, "spec.schedulingPolicy")),
            R"({"gang":{"minCount":6}})");
  EXPECT_NE(before, after);
}

TEST(JobSetTree, FaultsNameTheFieldInItsOwnApi) {
  Json set = yaml(kJobSet);
  set.at("spec").at("replicatedJobs").at(1).as_object()["scheduling"] =
      yaml("{job: {schedulingPolicy: {gang: {minCount: -4}}}}");
  const Item root = job_set(set);
  EXPECT_EQ(sentences(validate(std::span(&root, 1), job_set_options())),
            Sentences{"spec.replicatedJobs[workers].scheduling.job.schedulingPolicy.gang.minCount: "
                      "item \"workers-job\": Invalid value: -4: must be greater than or equal to "
                      "1"});
}

// A tree that a controller could describe, and its faults on purpose.
class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {}

  Item make(int levels) {
    Item item{.name = fmt::format("i{}", count_++)};
    if (levels > 1)
      for (int children = draw(0, 3); children > 0; --children)
        item.children.push_back(make(levels - 1));
    if (draw(0, 1) == 1) item.user.policy = Gang{draw(1, 9)};
    if (draw(0, 2) == 0) item.defaults.topology_keys = {"rack"};
    if (item.children.empty() && draw(0, 3) == 0)
      item.user.claims = {{.name = "gpus", .source_name = "shared"}};
    return item;
  }
  int draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  // Breaks one item of the tree and says which.
  std::string break_one(Item& item) {
    if (!item.children.empty() && draw(0, 2) > 0)
      return break_one(item.children[static_cast<std::size_t>(
          draw(0, static_cast<int>(item.children.size()) - 1))]);
    switch (draw(0, 2)) {
      case 0: item.user.policy = Gang{draw(-5, 0)}; break;
      case 1: item.user.topology_keys = {"no key!"}; break;
      default: item.user.topology_keys = {"a", "b"};
    }
    return item.name;
  }

 private:
  std::mt19937 random_;
  int count_ = 0;
};

void collect(const Item& item, std::string parent, std::map<std::string, std::string>& out) {
  for (const Item& child : item.children) collect(child, item.name, out);
  out.emplace(item.name, std::move(parent));
}

TEST(AnyTree, BecomesGroupsThatTheServerTakes) {
  const api::Gates gates;
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomTree tree(seed);
    const Item root = tree.make(tree.draw(1, 4));
    const Result<Json> workload = build(root, options());
    ASSERT_TRUE(workload) << seed << ": " << workload.error().message;
    std::map<std::string, std::string> want;
    collect(root, "", want);
    std::map<std::string, std::string> got;
    std::set<std::string> made;
    const Stamper stamper(*workload);
    for (const StampedGroup& group : stamp_each(*workload, {options().owner})) {
      const Json& spec = api::part_of(group.document, "spec");
      const std::string_view used =
          api::find_string(api::part_of(spec, "workloadRef"), "templateName");
      got.emplace(used, stamper.find(used)->parent);
      const std::string_view parent = api::find_string(spec, "parentCompositePodGroupName");
      EXPECT_TRUE(parent.empty() || made.contains(std::string(parent))) << "parents come first";
      made.emplace(api::find_string(api::part_of(group.document, "metadata"), "name"));
      Json document = group.document;
      api::apply_defaults(*group.kind->message, document);
      const api::FieldErrors errors = group.kind->kind == "PodGroup"
                                          ? api::validate_pod_group(document, gates)
                                          : api::validate_composite_pod_group(document, gates);
      EXPECT_TRUE(errors.empty()) << seed << ": " << errors.text();
    }
    EXPECT_EQ(got, want) << seed;
    EXPECT_EQ(made.size(), want.size()) << seed;
  }
}

TEST(AnyTree, AFaultNamesItsItemAndNoOther) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomTree tree(seed);
    Item root = tree.make(tree.draw(1, 4));
    const std::string broken = tree.break_one(root);
    const std::vector<Cause> causes = validate(std::span(&root, 1), options());
    ASSERT_EQ(causes.size(), 1U) << seed << ": " << testing::PrintToString(sentences(causes));
    EXPECT_TRUE(causes.front().message.starts_with(fmt::format("item \"{}\": ", broken)))
        << seed << ": " << causes.front().message;
    EXPECT_FALSE(build(root, options())) << seed;
  }
}

}  // namespace
}  // namespace muster::workload
