#include "api/apply/apply.h"

#include <gtest/gtest.h>

#include "api/apply/managers.h"
#include "api/kinds/kind.h"

namespace muster::api {
namespace {

const schema::Message& pod() { return *kinds::pod().message; }
Json json(std::string_view text) { return parse_json(text).value().value; }

Write by(std::string manager, std::string now = "2026-01-01T00:00:00Z") {
  return {.manager = std::move(manager),
          .api_version = "v1",
          .subresource = "",
          .now = std::move(now),
          .beyond = field_set({"status"})};
}

Result<Json> apply_as(const std::string& manager, Json live, std::string_view config,
                      bool force = false) {
  return apply(pod(), by(manager), std::move(live), json(config), force);
}

std::string labels_of(const Json& document) {
  const Json* const labels = find_path(document, "metadata.labels");
  return labels == nullptr ? "" : to_text(*labels);
}

// `m/Apply {"f:..."}` per entry.
std::vector<std::string> owners(const Json& document) {
  std::vector<std::string> out;
  for (const auto& [manager, owned] : read_managers(document))
    out.push_back(manager.name + "/" + manager.operation + " " +
                  to_text(to_fields_v1(owned.fields.set())));
  return out;
}

TEST(ApplyTest, TheFirstApplyMakesTheObjectAndOwnsWhatItSays) {
  const auto made = apply_as("m", nullptr, R"({"metadata":{"name":"x","labels":{"a":"1"}}})");
  EXPECT_EQ(labels_of(*made), R"({"a":"1"})");
  EXPECT_EQ(owners(*made),
            std::vector<std::string>{R"(m/Apply {"f:metadata":{"f:labels":{"f:a":{}}}})"});
}

TEST(ApplyTest, WhatIsNoLongerSaidIsTakenOutUnlessAnotherOwnsIt) {
  Json object = *apply_as("m", nullptr, R"({"metadata":{"labels":{"a":"1","b":"2"}}})");
  object = *apply_as("n", std::move(object), R"({"metadata":{"labels":{"b":"2"}}})");
  object = *apply_as("m", std::move(object), R"({"metadata":{"labels":{"c":"3"}}})");
  EXPECT_EQ(labels_of(object), R"({"b":"2","c":"3"})");
  EXPECT_EQ(owners(object),
            (std::vector<std::string>{R"(m/Apply {"f:metadata":{"f:labels":{"f:c":{}}}})",
                                      R"(n/Apply {"f:metadata":{"f:labels":{"f:b":{}}}})"}));
}

TEST(ApplyTest, ItemsWithoutTheirKeyAreKeptAndNobodysOwn) {
  const Json live = json(R"({"spec":{"volumes":[{},{"name":"v"}]}})");
  const auto once = apply_as("m", live, R"({"spec":{"nodeName":"n"}})");
  ASSERT_TRUE(once.has_value());
  EXPECT_EQ(to_text(*find_path(*once, "spec.volumes")), R"([{},{"name":"v"}])");
  EXPECT_EQ(
      owners(*once),
      (std::vector<std::string>{
          R"(before-first-apply/Update {"f:spec":{"f:volumes":{"k:{\"name\":\"v\"}":{".":{},"f:name":{}}}}})",
          R"(m/Apply {"f:spec":{"f:nodeName":{}}})"}));
  // The record reads back as it was written: applying again changes nothing.
  EXPECT_EQ(to_text(*apply_as("m", *once, R"({"spec":{"nodeName":"n"}})")), to_text(*once));
}

TEST(ApplyTest, AnotherManagersFieldIsAConflictUntilForced) {
  const Json object =
      *apply_as("m", nullptr, R"({"metadata":{"labels":{"a":"1","b":"2","c":"3"}}})");
  const auto one = apply_as("n", object, R"({"metadata":{"labels":{"a":"other","b":"2"}}})");
  ASSERT_FALSE(one.has_value());
  EXPECT_EQ(one.error().reason, Reason::Conflict);
  EXPECT_EQ(one.error().message,
            R"(Apply failed with 1 conflict: conflict with "m": .metadata.labels.a)");
  EXPECT_EQ(one.error().causes, std::vector<Cause>({{.type = "FieldManagerConflict",
                                                     .field = ".metadata.labels.a",
                                                     .message = R"(conflict with "m")"}}));
  const auto two = apply_as("n", object, R"({"metadata":{"labels":{"a":"x","c":"x"}}})");
  EXPECT_EQ(two.error().message,
            "Apply failed with 2 conflicts: conflicts with \"m\":\n- .metadata.labels.a\n"
            "- .metadata.labels.c");

  const auto forced = apply_as("n", object, R"({"metadata":{"labels":{"a":"x"}}})", true);
  EXPECT_EQ(owners(*forced),
            (std::vector<std::string>{R"(m/Apply {"f:metadata":{"f:labels":{"f:b":{},"f:c":{}}}})",
                                      R"(n/Apply {"f:metadata":{"f:labels":{"f:a":{}}}})"}));
}

// Thousands of managers fit into an object, and each has something to say against a change.
TEST(ApplyTest, OfManyConflictsFiveHundredAreNamed) {
  constexpr int kManagers = 2'000;
  JsonArray managers;
  for (int i = 0; i < kManagers; ++i)
    managers.push_back(JsonObject{{"manager", "m" + std::to_string(i)},
                                  {"operation", "Apply"},
                                  {"apiVersion", "v1"},
                                  {"fieldsV1", json(R"({"f:metadata":{"f:labels":{"f:a":{}}}})")}});
  Json live = json(R"({"metadata":{"labels":{"a":"1"}}})");
  live.get_object()["metadata"].get_object()["managedFields"] = std::move(managers);
  const auto refused = apply_as("n", live, R"({"metadata":{"labels":{"a":"2"}}})");
  ASSERT_FALSE(refused);
  const std::string& message = refused.error().message;
  EXPECT_TRUE(message.starts_with("Apply failed with 2000 conflicts: conflicts with "));
  EXPECT_TRUE(message.ends_with("\n- and 1500 more"));
  std::size_t named = 0;
  for (std::size_t at = message.find("conflicts with"); at != std::string::npos;
       at = message.find("conflicts with", at + 1))
    ++named;
  EXPECT_EQ(named, 500U);
  EXPECT_EQ(refused.error().causes.size(), 501U);
  EXPECT_TRUE(apply_as("n", live, R"({"metadata":{"labels":{"a":"2"}}})", true));
}

TEST(ApplyTest, UpdatesAreRecordedAndConflictWithTheirVersion) {
  Json object = json(R"({"metadata":{"name":"x","labels":{"a":"1"}},"spec":{"nodeName":"n"}})");
  record_update(pod(), by("curl"), nullptr, object);
  EXPECT_EQ(
      owners(object),
      std::vector<std::string>{
          R"(curl/Update {"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:nodeName":{}}})"});
  EXPECT_EQ(apply_as("m", object, R"({"metadata":{"labels":{"a":"2"}}})").error().message,
            R"(Apply failed with 1 conflict: conflict with "curl" using v1: .metadata.labels.a)");

  Json changed = object;
  changed.at("metadata").at("labels") = json(R"({"b":"1"})");
  record_update(pod(), by("edit"), object, changed);
  EXPECT_EQ(owners(changed),
            (std::vector<std::string>{
                R"(curl/Update {"f:metadata":{"f:labels":{}},"f:spec":{"f:nodeName":{}}})",
                R"(edit/Update {"f:metadata":{"f:labels":{"f:b":{}}}})"}));
}

TEST(ApplyTest, AWriteThatChangesNothingLeavesNoTrace) {
  Json object = json(R"({"metadata":{"labels":{"a":"1"}}})");
  record_update(pod(), by("curl", "2026-01-01T00:00:00Z"), nullptr, object);
  Json same = object;
  record_update(pod(), by("curl", "2027-01-01T00:00:00Z"), object, same);
  EXPECT_EQ(same, object);
  record_update(pod(), by("other", "2027-01-01T00:00:00Z"), object, same);
  EXPECT_EQ(same, object);
  const Json applied = *apply_as("m", object, R"({"metadata":{"labels":{"a":"1"}}})");
  Write later = by("m", "2028-01-01T00:00:00Z");
  EXPECT_EQ(*apply(pod(), later, applied, json(R"({"metadata":{"labels":{"a":"1"}}})"), false),
            applied);
}

TEST(ApplyTest, UntrackedObjectsStaySoUntilTheFirstApply) {
  const Json object = json(R"({"metadata":{"labels":{"a":"1","b":"2"}}})");
  Json changed = json(R"({"metadata":{"labels":{"a":"2","b":"2"}}})");
  record_update(pod(), by("curl"), object, changed);
  EXPECT_TRUE(owners(changed).empty());
  EXPECT_EQ(owners(*apply_as("m", object, R"({"metadata":{"labels":{"a":"1"}}})")),
            (std::vector<std::string>{
                R"(before-first-apply/Update {"f:metadata":{"f:labels":{"f:a":{},"f:b":{}}}})",
                R"(m/Apply {"f:metadata":{"f:labels":{"f:a":{}}}})"}));
}

TEST(ApplyTest, KubectlMayTakeOverWhatItAppliedFromTheClient) {
  Json object = json(R"({"metadata":{"labels":{"a":"1","b":"2"},"annotations":{)"
                     R"("kubectl.kubernetes.io/last-applied-configuration":)"
                     R"("{\"metadata\":{\"labels\":{\"a\":\"1\"}}}"}}})");
  record_update(pod(), by("kubectl-client-side-apply"), nullptr, object);
  const auto taken = apply_as("kubectl", object, R"({"metadata":{"labels":{"a":"2"}}})");
  ASSERT_TRUE(taken.has_value()) << taken.error().message;
  EXPECT_EQ(labels_of(*taken), R"({"a":"2","b":"2"})");
  EXPECT_FALSE(apply_as("kubectl", object, R"({"metadata":{"labels":{"b":"3"}}})").has_value());
  EXPECT_FALSE(apply_as("other", object, R"({"metadata":{"labels":{"a":"2"}}})").has_value());
}

// Without this, the next client-side apply would undo what was applied here.
TEST(ApplyTest, KubectlRenewsWhatItAppliedFromTheClient) {
  constexpr std::string_view kBefore = R"({"metadata":{"labels":{"a":"1"}}})";
  constexpr std::string_view kNow = R"({"metadata":{"labels":{"a":"2"}}})";
  Json object = json(R"({"metadata":{"labels":{"a":"1"},"annotations":{)"
                     R"("kubectl.kubernetes.io/last-applied-configuration":)"
                     R"("{\"metadata\":{\"labels\":{\"a\":\"1\"}}}"}}})");
  record_update(pod(), by("kubectl-client-side-apply"), nullptr, object);
  const auto last_applied = [](const Json& document) {
    const Json* const annotations = find_path(document, "metadata.annotations");
    return annotations == nullptr
               ? std::string("none")
               : std::string(
                     find_string(*annotations, "kubectl.kubernetes.io/last-applied-configuration"));
  };
  EXPECT_EQ(last_applied(*apply_as("kubectl", object, kNow)), std::string(kNow) + "\n");
  EXPECT_EQ(last_applied(*apply_as("other", object, kNow, true)), kBefore);
  EXPECT_EQ(last_applied(*apply_as("kubectl", nullptr, kNow)), "none") << "nobody asked for it";
  constexpr std::string_view kOwn =
      R"({"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"own"}}})";
  EXPECT_EQ(last_applied(*apply_as("kubectl", object, kOwn, true)), "own");
}

TEST(ApplyTest, TheTimeIsThatOfTheLastChange) {
  const std::string first = "2026-01-01T00:00:00Z";
  const std::string second = "2026-01-02T00:00:00Z";
  const auto time_of = [](const Json& document, std::string_view operation) {
    const Managers managers = read_managers(document);
    const auto found = managers.find(
        {.name = "m", .operation = std::string(operation), .api_version = "v1", .subresource = ""});
    return found == managers.end() ? std::string("none") : found->second.time;
  };
  const Json both = json(R"({"metadata":{"labels":{"a":"1","b":"1"}}})");
  for (const std::string_view text :
       {R"({"metadata":{"labels":{"a":"2","b":"1"}}})", R"({"metadata":{"labels":{"a":"1"}}})"}) {
    Json updated = both;
    record_update(pod(), by("m", first), nullptr, updated);
    EXPECT_EQ(time_of(updated, "Update"), first);
    const Json wanted = json(text);
    Json changed = updated;
    changed.at("metadata").at("labels") = *find_path(wanted, "metadata.labels");
    record_update(pod(), by("m", second), updated, changed);
    EXPECT_EQ(time_of(changed, "Update"), second) << text;

    const Json applied = *apply(pod(), by("m", first), nullptr, both, false);
    EXPECT_EQ(time_of(applied, "Apply"), first);
    const Json again = *apply(pod(), by("m", second), applied, wanted, false);
    EXPECT_EQ(time_of(again, "Apply"), second) << text;
  }
}

TEST(ApplyTest, OldUpdatersAreToldAsOne) {
  Json object = json(R"({"metadata":{"labels":{"l0":"x"}}})");
  record_update(pod(), by("m0", "2026-01-01T00:00:00Z"), nullptr, object);
  for (int i = 1; i < 13; ++i) {
    Json next = object;
    next.at("metadata").at("labels").as_object().insert_or_assign("l" + std::to_string(i), "x");
    record_update(pod(),
                  by("m" + std::to_string(i), "2026-01-01T00:00:" + std::to_string(10 + i) + "Z"),
                  object, next);
    object = std::move(next);
    EXPECT_LE(read_managers(object).size(), 10U) << i;
  }
  const Managers managers = read_managers(object);
  EXPECT_EQ(managers.size(), 10U);
  const auto ancient = managers.find(
      {.name = "ancient-changes", .operation = "Update", .api_version = "v1", .subresource = ""});
  ASSERT_NE(ancient, managers.end());
  EXPECT_EQ(
      printed_paths(ancient->second.fields.set()).first,
      (std::vector<std::string>{".metadata.labels", ".metadata.labels.l0", ".metadata.labels.l1",
                                ".metadata.labels.l2", ".metadata.labels.l3"}));
}

TEST(ApplyTest, OldUpdatersOfASubresourceAreToldWithTheOthers) {
  Json object = json(R"({"metadata":{"labels":{"l0":"x"}}})");
  record_update(pod(), by("m0", "2026-01-01T00:00:00Z"), nullptr, object);
  for (int i = 1; i < 11; ++i) {
    Json next = object;
    next.at("metadata").at("labels").as_object().insert_or_assign("l" + std::to_string(i), "x");
    Write write = by("m" + std::to_string(i), "2026-01-01T00:00:" + std::to_string(10 + i) + "Z");
    if (i == 1) write.subresource = "status";
    record_update(pod(), write, object, next);
    object = std::move(next);
  }
  const Managers managers = read_managers(object);
  EXPECT_EQ(managers.size(), 10U);
  const auto ancient = managers.find(
      {.name = "ancient-changes", .operation = "Update", .api_version = "v1", .subresource = ""});
  ASSERT_NE(ancient, managers.end());
  EXPECT_EQ(
      printed_paths(ancient->second.fields.set()).first,
      (std::vector<std::string>{".metadata.labels", ".metadata.labels.l0", ".metadata.labels.l1"}));
}

TEST(ApplyTest, WhatCannotBeReadStaysInAnObjectThatNobodyTracks) {
  const std::string_view odd =
      R"({"metadata":{"managedFields":[{"manager":"m","operation":"Update","fieldsV1":{"x":{}}}]}})";
  Json object = json(odd);
  record_update(pod(), by("n"), json(R"({"metadata":{}})"), object);
  EXPECT_EQ(to_text(object), odd);
}

TEST(ApplyTest, AnUpdateLeavesTheFieldsOfOthersAsTheyAre) {
  Json object = json(R"({"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"nodeName":"n"}})");
  record_update(pod(), by("m"), nullptr, object);
  Json next = object;
  next.at("metadata").at("labels").as_object().insert_or_assign("b", "3");
  record_update(pod(), by("n"), object, next);
  EXPECT_EQ(
      owners(next),
      (std::vector<std::string>{
          R"(m/Update {"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:nodeName":{}}})",
          R"(n/Update {"f:metadata":{"f:labels":{"f:b":{}}}})"}));
}

TEST(ApplyTest, StatusIsNotOwnedThroughTheMainDoor) {
  const auto made =
      apply_as("m", nullptr, R"({"metadata":{"labels":{"a":"1"}},"status":{"phase":"Running"}})");
  EXPECT_EQ(owners(*made),
            std::vector<std::string>{R"(m/Apply {"f:metadata":{"f:labels":{"f:a":{}}}})"});
}

}  // namespace
}  // namespace muster::api
