#include "server/core/testing/core_fixture.h"

// What the server does for kinds beyond their rules: warnings, generated parts, two views of
// events.
namespace muster::server {
namespace {

class KindsTest : public CoreTest {
 protected:
  static const api::Kind& kind(std::string_view group, std::string_view name) {
    const api::Kind* found = api::find_kind(group, name);
    EXPECT_NE(found, nullptr) << name;
    return *found;
  }
  static const api::Kind& services() { return kind("", "Service"); }
  static const api::Kind& new_events() { return kind("events.k8s.io", "Event"); }
};

TEST_F(KindsTest, WhatNobodyActsOnIsStoredWithAWarning) {
  const auto made = create(kind("", "ReplicationController"), "default",
                           R"({"metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"a":"b"},
      "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  ASSERT_TRUE(made) << message(made);
  ASSERT_EQ(made->warnings.size(), 1U);
  EXPECT_EQ(made->warnings[0],
            "ReplicationController is stored, but nothing in this control plane acts on it: no "
            "pods are created for it");
  EXPECT_EQ(at(made, "metadata.generation"), "1");
  EXPECT_EQ(at(made, "status"), R"({"replicas":0})");
  const auto map = create(kind("", "ConfigMap"), "default", R"({"metadata":{"name":"m"}})");
  EXPECT_TRUE(map->warnings.empty());
}

TEST_F(KindsTest, ServicesGetAddressesAndNodePorts) {
  const auto first =
      create(services(), "default", R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}})");
  const auto second =
      create(services(), "default",
             R"({"metadata":{"name":"b"},"spec":{"type":"NodePort","ports":[{"port":80}]}})");
  const std::string address = at(first, "spec.clusterIP");
  EXPECT_TRUE(address.starts_with("10.96.0.")) << message(first);
  EXPECT_NE(at(second, "spec.clusterIP"), address);
  EXPECT_NE(at(second, "spec.ports").find(R"("nodePort":30000)"), std::string::npos)
      << at(second, "spec.ports");
  EXPECT_EQ(at(first, "spec.clusterIPs"), fmt::format(R"(["{}"])", address));

  // An update that leaves the address out keeps it; another's cannot be taken.
  const auto updated = update(services(), "default", "a",
                              R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":81}]}})");
  EXPECT_EQ(at(updated, "spec.clusterIP"), address);
  EXPECT_EQ(
      message(create(services(), "default",
                     fmt::format(R"({{"metadata":{{"name":"c"}},"spec":{{"clusterIP":"{}",)"
                                 R"("ports":[{{"port":80}}]}}}})",
                                 address))),
      fmt::format(R"(Service "c" is invalid: spec.clusterIPs: Invalid value: ["{0}"]: failed )"
                  R"(to allocate IP {0}: provided IP is already allocated)",
                  address));
  const auto headless =
      create(services(), "default", R"({"metadata":{"name":"h"},"spec":{"clusterIP":"None"}})");
  EXPECT_EQ(at(headless, "spec.clusterIPs"), R"(["None"])") << message(headless);
}

TEST_F(KindsTest, AServiceOfAnotherTypeLosesWhatTheOldOneNeeded) {
  const auto made =
      create(services(), "default",
             R"({"metadata":{"name":"s"},"spec":{"type":"NodePort","ports":[{"port":80}]}})");
  const std::string address = at(made, "spec.clusterIP");
  const auto plain = update(services(), "default", "s",
                            R"({"metadata":{"name":"s"},"spec":{"type":"ClusterIP",
      "externalTrafficPolicy":"Cluster","ports":[{"port":80,"nodePort":30000}]}})");
  EXPECT_EQ(at(plain, "spec.ports").find("nodePort"), std::string::npos) << message(plain);
  EXPECT_EQ(at(plain, "spec.clusterIP"), address);
  // Another node port is a wish, not what is left of the old type.
  EXPECT_EQ(
      message(update(services(), "default", "s",
                     R"({"metadata":{"name":"s"},"spec":{"type":"ClusterIP",
      "ports":[{"port":80,"nodePort":30001}]}})")),
      "Service \"s\" is invalid: spec.ports[0].nodePort: Forbidden: may not be used when `type` "
      "is 'ClusterIP'");
  const auto outside =
      update(services(), "default", "s",
             fmt::format(R"({{"metadata":{{"name":"s"}},"spec":{{"clusterIP":"{}",)"
                         R"("type":"ExternalName","externalName":"a.example"}}}})",
                         address));
  EXPECT_TRUE(outside) << message(outside);
}

TEST_F(KindsTest, JobsSelectTheirPods) {
  const auto job = create(kind("batch", "Job"), "default", R"({"metadata":{"generateName":"j-"},
      "spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  ASSERT_TRUE(job) << message(job);
  const std::string uid = at(job, "metadata.uid");
  EXPECT_EQ(at(job, "spec.selector"),
            fmt::format(R"({{"matchLabels":{{"batch.kubernetes.io/controller-uid":"{}"}}}})", uid));
  const auto labels = api::parse_json(at(job, "spec.template.metadata.labels"))->value;
  EXPECT_EQ(api::find_string(labels, "batch.kubernetes.io/job-name"), at(job, "metadata.name"));
}

TEST_F(KindsTest, EventsHaveTwoFaces) {
  const auto made = create(new_events(), "default", R"({"metadata":{"name":"e"},
      "eventTime":"2026-05-01T10:00:00.000000Z","type":"Normal","reason":"Bound","action":"Binding",
      "reportingController":"muster.dev/scheduler","reportingInstance":"i","note":"hello",
      "regarding":{"kind":"Pod","name":"p","namespace":"default"}})");
  ASSERT_TRUE(made) << message(made);
  const auto core = get(api::kinds::event(), "default", "e");
  EXPECT_EQ(at(core, "message"), "hello");
  EXPECT_EQ(at(core, "involvedObject.name"), "p");
  EXPECT_EQ(names(list(new_events(), "default", {.fields = "regarding.name=p,reason=Bound"})), "e");
  EXPECT_EQ(names(list(new_events(), "default", {.fields = "regarding.name=q"})), "");

  // A recorder counts repetitions by a patch in its own words.
  ASSERT_TRUE(patch(new_events(), "default", "e", PatchType::StrategicMerge,
                    R"({"series":{"count":2,"lastObservedTime":"2026-05-01T10:01:00.000000Z"}})"));
  EXPECT_EQ(at(get(api::kinds::event(), "default", "e"), "series.count"), "2");
  EXPECT_EQ(message(merge(new_events(), "default", "e", R"({"note":"bye"})")),
            R"(Event.events.k8s.io "e" is invalid: message: Invalid value: "bye": field is )"
            R"(immutable)");
  EXPECT_EQ(message(create(new_events(), "default", R"({"metadata":{"name":"bad"},
      "regarding":{"namespace":"default"},"type":"Normal"})")),
            R"(Event.events.k8s.io "bad" is invalid: eventTime: Required value)");
}

TEST_F(KindsTest, FieldsOfTheirOwnSelectThem) {
  ASSERT_TRUE(create(kind("", "Secret"), "default", R"({"metadata":{"name":"s"},"type":"a"})"));
  ASSERT_TRUE(create(kind("", "Secret"), "default", R"({"metadata":{"name":"t"},"type":"b"})"));
  EXPECT_EQ(names(list(kind("", "Secret"), "default", {.fields = "type=b"})), "t");
  ASSERT_TRUE(create(kind("batch", "Job"), "default", R"({"metadata":{"name":"j"},
      "spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})"));
  EXPECT_EQ(names(list(kind("batch", "Job"), "default", {.fields = "status.successful=0"})), "j");
}

TEST_F(KindsTest, SlicesCountChangesWithoutASpec) {
  const api::Kind& slices = kind("discovery.k8s.io", "EndpointSlice");
  ASSERT_TRUE(create(slices, "default", R"({"metadata":{"name":"s"},"addressType":"IPv4",
      "endpoints":[{"addresses":["10.0.0.1"]}]})"));
  EXPECT_EQ(at(merge(slices, "default", "s", R"({"metadata":{"labels":{"a":"b"}}})"),
               "metadata.generation"),
            "1");
  EXPECT_EQ(at(merge(slices, "default", "s", R"({"endpoints":[{"addresses":["10.0.0.2"]}]})"),
               "metadata.generation"),
            "2");
}

TEST_F(KindsTest, DeletingANamespaceTakesEveryKind) {
  ASSERT_TRUE(create(namespaces(), "", R"({"metadata":{"name":"team"}})"));
  ASSERT_TRUE(create(kind("", "ConfigMap"), "team", R"({"metadata":{"name":"m"}})"));
  ASSERT_TRUE(create(kind("", "ServiceAccount"), "team", R"({"metadata":{"name":"a"}})"));
  ASSERT_TRUE(
      create(kind("rbac.authorization.k8s.io", "Role"), "team", R"({"metadata":{"name":"r"}})"));
  ASSERT_TRUE(
      create(kind("policy", "PodDisruptionBudget"), "team", R"({"metadata":{"name":"p"}})"));
  ASSERT_TRUE(
      create(kind("resource.k8s.io", "ResourceClaim"), "team", R"({"metadata":{"name":"c"}})"));
  ASSERT_TRUE(remove(namespaces(), "", "team"));
  EXPECT_EQ(store_->get("namespaces/team"), nullptr);
  for (const std::string_view key : {"configmaps/team/m", "serviceaccounts/team/a", "roles/team/r",
                                     "poddisruptionbudgets/team/p", "resourceclaims/team/c"})
    EXPECT_EQ(store_->get(key), nullptr) << key;
}

TEST_F(KindsTest, AFreshServerHasWhatClientsLookFor) {
  EXPECT_EQ(at(get(services(), "default", "kubernetes"), "spec.clusterIP"), "10.96.0.1");
  EXPECT_EQ(at(get(services(), "default", "kubernetes"), "metadata.labels"),
            R"({"component":"apiserver","provider":"kubernetes"})");
  bootstrap(registry_, *store_, now_);
  EXPECT_EQ(names(list(services(), "default")), "kubernetes");
}

// As Go prints them: the two members have no "omitempty" upstream.
TEST_F(KindsTest, WorkloadsSayWhereNothingIsSet) {
  const api::Kind& workloads = api::kinds::workload();
  const auto flat = create(
      workloads, "default",
      R"({"metadata":{"name":"flat"},"spec":{"podGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}}}]}})");
  EXPECT_EQ(
      at(flat, "spec"),
      R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}]})");
  const auto tree = create(
      workloads, "default",
      R"({"metadata":{"name":"tree"},"spec":{"compositePodGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}},
          "podGroupTemplates":[{"name":"b","schedulingPolicy":{"basic":{}}}]}]}})");
  EXPECT_TRUE(at(tree, "spec").starts_with(R"({"podGroupTemplates":null,)")) << at(tree, "spec");
  const auto again = update(workloads, "default", "tree", seen(tree));
  EXPECT_EQ(version(again), version(tree)) << "what was read may be written back";
}

}  // namespace
}  // namespace muster::server
