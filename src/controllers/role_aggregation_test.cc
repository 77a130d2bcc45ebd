#include "controllers/role_aggregation.h"

#include <fmt/format.h>

#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

class RoleAggregationTest : public ::testing::Test {
 protected:
  static api::ObjectPtr role(std::string_view json) {
    return object(*api::find_kind("rbac.authorization.k8s.io", "ClusterRole"), json);
  }
  void tell(Type type, std::string_view json) {
    aggregation_.apply(client::Event{.type = type, .object = role(json)}, now_);
  }
  // A role that says `verb` about pods.
  void part(Type type, std::string_view name, std::string_view verb, std::string_view label) {
    tell(type, fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"to":"{}"}}}},"rules":[)"
                           R"({{"verbs":["{}"]}}]}})",
                           name, label, verb));
  }
  void whole(Type type, std::string_view rules) {
    tell(type, fmt::format(R"({{"metadata":{{"name":"all","labels":{{"to":"all"}}}},)"
                           R"("aggregationRule":{{"clusterRoleSelectors":[{{"matchLabels":)"
                           R"({{"to":"all"}}}},{{"matchLabels":{{"to":"more"}}}}]}},"rules":{}}})",
                           rules));
  }
  // The verbs of each write since the last look.
  Texts written() {
    while (aggregation_.run_once(now_, 100) > 0) {
    }
    Texts out;
    for (; told_ < sent_.requests.size(); ++told_) {
      const api::Request& request = sent_.requests[told_].first;
      EXPECT_EQ(request.name, "all");
      EXPECT_EQ(request.patch_type, api::PatchType::Apply);
      EXPECT_TRUE(request.force);
      EXPECT_EQ(request.field_manager, "clusterrole-aggregation-controller");
      std::string verbs;
      for (const api::Json& rule : *api::find_array(request.body, "rules"))
        verbs += std::string(api::find_array(rule, "verbs")->at(0).get_string()) + " ";
      out.push_back(verbs);
    }
    return out;
  }
  void answer(client::Outcome outcome = api::Answer{}) {
    aggregation_.apply(
        client::Called{.ticket = sent_.requests.back().second, .outcome = std::move(outcome)},
        now_);
  }

  Time now_{};
  Sent sent_;
  std::size_t told_ = 0;
  RoleAggregation aggregation_{sent_.context()};
};

TEST_F(RoleAggregationTest, GathersTheRulesOfWhatItsSelectorsFind) {
  whole(Type::Added, "[]");
  part(Type::Added, "c", "create", "more");
  part(Type::Added, "b", "list", "all");
  part(Type::Added, "a", "get", "all");
  part(Type::Added, "d", "get", "all");
  part(Type::Added, "e", "delete", "none");
  EXPECT_EQ(written(), Texts{}) << "not before everything is known";
  aggregation_.apply(client::Synced{}, now_);
  EXPECT_EQ(written(), Texts{"get list create "});
  whole(Type::Modified, R"([{"verbs":["get"]},{"verbs":["list"]},{"verbs":["create"]}])");
  answer();
  EXPECT_EQ(written(), Texts{});
}

TEST_F(RoleAggregationTest, FollowsItsParts) {
  aggregation_.apply(client::Synced{}, now_);
  whole(Type::Added, R"([{"verbs":["get"]}])");
  part(Type::Added, "a", "get", "all");
  EXPECT_EQ(written(), Texts{});
  part(Type::Modified, "a", "watch", "all");
  EXPECT_EQ(written(), Texts{"watch "});
  // A change that comes before the answer is not lost.
  part(Type::Added, "b", "list", "all");
  EXPECT_EQ(written(), Texts{});
  whole(Type::Modified, R"([{"verbs":["watch"]}])");
  answer();
  EXPECT_EQ(written(), Texts{"watch list "});
  whole(Type::Modified, R"([{"verbs":["watch"]},{"verbs":["list"]}])");
  answer();
  part(Type::Modified, "a", "watch", "none");
  EXPECT_EQ(written(), Texts{"list "});
  whole(Type::Modified, R"([{"verbs":["list"]}])");
  answer();
  part(Type::Deleted, "b", "list", "all");
  EXPECT_EQ(written(), Texts{""});
}

TEST_F(RoleAggregationTest, PutsBackWhatSomebodyWrote) {
  aggregation_.apply(client::Synced{}, now_);
  part(Type::Added, "a", "get", "all");
  whole(Type::Added, R"([{"verbs":["get"]},{"verbs":["delete"]}])");
  EXPECT_EQ(written(), Texts{"get "});
}

TEST_F(RoleAggregationTest, ARoleThatNoLongerAggregatesIsLeftAsItIs) {
  aggregation_.apply(client::Synced{}, now_);
  whole(Type::Added, R"([{"verbs":["get"]}])");
  part(Type::Added, "a", "get", "all");
  EXPECT_EQ(written(), Texts{});
  tell(Type::Modified, R"({"metadata":{"name":"all"},"rules":[{"verbs":["delete"]}]})");
  part(Type::Modified, "a", "watch", "all");
  EXPECT_EQ(written(), Texts{});
}

TEST_F(RoleAggregationTest, ARoleThatIsGoneIsNotMadeAgain) {
  aggregation_.apply(client::Synced{}, now_);
  whole(Type::Added, R"([{"verbs":["get"]}])");
  part(Type::Added, "a", "get", "all");
  EXPECT_EQ(written(), Texts{});
  whole(Type::Deleted, R"([{"verbs":["get"]}])");
  part(Type::Modified, "a", "watch", "all");
  EXPECT_EQ(written(), Texts{});
}

TEST_F(RoleAggregationTest, NewSelectorsHoldFromThenOn) {
  aggregation_.apply(client::Synced{}, now_);
  part(Type::Added, "a", "get", "all");
  part(Type::Added, "b", "list", "none");
  whole(Type::Added, R"([{"verbs":["get"]}])");
  EXPECT_EQ(written(), Texts{});
  tell(Type::Modified, R"({"metadata":{"name":"all"},"aggregationRule":{"clusterRoleSelectors":[)"
                       R"({"matchLabels":{"to":"none"}}]},"rules":[{"verbs":["get"]}]})");
  EXPECT_EQ(written(), Texts{"list "});
}

TEST_F(RoleAggregationTest, TriesAgainLater) {
  aggregation_.apply(client::Synced{}, now_);
  part(Type::Added, "a", "get", "all");
  whole(Type::Added, "[]");
  EXPECT_EQ(written(), Texts{"get "});
  answer(fail(Reason::Conflict, "not now"));
  EXPECT_EQ(written(), Texts{});
  ASSERT_TRUE(aggregation_.next_deadline().has_value());
  now_ = *aggregation_.next_deadline();
  EXPECT_EQ(written(), Texts{"get "});
}

}  // namespace
}  // namespace muster::controllers
