#include "api/apply/owned_fields.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace muster::api {
namespace {

Json json(std::string_view text) { return parse_json(text).value().value; }

OwnedFields owned(std::string_view fields_v1) {
  Json fields = json(fields_v1);
  return OwnedFields::extract(fields).value();
}

FieldSet set(std::string_view fields_v1) { return parse_fields_v1(json(fields_v1)).value(); }

std::string text(OwnedFields fields) { return to_text(std::move(fields).take_json()); }

TEST(OwnedFieldsTest, SortsWhatStandsInAnotherOrder) {
  EXPECT_EQ(text(owned(R"({"f:b":{"f:x":{},".":{}},"f:a":{".":{}}})")),
            R"({"f:a":{},"f:b":{".":{},"f:x":{}}})");
  EXPECT_EQ(text(owned(R"({"f:b":{},"f:a":{}})")), R"({"f:a":{},"f:b":{}})");
}

TEST(OwnedFieldsTest, LeavesWhatCannotBeReadAsItWas) {
  for (const std::string_view text :
       {R"({"data":{}})", R"({"f:a":{"x":{}}})", R"({"f:a":1})", "[]"}) {
    Json fields = json(text);
    EXPECT_FALSE(OwnedFields::extract(fields).has_value());
    EXPECT_EQ(to_text(fields), text);
  }
}

TEST(OwnedFieldsTest, ALeafThatGetsPartsIsStillAPath) {
  OwnedFields fields = owned(R"({"f:labels":{}})");
  fields.add(set(R"({"f:labels":{"f:a":{}}})"));
  EXPECT_EQ(text(std::move(fields)), R"({"f:labels":{".":{},"f:a":{}}})");
}

// Small trees over few elements, so that sets meet.
FieldSet any_set(int depth = 3) {
  FieldSet out{.member = *rc::gen::inRange(0, 2) == 1};
  if (depth > 0) {
    const std::vector<std::string> elements{"f:a", "f:b", "i:0", R"(k:{"n":1})", R"(v:"x")"};
    for (const std::string& element : elements)
      if (*rc::gen::inRange(0, 3) == 0)
        if (FieldSet below = any_set(depth - 1); !below.empty())
          out.children.emplace(element, std::move(below));
  }
  return out;
}
FieldSet any_root() {
  FieldSet out = any_set();
  out.member = false;
  return out;
}

RC_GTEST_PROP(OwnedFieldsTest, DoesWhatSetsDo, ()) {
  const FieldSet a = any_root();
  const FieldSet b = any_root();
  const OwnedFields fields{a};
  RC_ASSERT(fields.set() == a);
  RC_ASSERT(fields.empty() == a.empty());
  RC_ASSERT(fields.meets(b) == !common(a, b).empty());
  OwnedFields more = fields;
  more.add(b);
  RC_ASSERT(text(more) == to_text(to_fields_v1(united(a, b))));
  OwnedFields less = fields;
  less.remove(b);
  RC_ASSERT(text(less) == to_text(to_fields_v1(without(a, b))));
}

}  // namespace
}  // namespace muster::api
