#include "controllers/node_lifecycle/taint_eviction.h"

#include <fmt/format.h>

#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

using std::chrono::seconds;

const Time kNow{seconds{1'767'225'600}};  // 2026-01-01T00:00:00Z

api::ObjectPtr node(std::string_view taints) {
  return object(api::kinds::node(),
                fmt::format(R"({{"metadata":{{"name":"n1"}},"spec":{{"taints":[{}]}}}})", taints));
}
api::ObjectPtr pod(std::string_view tolerations,
                   std::string_view created = "2025-12-31T00:00:00Z") {
  return object(api::kinds::pod(),
                fmt::format(R"({{"metadata":{{"name":"web","namespace":"ns","uid":"u1",)"
                            R"("creationTimestamp":"{}"}},)"
                            R"("spec":{{"nodeName":"n1","tolerations":[{}]}}}})",
                            created, tolerations));
}
std::string stay(std::string_view tolerations, std::string_view taints) {
  const Stay stay = tolerated_stay(*pod(tolerations), *node(taints));
  return stay.forever ? "forever"
                      : fmt::format("{}", std::chrono::duration_cast<seconds>(stay.length).count());
}

constexpr std::string_view kA = R"({"key":"a","value":"1","effect":"NoExecute"})";
constexpr std::string_view kAB = R"({"key":"a","value":"1","effect":"NoExecute"},
                                    {"key":"b","effect":"NoExecute"})";

TEST(TaintEviction, TolerationsDecideHowLongAPodStays) {
  struct Case {
    std::string_view tolerations, taints, stays;
  };
  constexpr Case kCases[] = {
      {"", kA, "0"},
      {"", R"({"key":"a","effect":"NoSchedule"})", "forever"},
      {R"({"key":"a","operator":"Exists"})", kA, "forever"},
      {R"({"key":"a","value":"1","effect":"NoExecute","tolerationSeconds":60})", kA, "60"},
      {R"({"key":"a","value":"2"})", kA, "0"},
      {R"({"key":"a","operator":"Exists","effect":"NoSchedule"})", kA, "0"},
      {R"({"operator":"Exists","tolerationSeconds":-5})", kA, "0"},
      {R"({"key":"a","operator":"Exists","tolerationSeconds":60})", kAB, "0"},
      {R"({"key":"a","operator":"Exists","tolerationSeconds":60},{"key":"b","operator":"Exists"})",
       kAB, "60"},
      {R"({"key":"a","operator":"Exists","tolerationSeconds":60},
          {"key":"b","operator":"Exists","tolerationSeconds":30})",
       kAB, "30"},
      {R"({"operator":"Exists","tolerationSeconds":9},{"key":"a","operator":"Exists"})", kA, "9"},
      {R"({"operator":"Exists","tolerationSeconds":9223372036854775807})", kA, "1000000000"},
  };
  for (const Case& c : kCases) EXPECT_EQ(stay(c.tolerations, c.taints), c.stays) << c.tolerations;
}

constexpr std::string_view kMinute = R"({"operator":"Exists","tolerationSeconds":60})";

TEST(TaintEviction, TheTimeGoesOnWhenOneTaintTakesThePlaceOfAnother) {
  Evictions evictions;
  const auto first = evictions.judge(*pod(kMinute), *node(kA), kNow);
  EXPECT_EQ(first.leaves_at, kNow + seconds{60});
  const auto second = evictions.judge(*pod(kMinute), *node(R"({"key":"b","effect":"NoExecute"})"),
                                      kNow + seconds{20});
  EXPECT_EQ(second.leaves_at, kNow + seconds{60});
  EXPECT_TRUE(evictions.cancel("u1"));
  EXPECT_FALSE(evictions.cancel("u1"));
  EXPECT_EQ(evictions.size(), 0U);
}

TEST(TaintEviction, AfterARestartTheTaintSaysWhenItCame) {
  constexpr std::string_view kOld =
      R"({"key":"a","effect":"NoExecute","timeAdded":"2025-12-31T23:59:30Z"})";
  EXPECT_EQ(Evictions{}.judge(*pod(kMinute), *node(kOld), kNow).leaves_at, kNow + seconds{30});
  EXPECT_EQ(Evictions{}.judge(*pod(kMinute, "2025-12-31T23:59:50Z"), *node(kOld), kNow).leaves_at,
            kNow + seconds{50})
      << "no pod leaves for a time in which it was not there";
  constexpr std::string_view kFuture =
      R"({"key":"a","effect":"NoExecute","timeAdded":"2027-01-01T00:00:00Z"})";
  EXPECT_EQ(Evictions{}.judge(*pod(kMinute), *node(kFuture), kNow).leaves_at, kNow + seconds{60});
}

TEST(TaintEviction, APodThatToleratesAllIsLetGo) {
  Evictions evictions;
  evictions.judge(*pod(kMinute), *node(kA), kNow);
  const auto departure = evictions.judge(*pod(R"({"operator":"Exists"})"), *node(kA), kNow);
  EXPECT_FALSE(departure.leaves_at);
  EXPECT_TRUE(departure.cancelled);
}

TEST(TaintEviction, OnlyNoExecuteTaintsCount) {
  const auto plain = node(R"({"key":"a","effect":"NoSchedule"})");
  const auto driven = node(kA);
  EXPECT_FALSE(has_no_execute(*plain));
  EXPECT_TRUE(has_no_execute(*driven));
  EXPECT_FALSE(no_execute_differs(nullptr, plain.get()));
  EXPECT_TRUE(no_execute_differs(plain.get(), driven.get()));
  EXPECT_FALSE(no_execute_differs(
      driven.get(),
      node(R"({"key":"a","value":"1","effect":"NoExecute","timeAdded":"2026-01-01T00:00:00Z"})")
          .get()));
}

}  // namespace
}  // namespace muster::controllers
