#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/patch/patch.h"

namespace muster::api {
namespace {

Json json(std::string_view text) { return parse_json(text).value().value; }

std::string patched(std::string_view target, std::string_view patch) {
  const auto result =
      strategic_merge_patch(schema::message("core/v1", "Pod"), json(target), json(patch));
  return result ? to_text(*result) : result.error().message;
}

struct Case {
  std::string_view name;
  std::string_view target;
  std::string_view patch;
  std::string_view want;
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(patched(c.target, c.patch), c.want) << c.name;
}

TEST(StrategicMerge, MergesMapsAndReplacesScalars) {
  check({
      {"a null deletes", R"({"spec":{"nodeName":"n","hostname":"h"}})",
       R"({"spec":{"nodeName":null}})", R"({"spec":{"hostname":"h"}})"},
      {"a scalar replaces", R"({"spec":{"nodeName":"n"}})", R"({"spec":{"nodeName":"m"}})",
       R"({"spec":{"nodeName":"m"}})"},
      {"labels merge", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
       R"({"metadata":{"labels":{"a":null,"c":"3"}}})",
       R"({"metadata":{"labels":{"b":"2","c":"3"}}})"},
      {"a null for nothing is ignored", R"({"spec":{}})",
       R"({"spec":{"x":null,"affinity":{"podAffinity":null}}})", R"({"spec":{"affinity":{}}})"},
      {"a map takes the place of a scalar", R"({"spec":{"affinity":1}})",
       R"({"spec":{"affinity":{}}})", R"({"spec":{"affinity":{}}})"},
      {"unknown members are taken over", R"({"spec":{}})", R"({"spec":{"foo":{"bar":[1]}}})",
       R"({"spec":{"foo":{"bar":[1]}}})"},
  });
}

TEST(StrategicMerge, MergesListsByKey) {
  check({
      {"a known item merges", R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"2"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"b"}]}})"},
      {"a new item goes first", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"b"},{"name":"a"}]}})"},
      {"a new item that is named twice is one", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b","image":"1"},{"name":"b","tty":true}]}})",
       R"({"spec":{"containers":[{"name":"b","image":"1","tty":true},{"name":"a"}]}})"},
      {"patch items keep the order of the patch",
       R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
       R"({"spec":{"containers":[{"name":"c"},{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]}})"},
      {"nested lists merge",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"},{"name":"X","value":"1"}]}]}})"},
      {"numbers are keys too",
       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80}]}]}})",
       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"h"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"h"}]}]}})"},
      {"lists without a key are replaced", R"({"spec":{"tolerations":[{"key":"a"},{"key":"b"}]}})",
       R"({"spec":{"tolerations":[{"key":"c"}]}})", R"({"spec":{"tolerations":[{"key":"c"}]}})"},
      {"an item needs its key", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"image":"c"}]}})",
       "map: map[image:c] does not contain declared merge key: name"},
      {"an absent list needs no key", R"({"spec":{}})",
       R"({"spec":{"containers":[{"image":"c"}]}})", R"({"spec":{"containers":[{"image":"c"}]}})"},
  });
}

TEST(StrategicMerge, ObeysPatchDirectives) {
  check({
      {"replace a map", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
       R"({"metadata":{"labels":{"$patch":"replace","c":"3"}}})",
       R"({"metadata":{"labels":{"c":"3"}}})"},
      {"delete a map", R"({"metadata":{"labels":{"a":"1"},"name":"p"}})",
       R"({"metadata":{"labels":{"$patch":"delete"}}})",
       R"({"metadata":{"labels":{},"name":"p"}})"},
      {"delete an item", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})"},
      {"delete an item that is not there", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"x","$patch":"delete"}]}})",
       R"({"spec":{"containers":[{"name":"a"}]}})"},
      {"delete needs the key", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"$patch":"delete"}]}})",
       "map: map[$patch:delete] does not contain declared merge key: name"},
      {"replace a list", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"c"},{"$patch":"replace"}]}})",
       R"({"spec":{"containers":[{"name":"c"}]}})"},
      {"empty a list", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"$patch":"replace"}]}})", R"({"spec":{"containers":[]}})"},
      {"an unknown directive in a map", R"({"spec":{"nodeSelector":{"a":"b"}}})",
       R"({"spec":{"nodeSelector":{"$patch":"x","c":"d"}}})",
       "unknown patch type: x in map: map[$patch:x c:d]"},
      {"an unknown directive in a list", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"a","$patch":"x"}]}})",
       "unknown patch type: x in map: map[$patch:x name:a]"},
      {"directives for an absent target are dropped with their map", R"({"spec":{}})",
       R"({"spec":{"nodeSelector":{"$patch":"x"},"containers":[{"name":"a"},{"$patch":"delete","name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a"}]}})"},
      {"a new item loses its directives", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b","$setElementOrder/env":[{"name":"X"}],"env":[{"name":"X"}]}]}})",
       R"({"spec":{"containers":[{"name":"b","env":[{"name":"X"}]},{"name":"a"}]}})"},
      {"the whole document", R"({"spec":{"nodeName":"n"}})",
       R"({"$patch":"replace","metadata":{"name":"p"}})", R"({"metadata":{"name":"p"}})"},
  });
}

TEST(StrategicMerge, TreatsListsOfScalarsAsSets) {
  check({
      {"union", R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"finalizers":["b","c"]}})", R"({"metadata":{"finalizers":["a","b","c"]}})"},
      {"delete", R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})",
       R"({"metadata":{"finalizers":["b"]}})"},
      {"delete and add", R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]}})",
       R"({"metadata":{"finalizers":["c","b"]}})"},
      {"delete from nothing", R"({"metadata":{}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})", R"({"metadata":{}})"},
      {"order", R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"$setElementOrder/finalizers":["c","b"],"finalizers":["c"]}})",
       R"({"metadata":{"finalizers":["c","a","b"]}})"},
      {"deletions must be a list", R"({"metadata":{"finalizers":["a"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":"a"}})",
       "invalid patch format of primitive list"},
  });
}

TEST(StrategicMerge, SetsTheOrderOfElements) {
  check({
      {"without a change", R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]}})"},
      {"with a new item in front", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"b","image":"i"}]}})",
       R"({"spec":{"containers":[{"name":"b","image":"i"},{"name":"a"}]}})"},
      {"items of the server alone keep their place",
       R"({"spec":{"containers":[{"name":"side"},{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"b","image":"2"}]}})",
       R"({"spec":{"containers":[{"name":"side"},{"name":"a"},{"name":"b","image":"2"}]}})"},
      {"with a deletion", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"a","$patch":"delete"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})"},
      {"for an absent list", R"({"spec":{}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})"},
      {"for nothing at all", R"({"spec":{}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"}]}})", R"({"spec":{}})"},
      {"every item of the patch must be named", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"b"}]}})",
       "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder "
       "list:\n[map[name:a]]\n"},
      {"the order must be a list", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"$setElementOrder/containers":"a"}})",
       "invalid patch format of setElementOrder list"},
  });
}

TEST(StrategicMerge, WhatIsTakenOverLosesEveryDirective) {
  check({
      {"in a new map", R"({"spec":{}})",
       R"({"spec":{"nodeSelector":{"a":"b","gone":null,"$retainKeys":["a"],"$setElementOrder/x":[],
       "$deleteFromPrimitiveList/y":[]}}})",
       R"({"spec":{"nodeSelector":{"a":"b"}}})"},
      {"in items of a new list", R"({"spec":{}})",
       R"({"spec":{"tolerations":[{"key":"a","value":null},{"key":"b","$patch":"replace"}]}})",
       R"({"spec":{"tolerations":[{"key":"a"}]}})"},
      {"a map with a directive takes the place of nothing",
       R"({"spec":{"affinity":1,"hostname":"h"}})", R"({"spec":{"affinity":{"$patch":"replace"}}})",
       R"({"spec":{"hostname":"h"}})"},
      {"in a map that is replaced", R"({"metadata":{"labels":{"a":"1"}}})",
       R"({"metadata":{"labels":{"$patch":"replace","b":null,"c":"3"}}})",
       R"({"metadata":{"labels":{"c":"3"}}})"},
      {"in a list that is replaced", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"$patch":"replace"},{"name":"b","image":null}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})"},
      {"delete of a map leaves nothing", R"({"metadata":{"labels":{"a":"1"}}})",
       R"({"metadata":{"labels":{"$patch":"delete","b":"2"}}})", R"({"metadata":{"labels":{}}})"},
  });
}

TEST(StrategicMerge, ListsThatMergeHoldItemsOfOneType) {
  check({
      {"a scalar among maps", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b"},"c"]}})",
       "list element types are not identical: [map[name:b] c]"},
      {"a map among scalars", R"({"metadata":{"finalizers":["a"]}})",
       R"({"metadata":{"finalizers":[{"x":1}]}})",
       "list element types are not identical: [map[x:1]]"},
      {"a list", R"({"metadata":{"finalizers":["a"]}})", R"({"metadata":{"finalizers":[["b"]]}})",
       "lists of lists are not supported"},
      {"an order of maps without keys", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"image":"a"}]}})",
       "map: map[image:a] does not contain declared merge key: name"},
      {"a list cannot say how it merges", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"a","$patch":"merge"}]}})",
       "merging lists cannot yet be specified in the patch"},
  });
}

TEST(StrategicMerge, OrdersAreForListsThatMerge) {
  check({
      {"the stored value must be a list", R"({"spec":{"containers":"a"}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"}]}})",
       "invalid patch format of setElementOrder list"},
      {"the change must be a list", R"({"spec":{}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":{}}})",
       "invalid patch format of setElementOrder list"},
      {"a list that is replaced has no order", R"({"spec":{"tolerations":[{"key":"a"}]}})",
       R"({"spec":{"$setElementOrder/tolerations":[{"key":"a"}],"tolerations":[{"key":"b"}]}})",
       R"({"spec":{"tolerations":[{"key":"b"}]}})"},
      {"an empty order orders nothing", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"$setElementOrder/containers":[],"containers":[{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})"},
      {"in another order than the patch", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"b"},{"name":"a"}]}})",
       "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder "
       "list:\n[map[name:a] map[name:b]]\n"},
      {"an item of the patch without its key", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"image":"i"}]}})",
       "map: map[image:i] does not contain declared merge key: name"},
  });
}

TEST(StrategicMerge, RetainedKeysCoverOrdersDeletionsAndNulls) {
  check({
      {"they need not be named", R"({"metadata":{"name":"p","finalizers":["a","b"],"labels":{}}})",
       R"({"metadata":{"$retainKeys":["name","finalizers"],"$setElementOrder/finalizers":["b","a"],
       "$deleteFromPrimitiveList/finalizers":["a"],"labels":null}})",
       R"({"metadata":{"name":"p","finalizers":["b"]}})"},
      {"what is no name retains nothing", R"({"metadata":{"name":"p","labels":{}}})",
       R"({"metadata":{"$retainKeys":[1,"name"]}})", R"({"metadata":{"name":"p"}})"},
  });
}

TEST(StrategicMerge, ValuesInMessagesAreWrittenAsGoWritesThem) {
  EXPECT_EQ(
      patched(R"({"spec":{"containers":[{"name":"a"}]}})",
              R"({"spec":{"containers":[{"z":[1,"a",null,true,[]],"m":{"b":1.5,"a":{}}}]}})"),
      "map: map[m:map[a:map[] b:1.5] z:[1 a <nil> true []]] does not contain declared merge key: "
      "name");
  const std::string large(std::size_t{64} << 10U, 'x');
  const std::string message = patched(R"({"spec":{"containers":[{"name":"a"}]}})",
                                      R"({"spec":{"containers":[{"image":")" + large + R"("}]}})");
  EXPECT_EQ(message, "map: map[image:" + large.substr(0, (std::size_t{32} << 10U) - 10) +
                         "... does not contain declared merge key: name");
}

TEST(StrategicMerge, RetainsOnlyTheNamedKeys) {
  check({
      {"a volume changes its source", R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
       R"({"spec":{"volumes":[{"$retainKeys":["name","secret"],"name":"v","secret":{"secretName":"s"}}]}})",
       R"({"spec":{"volumes":[{"name":"v","secret":{"secretName":"s"}}]}})"},
      {"what is set must be named", R"({"spec":{"volumes":[{"name":"v"}]}})",
       R"({"spec":{"volumes":[{"$retainKeys":["name"],"name":"v","secret":{}}]}})",
       "invalid patch format of retainKeys"},
      {"the keys must be a list", R"({"spec":{"volumes":[{"name":"v"}]}})",
       R"({"spec":{"volumes":[{"$retainKeys":"name","name":"v"}]}})",
       "invalid patch format of retainKeys"},
      {"a new item loses the directive", R"({"spec":{"volumes":[{"name":"v"}]}})",
       R"({"spec":{"volumes":[{"$retainKeys":["name"],"name":"w"}]}})",
       R"({"spec":{"volumes":[{"name":"w"},{"name":"v"}]}})"},
  });
}

// As kubectl apply writes it: what goes is both null and not retained.
TEST(StrategicMerge, WhatGoesIsNotRetained) {
  EXPECT_EQ(
      patched(
          R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
          R"({"spec":{"volumes":[{"$retainKeys":["name","secret"],"emptyDir":null,"name":"v","secret":{"secretName":"s"}}]}})"),
      R"({"spec":{"volumes":[{"name":"v","secret":{"secretName":"s"}}]}})");
}

TEST(StrategicMerge, ReplacesMapsThatTheSchemaWantsReplaced) {
  const auto& budget = schema::message("policy/v1", "PodDisruptionBudget");
  const auto result =
      strategic_merge_patch(budget, json(R"({"spec":{"selector":{"matchLabels":{"a":"1"}}}})"),
                            json(R"({"spec":{"selector":{"matchLabels":{"b":"2"}}}})"));
  EXPECT_EQ(to_text(*result), R"({"spec":{"selector":{"matchLabels":{"b":"2"}}}})");
}

TEST(StrategicMerge, RefusesAPatchThatIsNoObject) {
  const auto result =
      strategic_merge_patch(schema::message("core/v1", "Pod"), json("{}"), json("[]"));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().reason, Reason::BadRequest);
}

// S-H7: a patch that names one item again and again merges into its lists each time.
TEST(StrategicMerge, BoundsWhatItMergesInto) {
  JsonArray variables;
  for (int i = 0; i < 3'000; ++i) variables.push_back(JsonObject{{"name", std::to_string(i)}});
  const Json target = JsonObject{
      {"spec",
       JsonObject{{"containers", JsonArray{JsonObject{{"name", "c"}, {"env", variables}}}}}}};
  const auto patch_of = [](std::size_t times) {
    const Json item = JsonObject{{"name", "c"}, {"env", JsonArray{JsonObject{{"name", "7"}}}}};
    return Json(JsonObject{{"spec", JsonObject{{"containers", JsonArray(times, item)}}}});
  };
  const schema::Message& pod = schema::message("core/v1", "Pod");
  EXPECT_TRUE(strategic_merge_patch(pod, target, patch_of(3)).has_value());
  EXPECT_TRUE(strategic_merge_patch(pod, target, patch_of(99)).has_value());
  EXPECT_FALSE(strategic_merge_patch(pod, target, patch_of(100)).has_value());
  const auto refused = strategic_merge_patch(pod, target, patch_of(300));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, Reason::RequestEntityTooLarge);
  EXPECT_EQ(refused.error().message,
            "The strategic merge patch is too expensive: it merges into more than 300000 entries");
}

// So do its orders, its deletions and its nulls.
TEST(StrategicMerge, BoundsWhatItOrdersAndDeletes) {
  JsonArray variables;
  JsonArray arguments;
  JsonObject limits;
  for (int i = 0; i < 3'000; ++i) {
    variables.push_back(JsonObject{{"name", std::to_string(i)}});
    arguments.push_back(Json(std::to_string(i)));
    limits.emplace(std::to_string(i), "1");
  }
  const Json target = JsonObject{
      {"spec", JsonObject{{"containers",
                           JsonArray{JsonObject{{"name", "c"},
                                                {"env", variables},
                                                {"args", arguments},
                                                {"resources", JsonObject{{"limits", limits}}}}}}}}};
  const auto reason_of = [&](std::string_view change, int times) {
    JsonArray items;
    for (int i = 0; i < times; ++i) items.push_back(json(fmt::format(fmt::runtime(change), i)));
    const auto done =
        strategic_merge_patch(schema::message("core/v1", "Pod"), target,
                              JsonObject{{"spec", JsonObject{{"containers", std::move(items)}}}});
    return done ? "done" : std::string(reason_name(done.error().reason));
  };
  for (const std::string_view change :
       {R"({{"name":"c","$setElementOrder/env":[{{"name":"{}"}}]}})",
        R"({{"name":"c","$deleteFromPrimitiveList/args":["x{}"]}})",
        R"({{"name":"c","resources":{{"limits":{{"{}":null}}}}}})"}) {
    EXPECT_EQ(reason_of(change, 50), "done") << change;
    EXPECT_EQ(reason_of(change, 200), "RequestEntityTooLarge") << change;
  }
}

}  // namespace
}  // namespace muster::api
