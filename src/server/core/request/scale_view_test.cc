#include "server/core/request/scale_view.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::server {
namespace {

api::ObjectPtr object(std::string_view group, std::string_view kind, std::string_view members,
                      std::string_view metadata = "") {
  const std::string text =
      fmt::format(R"({{"metadata":{{"name":"web","namespace":"d"{}}},{}}})", metadata, members);
  return api::Object::make(*api::find_kind(group, kind), api::parse_json(text)->value);
}

std::string scale(const api::ObjectPtr& of, std::int64_t revision = 0) {
  return api::to_text(scale_document(*of, {revision}));
}

TEST(ScaleView, SaysHowManyThereAreAndShouldBe) {
  EXPECT_EQ(scale(object("apps", "Deployment",
                         R"("spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}}},)"
                         R"("status":{"replicas":2})",
                         R"(,"uid":"u","creationTimestamp":"2026-05-01T10:00:00Z")"),
                  7),
            R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web",)"
            R"("namespace":"d","uid":"u","resourceVersion":"7",)"
            R"("creationTimestamp":"2026-05-01T10:00:00Z"},"spec":{"replicas":3},)"
            R"("status":{"replicas":2,"selector":"a=b"}})");
}

TEST(ScaleView, LeavesOutWhatTheObjectDoesNotSay) {
  EXPECT_EQ(scale(object("apps", "Deployment", R"("spec":{"replicas":0})")),
            R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web",)"
            R"("namespace":"d","uid":""},"spec":{},"status":{"replicas":0}})");
}

TEST(ScaleView, IsAnAnswerOfItsOwn) {
  const auto answer = scale_of(*object("apps", "Deployment", R"("spec":{"replicas":4})"), {3});
  EXPECT_EQ(answer.code, 200);
  EXPECT_EQ(replicas_of(answer.document.as_object().at("spec")), 4);
  EXPECT_EQ(scale_message().name, "Scale");
  EXPECT_EQ(scale_message().package, "autoscaling/v1");
}

// Each kind keeps its selector in its own way.
TEST(ScaleView, TellsHowToFindThePods) {
  struct Case {
    std::string group;
    std::string kind;
    std::string members;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"apps", "StatefulSet",
       R"("spec":{"selector":{"matchLabels":{"a":"b"},)"
       R"("matchExpressions":[{"key":"c","operator":"Exists"}]}})",
       R"("selector":"a=b,c")"},
      {"apps", "ReplicaSet",
       R"("spec":{"selector":{"matchExpressions":[{"key":"c","operator":"Huh"}]}})", ""},
      {"", "ReplicationController", R"("spec":{"selector":{"a":"b"}})", R"("selector":"a=b")"},
      {"", "ReplicationController", R"("spec":{})", ""},
      {"leaderworkerset.x-k8s.io", "LeaderWorkerSet",
       R"("spec":{"selector":{"matchLabels":{"no":"no"}}},"status":{"hpaPodSelector":"l=w"})",
       R"("selector":"l=w")"},
  };
  for (const Case& one : cases) {
    const std::string seen = scale(object(one.group, one.kind, one.members));
    const std::size_t at = seen.find(R"("selector":)");
    EXPECT_EQ(at == std::string::npos ? "" : seen.substr(at, seen.size() - at - 2), one.want)
        << one.kind << " " << one.members;
  }
}

}  // namespace
}  // namespace muster::server
