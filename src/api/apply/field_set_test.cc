#include "api/apply/field_set.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

FieldSet set(std::string_view fields_v1) {
  return parse_fields_v1(parse_json(fields_v1).value().value).value();
}

std::string text(const FieldSet& fields) { return to_text(to_fields_v1(fields)); }

TEST(FieldSetTest, ReadsAndWritesFieldsV1) {
  for (const std::string_view fields :
       {R"({})", R"({"f:data":{"f:a":{}}})", R"({"f:metadata":{"f:labels":{".":{},"f:a":{}}}})",
        R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{}}}}})",
        R"({"f:metadata":{"f:finalizers":{"v:\"x\"":{}}}})"})
    EXPECT_EQ(text(set(fields)), fields);
}

TEST(FieldSetTest, RefusesWhatIsNoPathElement) {
  for (const std::string_view fields : {R"({"data":{}})", R"({"x:a":{}})", R"({"f:a":1})", "[]"})
    EXPECT_FALSE(parse_fields_v1(parse_json(fields).value().value).has_value()) << fields;
}

TEST(FieldSetTest, PrintsPathsAsMessagesDo) {
  const FieldSet fields =
      set(R"({"f:metadata":{"f:finalizers":{"v:\"x\"":{}}},)"
          R"("f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:ports":{)"
          R"("k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{}}}}}})");
  EXPECT_EQ(printed_paths(fields).first,
            (std::vector<std::string>{
                R"(.metadata.finalizers[="x"])", R"(.spec.containers[name="c"])",
                R"(.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"])"}));
}

TEST(FieldSetTest, PrintsElementsOfEveryKind) {
  EXPECT_EQ(printed_element("f:image"), ".image");
  EXPECT_EQ(printed_element("v:\"x\""), "[=\"x\"]");
  EXPECT_EQ(printed_element("i:3"), "[3]");
  EXPECT_EQ(printed_element(R"(k:{"a":1,"b":"c"})"), R"([a=1,b="c"])");
  EXPECT_EQ(printed_element("k:no json"), "[no json]");
  EXPECT_EQ(printed_element("k:[1]"), "[[1]]");
  for (const std::string_view known : {"f:a", "k:{}", "v:1", "i:0", "f:"})
    EXPECT_TRUE(is_path_element(known)) << known;
  for (const std::string_view unknown : {"", "f", "fa", "x:a", ".", "f.a"})
    EXPECT_FALSE(is_path_element(unknown)) << unknown;
}

TEST(FieldSetTest, PrintsTheFirstPathsAndCountsAll) {
  const FieldSet fields = set(R"({"f:a":{},"f:b":{"f:c":{}},"f:d":{}})");
  const PrintedPaths two = printed_paths(fields, 2);
  EXPECT_EQ(two.first, (std::vector<std::string>{".a", ".b.c"}));
  EXPECT_EQ(two.count, 3U);
  EXPECT_TRUE(printed_paths(fields, 0).first.empty());
  EXPECT_EQ(printed_paths(fields, 0).count, 3U);
  EXPECT_EQ(fields.below("f:a")->member, true);
  EXPECT_EQ(fields.below("f:x"), nullptr);
}

TEST(FieldSetTest, SetsAddMeetAndDiffer) {
  const FieldSet a = set(R"({"f:data":{"f:a":{},"f:b":{}}})");
  const FieldSet b = set(R"({"f:data":{".":{},"f:b":{},"f:c":{}}})");
  EXPECT_EQ(text(united(a, b)), R"({"f:data":{".":{},"f:a":{},"f:b":{},"f:c":{}}})");
  EXPECT_EQ(text(common(a, b)), R"({"f:data":{"f:b":{}}})");
  EXPECT_EQ(text(without(a, b)), R"({"f:data":{"f:a":{}}})");
  EXPECT_TRUE(without(a, a).empty());
  EXPECT_TRUE(without_subtrees(a, b).empty()) << "data itself is in b";
  EXPECT_EQ(text(without_subtrees(b, a)), R"({"f:data":{".":{},"f:c":{}}})");
}

TEST(FieldSetTest, MakesSetsFromDottedPaths) {
  EXPECT_EQ(text(field_set({"status", "metadata.name"})),
            R"({"f:metadata":{"f:name":{}},"f:status":{}})");
}

}  // namespace
}  // namespace muster::api
