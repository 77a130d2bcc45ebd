#include "api/patch/patch.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_bounds.h"

// nlohmann asserts where a patch steps into a scalar; here that is one of the ways to fail.
inline void assume(bool condition) {
  if (!condition) throw std::logic_error("nlohmann would assert");
}
#define JSON_ASSERT(condition) assume(condition)
#include <nlohmann/json.hpp>

namespace muster::api {
namespace {

Json json(std::string_view text) { return parse_json(text).value().value; }

std::string patched(std::string_view target, std::string_view patch) {
  const auto result = json_patch(json(target), json(patch));
  return result ? to_text(*result) : std::string(reason_name(result.error().reason));
}

enum class Nulls { Some, None };

// Small documents over few keys, so that patches meet what they change.
rc::Gen<nlohmann::json> documents(int depth, Nulls nulls) {
  auto scalars = rc::gen::oneOf(
      rc::gen::construct<nlohmann::json>(rc::gen::arbitrary<bool>()),
      rc::gen::construct<nlohmann::json>(rc::gen::inRange<int>(-3, 3)),
      rc::gen::construct<nlohmann::json>(rc::gen::element<std::string>("", "x", "é", "a/b~c")),
      rc::gen::just(nulls == Nulls::Some ? nlohmann::json(nullptr) : nlohmann::json(false)));
  if (depth == 0) return scalars;
  const auto keys = rc::gen::element<std::string>("a", "b", "c/d", "e~f", "");
  const auto children = rc::gen::lazy([depth, nulls] { return documents(depth - 1, nulls); });
  return rc::gen::resize(
      3, rc::gen::oneOf(
             scalars,
             rc::gen::map(rc::gen::container<std::map<std::string, nlohmann::json>>(keys, children),
                          [](std::map<std::string, nlohmann::json> members) {
                            nlohmann::json object = nlohmann::json::object();
                            for (auto& [key, value] : members) object[key] = std::move(value);
                            return object;
                          }),
             rc::gen::map(rc::gen::container<std::vector<nlohmann::json>>(children),
                          [](std::vector<nlohmann::json> items) {
                            return nlohmann::json(std::move(items));
                          })));
}

RC_GTEST_PROP(MergePatch, AgreesWithNlohmann, ()) {
  nlohmann::json target = *documents(3, Nulls::Some);
  const nlohmann::json patch = *documents(3, Nulls::Some);
  const Json ours = merge_patch(json(target.dump()), json(patch.dump()));
  target.merge_patch(patch);
  RC_ASSERT(nlohmann::json::parse(to_text(ours)) == target);
}

// Every JSON pointer into the document.
void collect_pointers(const nlohmann::json& value, const nlohmann::json::json_pointer& at,
                      std::vector<std::string>& pointers) {
  pointers.push_back(at.to_string());
  if (value.is_object())
    for (const auto& [key, member] : value.items()) collect_pointers(member, at / key, pointers);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) collect_pointers(value[i], at / i, pointers);
}

nlohmann::json random_operation(const nlohmann::json& document) {
  std::vector<std::string> pointers;
  collect_pointers(document, nlohmann::json::json_pointer(), pointers);
  const auto any_pointer = [&] {
    return *rc::gen::elementOf(pointers) +
           *rc::gen::element<std::string>("", "", "/a", "/0", "/-", "/9");
  };
  nlohmann::json operation;
  operation["op"] =
      *rc::gen::element<std::string>("add", "remove", "replace", "move", "copy", "test");
  operation["path"] = any_pointer();
  if (operation["op"] == "move" || operation["op"] == "copy") {
    operation["from"] = any_pointer();
    // nlohmann moves a value into itself and removes the root; the RFC and we refuse the one, we
    // the other.
    const auto from = operation["from"].get<std::string>();
    RC_PRE(operation["op"] == "copy" ||
           (!from.empty() && !operation["path"].get<std::string>().starts_with(from)));
  } else {
    operation["value"] = *documents(1, Nulls::None);
  }
  // nlohmann is silent where there is nothing to remove, the table below is not.
  if (operation["op"] == "remove") operation["path"] = *rc::gen::elementOf(pointers);
  RC_PRE(operation["op"] != "remove" || !operation["path"].get_ref<const std::string&>().empty());
  return operation;
}

// Without nulls: nlohmann lets a patch step into one as if it were an empty object.
RC_GTEST_PROP(JsonPatch, AgreesWithNlohmann, ()) {
  const nlohmann::json target = *documents(3, Nulls::None);
  RC_PRE(target.is_structured());
  nlohmann::json want = target;
  nlohmann::json patch = nlohmann::json::array();
  bool fails = false;
  for (int i = *rc::gen::inRange(1, 4); i > 0 && !fails; --i) {
    const nlohmann::json operation = random_operation(want);
    patch.push_back(operation);
    try {
      want = want.patch(nlohmann::json::array({operation}));
    } catch (const std::exception&) {
      fails = true;
    }
  }
  const auto ours = json_patch(json(target.dump()), json(patch.dump()));
  RC_LOG() << target.dump() << "\n" << patch.dump() << "\n";
  RC_ASSERT(ours.has_value() == !fails);
  if (ours) RC_ASSERT(nlohmann::json::parse(to_text(*ours)) == want);
}

struct PatchCase {
  std::string_view target;
  std::string_view patch;
  std::string_view want;
};
void expect_patched(const std::vector<PatchCase>& cases) {
  for (const PatchCase& c : cases) EXPECT_EQ(patched(c.target, c.patch), c.want) << c.patch;
}

TEST(JsonPatch, CarriesOutEveryOperation) {
  expect_patched({
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2,3]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":{"b/c":1,"d~e":2}})",
       R"([{"op":"remove","path":"/a/b~1c"},{"op":"remove","path":"/a/d~0e"}])", R"({"a":{}})"},
      {R"({"a":1,"b":2,"c":3})", R"([{"op":"remove","path":"/a"}])", R"({"b":2,"c":3})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/a","value":{"x":null}}])", R"({"a":{"x":null}})"},
      {R"({"a":{"b":1},"c":{}})", R"([{"op":"move","from":"/a/b","path":"/c/d"}])",
       R"({"a":{},"c":{"d":1}})"},
      {R"({"a":[1,2,3]})", R"([{"op":"move","from":"/a/0","path":"/a/2"}])", R"({"a":[2,3,1]})"},
      {R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"}])",
       R"({"a":{"b":1},"c":{"b":1}})"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":1.0}])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"test","path":"/b","value":null}])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])", "Invalid"},
      {R"({"a":[1,2]})", R"([{"op":"test","path":"/a","value":[1]}])", "Invalid"},
      {R"({"a":[1]})", R"([{"op":"test","path":"/a","value":[1,2]}])", "Invalid"},
      {R"({"a":{"b":1,"c":2}})", R"([{"op":"test","path":"/a","value":{"b":1}}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"remove","path":"/b"}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"replace","path":"/b","value":1}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"add","path":"/b/c","value":1}])", "Invalid"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":1}])", "Invalid"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/00","value":1}])", "Invalid"},
      {R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])", "Invalid"},
      // T3l: the item that follows takes the place of the moved one, and is not its parent.
      {R"({"list":[{},{}]})", R"([{"op":"move","from":"/list/0","path":"/list/0/x"}])", "Invalid"},
  });
}

TEST(JsonPatch, FindsAndComparesAsPointersSay) {
  expect_patched({
      {R"({"a":{"b":1}})", R"([{"op":"test","path":"","value":{"a":{"b":1.0}}}])",
       R"({"a":{"b":1}})"},
      {R"({"a":1})", R"([{"op":"test","path":"","value":null}])", "Invalid"},
      {R"({"a":[1]})", R"([{"op":"test","path":"/a/1","value":null}])", "Invalid"},
      {R"({"a":null})", R"([{"op":"test","path":"/a","value":null}])", R"({"a":null})"},
      {R"({"a":1})", R"([{"op":"test","path":"/b","value":1}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":"1"}])", "Invalid"},
      {R"({"a":[1,[2]]})", R"([{"op":"test","path":"/a","value":[1,[2]]}])", R"({"a":[1,[2]]})"},
      {R"({"a":[1,[2]]})", R"([{"op":"test","path":"/a","value":[1,[3]]}])", "Invalid"},
      {R"({"a":{"b":1,"c":2}})", R"([{"op":"test","path":"/a","value":{"c":2,"b":1}}])",
       R"({"a":{"b":1,"c":2}})"},
      {R"({"a":{"b":1}})", R"([{"op":"test","path":"/a","value":{"c":1}}])", "Invalid"},
      {R"({"a":true})", R"([{"op":"test","path":"/a","value":false}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])", R"({"b":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"","value":{"b":2}}])", R"({"b":2})"},
      {R"({"a":1})", R"([{"op":"remove","path":""}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"copy","from":"","path":"/b"}])", R"({"a":1,"b":{"a":1}})"},
      {R"({"a":1})", R"([{"op":"copy","from":"/b","path":"/c"}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"move","from":"/b","path":"/a"}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"move","from":"","path":"/a"}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"move","path":"/a"}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"copy","from":1,"path":"/a"}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"add","value":1}])", "Invalid"},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/-"}])", "Invalid"},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/0"}])", R"({"a":[2]})"},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/2"}])", "Invalid"},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/01"}])", "Invalid"},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/1x"}])", "Invalid"},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/"}])", "Invalid"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":1})", R"([{"op":"add","path":"/a/b","value":2}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {R"({"a/b":1,"~1":2})", R"([{"op":"test","path":"/~01","value":2}])", R"({"a/b":1,"~1":2})"},
      {R"({"~":1})", R"([{"op":"remove","path":"/~2"}])", "Invalid"},
      {R"({"~":1})", R"([{"op":"remove","path":"/~"}])", "Invalid"},
      {R"({"":1,"a":2})", R"([{"op":"remove","path":"/"}])", R"({"a":2})"},
      {R"({"a":1})", R"([{"op":"frob","path":"/a","value":1}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"add","path":"a","value":1}])", "Invalid"},
      {R"({"a":1})", R"([{"op":"add","path":"/a"}])", "Invalid"},
      {R"({"a":1})", R"({})", "BadRequest"},
      {R"({"a":1})", R"([1])", "BadRequest"},
  });
}

TEST(JsonPatch, SaysAsLittleAsUpstream) {
  const auto message = [](std::string_view target, std::string_view patch) {
    return json_patch(json(target), json(patch)).error().message;
  };
  EXPECT_EQ(message(R"({"a":1})", R"([{"op":"remove","path":"/b"}])"),
            "the server rejected our request due to an error in our request");
  EXPECT_EQ(message("{}", "{}"), "error decoding patch: a JSON patch is a list of operations");
  EXPECT_EQ(message("{}", "[[]]"), "error decoding patch: an operation is an object");
}

TEST(JsonPatch, APathReachesAsDeepAsADocumentMayBe) {
  Json deepest = JsonObject{{"a", 1}};
  std::string path = "/a";
  for (int i = 1; i < 100; ++i) {
    deepest = JsonObject{{"a", std::move(deepest)}};
    path += "/a";
  }
  const auto done = [&](std::string_view op, const Json& value) {
    return json_patch(deepest, JsonArray{JsonObject{{"op", op}, {"path", path}, {"value", value}}});
  };
  EXPECT_TRUE(done("test", 1));
  EXPECT_TRUE(done("remove", nullptr));
  EXPECT_TRUE(done("replace", 2));
  EXPECT_TRUE(done("add", 2));
  EXPECT_FALSE(done("replace", JsonObject()));
  EXPECT_FALSE(done("add", JsonArray()));
}

TEST(JsonPatch, BoundsOperationsAndCopies) {
  JsonArray many(10'001, json(R"({"op":"test","path":"","value":{}})"));
  const auto too_many = json_patch(json("{}"), many);
  ASSERT_FALSE(too_many.has_value());
  EXPECT_EQ(too_many.error().reason, Reason::RequestEntityTooLarge);
  EXPECT_EQ(too_many.error().message,
            "The allowed maximum operations in a JSON patch is 10000, got 10001");
  many.pop_back();
  EXPECT_TRUE(json_patch(json("{}"), many));

  JsonArray doubling(60, json(R"({"op":"copy","from":"/a","path":"/a/-"})"));
  const auto too_large = json_patch(json(R"({"a":["xxxxxxxxxxxxxxxx"]})"), doubling);
  ASSERT_FALSE(too_large.has_value());
  EXPECT_EQ(too_large.error().reason, Reason::RequestEntityTooLarge);
  EXPECT_TRUE(too_large.error().message.ends_with(", exceeding the limit 3145728"));

  // Three copies of a megabyte are just allowed, with their quotes.
  const Json mega = JsonObject{{"a", std::string((std::size_t{1} << 20U) - 2, 'x')}};
  JsonArray copies;
  for (const std::string_view path : {"/b", "/c", "/d"})
    copies.push_back(JsonObject{{"op", "copy"}, {"from", "/a"}, {"path", path}});
  EXPECT_TRUE(json_patch(mega, copies));
  copies.push_back(json(R"({"op":"copy","from":"/e","path":"/f"})"));
  EXPECT_EQ(json_patch(mega, copies).error().reason, Reason::Invalid) << "there is no /e";
  const Json more = JsonObject{{"a", std::string((std::size_t{1} << 20U) - 1, 'x')}};
  copies.pop_back();
  EXPECT_EQ(json_patch(more, copies).error().message,
            "unable to complete the copy, the accumulated size increase of copy is 3145731, "
            "exceeding the limit 3145728");
}

TEST(JsonPatch, BoundsNesting) {
  std::string deepest;
  JsonArray growing;
  for (int i = 0; i < 7; ++i) {
    growing.push_back(JsonObject{{"op", "copy"}, {"from", ""}, {"path", deepest + "/a"}});
    // The copy holds as many members as there were, and one stands above it.
    deepest += "/a" + deepest;
  }
  JsonArray shallow(growing.begin(), growing.begin() + 6);
  const auto fits = json_patch(json("{}"), shallow);
  ASSERT_TRUE(fits.has_value());
  EXPECT_EQ(depth_of(*fits), 64U);
  const auto too_deep = json_patch(json("{}"), growing);
  ASSERT_FALSE(too_deep.has_value());
  EXPECT_EQ(too_deep.error().reason, Reason::Invalid);
  EXPECT_FALSE(json_patch(*fits, json(fmt::format(R"([{{"op":"replace","path":"{}","value":{}}}])",
                                                  deepest.substr(0, 126),
                                                  std::string(38, '[') + std::string(38, ']'))))
                   .has_value());
}

// S-C4: a move copied what it moved, and memory for documents is only freed as a whole.
TEST(JsonPatch, MovesWithoutACopy) {
  Json target = json(R"({"a":[1,2,3],"b":{}})");
  const Json* const items = target.at("a").get_array().data();
  const auto moved =
      json_patch(std::move(target), json(R"([{"op":"move","from":"/a","path":"/b/c"}])"));
  ASSERT_TRUE(moved.has_value());
  EXPECT_EQ(moved->at("b").at("c").get_array().data(), items);
}

TEST(JsonPatch, BoundsWhatItMoves) {
  JsonObject large{{"a", JsonArray(100'000, 1)}, {"b", JsonObject()}};
  JsonArray back_and_forth;
  for (int i = 0; i < 2'500; ++i) {
    back_and_forth.push_back(json(R"({"op":"move","from":"/a","path":"/b/a"})"));
    back_and_forth.push_back(json(R"({"op":"move","from":"/b/a","path":"/a"})"));
  }
  JsonArray shifting(5'000, json(R"({"op":"add","path":"/a/0","value":1})"));
  for (const JsonArray& patch : {back_and_forth, shifting}) {
    const auto refused = json_patch(large, patch);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().reason, Reason::RequestEntityTooLarge);
    EXPECT_EQ(refused.error().message,
              "The JSON patch is too expensive: its operations move more than 134217728 bytes");
  }
}

TEST(JsonPatch, RemovesFromLargeObjects) {
  JsonObject large;
  JsonArray removals;
  for (int i = 0; i < 1'000; ++i) {
    large[std::to_string(i)] = i;
    if (i % 2 == 0)
      removals.push_back(JsonObject{{"op", "remove"}, {"path", "/" + std::to_string(i)}});
  }
  const auto left = json_patch(large, removals);
  ASSERT_TRUE(left.has_value());
  EXPECT_EQ(left->get_object().size(), 500U);
  EXPECT_EQ(left->at("501"), 501);
  EXPECT_EQ(left->get_object().if_contains("500"), nullptr);
}

}  // namespace
}  // namespace muster::api
