#include "api/apply/managers.h"

#include <gtest/gtest.h>

#include "api/apply/apply.h"
#include "api/kinds/kind.h"

namespace muster::api {
namespace {

Json json(std::string_view text) { return parse_json(text).value().value; }

Manager manager(std::string name, std::string_view operation, std::string version = "v1",
                std::string subresource = "") {
  return {.name = std::move(name),
          .operation = std::string(operation),
          .api_version = std::move(version),
          .subresource = std::move(subresource)};
}
Owned owned(std::string time, const std::vector<std::string>& paths = {"spec"}) {
  return {.fields = OwnedFields(field_set(paths)), .time = std::move(time)};
}

TEST(Managers, AreWrittenInUpstreamsOrder) {
  Managers managers;
  managers[manager("b", kOperationApply)] = owned("2");
  managers[manager("a", kOperationApply)] = owned("3");
  managers[manager("z", kOperationUpdate)] = owned("1");
  managers[manager("y", kOperationUpdate, "v2")] = owned("1");
  managers[manager("y", kOperationUpdate, "v1", "status")] = owned("1");
  managers[manager("y", kOperationUpdate, "v1", "scale")] = owned("1");
  managers[manager("nothing", kOperationUpdate)] = owned("0", {});
  Json document = json(R"({"metadata":{"managedFields":[{"old":1}]}})");
  write_managers(document, managers);
  std::string order;
  for (const Json& entry : find_path(document, "metadata.managedFields")->get_array())
    order.append(find_string(entry, "manager"))
        .append(find_string(entry, "apiVersion"))
        .append(find_string(entry, "subresource"))
        .append(" ");
  EXPECT_EQ(order, "bv1 av1 yv1scale yv1status yv2 zv1 ");
  EXPECT_EQ(read_managers(document).size(), 6U);
}

TEST(Managers, HaveAnEntryEach) {
  Json document = json("{}");
  write_managers(document, {{manager("m", kOperationApply), owned("2026-01-01T00:00:00Z")},
                            {manager("n", kOperationUpdate, "v2", "status"), owned("")}});
  EXPECT_EQ(
      to_text(*find_path(document, "metadata.managedFields")),
      R"([{"manager":"m","operation":"Apply","apiVersion":"v1","time":"2026-01-01T00:00:00Z",)"
      R"("fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}},{"manager":"n","operation":"Update",)"
      R"("apiVersion":"v2","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}},"subresource":"status"}])");
  write_managers(document, {{manager("m", kOperationApply), owned("1", {})}});
  EXPECT_EQ(to_text(document), R"({"metadata":{}})") << "who owns nothing is not listed";
}

TEST(Managers, EntriesOfOneNameAreOne) {
  Json document = json(
      R"({"metadata":{"managedFields":[
      {"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-02T00:00:00Z","fieldsV1":{"f:a":{}}},
      {"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:b":{}}},
      {"manager":"m","apiVersion":"v1","fieldsV1":{"f:c":{}}},
      {"manager":"m","operation":"Update","apiVersion":"v1"}]}})");
  for (const Managers& managers : {read_managers(document), take_managers(document)}) {
    ASSERT_EQ(managers.size(), 1U);
    EXPECT_EQ(managers.begin()->second.fields.set(), field_set({"a", "b"}));
    EXPECT_EQ(managers.begin()->second.time, "2026-01-02T00:00:00Z");
  }
  EXPECT_TRUE(read_managers(json(R"({"metadata":{"managedFields":{}}})")).empty());
  EXPECT_TRUE(read_managers(json("[]")).empty());
}

TEST(Managers, OwnTogetherWhatAnyOfThemOwns) {
  EXPECT_EQ(owned_by_all({{manager("m", kOperationApply), owned("", {"a", "b.c"})},
                          {manager("n", kOperationApply), owned("", {"b.d"})}}),
            field_set({"a", "b.c", "b.d"}));
}

TEST(Managers, TenUpdatersAreNotTooMany) {
  Managers managers;
  for (int i = 0; i < 10; ++i)
    managers[manager("m" + std::to_string(i), kOperationUpdate)] = owned(std::to_string(i));
  for (int i = 0; i < 5; ++i)
    managers[manager("a" + std::to_string(i), kOperationApply)] = owned("0");
  Json document = json("{}");
  write_managers(document, managers);
  EXPECT_EQ(read_managers(document).size(), 15U) << "those who apply do not count";
  managers[manager("late", kOperationUpdate)] = owned("9");
  write_managers(document, managers);
  const Managers capped = read_managers(document);
  EXPECT_EQ(capped.size(), 15U);
  EXPECT_TRUE(capped.contains(manager("ancient-changes", kOperationUpdate)));
  EXPECT_FALSE(capped.contains(manager("m0", kOperationUpdate)));
  EXPECT_FALSE(capped.contains(manager("m1", kOperationUpdate)));
  EXPECT_EQ(capped.at(manager("ancient-changes", kOperationUpdate)).time, "1");
}

TEST(Managers, OldUpdatersAreFoldedByTheirVersion) {
  Managers managers;
  managers[manager("first", kOperationUpdate, "v2")] = owned("0");
  for (int i = 0; i < 10; ++i)
    managers[manager("m" + std::to_string(i), kOperationUpdate)] = owned("1" + std::to_string(i));
  Json document = json("{}");
  write_managers(document, managers);
  const Managers capped = read_managers(document);
  EXPECT_EQ(capped.size(), 10U);
  EXPECT_TRUE(capped.contains(manager("first", kOperationUpdate, "v2")))
      << "nobody of its version joined it";
  EXPECT_TRUE(capped.contains(manager("ancient-changes", kOperationUpdate)));
}

TEST(Managers, AreForgottenOnRequest) {
  EXPECT_TRUE(resets_managers(json(R"({"metadata":{"managedFields":[{}]}})")));
  for (const std::string_view other :
       {R"({"metadata":{"managedFields":[]}})", R"({"metadata":{"managedFields":[{},{}]}})",
        R"({"metadata":{"managedFields":[{"manager":"m"}]}})", R"({"metadata":{}})"})
    EXPECT_FALSE(resets_managers(json(other))) << other;
  Json document = json(R"({"metadata":{"managedFields":[{}]},"spec":{"nodeName":"n"}})");
  const std::string before = to_text(document);
  record_update(*kinds::pod().message,
                {.manager = "m", .api_version = "v1", .subresource = "", .now = "", .beyond = {}},
                nullptr, document);
  EXPECT_EQ(to_text(document), before);
}

TEST(Managers, OfASubresourceAreNamedWithIt) {
  Json live = json(R"({"metadata":{"labels":{"a":"1"}}})");
  record_update(
      *kinds::pod().message,
      {.manager = "m", .api_version = "v1", .subresource = "status", .now = "1", .beyond = {}},
      nullptr, live);
  const auto refused =
      apply(*kinds::pod().message,
            {.manager = "n", .api_version = "v1", .subresource = "", .now = "2", .beyond = {}},
            live, json(R"({"metadata":{"labels":{"a":"2"}}})"), false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "Apply failed with 1 conflict: conflict with \"m\" with subresource \"status\" using "
            "v1: .metadata.labels.a");
}

}  // namespace
}  // namespace muster::api
