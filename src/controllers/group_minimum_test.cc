#include "controllers/group_minimum.h"

#include <fmt/format.h>

#include <algorithm>

#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

constexpr Time kStart{std::chrono::hours{24}};

class GroupMinimumTest : public testing::Test {
 protected:
  Sent sent_;
  GroupMinimum controller_{sent_.context()};
  Time now_ = kStart;

  void tell(client::Input input) { controller_.apply(std::move(input), now_); }
  // What is said: "name status message" of conditions, "name reason: message" of events.
  Texts run() {
    while (controller_.run_once(now_, 1) > 0) {
    }
    Texts out;
    for (; sent_.shown < sent_.requests.size(); ++sent_.shown) {
      const auto& [request, ticket] = sent_.requests[sent_.shown];
      const api::Json& body = request.body;
      if (request.subresource == "status") {
        const api::Json& condition =
            api::find_array(*api::find(body, "status"), "conditions")->at(0);
        out.push_back(fmt::format("{} {} {}", request.name, api::find_string(condition, "status"),
                                  api::find_string(condition, "message")));
        EXPECT_EQ(api::find_string(condition, "type"), "scheduling.muster.dev/MinimumMet");
      } else {
        out.push_back(fmt::format("{} {}", api::find_string(body, "reason"),
                                  api::find_string(body, "message")));
      }
      tell(client::Called{ticket, api::Answer{}});
    }
    return out;
  }
  Texts run_later() {
    now_ += GroupMinimum::kPatience;
    return run();
  }

  static std::string conditions(std::string_view kind, std::string_view met) {
    std::string text = fmt::format(R"({{"type":"{}InitiallyScheduled","status":"True"}})", kind);
    if (!met.empty())
      text += fmt::format(R"(,{{"type":"scheduling.muster.dev/MinimumMet","status":"{}"}})", met);
    return text;
  }
  void group(std::string_view name, int minimum, std::string_view met = "",
             std::string_view parent = "", std::string_view meta = "") {
    tell(client::Event{
        Type::Modified,
        object(api::kinds::pod_group(),
               fmt::format(
                   R"({{"metadata":{{"name":"{0}","namespace":"lab","uid":"g-{0}"{4}}},)"
                   R"("spec":{{"schedulingPolicy":{{"gang":{{"minCount":{1}}}}},)"
                   R"("parentCompositePodGroupName":"{3}"}},"status":{{"conditions":[{2}]}}}})",
                   name, minimum, conditions("PodGroup", met), parent, meta))});
  }
  void composite(std::string_view name, int minimum, std::string_view met = "") {
    tell(client::Event{
        Type::Modified,
        object(api::kinds::composite_pod_group(),
               fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"lab","uid":"c-{0}"}},)"
                           R"("spec":{{"schedulingPolicy":{{"gang":{{"minGroupCount":{1}}}}}}},)"
                           R"("status":{{"conditions":[{2}]}}}})",
                           name, minimum, conditions("CompositePodGroup", met)))});
  }
  void pod(std::string_view name, std::string_view group, std::string_view phase,
           std::string_view meta = "", Type type = Type::Modified) {
    tell(client::Event{
        type, object(api::kinds::pod(),
                     fmt::format(
                         R"({{"metadata":{{"name":"{0}","namespace":"lab","uid":"p-{0}"{3}}},)"
                         R"("spec":{{"nodeName":"n","schedulingGroup":{{"podGroupName":"{1}"}}}},)"
                         R"("status":{{"phase":"{2}"}}}})",
                         name, group, phase, meta))});
  }
};

TEST_F(GroupMinimumTest, SaysThatAGangIsWholeWithoutAnEvent) {
  group("g", 2);
  pod("a", "g", "Running");
  pod("b", "g", "Running");
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{"g True at least 2 pods run or have succeeded"});
  group("g", 2, "True");
  EXPECT_EQ(run(), Texts{});
}

TEST_F(GroupMinimumTest, FallsBelowAfterAMomentAndIsWholeAgainAtOnce) {
  group("g", 2, "True");
  pod("a", "g", "Running");
  pod("b", "g", "Running");
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{});
  pod("b", "g", "Failed");
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(
      run_later(),
      (Texts{"g False 1 of at least 2 pods run or have succeeded, as it fell below its minimum",
             "BelowMinimum 1 of at least 2 pods run or have succeeded"}));
  group("g", 2, "False");
  EXPECT_EQ(run_later(), Texts{});
  pod("c", "g", "Running");
  EXPECT_EQ(run(), (Texts{"g True at least 2 pods run or have succeeded",
                          "MinimumMet whole again: 2 of at least 2 pods run or have succeeded"}));
}

TEST_F(GroupMinimumTest, APodThatIsReplacedAtOnceIsNoNews) {
  group("g", 1, "True");
  pod("a", "g", "Running");
  tell(client::Synced{});
  pod("a", "g", "Running", R"(,"deletionTimestamp":"2026-08-20T10:00:00Z")");
  EXPECT_EQ(run(), Texts{});
  pod("b", "g", "Running");
  EXPECT_EQ(run_later(), Texts{});
}

TEST_F(GroupMinimumTest, HasAMomentToRecoverEachTime) {
  constexpr std::string_view kLeaving = R"(,"deletionTimestamp":"2026-08-20T10:00:00Z")";
  group("g", 1, "True");
  pod("a", "g", "Running");
  tell(client::Synced{});
  pod("a", "g", "Running", kLeaving);
  EXPECT_EQ(run(), Texts{});
  pod("b", "g", "Running");
  EXPECT_EQ(run_later(), Texts{});
  pod("b", "g", "Running", kLeaving);
  EXPECT_EQ(run(), Texts{}) << "a new moment";
  EXPECT_EQ(run_later().size(), 2U);
}

TEST_F(GroupMinimumTest, SucceededPodsCountAlsoWhenTheyGo) {
  group("g", 2, "True");
  pod("a", "g", "Succeeded");
  pod("b", "g", "Running");
  tell(client::Synced{});
  pod("b", "g", "Succeeded");
  EXPECT_EQ(run_later(), Texts{});
  pod("b", "g", "Succeeded", "", Type::Deleted);
  run();
  EXPECT_EQ(run_later().size(), 2u);  // who is deleted is no member any more
}

TEST_F(GroupMinimumTest, MembersThatHaveSucceededCountForTheMinimum) {
  group("g", 2, "True");
  pod("a", "g", "Succeeded");
  pod("b", "g", "Running");
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(run_later(), Texts{});
  pod("b", "g", "Succeeded", R"(,"deletionTimestamp":"2026-08-20T10:00:00Z")");
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(run_later(), Texts{});
}

TEST_F(GroupMinimumTest, PodsThatFailedGoOrHaveNoNodeDoNotCount) {
  group("g", 1, "True");
  pod("failed", "g", "Failed");
  pod("goes", "g", "Running", R"(,"deletionTimestamp":"2026-08-20T10:00:00Z")");
  pod("elsewhere", "other", "Running");
  tell(client::Event{Type::Added,
                     object(api::kinds::pod(), R"({"metadata":{"name":"waits","namespace":"lab"},)"
                                               R"("spec":{"schedulingGroup":{"podGroupName":"g"}},)"
                                               R"("status":{"phase":"Pending"}})")});
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(run_later().back(), "BelowMinimum 0 of at least 1 pod runs or has succeeded");
}

TEST_F(GroupMinimumTest, IsPatientExactlyAsLongAsItSays) {
  group("g", 1, "True");
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{});
  now_ += GroupMinimum::kPatience - std::chrono::milliseconds{1};
  EXPECT_EQ(run(), Texts{});
  now_ += std::chrono::milliseconds{1};
  EXPECT_EQ(run().size(), 2U);
}

TEST_F(GroupMinimumTest, APodThatMovesToAnotherGroupCountsThere) {
  group("from", 1, "True");
  group("to", 1);
  pod("a", "from", "Running");
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{}) << "what was never whole has a moment, too";
  pod("a", "to", "Running");
  EXPECT_EQ(run(), Texts{"to True at least 1 pod runs or has succeeded"});
  group("to", 1, "True");
  EXPECT_EQ(
      run_later(),
      (Texts{"from False 0 of at least 1 pod runs or has succeeded, as it fell below its minimum",
             "BelowMinimum 0 of at least 1 pod runs or has succeeded"}));
}

TEST_F(GroupMinimumTest, GroupsWithoutAMinimumSayNothing) {
  tell(client::Event{Type::Added,
                     object(api::kinds::pod_group(),
                            fmt::format(R"({{"metadata":{{"name":"g","namespace":"lab"}},"spec":)"
                                        R"({{"schedulingPolicy":{{"basic":{{}}}}}},)"
                                        R"("status":{{"conditions":[{}]}}}})",
                                        conditions("PodGroup", "")))});
  pod("a", "g", "Running");
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(run_later(), Texts{});
}

TEST_F(GroupMinimumTest, AGroupIsNoCompositeOfItsName) {
  composite("x", 1, "True");
  group("x", 1, "True", "x");
  pod("a", "x", "Running");
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(run_later(), Texts{});
  pod("a", "x", "Failed");
  EXPECT_EQ(run(), Texts{});
  Texts said = run_later();
  std::ranges::sort(said);
  EXPECT_EQ(
      said,
      (Texts{"BelowMinimum 0 of at least 1 child group has what it needs",
             "BelowMinimum 0 of at least 1 pod runs or has succeeded",
             "x False 0 of at least 1 child group has what it needs, as it fell below its minimum",
             "x False 0 of at least 1 pod runs or has succeeded, as it fell below its minimum"}));
}

TEST_F(GroupMinimumTest, ChildrenCountWhenTheirMinimumIsMet) {
  composite("all", 2, "True");
  group("x", 1, "True", "all");
  group("y", 1, "True", "all");
  pod("a", "x", "Running");
  pod("b", "y", "Running");
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{});
  pod("b", "y", "Running", "", Type::Deleted);
  EXPECT_EQ(run(), Texts{});
  Texts said = run_later();
  std::ranges::sort(said);
  EXPECT_EQ(said,
            (Texts{"BelowMinimum 0 of at least 1 pod runs or has succeeded",
                   "BelowMinimum 1 of at least 2 child groups have what they need",
                   "all False 1 of at least 2 child groups have what they need, as it fell below "
                   "its minimum",
                   "y False 0 of at least 1 pod runs or has succeeded, as it fell below its "
                   "minimum"}));
}

TEST_F(GroupMinimumTest, AChildThatIsGoneOrMovesAwayDoesNotCount) {
  composite("all", 2, "True");
  composite("other", 1, "True");
  group("x", 1, "True", "all");
  group("y", 1, "True", "all");
  group("z", 1, "True", "other");
  for (const std::string_view name : {"x", "y", "z"}) pod(name, name, "Running");
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{});
  group("y", 1, "True", "other");
  tell(client::Event{Type::Deleted,
                     object(api::kinds::pod_group(),
                            R"({"metadata":{"name":"z","namespace":"lab","uid":"g-z"}})")});
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(run_later(),
            (Texts{"all False 1 of at least 2 child groups have what they need, as it fell below "
                   "its minimum",
                   "BelowMinimum 1 of at least 2 child groups have what they need"}))
      << "the other has one again";
  tell(client::Event{Type::Deleted,
                     object(api::kinds::pod_group(),
                            R"({"metadata":{"name":"y","namespace":"lab","uid":"g-y"}})")});
  EXPECT_EQ(run(), Texts{});
  EXPECT_EQ(run_later().size(), 2U);
}

TEST_F(GroupMinimumTest, NothingIsSaidOfGroupsThatGoOrWereNeverScheduled) {
  group("g", 1, "True", "", R"(,"deletionTimestamp":"2026-08-20T10:00:00Z")");
  tell(client::Event{
      Type::Added,
      object(api::kinds::pod_group(), R"({"metadata":{"name":"h","namespace":"lab","uid":"h"},)"
                                      R"("spec":{"schedulingPolicy":{"gang":{"minCount":3}}}})")});
  tell(client::Synced{});
  run();
  EXPECT_EQ(run_later(), Texts{});
}

TEST_F(GroupMinimumTest, ALowerMinimumIsMet) {
  group("g", 2, "False");
  pod("a", "g", "Running");
  tell(client::Synced{});
  EXPECT_EQ(run(), Texts{});
  group("g", 1, "False");
  EXPECT_EQ(run().front(), "g True at least 1 pod runs or has succeeded");
}

}  // namespace
}  // namespace muster::controllers
