#include "server/core/strategies/document.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/strategies/pod_condition.h"

namespace muster::server {
namespace {

Json json(std::string_view text) { return api::parse_json(text).value().value; }

TEST(Document, ReadsItsMetadata) {
  const Json pod = json(R"({"metadata":{"name":"a","generation":7,"half":1.5,"text":"8",)"
                        R"("deletionTimestamp":"2026-05-01T10:00:00Z"}})");
  EXPECT_EQ(meta_text(pod, "name"), "a");
  EXPECT_EQ(meta_text(pod, "generation"), "");
  EXPECT_EQ(meta_number(pod, "generation"), 7);
  EXPECT_EQ(meta_number(pod, "half"), std::nullopt);
  EXPECT_EQ(meta_number(pod, "text"), std::nullopt);
  EXPECT_EQ(meta_number(pod, "missing"), std::nullopt);
  EXPECT_EQ(meta_time(pod, "deletionTimestamp"), parse_time("2026-05-01T10:00:00Z"));
  EXPECT_EQ(meta_time(pod, "name"), std::nullopt);
  EXPECT_EQ(meta_text(json("{}"), "name"), "");
}

TEST(Document, MetadataIsMadeIfMissing) {
  Json none;
  metadata(none)["name"] = "a";
  EXPECT_EQ(api::to_text(none), R"({"metadata":{"name":"a"}})");
  Json some = json(R"({"metadata":{"name":"a"}})");
  metadata(some)["uid"] = "u";
  EXPECT_EQ(api::to_text(some), R"({"metadata":{"name":"a","uid":"u"}})");
}

TEST(Document, ListsOfTextsLeaveOutWhatIsNone) {
  const Json document = json(R"({"spec":{"a":["x",1,"y"],"b":"x"}})");
  EXPECT_EQ(text_list(document, "spec.a"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(text_list(document, "spec.b"), std::vector<std::string>());
  EXPECT_EQ(text_list(document, "spec.c"), std::vector<std::string>());
}

TEST(Document, CopiesAlsoWhatIsAbsent) {
  Json to = json(R"({"metadata":{"labels":{"a":"b"},"uid":"new"},"status":{}})");
  const Json from = json(R"({"metadata":{"uid":"old"},"spec":{}})");
  copy_meta(to, from, "uid");
  copy_meta(to, from, "labels");
  copy_member(to.get_object(), from, "spec");
  copy_member(to.get_object(), from, "status");
  EXPECT_EQ(api::to_text(to), R"({"metadata":{"uid":"old"},"spec":{}})");
}

TEST(Document, EmptyPartsAreNoDifference) {
  const api::Kind& pods = api::kinds::pod();
  const auto same = [&](std::string_view a, std::string_view b) {
    return same_member(pods, json(a), json(b), "spec");
  };
  EXPECT_TRUE(same(R"({"spec":{"nodeName":"n"}})", R"({"spec":{"nodeName":"n"}})"));
  EXPECT_FALSE(same(R"({"spec":{"nodeName":"n"}})", R"({"spec":{"nodeName":"m"}})"));
  EXPECT_TRUE(
      same(R"({"spec":{"nodeName":"n","tolerations":[]}})", R"({"spec":{"nodeName":"n"}})"));
  EXPECT_TRUE(same(R"({"spec":{}})", "{}"));
  EXPECT_TRUE(same("{}", R"({"spec":{}})"));
  EXPECT_FALSE(same(R"({"spec":{"nodeName":"n"}})", "{}"));
  EXPECT_FALSE(same("{}", R"({"spec":{"nodeName":"n"}})"));

  // Maps and lists are compared as they are.
  const api::Kind& maps = *api::find_kind("", "ConfigMap");
  EXPECT_TRUE(
      same_member(maps, json(R"({"data":{"a":"b"}})"), json(R"({"data":{"a":"b"}})"), "data"));
  EXPECT_FALSE(
      same_member(maps, json(R"({"data":{"a":"b"}})"), json(R"({"data":{"a":"c"}})"), "data"));
  EXPECT_FALSE(same_member(maps, json(R"({"data":{"a":"b"}})"), json("{}"), "data"));
  EXPECT_TRUE(same_member(maps, json("{}"), json("{}"), "data"));
}

TEST(Document, IsMarkedWhenItIsDeleted) {
  Json pod = json("{}");
  mark_deleted(pod, *parse_time("2026-05-01T10:00:00Z"), 30);
  EXPECT_EQ(api::to_text(pod), R"({"metadata":{"deletionTimestamp":"2026-05-01T10:00:00Z",)"
                               R"("deletionGracePeriodSeconds":30}})");
}

TEST(Document, GenerationsGrowWhereTheyAreKept) {
  const auto bumped = [](std::string_view text) {
    Json document = json(text);
    bump_generation(document);
    return api::to_text(document);
  };
  EXPECT_EQ(bumped(R"({"metadata":{"generation":1}})"), R"({"metadata":{"generation":2}})");
  EXPECT_EQ(bumped(R"({"metadata":{"generation":0}})"), R"({"metadata":{"generation":0}})");
  EXPECT_EQ(bumped(R"({"metadata":{}})"), R"({"metadata":{}})");
}

TEST(Document, ErrorsCallItByItsNameOrPrefix) {
  EXPECT_EQ(spoken_name(json(R"({"metadata":{"name":"a","generateName":"b-"}})")), "a");
  EXPECT_EQ(spoken_name(json(R"({"metadata":{"generateName":"b-"}})")), "b-");
  EXPECT_EQ(spoken_name(json("{}")), "Unknown");
}

TEST(Document, AnObjectHasAtMostWhatEtcdTakes) {
  const auto map = [](std::size_t bytes) {
    constexpr std::string_view kForm = R"({{"metadata":{{"name":"m"}},"data":{{"a":"{}"}}}})";
    const std::size_t rest = fmt::format(fmt::runtime(kForm), "").size();
    return make_object(*api::find_kind("", "ConfigMap"),
                       json(fmt::format(fmt::runtime(kForm), std::string(bytes - rest, 'x'))));
  };
  ASSERT_EQ(map(1'572'864)->bytes().size(), 1'572'864U);
  EXPECT_TRUE(check_size(*map(1'572'864)));
  const auto refused = check_size(*map(1'572'865));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::RequestEntityTooLarge);
  EXPECT_EQ(refused.error().message, "etcdserver: request is too large");
}

// [0,0,...]
std::string zeros(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += i == 0 ? "0" : ",0";
  return "[" + out + "]";
}

TEST(Document, HasABoundedNumberOfValuesAndMoreOnlyIfItHadThem) {
  const auto check = [](const std::string& document, const std::string& old = "") {
    const Json before = old.empty() ? Json() : json(old);
    const auto checked = check_values(json(document), old.empty() ? nullptr : &before);
    return checked ? std::string() : checked.error().message;
  };
  constexpr std::string_view kTooMany =
      "the object has more than 20000 fields and list items: split it";
  constexpr std::string_view kStatusTooMany =
      "the object's status has more than 10000 fields and list items: shorten it";
  const auto in = [](std::string_view form, int count) {
    return fmt::format(fmt::runtime(form), zeros(count));
  };
  // The list is a value, too.
  EXPECT_EQ(check(in(R"({{"spec":{}}})", 19'999)), "");
  EXPECT_EQ(check(in(R"({{"spec":{}}})", 20'000)), kTooMany);
  EXPECT_EQ(check(in(R"({{"metadata":{{"a":{}}}}})", 19'999)), "");
  EXPECT_EQ(check(in(R"({{"metadata":{{"a":{}}}}})", 20'000)), kTooMany);
  EXPECT_EQ(check(in(R"({{"metadata":{{"managedFields":{}}}}})", 30'000)), "");
  EXPECT_EQ(check(in(R"({{"metadata":{{"a":0}},"spec":{}}})", 19'998)), "");
  EXPECT_EQ(check(in(R"({{"metadata":{{"a":0}},"spec":{}}})", 19'999)), kTooMany);
  EXPECT_EQ(check(in(R"({{"spec":{{"a":{{"b":{}}}}}}})", 19'997)), "");
  EXPECT_EQ(check(in(R"({{"spec":{{"a":{{"b":{}}}}}}})", 19'998)), kTooMany);
  EXPECT_EQ(check(in(R"({{"status":{}}})", 9'999)), "");
  EXPECT_EQ(check(in(R"({{"status":{}}})", 10'000)), kStatusTooMany);
  // What is there may stay or shrink, not grow.
  EXPECT_EQ(check(in(R"({{"spec":{}}})", 25'000), in(R"({{"spec":{}}})", 25'000)), "");
  EXPECT_EQ(check(in(R"({{"spec":{}}})", 24'999), in(R"({{"spec":{}}})", 25'000)), "");
  EXPECT_EQ(check(in(R"({{"spec":{}}})", 25'001), in(R"({{"spec":{}}})", 25'000)), kTooMany);
  EXPECT_EQ(check(in(R"({{"status":{}}})", 12'001), in(R"({{"status":{}}})", 12'000)),
            kStatusTooMany);
}

TEST(PodCondition, KeepsItsPlaceAndItsTimeUntilItsStatusChanges) {
  const Time start = *parse_time("2026-05-01T10:00:00Z");
  Json pod = json(R"({"status":{"conditions":[{"type":"A","status":"True"}]}})");
  set_pod_condition(pod, {.type = "B", .status = "False", .reason = "R", .message = "m"}, start);
  set_pod_condition(pod, {.type = "C", .status = "True"}, start);
  set_pod_condition(pod, {.type = "B", .status = "False"}, start + std::chrono::seconds(1));
  const auto b = [](std::string_view rest) {
    return fmt::format(R"({{"status":{{"conditions":[{{"type":"A","status":"True"}},)"
                       R"({{"type":"B",{}}},{{"type":"C","status":"True",)"
                       R"("lastTransitionTime":"2026-05-01T10:00:00Z"}}]}}}})",
                       rest);
  };
  EXPECT_EQ(api::to_text(pod),
            b(R"("status":"False","lastTransitionTime":"2026-05-01T10:00:00Z")"));
  set_pod_condition(pod, {.type = "B", .status = "True", .reason = "R", .message = "m"},
                    start + std::chrono::seconds(2));
  EXPECT_EQ(api::to_text(pod), b(R"("status":"True","lastTransitionTime":"2026-05-01T10:00:02Z",)"
                                 R"("reason":"R","message":"m")"));
  remove_pod_condition(pod, "A");
  remove_pod_condition(pod, "B");
  remove_pod_condition(pod, "D");
  EXPECT_EQ(api::to_text(pod), R"({"status":{"conditions":[{"type":"C","status":"True",)"
                               R"("lastTransitionTime":"2026-05-01T10:00:00Z"}]}})");
}

}  // namespace
}  // namespace muster::server
