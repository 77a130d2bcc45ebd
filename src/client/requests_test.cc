#include <gtest/gtest.h>

#include "api/json.h"
#include "client/client.h"

namespace muster::client {
namespace {

api::ObjectPtr pod() {
  return api::Object::make(
      api::kinds::pod(),
      api::parse_json(R"({"metadata":{"name":"p","namespace":"ns","uid":"u1"}})")->value);
}

// "create v1 Pod ns/p binding": what a request is about.
std::string summary(const api::Request& request) {
  using api::Verb;
  const char* const verb = request.verb == Verb::Create   ? "create"
                           : request.verb == Verb::Get    ? "get"
                           : request.verb == Verb::Patch  ? "patch"
                           : request.verb == Verb::Delete ? "delete"
                                                          : "other";
  std::string out = std::string(verb) + " " + std::string(request.version) + " " +
                    std::string(request.kind->kind) + " " + request.name_space + "/" + request.name;
  if (!request.subresource.empty()) out += " " + std::string(request.subresource);
  return out;
}

TEST(Requests, ABindingNamesTheNodeAndThisVeryPod) {
  const api::Request request = bind_request(*pod(), "n1");
  EXPECT_EQ(summary(request), "create v1 Pod ns/p binding");
  EXPECT_EQ(api::to_text(request.body), R"({"metadata":{"name":"p","namespace":"ns","uid":"u1"},)"
                                        R"("target":{"kind":"Node","name":"n1"}})");
}

TEST(Requests, GettingAsksForTheObjectByItsNames) {
  EXPECT_EQ(summary(get_request(*pod())), "get v1 Pod ns/p");
}

TEST(Requests, CreatingSendsTheDocumentAndLeavesTheNameToIt) {
  const api::Kind& kind = *api::find_kind("apps", "ReplicaSet");
  const api::Request request =
      create_request(kind, "ns", api::JsonObject{{"metadata", api::JsonObject{{"name", "r"}}}});
  EXPECT_EQ(summary(request), "create v1 ReplicaSet ns/");
  EXPECT_EQ(api::to_text(request.body), R"({"metadata":{"name":"r"}})");
}

TEST(Requests, PatchingSendsThePatchToTheSubresource) {
  const api::Request request =
      patch_request(api::kinds::pod(), "ns", "p", "status", api::PatchType::StrategicMerge,
                    api::JsonObject{{"status", api::JsonObject()}});
  EXPECT_EQ(summary(request), "patch v1 Pod ns/p status");
  EXPECT_EQ(request.patch_type, api::PatchType::StrategicMerge);
  EXPECT_EQ(api::to_text(request.body), R"({"status":{}})");
}

TEST(Requests, DeletingDeletesNoLaterObjectOfTheSameName) {
  const api::Request request = delete_request(*pod(), 7);
  EXPECT_EQ(summary(request), "delete v1 Pod ns/p");
  EXPECT_EQ(request.remove.grace_period_s, 7);
  EXPECT_EQ(request.remove.preconditions.uid, "u1");
  EXPECT_EQ(delete_request(*pod(), std::nullopt).remove.grace_period_s, std::nullopt);
}

}  // namespace
}  // namespace muster::client
