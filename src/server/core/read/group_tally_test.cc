#include "server/core/read/group_tally.h"

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class GroupTallyTest : public CoreTest {
 protected:
  void put_pod(const std::string& name, const std::string& group) {
    ASSERT_TRUE(create_pod(name, R"("schedulingGroup":{"podGroupName":")" + group + R"("})"));
  }
  void put_group(const api::Kind& kind, const std::string& name, const std::string& parent) {
    const std::string above =
        parent.empty() ? "" : R"("parentCompositePodGroupName":")" + parent + R"(",)";
    ASSERT_TRUE(create(kind, "default",
                       R"({"metadata":{"name":")" + name + R"("},"spec":{)" + above +
                           R"("workloadRef":{"workloadName":"w","templateName":"t"},)"
                           R"("schedulingPolicy":{"basic":{}}}})"));
  }
  // "members/scheduled"
  std::string tally(const api::Kind& kind, const std::string& name) {
    const auto object = store_->get(store::make_key(kind, "default", name));
    const api::GroupCounts counts = reader_.tally().count(*object);
    return std::to_string(counts.members) + "/" + std::to_string(counts.scheduled);
  }
  const api::Kind& groups_ = api::kinds::pod_group();
  const api::Kind& composites_ = api::kinds::composite_pod_group();
};

TEST_F(GroupTallyTest, CountsWhatWasThereAndFollowsWhatChanges) {
  put_group(composites_, "g", "");
  put_group(groups_, "g", "g");
  put_pod("a", "g");
  EXPECT_EQ(tally(groups_, "g"), "1/0");
  EXPECT_EQ(tally(composites_, "g"), "1/0") << "of one name, yet another group";
  put_pod("b", "g");
  put_pod("c", "other");
  ASSERT_TRUE(bind("a", "n"));
  EXPECT_EQ(tally(groups_, "g"), "2/1");
  ASSERT_TRUE(remove(pods(), "default", "b"));
  EXPECT_EQ(tally(groups_, "g"), "1/1");
  ASSERT_TRUE(
      merge(groups_, "default", "g",
            R"({"status":{"conditions":[{"type":"PodGroupInitiallyScheduled","status":"True",)"
            R"("reason":"Scheduled","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
            "status"));
  EXPECT_EQ(tally(composites_, "g"), "1/1");
}

TEST_F(GroupTallyTest, CountsAnewWhenTooMuchHappened) {
  put_group(groups_, "g", "");
  EXPECT_EQ(tally(groups_, "g"), "0/0");
  put_pod("a", "g");
  for (int i = 0; i < 2'100; ++i)
    ASSERT_TRUE(merge(pods(), "default", "a",
                      R"({"metadata":{"labels":{"i":")" + std::to_string(i) + R"("}}})"));
  put_pod("b", "g");
  EXPECT_EQ(tally(groups_, "g"), "2/0");
}

}  // namespace
}  // namespace muster::server
