#include "api/scratch.h"

#include <gtest/gtest.h>

#include <string>

#include "api/kept.h"

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

TEST(Scratch, OnlyWhatIsKeptIsRead) {
  static constexpr Kept kItem[]{{"name"}};
  static constexpr Kept kMap[]{{.name = "noise", .dropped = true}, {kTheOthers}};
  static constexpr Kept kAll[]{{"items", kItem}, {"map", kMap}, {"plain"}};
  Scratch scratch;
  const Result<Json> read = parse_kept(
      scratch, R"({"items":[{"name":"a","x":[1]},{"x":2},3],"map":{"noise":{"y":1},"z":{"y":2}},
                   "plain":{"all":[1,2]},"other":1,"plain":null})",
      kAll);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), R"({"items":[{"name":"a"},{},3],"map":{"z":{"y":2}},"plain":null})");
  EXPECT_EQ(to_text(parse_kept(scratch, R"({"a":{"b":1}})", {}).value()), R"({"a":{"b":1}})");
  EXPECT_FALSE(parse_kept(scratch, R"({"a":)", kAll));
}

}  // namespace
}  // namespace muster::api
