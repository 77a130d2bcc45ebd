#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

using CreateTest = CoreTest;

TEST_F(CreateTest, APodGetsWhatOnlyTheServerGives) {
  const auto pod = create_pod("web");
  ASSERT_TRUE(pod) << message(pod);
  EXPECT_EQ(at(pod, "metadata.namespace"), "default");
  EXPECT_EQ(at(pod, "metadata.creationTimestamp"), "2026-05-01T10:00:00Z");
  EXPECT_EQ(at(pod, "metadata.generation"), "1");
  EXPECT_EQ(at(pod, "metadata.uid").size(), 36U);
  EXPECT_EQ(at(pod, "metadata.resourceVersion"), version(pod));
  EXPECT_EQ(at(pod, "status.phase"), "Pending");
  EXPECT_EQ(at(pod, "status.qosClass"), "BestEffort");
  EXPECT_EQ(at(pod, "spec.schedulerName"), "default-scheduler");
  EXPECT_EQ(at(pod, "spec.priority"), "0");
  EXPECT_EQ(at(pod, "spec.preemptionPolicy"), "PreemptLowerPriority");
  EXPECT_TRUE(std::get<api::ObjectAnswer>(pod->what).created);
  EXPECT_EQ(seen(get(pods(), "default", "web")), seen(pod));
}

TEST_F(CreateTest, WhatTheClientSaysAboutServerFieldsIsIgnored) {
  const auto pod = create(pods(), "default", R"({"metadata":{"name":"web","uid":"mine",
      "creationTimestamp":"2001-01-01T00:00:00Z","deletionTimestamp":"2001-01-01T00:00:00Z",
      "deletionGracePeriodSeconds":5,"generation":9},
      "spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running","podIP":"1.2.3.4"}})");
  EXPECT_NE(at(pod, "metadata.uid"), "mine");
  EXPECT_EQ(at(pod, "metadata.creationTimestamp"), "2026-05-01T10:00:00Z");
  EXPECT_EQ(at(pod, "metadata.deletionTimestamp"), "");
  EXPECT_EQ(at(pod, "metadata.deletionGracePeriodSeconds"), "");
  EXPECT_EQ(at(pod, "metadata.generation"), "1");
  EXPECT_EQ(at(pod, "status.phase"), "Pending");
  EXPECT_EQ(at(pod, "status.podIP"), "");
}

TEST_F(CreateTest, TheSameNameTwiceIsRefused) {
  ASSERT_TRUE(create_pod("web"));
  const auto again = create_pod("web");
  EXPECT_EQ(reason(again), Reason::AlreadyExists);
  EXPECT_EQ(message(again), R"(pods "web" already exists)");
  EXPECT_EQ(again.error().kind, "pods");
  EXPECT_EQ(again.error().name, "web");
}

TEST_F(CreateTest, ATerminatingNamesakeIsMentioned) {
  ASSERT_TRUE(create_pod("web", "", R"("finalizers":["example.com/hold"])"));
  ASSERT_TRUE(remove(pods(), "default", "web"));
  EXPECT_EQ(message(create_pod("web")), R"(object is being deleted: pods "web" already exists)");
}

TEST_F(CreateTest, NamesAreGenerated) {
  const std::string body =
      R"({"metadata":{"generateName":"web-"},"spec":{"containers":[{"name":"c","image":"i"}]}})";
  const auto first = create(pods(), "default", body);
  const auto second = create(pods(), "default", body);
  EXPECT_EQ(at(first, "metadata.name").size(), 9U) << message(first);
  EXPECT_TRUE(at(first, "metadata.name").starts_with("web-"));
  EXPECT_NE(at(first, "metadata.name"), at(second, "metadata.name"));
}

TEST_F(CreateTest, ANameIsRequired) {
  const auto pod =
      create(pods(), "default", R"({"spec":{"containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(reason(pod), Reason::Invalid);
  EXPECT_EQ(
      message(pod),
      R"(Pod "" is invalid: metadata.name: Required value: name or generateName is required)");
}

TEST_F(CreateTest, ValidationNamesTheField) {
  const auto pod =
      create(pods(), "default", R"({"metadata":{"name":"web"},"spec":{"containers":[]}})");
  EXPECT_EQ(reason(pod), Reason::Invalid);
  EXPECT_EQ(message(pod), R"(Pod "web" is invalid: spec.containers: Required value)");
  ASSERT_EQ(pod.error().causes.size(), 1U);
  EXPECT_EQ(pod.error().causes[0].field, "spec.containers");
  EXPECT_EQ(pod.error().causes[0].type, "FieldValueRequired");
  EXPECT_EQ(pod.error().kind, "Pod");
}

TEST_F(CreateTest, TheNamespaceIsTheOneOfTheUrl) {
  EXPECT_EQ(
      message(create_pod("web", "", R"("namespace":"other")")),
      "the namespace of the provided object does not match the namespace sent on the request");
  const auto node = create(nodes(), "", R"({"metadata":{"name":"n1","namespace":"default"}})");
  EXPECT_EQ(at(node, "metadata.namespace"), "") << message(node);
}

TEST_F(CreateTest, AResourceVersionIsRefused) {
  EXPECT_EQ(message(create_pod("web", "", R"("resourceVersion":"5")")),
            "resourceVersion should not be set on objects to be created");
}

TEST_F(CreateTest, DryRunAnswersButStoresNothing) {
  Request dry = request(Verb::Create, pods(), "default");
  dry.dry_run = true;
  const auto pod = send_body(std::move(dry), pod_json("web"));
  EXPECT_EQ(at(pod, "status.phase"), "Pending") << message(pod);
  EXPECT_EQ(message(get(pods(), "default", "web")), R"(pods "web" not found)");
}

TEST_F(CreateTest, GatedPodsSaySo) {
  const auto pod = create_pod("web", R"("schedulingGates":[{"name":"example.com/wait"}])");
  EXPECT_EQ(
      at(pod, "status.conditions"),
      R"([{"type":"PodScheduled","status":"False","lastProbeTime":null,"lastTransitionTime":null,)"
      R"("reason":"SchedulingGated","message":"Scheduling is blocked due to non-empty scheduling gates"}])");
}

// As kube-apiserver 1.37.1 does.
TEST_F(CreateTest, WhatAPodLeavesOutOfWhatItNeedsAsAWholeIsFilledIn) {
  int made = 0;
  const auto whole = [&](std::string_view resources, std::string_view container,
                         std::string_view more = {}) {
    const auto pod =
        create(pods(), "default",
               fmt::format(R"({{"metadata":{{"name":"p{}"}},"spec":{{"resources":{},"containers":)"
                           R"([{{"name":"c","image":"i","resources":{}}}{}]}}}})",
                           ++made, resources, container, more));
    EXPECT_TRUE(pod) << message(pod);
    return fmt::format("{} {} {}", at(pod, "spec.resources.limits"),
                       at(pod, "spec.resources.requests"), at(pod, "status.qosClass"));
  };
  const std::string other = R"(,{"name":"d","image":"i"})";
  EXPECT_EQ(whole(R"({"limits":{"cpu":"2","memory":"1Gi"}})", "{}"),
            R"({"cpu":"2","memory":"1Gi"} {"cpu":"2","memory":"1Gi"} Guaranteed)");
  EXPECT_EQ(whole(R"({"limits":{"cpu":"2"}})", R"({"requests":{"cpu":"500m","memory":"128Mi"}})"),
            R"({"cpu":"2"} {"cpu":"500m","memory":"128Mi"} Burstable)");
  EXPECT_EQ(whole(R"({"requests":{"cpu":"1"}})", R"({"limits":{"cpu":"1","memory":"1Gi"}})"),
            R"({"cpu":"1","memory":"1Gi"} {"cpu":"1","memory":"1Gi"} Guaranteed)");
  EXPECT_EQ(whole(R"({"requests":{"cpu":"1"}})", R"({"limits":{"memory":"1Gi"}})", other),
            R"( {"cpu":"1","memory":"1Gi"} Burstable)");
  EXPECT_EQ(whole(R"({"requests":{"memory":"2Gi"}})", R"({"limits":{"memory":"1Gi"}})"),
            R"({"memory":"2Gi"} {"memory":"2Gi"} Burstable)");
  EXPECT_EQ(whole(R"({"requests":{"cpu":"1"}})", R"({"limits":{"cpu":"1","hugepages-2Mi":"4Mi"}})",
                  other),
            R"({"hugepages-2Mi":"4Mi"} {"cpu":"1","hugepages-2Mi":"4Mi"} Burstable)");
  EXPECT_EQ(whole("{}", R"({"requests":{"cpu":"1"}})"), "  Burstable");
}

TEST_F(CreateTest, QualityOfServiceFollowsResources) {
  const auto qos = [&](std::string_view name, std::string_view resources) {
    return at(create(pods(), "default",
                     std::string(R"({"metadata":{"name":")")
                         .append(name)
                         .append(R"("},"spec":{"containers":[{"name":"c","image":"i","resources":)")
                         .append(resources)
                         .append("}]}}")),
              "status.qosClass");
  };
  EXPECT_EQ(qos("a", R"({"requests":{"cpu":"1"}})"), "Burstable");
  EXPECT_EQ(qos("b", R"({"limits":{"cpu":"1"}})"), "Burstable");
  EXPECT_EQ(qos("c", R"({"limits":{"cpu":"1","memory":"1Gi"}})"), "Guaranteed");
  EXPECT_EQ(qos("d", R"({"requests":{"cpu":"500m"},"limits":{"cpu":"1","memory":"1Gi"}})"),
            "Burstable");
  EXPECT_EQ(qos("e", R"({"requests":{"nvidia.com/gpu":"1"},"limits":{"nvidia.com/gpu":"1"}})"),
            "BestEffort");
  EXPECT_EQ(
      qos("f",
          R"({"requests":{"cpu":"1000m","memory":"1024Mi"},"limits":{"cpu":"1","memory":"1Gi"}})"),
      "Guaranteed");
}

TEST_F(CreateTest, WhoAsksForZeroAsksForNothing) {
  const auto pod =
      create(pods(), "default",
             R"({"metadata":{"name":"web"},"spec":{"containers":[{"name":"c","image":"i",)"
             R"("resources":{"requests":{"cpu":"0","memory":"0"},)"
             R"("limits":{"cpu":"0","memory":"0"}}}]}})");
  EXPECT_EQ(at(pod, "status.qosClass"), "BestEffort") << message(pod);
}

TEST_F(CreateTest, ANodeMayComeWithItsStatus) {
  const auto node =
      create(nodes(), "", R"({"metadata":{"name":"n1"},"status":{"capacity":{"cpu":"8"}}})");
  EXPECT_EQ(at(node, "status.capacity.cpu"), "8") << message(node);
  EXPECT_EQ(at(node, "status.allocatable.cpu"), "8");
  EXPECT_EQ(at(node, "metadata.generation"), "");
}

TEST_F(CreateTest, ANodeMayKeepSomeOfItsCapacityForItself) {
  const auto node =
      create(nodes(), "",
             R"({"metadata":{"name":"n1"},"status":{"capacity":{"cpu":"8","memory":"16Gi"},)"
             R"("allocatable":{"cpu":"6"}}})");
  EXPECT_EQ(at(node, "status.allocatable"), R"({"cpu":"6"})") << message(node);
}

TEST_F(CreateTest, ANamespaceStartsActive) {
  const auto ns = create(namespaces(), "", R"({"metadata":{"name":"team"}})");
  EXPECT_EQ(at(ns, "status.phase"), "Active") << message(ns);
  EXPECT_EQ(at(ns, "spec.finalizers"), R"(["kubernetes"])");
  const auto parsed = api::parse_json(at(ns, "metadata.labels"));
  EXPECT_EQ(api::find_string(parsed->value, "kubernetes.io/metadata.name"), "team");
}

TEST_F(CreateTest, OwnersAreKeptOnce) {
  const auto pod =
      create_pod("web", "",
                 R"("ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u"},
                                                    {"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}])");
  ASSERT_TRUE(pod) << message(pod);
  EXPECT_EQ(at(pod, "metadata.ownerReferences"),
            R"([{"kind":"Node","name":"n","uid":"u","apiVersion":"v1"}])");
  ASSERT_EQ(pod->warnings.size(), 1U);
  EXPECT_NE(pod->warnings[0].find("duplicate UID(s) observed: u"), std::string::npos);
}

TEST_F(CreateTest, UnknownFieldsWarnOrFail) {
  Request warn = request(Verb::Create, pods(), "default");
  const auto pod = send_body(warn, pod_json("web", R"("foo":1)"));
  ASSERT_TRUE(pod) << message(pod);
  EXPECT_EQ(pod->warnings, std::vector<std::string>{R"(unknown field "spec.foo")"});

  Request strict = request(Verb::Create, pods(), "default");
  strict.field_validation = api::FieldValidation::Strict;
  EXPECT_EQ(
      message(send_body(strict, pod_json("web2", R"("foo":1)"))),
      R"(Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.foo")");
}

TEST_F(CreateTest, BodiesMustBeOfTheEndpointsKind) {
  const auto said = [&](std::string_view json) { return message(create(pods(), "default", json)); };
  EXPECT_EQ(
      said(R"({"kind":"Node","apiVersion":"v1"})"),
      R"(Node in version "v1" cannot be handled as a Pod: converting (v1.Node) to (core.Pod): unknown conversion)");
  EXPECT_EQ(
      said(R"({"kind":"Pod","apiVersion":"v2"})"),
      R"(Pod in version "v2" cannot be handled as a Pod: no kind "Pod" is registered for version "v2")");
  EXPECT_TRUE(said(R"({"spec":{"containers":7}})")
                  .starts_with(
                      R"(Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal)"));
  EXPECT_TRUE(said("{").starts_with("the object provided is unrecognized (must be of type Pod): "));
}

TEST_F(CreateTest, ObjectsAboveEtcdsLimitAreRefused) {
  const auto with_text_of = [&](std::size_t bytes) {
    return create_pod(fmt::format("p{}", bytes),
                      fmt::format(R"("dnsConfig":{{"searches":["{}"]}})", std::string(bytes, 'x')));
  };
  EXPECT_TRUE(with_text_of(1'500'000).has_value());
  const auto refused = with_text_of(1'573'000);
  EXPECT_EQ(reason(refused), Reason::RequestEntityTooLarge);
  EXPECT_EQ(message(refused), "etcdserver: request is too large");
}

// S-H7: what an object costs on the registry's thread goes with its values, not its bytes.
TEST_F(CreateTest, ObjectsOfTooManyValuesAreRefused) {
  const auto with_annotations = [&](const std::string& name, int count) {
    std::string annotations;
    for (int i = 0; i < count; ++i)
      annotations += fmt::format(R"({}"k{}":"")", i == 0 ? "" : ",", i);
    return create_pod(name, "", R"("annotations":{)" + annotations + "}");
  };
  EXPECT_TRUE(with_annotations("web", 15'000).has_value());
  const auto refused = with_annotations("wide", 20'000);
  EXPECT_EQ(reason(refused), Reason::RequestEntityTooLarge);
  EXPECT_EQ(message(refused), "the object has more than 20000 fields and list items: split it");
}

TEST_F(CreateTest, AGeneratedNameIsShortEnoughAndOnlyMadeIfThereIsNone) {
  const auto create_with = [&](const std::string& prefix, std::string_view more = "") {
    return create(namespaces(), "",
                  fmt::format(R"({{"metadata":{{"generateName":"{}"{}}}}})", prefix, more));
  };
  const std::string prefix(60, 'x');
  const auto longest = create_with(prefix);
  EXPECT_EQ(at(longest, "metadata.name").size(), 63U) << message(longest);
  EXPECT_TRUE(at(longest, "metadata.name").starts_with(prefix.substr(0, 58)));
  EXPECT_EQ(at(create_with("a-", R"(,"name":"mine")"), "metadata.name"), "mine");
}

TEST_F(CreateTest, AnEventSaysNothingOfGenerations) {
  const auto event = create(api::kinds::event(), "default",
                            R"({"metadata":{"name":"e","generation":5,"selfLink":"/x"},)"
                            R"("involvedObject":{"namespace":"default"}})");
  EXPECT_EQ(at(event, "metadata.selfLink"), "") << message(event);
  EXPECT_EQ(at(event, "metadata.creationTimestamp"), "2026-05-01T10:00:00Z");
}

}  // namespace
}  // namespace muster::server
