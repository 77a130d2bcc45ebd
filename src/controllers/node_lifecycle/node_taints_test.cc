#include "controllers/node_lifecycle/node_taints.h"

#include <fmt/format.h>

#include "api/reading.h"
#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

const Time kNow{std::chrono::seconds{1'767'225'600}};  // 2026-01-01T00:00:00Z

api::ObjectPtr node(std::string_view conditions, std::string_view spec = "") {
  return object(api::kinds::node(), fmt::format(R"({{"metadata":{{"name":"n1","uid":"u1"}},)"
                                                R"("spec":{{{}}},"status":{{"conditions":[{}]}}}})",
                                                spec, conditions));
}
std::string condition(std::string_view type, std::string_view status) {
  return fmt::format(R"({{"type":"{}","status":"{}"}})", type, status);
}
// "key:effect" of the taints it gets, "same" if they stay.
std::string taints(const api::ObjectPtr& node, Driving driving = Driving::Keep) {
  const auto request = correct_taints(*node, driving, kNow);
  if (!request) return "same";
  EXPECT_EQ(api::to_text(*api::find(request->body, "metadata")),
            R"({"uid":"u1","resourceVersion":"0"})");
  std::string out;
  for (const api::Json& taint : api::elements(*api::find(request->body, "spec"), "taints")) {
    std::string_view key = api::find_string(taint, "key");
    if (key.starts_with("node.kubernetes.io/")) key.remove_prefix(19);
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", key, api::find_string(taint, "effect"));
  }
  return out;
}

const std::string kReady = condition("Ready", "True");
const std::string kFailed = condition("Ready", "False");
const std::string kSilent = condition("Ready", "Unknown");

TEST(NodeTaints, FollowConditionsAndCordon) {
  EXPECT_EQ(taints(node(kReady)), "same");
  EXPECT_EQ(taints(node(kFailed)), "not-ready:NoSchedule");
  EXPECT_EQ(taints(node(kSilent)), "unreachable:NoSchedule");
  EXPECT_EQ(taints(node("")), "not-ready:NoSchedule") << "it has never reported";
  EXPECT_EQ(taints(node(kReady, R"("unschedulable":true)")), "unschedulable:NoSchedule");
  EXPECT_EQ(taints(node(kReady + "," + condition("MemoryPressure", "True") + "," +
                        condition("DiskPressure", "True") + "," + condition("PIDPressure", "True") +
                        "," + condition("NetworkUnavailable", "True"))),
            "memory-pressure:NoSchedule disk-pressure:NoSchedule pid-pressure:NoSchedule "
            "network-unavailable:NoSchedule");
}

TEST(NodeTaints, ThoseOfOthersStay) {
  constexpr std::string_view kTaints =
      R"("taints":[{"key":"gpu","value":"a","effect":"NoExecute"},
         {"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"},
         {"key":"node.kubernetes.io/not-ready","effect":"PreferNoSchedule"}])";
  EXPECT_EQ(taints(node(kReady, kTaints)), "gpu:NoExecute not-ready:PreferNoSchedule");
  EXPECT_EQ(taints(node(kFailed, kTaints)), "same");
}

TEST(NodeTaints, DriveAwayWhenItIsTheirTurn) {
  EXPECT_EQ(taints(node(kSilent), Driving::Start), "unreachable:NoSchedule unreachable:NoExecute");
  EXPECT_EQ(taints(node(kFailed), Driving::Start), "not-ready:NoSchedule not-ready:NoExecute");
  EXPECT_EQ(taints(node(kReady), Driving::Start), "same");
  EXPECT_EQ(taints(node(""), Driving::Start), "not-ready:NoSchedule") << "nothing runs there yet";
}

TEST(NodeTaints, AreExchangedWhenTheReasonChanges) {
  constexpr std::string_view kBoth =
      R"("taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"},
                   {"key":"node.kubernetes.io/not-ready","effect":"NoExecute"}])";
  EXPECT_TRUE(drives_pods_away(*node(kFailed, kBoth)));
  EXPECT_EQ(taints(node(kFailed, kBoth)), "same");
  EXPECT_EQ(taints(node(kSilent, kBoth)), "unreachable:NoSchedule unreachable:NoExecute");
  EXPECT_EQ(taints(node(kReady, kBoth)), "");
  EXPECT_EQ(taints(node(kFailed, kBoth), Driving::Stop), "not-ready:NoSchedule");
}

TEST(NodeTaints, ANodeThatIsHeardOfAgainLosesThem) {
  constexpr std::string_view kBoth =
      R"("taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoSchedule"},
                   {"key":"node.kubernetes.io/unreachable","effect":"NoExecute"}])";
  EXPECT_TRUE(drives_pods_away(*node(kSilent, kBoth)));
  EXPECT_EQ(taints(node(kSilent, kBoth)), "same");
  EXPECT_EQ(taints(node(kReady, kBoth)), "");
  EXPECT_EQ(taints(node(kFailed, kBoth)), "not-ready:NoSchedule not-ready:NoExecute");
  EXPECT_EQ(taints(node(kSilent, kBoth), Driving::Stop), "unreachable:NoSchedule");
}

// What a taint drives away by another effect, or under another name, is not its business.
TEST(NodeTaints, OnlyItsOwnDrivePodsAway) {
  EXPECT_FALSE(drives_pods_away(*node(
      kFailed, R"("taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}])")));
  EXPECT_FALSE(
      drives_pods_away(*node(kFailed, R"("taints":[{"key":"gpu","effect":"NoExecute"}])")));
  EXPECT_EQ(taints(node(kReady, R"("taints":[
      {"key":"node.kubernetes.io/memory-pressure","effect":"NoExecute"}])")),
            "same");
}

TEST(NodeTaints, GoWithTheConditionAndTheCordonThatBroughtThem) {
  for (const std::string_view key :
       {"memory-pressure", "disk-pressure", "pid-pressure", "network-unavailable", "unschedulable"})
    EXPECT_EQ(taints(node(kReady, fmt::format(R"("taints":[{{"key":"node.kubernetes.io/{}",)"
                                              R"("effect":"NoSchedule"}}])",
                                              key))),
              "")
        << key;
}

TEST(NodeTaints, SayWhenTheyCame) {
  const auto request = correct_taints(*node(kFailed), Driving::Keep, kNow);
  ASSERT_TRUE(request);
  EXPECT_EQ(api::to_text(*api::find_path(request->body, "spec.taints")),
            R"([{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule",)"
            R"("timeAdded":"2026-01-01T00:00:00Z"}])");
}

}  // namespace
}  // namespace muster::controllers
