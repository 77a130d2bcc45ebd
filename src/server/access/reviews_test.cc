#include "server/access/reviews.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/request.h"
#include "base/entropy.h"
#include "base/time.h"
#include "server/access/access.h"
#include "store/engines/memory.h"
#include "store/store.h"

namespace muster::server {
namespace {

class ReviewsTest : public ::testing::Test {
 protected:
  void write(std::string_view kind_name, std::string_view text) {
    const api::Kind& kind = *api::find_kind("rbac.authorization.k8s.io", kind_name);
    auto object = api::Object::make(kind, api::parse_json(text).value().value);
    const std::string key = store::make_key(kind, object->meta().name_space, object->meta().name);
    store::Transaction transaction;
    transaction.writes.push_back({.key = key, .object = std::move(object), .expected = {}});
    ASSERT_TRUE(store_->commit(std::span(&transaction, 1)).value().front().has_value());
  }
  // "true" or "false", or why the question cannot be answered.
  std::string allowed(std::string_view spec) {
    api::Request request;
    request.verb = api::Verb::Create;
    request.kind = api::find_kind("authorization.k8s.io", "SubjectAccessReview");
    request.version = "v1";
    request.user = {.name = "prometheus", .groups = {}};
    request.body = api::JsonObject{{"spec", api::parse_json(spec).value().value}};
    const auto answer =
        access_.reviews().answer(request, Identity{.user = request.user}, now_, entropy_);
    if (!answer) return answer.error().message;
    const api::Json* const said =
        api::find_path(std::get<api::DocumentAnswer>(answer->what).document, "status.allowed");
    return said == nullptr ? "" : api::to_text(*said);
  }

  const Time now_ = parse_time("2026-01-01T00:00:00Z").value();
  SeededEntropy entropy_{1};
  std::unique_ptr<store::Store> store_ = store::Store::open(store::make_memory_engine()).value();
  Access access_{*store_, std::nullopt};
};

// What those who serve metrics ask about their callers.
TEST_F(ReviewsTest, TheGroupsOfAnotherMayReadAPath) {
  write("ClusterRole", R"({"metadata":{"name":"metrics"},"rules":[{"verbs":["get"],)"
                       R"("nonResourceURLs":["/metrics"]}]})");
  write("ClusterRoleBinding",
        R"({"metadata":{"name":"metrics"},"roleRef":{"kind":"ClusterRole","name":"metrics"},)"
        R"("subjects":[{"kind":"Group","name":"monitors"}]})");
  const auto reads = [&](std::string_view who, std::string_view path) {
    return allowed(std::string("{")
                       .append(who)
                       .append(R"("nonResourceAttributes":{"verb":"get","path":")")
                       .append(path)
                       .append("\"}}"));
  };
  EXPECT_EQ(reads(R"("user":"bob","groups":["dev","monitors"],)", "/metrics"), "true");
  EXPECT_EQ(reads(R"("groups":["monitors"],)", "/metrics"), "true");
  EXPECT_EQ(reads(R"("user":"bob","groups":["dev"],)", "/metrics"), "false");
  EXPECT_EQ(reads(R"("user":"monitors",)", "/metrics"), "false");
  EXPECT_EQ(reads(R"("groups":["monitors"],)", "/livez"), "false");
  EXPECT_EQ(reads("", "/metrics"),
            R"(SubjectAccessReview.authorization.k8s.io "" is invalid: spec.user: Invalid value: )"
            R"("": at least one of user or group must be specified)");
}

}  // namespace
}  // namespace muster::server
