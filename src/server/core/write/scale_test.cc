#include "server/core/write/scale.h"

#include "server/core/request/scale_view.h"
#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class ScaleTest : public CoreTest {
 protected:
  static const api::Kind& deployments() { return *api::find_kind("apps", "Deployment"); }

  ScaleTest() {
    EXPECT_TRUE(create(deployments(), "default", R"({"metadata":{"name":"web"},"spec":{"replicas":2,
        "selector":{"matchLabels":{"app":"web"}},
        "template":{"metadata":{"labels":{"app":"web"}},
                    "spec":{"containers":[{"name":"c","image":"i"}]}}}})"));
  }
  Result<Answer> get_scale() {
    Request out = request(Verb::Get, deployments(), "default", "web");
    out.subresource = kScale;
    return send(std::move(out));
  }
  static std::string text(const Result<Answer>& answer) {
    if (!answer) return message(answer);
    return api::to_text(std::get<api::DocumentAnswer>(answer->what).document);
  }
  std::string replicas() { return at(get(deployments(), "default", "web"), "spec.replicas"); }
};

TEST_F(ScaleTest, ShowsReplicasAndSelector) {
  const auto stored = store_->get("deployments/default/web");
  EXPECT_EQ(text(get_scale()),
            R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web",)"
            R"("namespace":"default","uid":")" +
                stored->meta().uid + R"(","resourceVersion":")" +
                std::to_string(stored->revision().value) +
                R"(","creationTimestamp":"2026-05-01T10:00:00Z"},"spec":{"replicas":2},)"
                R"("status":{"replicas":0,"selector":"app=web"}})");
}

TEST_F(ScaleTest, PatchAndPutChangeTheNumberAndNothingElse) {
  const auto patched = merge(deployments(), "default", "web", R"({"spec":{"replicas":5}})", kScale);
  EXPECT_NE(text(patched).find(R"("spec":{"replicas":5})"), std::string::npos) << text(patched);
  EXPECT_NE(
      text(patched).find(fmt::format(R"("resourceVersion":"{}")",
                                     store_->get("deployments/default/web")->revision().value)),
      std::string::npos);
  EXPECT_EQ(replicas(), "5");
  EXPECT_EQ(at(get(deployments(), "default", "web"), "metadata.generation"), "2");

  ASSERT_TRUE(
      update(deployments(), "default", "web", R"({"metadata":{"name":"web"},"spec":{}})", kScale));
  EXPECT_EQ(replicas(), "0");
}

TEST_F(ScaleTest, ForeignVersionsAndNegativeNumbersAreRefused) {
  EXPECT_EQ(message(merge(deployments(), "default", "web", R"({"spec":{"replicas":-1}})", kScale)),
            R"(Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be )"
            R"(greater than or equal to 0)");
  EXPECT_EQ(
      reason(update(deployments(), "default", "web",
                    R"({"metadata":{"name":"web","resourceVersion":"1"},"spec":{}})", kScale)),
      Reason::Conflict);
  EXPECT_EQ(reason(update(deployments(), "default", "web",
                          R"({"metadata":{"name":"web","uid":"another"},"spec":{"replicas":7}})",
                          kScale)),
            Reason::Conflict);
  EXPECT_EQ(reason(merge(deployments(), "default", "no", "{}", kScale)), Reason::NotFound);
  EXPECT_EQ(replicas(), "2");
}

TEST_F(ScaleTest, ItMustBeAboutThisObject) {
  EXPECT_EQ(message(update(deployments(), "default", "web",
                           R"({"metadata":{"name":"api"},"spec":{"replicas":7}})", kScale)),
            "the name of the object (api) does not match the name on the URL (web)");
  const std::string uid = at(get(deployments(), "default", "web"), "metadata.uid");
  EXPECT_EQ(message(update(deployments(), "default", "web",
                           R"({"metadata":{"name":"web","uid":"another"},"spec":{}})", kScale)),
            R"(Operation cannot be fulfilled on deployments.apps "web": Precondition failed: UID )"
            "in precondition: another, UID in object meta: " +
                uid);
  EXPECT_EQ(reason(update(deployments(), "default", "no", R"({"metadata":{"name":"no"}})", kScale)),
            Reason::NotFound);
  EXPECT_EQ(replicas(), "2");
  EXPECT_TRUE(update(
      deployments(), "default", "web",
      fmt::format(R"({{"metadata":{{"name":"web","uid":"{}"}},"spec":{{"replicas":7}}}})", uid),
      kScale));
  EXPECT_EQ(replicas(), "7");
  EXPECT_TRUE(merge(deployments(), "default", "web", R"({"spec":{"replicas":0}})", kScale));
  EXPECT_EQ(replicas(), "0") << "none is a number, too";
}

TEST_F(ScaleTest, UnknownFieldsOfAPatchAreRefusedIfTheClientIsStrict) {
  Request strict = request(Verb::Patch, deployments(), "default", "web");
  strict.subresource = kScale;
  strict.body = api::parse_json(R"({"spec":{"replicas":5,"foo":1}})").value().value;
  EXPECT_TRUE(send(strict));
  EXPECT_EQ(replicas(), "5");
  strict.field_validation = api::FieldValidation::Strict;
  const auto refused = send(strict);
  EXPECT_EQ(reason(refused), Reason::BadRequest);
  EXPECT_EQ(message(refused), R"(strict decoding error: unknown field "spec.foo")");
  EXPECT_EQ(reason(merge(deployments(), "default", "web", R"({"spec":{"replicas":"x"}})", kScale)),
            Reason::BadRequest);
  EXPECT_TRUE(merge(deployments(), "default", "web", R"({"spec":{"replicas":6}})", kScale));
}

}  // namespace
}  // namespace muster::server
