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

}  // namespace
}  // namespace muster::server
