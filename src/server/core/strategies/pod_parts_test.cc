#include "server/core/strategies/pod_parts.h"

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class PodPartsTest : public CoreTest {
 protected:
  void make_pod(std::string_view requests) {
    ASSERT_TRUE(create(
        pods(), "default",
        fmt::format(R"({{"metadata":{{"name":"p","labels":{{"a":"b"}}}},"spec":{{"containers":[)"
                    R"({{"name":"c","image":"i","resources":{{"requests":{}}}}}]}}}})",
                    requests)));
  }
  Result<Answer> edit(std::string_view json, std::string_view part) {
    return patch(pods(), "default", "p", PatchType::StrategicMerge, json, part);
  }
};

TEST_F(PodPartsTest, AResizeTakesResourcesAndNothingElse) {
  make_pod(R"({"cpu":"1"})");
  const auto resized = edit(
      R"({"metadata":{"labels":{"a":"c"},"annotations":{"x":"y"}},"status":{"phase":"Running"},
          "spec":{"activeDeadlineSeconds":5,"containers":[{"name":"c","image":"j",
                  "resources":{"requests":{"cpu":"2"}}}]}})",
      "resize");
  ASSERT_TRUE(resized) << message(resized);
  EXPECT_EQ(at(resized, "metadata.labels"), R"({"a":"b"})");
  EXPECT_EQ(at(resized, "metadata.annotations"), "");
  EXPECT_EQ(at(resized, "metadata.generation"), "2");
  EXPECT_EQ(at(resized, "spec.activeDeadlineSeconds"), "");
  EXPECT_EQ(at(resized, "status.phase"), "Pending");
  const std::string containers = at(resized, "spec.containers");
  EXPECT_NE(containers.find(R"("image":"i")"), std::string::npos) << containers;
  EXPECT_NE(containers.find(R"("requests":{"cpu":"2"})"), std::string::npos) << containers;

  const auto again = edit(R"({"metadata":{"labels":{"a":"d"}}})", "resize");
  EXPECT_EQ(version(again), version(resized)) << "what is nothing writes nothing";
}

TEST_F(PodPartsTest, AResizeByPutFollowsTheRulesOfAnUpdate) {
  make_pod(R"({"cpu":"1"})");
  const auto put = [&](std::string_view version, std::string_view cpu) {
    return update(
        pods(), "default", "p",
        fmt::format(R"({{"metadata":{{"name":"p","resourceVersion":"{}"}},"spec":{{"containers":[)"
                    R"({{"name":"c","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
                    version, cpu),
        "resize");
  };
  EXPECT_EQ(reason(put("1", "2")), Reason::Conflict);
  const auto resized = put(version(get(pods(), "default", "p")), "2");
  ASSERT_TRUE(resized) << message(resized);
  EXPECT_NE(at(resized, "spec.containers").find(R"("image":"i")"), std::string::npos);
}

TEST_F(PodPartsTest, AResizeThatChangesTheQosClassIsInvalid) {
  make_pod("{}");
  const auto refused = edit(
      R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}})", "resize");
  EXPECT_EQ(reason(refused), Reason::Invalid);
  EXPECT_EQ(
      message(refused),
      R"(Pod "p" is invalid: spec: Invalid value: "BestEffort": Pod QOS Class may not change )"
      "as a result of resizing");
}

TEST_F(PodPartsTest, ResourcesChangeByResizeOnly) {
  make_pod(R"({"cpu":"1"})");
  const std::string_view bigger =
      R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}})";
  EXPECT_EQ(reason(edit(bigger, "")), Reason::Invalid);
  EXPECT_TRUE(edit(bigger, "resize"));
}

TEST_F(PodPartsTest, EphemeralContainersAreAddedToARunningPod) {
  make_pod(R"({"cpu":"1"})");
  ASSERT_TRUE(bind("p", "n1"));
  const std::string_view debugger =
      R"({"spec":{"nodeName":"n2","ephemeralContainers":[{"name":"d","image":"busybox","targetContainerName":"c"}]}})";
  EXPECT_EQ(reason(edit(debugger, "")), Reason::Invalid);
  const auto added = edit(debugger, "ephemeralcontainers");
  ASSERT_TRUE(added) << message(added);
  EXPECT_EQ(at(added, "spec.nodeName"), "n1");
  EXPECT_EQ(at(added, "metadata.generation"), "2");
  EXPECT_NE(at(added, "spec.ephemeralContainers").find(R"("image":"busybox")"), std::string::npos);
  EXPECT_EQ(at(get(pods(), "default", "p"), "spec.ephemeralContainers"),
            at(added, "spec.ephemeralContainers"));
  EXPECT_EQ(reason(merge(pods(), "default", "p", R"({"spec":{"ephemeralContainers":null}})",
                         "ephemeralcontainers")),
            Reason::Invalid);
  EXPECT_EQ(
      message(edit(R"({"spec":{"ephemeralContainers":[{"name":"e","image":"i",
                              "targetContainerName":"zork"}]}})",
                   "ephemeralcontainers")),
      R"(Pod "p" is invalid: spec.ephemeralContainers[0].targetContainerName: Not found: "zork")");
}

}  // namespace
}  // namespace muster::server
