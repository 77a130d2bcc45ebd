#include <chrono>

#include "api/json.h"
#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

// Server-side apply and managedFields through the registry.
class ApplyTest : public CoreTest {
 protected:
  static Request apply_request(std::string_view manager, std::string_view json) {
    Request out = request(Verb::Patch, api::kinds::lease(), "default", "c");
    out.patch_type = PatchType::Apply;
    out.field_manager = manager;
    out.body = api::parse_json(json).value().value;
    return out;
  }
  Result<Answer> apply(std::string_view manager, std::string_view annotations, bool force = false) {
    Request out = apply_request(
        manager, R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"c",)"
                 R"("annotations":)" +
                     std::string(annotations) + "}}");
    out.force = force;
    return send(std::move(out));
  }
};

TEST_F(ApplyTest, MakesThenChangesThenLeavesAlone) {
  const auto made = apply("m", R"({"a":"1","b":"2"})");
  ASSERT_TRUE(made.has_value()) << message(made);
  EXPECT_TRUE(std::get<api::ObjectAnswer>(made->what).created);
  const auto changed = apply("m", R"({"a":"3"})");
  EXPECT_EQ(at(changed, "metadata.annotations"), R"({"a":"3"})") << message(changed);
  EXPECT_FALSE(std::get<api::ObjectAnswer>(changed->what).created);
  const auto same = apply("m", R"({"a":"3"})");
  EXPECT_EQ(std::get<api::ObjectAnswer>(same->what).revision,
            std::get<api::ObjectAnswer>(changed->what).revision);
}

TEST_F(ApplyTest, MeetsWhatOthersWrote) {
  Request create = request(Verb::Create, api::kinds::lease(), "default");
  create.field_manager = "kubectl-create";
  ASSERT_TRUE(send_body(std::move(create), R"({"metadata":{"name":"c","annotations":{"a":"1"}}})"));
  const auto refused = apply("m", R"({"a":"2"})");
  EXPECT_EQ(
      message(refused),
      R"(Apply failed with 1 conflict: conflict with "kubectl-create" using coordination.k8s.io/v1: .metadata.annotations.a)");
  const auto forced = apply("m", R"({"a":"2"})", true);
  EXPECT_EQ(at(forced, "metadata.annotations"), R"({"a":"2"})") << message(forced);
}

TEST_F(ApplyTest, RefusesConfigurationsThatAreNone) {
  const auto say = [&](std::string_view json) { return message(send(apply_request("m", json))); };
  EXPECT_EQ(say(R"({"apiVersion":"v2","kind":"Lease"})"), "invalid object type: /v2, Kind=Lease");
  EXPECT_EQ(
      say(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"managedFields":[]}})"),
      "metadata.managedFields must be nil");
  EXPECT_EQ(say(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","dat":{}})"),
            "failed to create typed patch object (default/c; coordination.k8s.io/v1, Kind=Lease): "
            ".dat: field not "
            "declared in schema");
  EXPECT_EQ(
      say(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"d"}})"),
      "the name of the object (d) does not match the name on the URL (c)");
}

TEST_F(ApplyTest, WritesWithoutAManagerAreNotTracked) {
  ASSERT_TRUE(create(api::kinds::lease(), "default",
                     R"({"metadata":{"name":"c","annotations":{"a":"1"}}})"));
  Request get = request(Verb::Get, api::kinds::lease(), "default", "c");
  EXPECT_EQ(at(send(std::move(get)), "metadata.managedFields"), "");
}

TEST_F(ApplyTest, StatusIsOwnedThroughItsOwnDoor) {
  ASSERT_TRUE(
      create(pods(), "default",
             R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})"));
  Request status = request(Verb::Patch, pods(), "default", "p");
  status.subresource = "status";
  status.patch_type = PatchType::Apply;
  status.field_manager = "kubelet";
  status.body = api::parse_json(R"({"apiVersion":"v1","kind":"Pod","status":{"reason":"Because"}})")
                    .value()
                    .value;
  const auto answer = send(std::move(status));
  EXPECT_EQ(at(answer, "status.reason"), "Because") << message(answer);
  EXPECT_NE(at(answer, "metadata.managedFields").find(R"("subresource":"status")"),
            std::string::npos);
}

TEST_F(ApplyTest, MakesNoStatusAndNoObjectOfAnotherUid) {
  Request status =
      apply_request("m", R"({"apiVersion":"v1","kind":"Pod","status":{"reason":"R"}})");
  status.kind = &pods();
  status.version = "v1";
  status.subresource = "status";
  EXPECT_EQ(message(send(std::move(status))), R"(pods "c" not found)");
  EXPECT_EQ(
      message(send(apply_request("m", R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
                                      R"("metadata":{"name":"c","uid":"u"}})"))),
      R"(Operation cannot be fulfilled on leases.coordination.k8s.io "c": Precondition failed: )"
      "UID in precondition: u, UID in object meta: ");
}

TEST_F(ApplyTest, SaysWhatAConfigurationLacks) {
  const auto say = [&](std::string_view json, bool strict = false) {
    Request out = apply_request("m", json);
    if (strict) out.field_validation = api::FieldValidation::Strict;
    return message(send(std::move(out)));
  };
  EXPECT_EQ(say("[]"),
            "error decoding YAML: an apply patch must be an object with apiVersion and kind");
  EXPECT_EQ(say(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Pod"})"),
            "invalid object type: coordination.k8s.io/v1, Kind=Pod");
  EXPECT_EQ(say(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","a":1,"b":1})"),
            "failed to create typed patch object (default/c; coordination.k8s.io/v1, Kind=Lease): "
            ".a: field not declared in schema; .b: field not declared in schema");
  EXPECT_EQ(say(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","a":1})", true),
            R"(Lease in version "v1" cannot be handled as a Lease: strict decoding error: )"
            R"(unknown field "a")");
  Request node = apply_request("m", R"({"apiVersion":"v1","kind":"Node","a":1})");
  node.kind = &nodes();
  node.version = "v1";
  node.name_space = "";
  EXPECT_EQ(message(send(std::move(node))),
            "failed to create typed patch object (c; /v1, Kind=Node): .a: field not declared in "
            "schema")
      << "without a namespace";
}

TEST_F(ApplyTest, UpdatesAreTrackedUnderTheirOwnVersionAndTime) {
  Request create = request(Verb::Create, pods(), "default");
  create.field_manager = "kubectl";
  const auto made = send_body(std::move(create), pod_json("p", R"("nodeName":"n")"));
  const std::string managed = at(made, "metadata.managedFields");
  EXPECT_NE(managed.find(R"("manager":"kubectl","operation":"Update","apiVersion":"v1",)"
                         R"("time":"2026-05-01T10:00:00Z")"),
            std::string::npos)
      << managed;
  EXPECT_EQ(managed.find("f:status"), std::string::npos) << "that is the server's: " << managed;
  EXPECT_EQ(managed.find(R"("subresource")"), std::string::npos) << managed;

  now_ += std::chrono::minutes{1};
  Request status = request(Verb::Patch, pods(), "default", "p");
  status.subresource = "status";
  status.field_manager = "kubelet";
  status.body =
      api::parse_json(R"({"status":{"reason":"R"},"spec":{"nodeName":"m"}})").value().value;
  const std::string both = at(send(std::move(status)), "metadata.managedFields");
  const std::size_t kubelet = both.find(R"("manager":"kubelet")");
  ASSERT_NE(kubelet, std::string::npos) << both;
  EXPECT_NE(both.find(R"("time":"2026-05-01T10:01:00Z")"), std::string::npos) << both;
  EXPECT_NE(both.find("f:reason"), std::string::npos) << both;
  EXPECT_EQ(both.find("f:nodeName", kubelet), std::string::npos) << both;
}

}  // namespace
}  // namespace muster::server
