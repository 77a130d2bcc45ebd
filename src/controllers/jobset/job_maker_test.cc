#include "controllers/jobset/job_maker.h"

#include <gtest/gtest.h>

#include "api/reading.h"
#include "base/sha1.h"
#include "controllers/jobset/job_set_testing.h"
#include "workload/job.h"

namespace muster::controllers {
namespace {

using api::Json;

constexpr std::string_view kSpec = R"("replicatedJobs":[
    {"name":"driver","template":{"spec":{"template":{"spec":{}}}}},
    {"name":"workers","groupName":"g","replicas":3,"template":{
      "metadata":{"labels":{"team":"x"},"annotations":{"note":"y"}},
      "spec":{"parallelism":2,"scheduling":{"schedulingPolicy":{"gang":{}}},"template":{
        "metadata":{"labels":{"app":"w"}},"spec":{"tolerations":[{"key":"t"}],"nodeSelector":{"pool":"p"}}}}}}],
    "coordinator":{"replicatedJob":"driver"})";

TEST(JobMaker, MarksJobsAndPods) {
  const api::ObjectPtr set = make_set(kSpec, R"("restarts":2)");
  const Json job = JobMaker(*set).make(1, 2, {});
  EXPECT_EQ(api::find_string(*api::find(job, "metadata"), "name"), "js-workers-2");
  const std::string uid = api::to_text(*api::find_path(job, "metadata.ownerReferences"));
  EXPECT_EQ(uid,
            R"([{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","name":"js","uid":"ujs",)"
            R"("controller":true,"blockOwnerDeletion":true}])");
  EXPECT_EQ(api::find(*api::find(job, "spec"), "scheduling"), nullptr) << "the set has it";
  const std::pair<std::string_view, std::string> marks[] = {
      {job_set::kSetName, "js"},          {job_set::kSetUid, "ujs"},
      {job_set::kJobName, "workers"},     {job_set::kJobReplicas, "3"},
      {job_set::kGlobalReplicas, "4"},    {job_set::kJobIndex, "2"},
      {job_set::kGlobalIndex, "3"},       {job_set::kJobKey, sha1_hex("ns/js-workers-2")},
      {job_set::kGroupName, "g"},         {job_set::kGroupReplicas, "3"},
      {job_set::kGroupIndex, "2"},        {job_set::kRestartAttempt, "2"},
      {job_set::kJobRestartAttempt, "0"}, {job_set::kCoordinator, "js-driver-0-0.js"},
  };
  for (const std::string_view at : {"metadata", "spec.template.metadata"})
    for (const std::string_view kind : {"labels", "annotations"})
      for (const auto& [key, value] : marks)
        EXPECT_EQ(api::find_string(*api::find(*api::find_path(job, at), kind), key), value)
            << at << " " << kind << " " << key;
  EXPECT_EQ(api::find_string(*api::find_path(job, "metadata.labels"), "team"), "x");
  EXPECT_EQ(api::find_string(*api::find_path(job, "spec.template.metadata.labels"), "app"), "w");
  EXPECT_EQ(api::find_string(*api::find_path(job, "spec.template.spec"), "subdomain"), "js");
}

TEST(JobMaker, NamesItsGroup) {
  const api::ObjectPtr set = make_set(kSpec);
  const Json central = JobMaker(*set).make(0, 0, {.pod_group = "g"});
  EXPECT_EQ(api::to_text(*api::find_path(central, "spec.template.spec.schedulingGroup")),
            R"({"podGroupName":"g"})");
  const Json delegated = JobMaker(*set).make(0, 0, {.template_name = "t", .parent = "c"});
  EXPECT_EQ(api::find_path(delegated, "spec.template.spec.schedulingGroup"), nullptr);
  const Json& annotations = *api::find_path(delegated, "metadata.annotations");
  EXPECT_EQ(api::find_string(annotations, workload::kGroupTemplateAnnotation), "t");
  EXPECT_EQ(api::find_string(annotations, workload::kParentCompositeAnnotation), "c");
}

TEST(JobMaker, ResumingBringsPodsUpToDate) {
  const api::ObjectPtr set = make_set(kSpec);
  JobText text{.entry = "workers", .index = 1, .suspend = true};
  text.spec = R"("template":{"spec":{"tolerations":[{"key":"mine"},{"key":"t"}]}})";
  const api::Request request = JobMaker(*set).resume_request(*make_job(text), 1, 1);
  EXPECT_EQ(request.name, "js-workers-1");
  EXPECT_EQ(api::to_text(*api::find_path(request.body, "spec.suspend")), "false");
  EXPECT_EQ(api::to_text(*api::find_path(request.body, "spec.template.spec")),
            R"({"nodeSelector":{"pool":"p"},"tolerations":[{"key":"mine"},{"key":"t"}]})");
  EXPECT_EQ(api::find_string(*api::find_path(request.body, "spec.template.metadata.labels"), "app"),
            "w");
}

TEST(JobMaker, PlacesExclusively) {
  const api::ObjectPtr set = make_set(
      kSpec, "", R"(,"annotations":{"alpha.jobset.sigs.k8s.io/exclusive-topology":"rack"})");
  const std::string key = sha1_hex("ns/js-driver-0");
  const Json alone = JobMaker(*set).make(0, 0, {});
  EXPECT_EQ(
      api::to_text(*api::find_path(alone, "spec.template.spec.affinity")),
      fmt::format(
          R"({{"podAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{"labelSelector":{{"matchExpressions":[)"
          R"({{"key":"{0}","operator":"In","values":["{1}"]}}]}},"namespaceSelector":{{}},"topologyKey":"rack"}}]}},)"
          R"("podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{"labelSelector":{{"matchExpressions":[)"
          R"({{"key":"{0}","operator":"Exists"}},{{"key":"{0}","operator":"NotIn","values":["{1}"]}},)"
          R"({{"key":"jobset.sigs.k8s.io/priority","operator":"In","values":["0"]}}]}},"namespaceSelector":{{}},"topologyKey":"rack"}}]}}}})",
          job_set::kJobKey, key));
  const auto seven = [](std::string_view) { return std::int64_t{7}; };
  const Json high = JobMaker(*set, seven).make(0, 0, {});
  EXPECT_EQ(api::find_string(*api::find_path(high, "spec.template.metadata.labels"),
                             "jobset.sigs.k8s.io/priority"),
            "7");
  const Json grouped = JobMaker(*set).make(0, 0, {.pod_group = "g"});
  EXPECT_EQ(api::find_path(grouped, "spec.template.spec.affinity.podAffinity"), nullptr)
      << "its group holds it in one rack";
  EXPECT_NE(api::find_path(grouped, "spec.template.spec.affinity.podAntiAffinity"), nullptr);
}

TEST(JobMaker, UsesNodesThatWerePreparedForIt) {
  const api::ObjectPtr set = make_set(
      kSpec, "",
      R"(,"annotations":{"alpha.jobset.sigs.k8s.io/exclusive-topology":"rack","alpha.jobset.sigs.k8s.io/node-selector":"true"})");
  const Json job = JobMaker(*set).make(1, 0, {});
  EXPECT_EQ(api::to_text(*api::find_path(job, "spec.template.spec.nodeSelector")),
            R"({"pool":"p","alpha.jobset.sigs.k8s.io/namespaced-job":"ns_js-workers-0"})");
  EXPECT_EQ(api::find_path(job, "spec.template.spec.affinity"), nullptr);
  EXPECT_EQ(api::find_array(*api::find_path(job, "spec.template.spec"), "tolerations")->size(), 2U);
}

TEST(JobMaker, MountsSharedClaims) {
  const api::ObjectPtr set = make_set(
      R"("volumeClaimPolicies":[{"templates":[{"metadata":{"name":"data","labels":{"a":"b"}},
         "spec":{"accessModes":["ReadWriteMany"]}}]},
         {"templates":[{"metadata":{"name":"kept"},"spec":{}}],"retentionPolicy":{"whenDeleted":"Retain"}}],
         "replicatedJobs":[{"name":"a","replicas":1,"template":{"spec":{"template":{"spec":{
         "initContainers":[{"name":"i","volumeMounts":[{"name":"kept"},{"name":"own"}]}],
         "containers":[{"name":"c","volumeMounts":[{"name":"data"}]}],"volumes":[{"name":"own"}]}}}}},
         {"name":"b","replicas":1,"template":{"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}}])");
  const std::vector<SharedClaim> claims = shared_claims(*set, set->document());
  ASSERT_EQ(claims.size(), 2U);
  EXPECT_EQ(claims[0].name, "data-js");
  const Json& metadata = *api::find(claims[0].create.body, "metadata");
  EXPECT_EQ(api::to_text(*api::find(metadata, "labels")),
            R"({"a":"b","jobset.sigs.k8s.io/jobset-name":"js"})");
  EXPECT_EQ(api::elements(metadata, "ownerReferences").size(), 1U);
  EXPECT_EQ(api::elements(*api::find(claims[1].create.body, "metadata"), "ownerReferences").size(),
            0U)
      << "it stays when the set goes";
  EXPECT_EQ(
      api::to_text(*api::find_path(JobMaker(*set).make(0, 0, {}), "spec.template.spec.volumes")),
      R"([{"name":"own"},{"name":"data","persistentVolumeClaim":{"claimName":"data-js"}},)"
      R"({"name":"kept","persistentVolumeClaim":{"claimName":"kept-js"}}])");
  EXPECT_EQ(api::find_path(JobMaker(*set).make(1, 0, {}), "spec.template.spec.volumes"), nullptr);
}

TEST(JobMaker, TheServiceIsHeadless) {
  const api::Request request = service_request(*make_set(R"("network":{"subdomain":"net"})"));
  EXPECT_EQ(api::find_string(*api::find(request.body, "metadata"), "name"), "net");
  EXPECT_EQ(
      api::to_text(*api::find(request.body, "spec")),
      R"({"clusterIP":"None","selector":{"jobset.sigs.k8s.io/jobset-name":"js"},"publishNotReadyAddresses":true})");
}

}  // namespace
}  // namespace muster::controllers
