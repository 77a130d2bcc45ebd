#include "api/apply/typed.h"

#include <gtest/gtest.h>

#include "api/kinds/kind.h"

namespace muster::api {
namespace {

const schema::Message& pod() { return *kinds::pod().message; }

Json json(std::string_view text) { return parse_json(text).value().value; }
std::string text(const FieldSet& fields) { return to_text(to_fields_v1(fields)); }

constexpr std::string_view kTwoContainers =
    R"({"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"y"}]}})";

TEST(TypedTest, ADocumentsFieldsAreItsLeavesAndItems) {
  EXPECT_EQ(
      text(fields_of(pod(), json(R"({"metadata":{"labels":{"l":"1"},"finalizers":["f/x"]},)"
                                 R"("spec":{"containers":[{"name":"a","command":["c"]}],)"
                                 R"("volumes":[{"name":"v","emptyDir":{}}]}})"))),
      R"({"f:metadata":{"f:finalizers":{"v:\"f/x\"":{}},"f:labels":{"f:l":{}}},)"
      R"("f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:command":{},"f:name":{}}},)"
      R"("f:volumes":{"k:{\"name\":\"v\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}})");
}

TEST(TypedTest, AMissingKeyTakesItsDefault) {
  EXPECT_EQ(
      text(fields_of(pod(), json(R"({"spec":{"containers":[{"name":"a",)"
                                 R"("ports":[{"containerPort":80}]}]}})"))),
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:ports":{)"
      R"("k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}})");
}

TEST(TypedTest, ComparingTellsWhatIsNewOtherAndGone) {
  const Comparison changes =
      compare(pod(), json(kTwoContainers),
              json(R"({"metadata":{"labels":{"l":"1"}},"spec":{"containers":[)"
                   R"({"name":"c"},{"name":"a","image":"z"}]}})"));
  EXPECT_EQ(text(changes.added),
            R"({"f:metadata":{"f:labels":{".":{},"f:l":{}}},"f:spec":{"f:containers":)"
            R"({"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:resources":{}}}}})");
  EXPECT_EQ(text(changes.modified),
            R"({"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{}}}}})");
  EXPECT_EQ(text(changes.removed),
            R"({"f:spec":{"f:containers":{"k:{\"name\":\"b\"}":{".":{},"f:image":{},)"
            R"("f:name":{},"f:resources":{}}}}})");
}

TEST(TypedTest, EqualDocumentsDoNotDiffer) {
  const Comparison same = compare(pod(), json(kTwoContainers), json(kTwoContainers));
  EXPECT_TRUE(same.added.empty() && same.modified.empty() && same.removed.empty());
  // What is always written means the same absent and empty.
  const Comparison status = compare(pod(), json(R"({"status":{}})"), json("{}"));
  EXPECT_TRUE(status.added.empty() && status.modified.empty() && status.removed.empty());
}

TEST(TypedTest, MergingKeepsItemsOfOthersInTheirPlace) {
  EXPECT_EQ(
      to_text(merged(pod(), json(kTwoContainers),
                     json(R"({"spec":{"containers":[{"name":"c"},{"name":"b","image":"z"}]}})"))),
      R"({"spec":{"containers":[{"name":"a","image":"x"},{"name":"c"},)"
      R"({"name":"b","image":"z"}]}})");
}

TEST(TypedTest, MergedSetsAreOrderedAsUpstreamOrdersThem) {
  struct Case {
    std::string_view live;
    std::string_view applied;
    std::string_view want;
  };
  // One letter an item.
  const Case cases[] = {
      {"abc", "ab", "abc"},
      {"ab", "abc", "abc"},
      {"abc", "", "abc"},
      {"", "abc", "abc"},
      {"ab", "ba", "ba"},
      {"abc", "def", "abcdef"},
      {"abc", "cdef", "abcdef"},
      {"abcgf", "cdef", "abcgdef"},
      {"cdef", "ace", "acdef"},
      {"abcxyz", "def", "abcxyzdef"},
      {"abcxyz", "defxyz", "abcdefxyz"},
      {"cagf", "cfag", "cfag"},
      {"abcd", "defa", "bcdefa"},
      {"cdefghij", "2h3e4kl", "cdfg2hij3e4kl"},
      {"abcdefghij", "1b2h3e4kl", "a1bcdfg2hij3e4kl"},
  };
  const auto listed = [](std::string_view letters) {
    JsonArray items;
    for (const char letter : letters) items.emplace_back(std::string_view(&letter, 1));
    return Json(JsonObject{{"metadata", JsonObject{{"finalizers", std::move(items)}}}});
  };
  for (const Case& each : cases) {
    const Json out = merged(pod(), listed(each.live), listed(each.applied));
    std::string got;
    for (const Json& item : find_path(out, "metadata.finalizers")->get_array())
      got += std::string_view(item.get_string());
    EXPECT_EQ(got, each.want) << each.live << " with " << each.applied;
  }
}

TEST(TypedTest, MergingReplacesAtomicListsWhole) {
  EXPECT_EQ(
      to_text(merged(pod(), json(R"({"spec":{"containers":[{"name":"a","command":["x","y"]}]}})"),
                     json(R"({"spec":{"containers":[{"name":"a","command":["z"]}]}})"))),
      R"({"spec":{"containers":[{"name":"a","command":["z"]}]}})");
}

TEST(TypedTest, PruningTakesOutOnlyWhatNobodyOwns) {
  Json document = json(
      R"({"metadata":{"labels":{"mine":"1","shared":"2","free":"3"},"annotations":{"gone":"x"}}})");
  prune(pod(), document,
        fields_of(pod(), json(R"({"metadata":{"labels":{"mine":"","shared":""},)"
                              R"("annotations":{"gone":""}}})")),
        fields_of(pod(), json(R"({"metadata":{"labels":{"shared":""}}})")));
  EXPECT_EQ(to_text(document), R"({"metadata":{"labels":{"shared":"2","free":"3"}}})");
}

TEST(TypedTest, ListItemsNeedTheirKeysAndStandOnce) {
  EXPECT_TRUE(check_lists(pod(), json(kTwoContainers)).has_value());
  const auto missing = check_lists(pod(), json(R"({"spec":{"containers":[{"image":"x"}]}})"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message,
            R"(.spec.containers: element 0: associative list with keys has an element that omits )"
            R"(key field "name" (and doesn't have default value))");
  const auto twice =
      check_lists(pod(), json(R"({"spec":{"containers":[{"name":"a"},{"name":"a"}]}})"));
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().message, R"(.spec.containers: duplicate entries for key [name="a"])");
}

}  // namespace
}  // namespace muster::api
