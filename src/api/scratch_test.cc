#include "api/scratch.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::api {
namespace {

std::shared_ptr<Object> pod_of(const std::string& text) {
  return Object::make(kinds::pod(), parse_json(text).value().value);
}

TEST(Scratch, HoldsTheSameDocument) {
  const auto pod =
      pod_of(R"({"metadata":{"name":"a","labels":{"x":"1"}},)"
             R"("spec":{"containers":[{"name":"c","ports":[{"containerPort":80}],"tty":true}]}})");
  Scratch scratch;
  const Json document = document_in(scratch, *pod);
  EXPECT_EQ(document, pod->document());
  EXPECT_EQ(document.storage(), scratch.storage());
  EXPECT_EQ(find_path(document, "spec.containers")->storage(), scratch.storage());
}

TEST(Scratch, GrowsBeyondItsFirstMemory) {
  std::string text = R"({"metadata":{"name":"a","annotations":{)";
  for (int i = 0; i < 2000; ++i) text += fmt::format(R"("key-{}":"{:060}",)", i, i);
  text.back() = '}';
  const auto pod = pod_of(text + "}}");
  Scratch scratch;
  EXPECT_EQ(document_in(scratch, *pod), pod->document());
}

TEST(Scratch, PartsMovedElsewhereOutliveIt) {
  const auto pod = pod_of(R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}})");
  Json kept;
  {
    Scratch scratch;
    Json document = document_in(scratch, *pod);
    kept = std::move(document.as_object().at("spec"));
  }
  EXPECT_EQ(kept, *find(pod->document(), "spec"));
}

TEST(Scratch, MembersAreOnlyThoseAskedFor) {
  const auto pod =
      pod_of(R"({"metadata":{"name":"a"},"spec":{"nodeName":"n"},"status":{"phase":"Running"}})");
  Scratch scratch;
  const Json document = members_in(scratch, *pod, {"status", "spec", "missing"});
  EXPECT_EQ(document.as_object().size(), 2U);
  EXPECT_EQ(*find(document, "spec"), *find(pod->document(), "spec"));
  EXPECT_EQ(find_path(document, "status.phase")->as_string(), "Running");
}

}  // namespace
}  // namespace muster::api
