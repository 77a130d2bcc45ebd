#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

using BindingTest = CoreTest;

TEST_F(BindingTest, APodIsAssignedInOneWrite) {
  ASSERT_TRUE(create_pod("web"));
  ASSERT_TRUE(patch(
      pods(), "default", "web", PatchType::StrategicMerge,
      R"({"status":{"nominatedNodeName":"n0","conditions":[{"type":"PodScheduled","status":"False",
                        "reason":"Unschedulable"},{"type":"scheduling.muster.dev/WaitsFor",
                        "status":"True","reason":"Node"}]}})",
      "status"));
  const api::Revision before = store_->revision();
  const auto bound = bind("web", "n1");
  ASSERT_TRUE(bound) << message(bound);
  EXPECT_EQ(std::get<api::StatusAnswer>(bound->what).code, 201);
  EXPECT_EQ(store_->revision().value, before.value + 1);

  const auto pod = get(pods(), "default", "web");
  EXPECT_EQ(at(pod, "spec.nodeName"), "n1");
  EXPECT_EQ(at(pod, "status.nominatedNodeName"), "");
  EXPECT_EQ(at(pod, "metadata.generation"), "1");
  EXPECT_EQ(
      at(pod, "status.conditions"),
      R"([{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-05-01T10:00:00Z"}])");
}

TEST_F(BindingTest, TheCollectionTakesTheNameFromTheBody) {
  ASSERT_TRUE(create_pod("web"));
  const api::Kind& bindings = *api::find_kind("", "Binding");
  const std::string body = R"({"metadata":{"name":"web"},"target":{"kind":"Node","name":"n1"}})";
  const auto bound = create(bindings, "default", body);
  ASSERT_TRUE(bound) << message(bound);
  EXPECT_EQ(std::get<api::StatusAnswer>(bound->what).code, 201);
  EXPECT_EQ(at(get(pods(), "default", "web"), "spec.nodeName"), "n1");
  EXPECT_EQ(reason(create(bindings, "default", body)), Reason::Conflict);
  EXPECT_EQ(message(create(bindings, "other", body)), R"(pods "web" not found)");
  EXPECT_EQ(reason(create(bindings, "default", R"({"target":{"kind":"Node","name":"n1"}})")),
            Reason::BadRequest);
  EXPECT_EQ(
      message(create(bindings, "default",
                     R"({"metadata":{"name":"web","namespace":"x"},"target":{"name":"n1"}})")),
      "the namespace of the provided object does not match the namespace sent on the request");
  EXPECT_EQ(reason(send(request(Verb::Delete, bindings, "default", "web"))),
            Reason::MethodNotAllowed);
}

TEST_F(BindingTest, TwiceIsAConflict) {
  ASSERT_TRUE(create_pod("web"));
  ASSERT_TRUE(bind("web", "n1"));
  const auto again = bind("web", "n2");
  EXPECT_EQ(reason(again), Reason::Conflict);
  EXPECT_EQ(
      message(again),
      R"(Operation cannot be fulfilled on pods/binding "web": pod web is already assigned to node "n1")");
  EXPECT_EQ(again.error().kind, "pods/binding");
}

TEST_F(BindingTest, GatedAndDyingPodsAreNotBound) {
  ASSERT_TRUE(create_pod("gated", R"("schedulingGates":[{"name":"example.com/wait"}])"));
  EXPECT_EQ(
      message(bind("gated", "n1")),
      R"(Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates)");
  ASSERT_TRUE(create_pod("dying", "", R"("finalizers":["example.com/hold"])"));
  ASSERT_TRUE(remove(pods(), "default", "dying"));
  EXPECT_EQ(
      message(bind("dying", "n1")),
      R"(Operation cannot be fulfilled on pods/binding "dying": pod dying is being deleted, cannot be )"
      "assigned to a host");
}

TEST_F(BindingTest, TheBodyMustNameThisPodAndANode) {
  const auto pod = create_pod("web");
  const auto with = [&](std::string_view body) {
    Request out = request(Verb::Create, pods(), "default", "web");
    out.subresource = "binding";
    return send_body(std::move(out), body);
  };
  EXPECT_EQ(message(with(R"({"metadata":{"name":"api"},"target":{"name":"n1"}})")),
            "name in URL does not match name in Binding object");
  EXPECT_EQ(message(with(R"({"metadata":{"name":"web"},"target":{}})")),
            "target.name: Required value");
  EXPECT_EQ(
      message(with(R"({"metadata":{"name":"web","uid":"other"},"target":{"name":"n1"}})")),
      R"(Operation cannot be fulfilled on pods "web": Precondition failed: UID in precondition: other, UID in )"
      "object meta: " +
          at(pod, "metadata.uid"));
  EXPECT_EQ(message(bind("nobody", "n1")), R"(pods "nobody" not found)");
}

TEST_F(BindingTest, ItMayInsistOnAVersionOfThePod) {
  const auto pod = create_pod("web");
  const auto bind_to = [&](std::string_view kind, std::string_view resource_version) {
    Request out = request(Verb::Create, pods(), "default", "web");
    out.subresource = "binding";
    return send_body(std::move(out), std::string(R"({"metadata":{"name":"web","resourceVersion":")")
                                         .append(resource_version)
                                         .append(R"("},"target":{"kind":")")
                                         .append(kind)
                                         .append(R"(","name":"n1"}})"));
  };
  EXPECT_EQ(message(bind_to("Node", "1")),
            R"(Operation cannot be fulfilled on pods "web": Precondition failed: ResourceVersion )"
            "in precondition: 1, ResourceVersion in object meta: " +
                version(pod));
  EXPECT_EQ(message(bind_to("Pod", version(pod))),
            R"(target.kind: Unsupported value: "Pod": supported values: "<empty>", "Node")");
  EXPECT_EQ(at(get(pods(), "default", "web"), "spec.nodeName"), "");
  EXPECT_TRUE(bind_to("Node", version(pod)));
  EXPECT_EQ(at(get(pods(), "default", "web"), "spec.nodeName"), "n1");
}

TEST_F(BindingTest, AnnotationsTravelWithIt) {
  ASSERT_TRUE(create_pod("web", "", R"("labels":{"a":"mine"},"annotations":{"x":"1"})"));
  Request out = request(Verb::Create, pods(), "default", "web");
  out.subresource = "binding";
  ASSERT_TRUE(
      send_body(std::move(out), R"({"metadata":{"name":"web","annotations":{"x":"2","y":"3"},
      "labels":{"a":"theirs","b":"theirs"}},"target":{"name":"n1"}})"));
  const auto pod = get(pods(), "default", "web");
  EXPECT_EQ(at(pod, "metadata.annotations"), R"({"x":"2","y":"3"})");
  EXPECT_EQ(at(pod, "metadata.labels"), R"({"a":"mine","b":"theirs"})");
}

}  // namespace
}  // namespace muster::server
