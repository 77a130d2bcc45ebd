#include "server/core/write/limit_range.h"

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class LimitRangeTest : public CoreTest {
 protected:
  void limit(std::string_view items) {
    const auto made =
        create(*api::find_kind("", "LimitRange"), "default",
               fmt::format(R"({{"metadata":{{"name":"l"}},"spec":{{"limits":[{}]}}}})", items));
    ASSERT_TRUE(made) << message(made);
  }
  Result<Answer> create_pod(std::string_view resources, std::string_view more_spec = "") {
    return create(
        pods(), "default",
        fmt::format(
            R"({{"metadata":{{"name":"p"}},"spec":{{"containers":[{{"name":"main","image":"i","resources":{}}}]{}}}}})",
            resources, more_spec));
  }
};

TEST_F(LimitRangeTest, ContainersThatSayNothingGetTheDefaults) {
  limit(
      R"({"type":"Container","default":{"cpu":"1","memory":"1Gi"},"defaultRequest":{"cpu":"500m"}})");
  const auto made = create_pod(R"({"requests":{"memory":"64Mi"}})",
                               R"(,"initContainers":[{"name":"first","image":"i"}])");
  ASSERT_TRUE(made) << message(made);
  EXPECT_NE(
      at(made, "spec.containers")
          .find(
              R"("resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m","memory":"64Mi"}})"),
      std::string::npos)
      << at(made, "spec.containers");
  EXPECT_EQ(
      at(made, "metadata.annotations"),
      R"({"kubernetes.io/limit-ranger":"LimitRanger plugin set: cpu request for container main; cpu, memory limit for container main; )"
      R"(cpu, memory request for init container first; cpu, memory limit for init container first"})");
}

TEST_F(LimitRangeTest, TheMostIsTheDefaultIfNoneIsSaid) {
  limit(R"({"type":"Container","max":{"cpu":"2"},"min":{"memory":"4Mi"}})");
  const auto made = create_pod("{}");
  ASSERT_TRUE(made) << message(made);
  EXPECT_NE(
      at(made, "spec.containers")
          .find(R"("resources":{"limits":{"cpu":"2"},"requests":{"cpu":"2","memory":"4Mi"}})"),
      std::string::npos)
      << at(made, "spec.containers");
}

TEST_F(LimitRangeTest, WhatFollowsFromTheMostAndTheLeastIsStored) {
  limit(
      R"({"type":"Container","max":{"cpu":"2"},"min":{"memory":"4Mi"}},{"type":"Pod","max":{"cpu":"8"}})");
  EXPECT_EQ(
      at(get(*api::find_kind("", "LimitRange"), "default", "l"), "spec.limits"),
      R"([{"type":"Container","max":{"cpu":"2"},"min":{"memory":"4Mi"},"default":{"cpu":"2"},)"
      R"("defaultRequest":{"cpu":"2","memory":"4Mi"}},{"type":"Pod","max":{"cpu":"8"}}])");
}

TEST_F(LimitRangeTest, AResizeIsJudgedToo) {
  limit(R"({"type":"Container","max":{"cpu":"2"},"min":{"cpu":"100m"}})");
  ASSERT_TRUE(create_pod(R"({"requests":{"cpu":"1"},"limits":{"cpu":"1"}})"));
  const auto resize = [&](std::string_view cpu) {
    return patch(
        pods(), "default", "p", PatchType::StrategicMerge,
        fmt::format(
            R"({{"spec":{{"containers":[{{"name":"main","resources":{{"requests":{{"cpu":"{0}"}},"limits":{{"cpu":"{0}"}}}}}}]}}}})",
            cpu),
        "resize");
  };
  EXPECT_TRUE(resize("2"));
  const auto refused = resize("3");
  EXPECT_EQ(reason(refused), Reason::Forbidden);
  EXPECT_EQ(
      message(refused),
      "pods \"p\" is forbidden: [maximum cpu usage per Container is 2, but limit is 3, maximum "
      "cpu usage per Container is 2, but request is 3]");
}

TEST_F(LimitRangeTest, WhatIsBeyondIsRefusedInUpstreamsWords) {
  limit(
      R"({"type":"Container","max":{"cpu":"2"},"min":{"cpu":"100m"},"maxLimitRequestRatio":{"cpu":"4"}},{"type":"Pod","max":{"memory":"1Gi"}})");
  struct Case {
    std::string resources;
    std::string want;
  };
  for (const auto& [resources, want] : std::vector<Case>{
           {R"({"requests":{"cpu":"1"},"limits":{"cpu":"3","memory":"1Gi"}})",
            "maximum cpu usage per Container is 2, but limit is 3"},
           {R"({"requests":{"cpu":"50m"},"limits":{"cpu":"60m","memory":"1Gi"}})",
            "[minimum cpu usage per Container is 100m, but limit is 60m, minimum cpu usage per "
            "Container is 100m, but request is 50m]"},
           {R"({"requests":{"cpu":"100m"},"limits":{"cpu":"1","memory":"1Gi"}})",
            "cpu max limit to request ratio per Container is 4, but provided ratio is 10.000000"},
           {R"({"requests":{"cpu":"1"},"limits":{"cpu":"1"}})",
            "maximum memory usage per Pod is 1Gi.  No limit is specified"},
           {R"({"requests":{"cpu":"1"},"limits":{"cpu":"1","memory":"2Gi"}})",
            "[maximum memory usage per Pod is 1Gi, but limit is 2Gi, maximum memory usage per Pod "
            "is 1Gi, but request is 2Gi]"}}) {
    const auto made = create_pod(resources);
    EXPECT_EQ(reason(made), Reason::Forbidden);
    EXPECT_EQ(message(made), R"(pods "p" is forbidden: )" + want);
  }
  EXPECT_TRUE(create_pod(R"({"requests":{"cpu":"1"},"limits":{"cpu":"2","memory":"1Gi"}})"));
}

TEST_F(LimitRangeTest, ARatioMayBeReachedAndNeedsBothAmounts) {
  limit(R"({"type":"Container","maxLimitRequestRatio":{"cpu":"4"}})");
  EXPECT_EQ(message(create_pod("{}")),
            R"(pods "p" is forbidden: cpu max limit to request ratio per Container is 4, but no )"
            "request is specified or request is 0");
  EXPECT_EQ(message(create_pod(R"({"requests":{"cpu":"1"}})")),
            R"(pods "p" is forbidden: cpu max limit to request ratio per Container is 4, but no )"
            "limit is specified or limit is 0");
  const auto made = create_pod(R"({"requests":{"cpu":"500m"},"limits":{"cpu":"2"}})");
  EXPECT_TRUE(made) << message(made);
}

TEST_F(LimitRangeTest, WhatRunsOneAfterTheOtherIsNotSummed) {
  limit(R"({"type":"Pod","max":{"cpu":"2"}})");
  const auto made = create_pod(
      R"({"limits":{"cpu":"1"}})",
      R"(,"initContainers":[{"name":"first","image":"i","resources":{"limits":{"cpu":"2"}}}])");
  EXPECT_TRUE(made) << message(made);
}

// "a.b/r0":"1",...
std::string resources(int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += fmt::format(R"({}"example.com/r{}":"1")", i == 0 ? "" : ",", i);
  return out;
}

std::string containers(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += fmt::format(R"(,{{"name":"c{}","image":"i"}})", i);
  return fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{"containers":[)"
                     R"({{"name":"main","image":"i"}}{}]}}}})",
                     out);
}

TEST_F(LimitRangeTest, TheFirstDefaultOfANameCounts) {
  limit(R"({"type":"Container","defaultRequest":{"cpu":"1"}})");
  ASSERT_TRUE(create(
      *api::find_kind("", "LimitRange"), "default",
      R"({"metadata":{"name":"m"},"spec":{"limits":[{"type":"Container","default":{"memory":"2Gi"},"defaultRequest":{"cpu":"2","memory":"1Gi"}}]}})"));
  const auto made = create_pod("{}");
  ASSERT_TRUE(made) << message(made);
  EXPECT_NE(at(made, "spec.containers").find(R"("requests":{"cpu":"1","memory":"1Gi"})"),
            std::string::npos)
      << at(made, "spec.containers");
  EXPECT_NE(at(made, "metadata.annotations")
                .find("cpu request for container main; memory request for container main; memory "
                      "limit for container main"),
            std::string::npos)
      << at(made, "metadata.annotations");
}

// Containers times names: gigabytes of one pod, made in one decision, or as many comparisons.
TEST_F(LimitRangeTest, APodThatNamesTimesContainersMakeTooDearIsRefused) {
  struct Case {
    std::string what;
    int containers;
    std::string want;
  };
  for (const Case& c : std::vector<Case>{
           {"default", 100,
            "with the defaults of the limit ranges of its namespace it would have more fields than "
            "an object may have"},
           {"maxLimitRequestRatio", 500,
            "its containers times the names that the limit ranges of its namespace limit are more "
            "than 250000"}}) {
    limit(fmt::format(R"({{"type":"Container","{}":{{{}}}}})", c.what, resources(500)));
    const auto refused = create(pods(), "default", containers(c.containers));
    EXPECT_EQ(reason(refused), Reason::Forbidden);
    EXPECT_EQ(message(refused), R"(pods "p" is forbidden: )" + c.want);
    ASSERT_TRUE(remove(*api::find_kind("", "LimitRange"), "default", "l"));
  }
  limit(fmt::format(R"({{"type":"Container","default":{{{}}}}})", resources(500)));
  EXPECT_TRUE(create_pod("{}")) << "one container is not too many";
}

TEST_F(LimitRangeTest, NotMoreFaultsAreToldThanAnybodyReads) {
  limit(fmt::format(R"({{"type":"Container","maxLimitRequestRatio":{{{}}}}})", resources(1'500)));
  const auto refused = create_pod("{}");
  EXPECT_EQ(reason(refused), Reason::Forbidden);
  EXPECT_TRUE(message(refused).ends_with(", and perhaps more]"));
  EXPECT_LT(message(refused).size(), 200'000U);
}

TEST_F(LimitRangeTest, ClaimsAreLimitedToo) {
  limit(R"({"type":"PersistentVolumeClaim","max":{"storage":"5Gi"}})");
  const auto claim = create(
      api::kinds::persistent_volume_claim(), "default",
      R"({"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"6Gi"}}}})");
  EXPECT_EQ(
      message(claim),
      R"(persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi)");
}

TEST_F(LimitRangeTest, BoundsMayBeReached) {
  limit(R"({"type":"Container","max":{"cpu":"2"},"min":{"cpu":"1"}},)"
        R"({"type":"Pod","min":{"memory":"1Gi"}})");
  struct Case {
    std::string resources;
    std::string want;
  };
  for (const auto& [resources, want] : std::vector<Case>{
           {R"({"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2","memory":"1Gi"}})", ""},
           {R"({"requests":{"cpu":"1"},"limits":{"cpu":"1"}})",
            "minimum memory usage per Pod is 1Gi.  No request is specified"},
           {R"({"requests":{"cpu":"1","memory":"1Mi"},"limits":{"cpu":"1"}})",
            "minimum memory usage per Pod is 1Gi, but request is 1Mi"},
           {R"({"requests":{"cpu":"1","memory":"1Mi"},"limits":{"cpu":"1","memory":"2Mi"}})",
            "[minimum memory usage per Pod is 1Gi, but limit is 2Mi, minimum memory usage per Pod "
            "is 1Gi, but request is 1Mi]"}}) {
    const auto made = create_pod(resources);
    EXPECT_EQ(message(made), want.empty() ? "no error" : R"(pods "p" is forbidden: )" + want);
  }
}

TEST_F(LimitRangeTest, AllContainersOfAPodAreSummed) {
  limit(R"({"type":"Pod","max":{"cpu":"2"}})");
  const std::string_view sidecar =
      R"(,"initContainers":[{"name":"side","image":"i","restartPolicy":"Always","resources":{"limits":{"cpu":"1500m"}}}])";
  EXPECT_EQ(message(create_pod(R"({"limits":{"cpu":"1"}})", sidecar)),
            R"(pods "p" is forbidden: [maximum cpu usage per Pod is 2, but limit is 2500m, )"
            R"(maximum cpu usage per Pod is 2, but request is 2500m])");
  EXPECT_TRUE(create_pod(R"({"limits":{"cpu":"500m"}})", sidecar));
}

TEST_F(LimitRangeTest, InitContainersAreJudgedOneByOne) {
  limit(R"({"type":"Container","max":{"cpu":"2"}})");
  EXPECT_EQ(
      message(create_pod(
          R"({"limits":{"cpu":"1"}})",
          R"(,"initContainers":[{"name":"first","image":"i","resources":{"limits":{"cpu":"3"}}}])")),
      R"(pods "p" is forbidden: [maximum cpu usage per Container is 2, but limit is 3, )"
      R"(maximum cpu usage per Container is 2, but request is 3])");
}

TEST_F(LimitRangeTest, ClaimsMayReachTheirBounds) {
  limit(R"({"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"5Gi"}})");
  for (const auto& [size, fits] : std::vector<std::pair<std::string_view, bool>>{
           {"1Gi", true}, {"5Gi", true}, {"1023Mi", false}, {"5121Mi", false}}) {
    const auto made = create(
        api::kinds::persistent_volume_claim(), "default",
        fmt::format(
            R"({{"metadata":{{"generateName":"c"}},"spec":{{"accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"{}"}}}}}}}})",
            size));
    EXPECT_EQ(made.has_value(), fits) << size << ": " << message(made);
  }
}

TEST_F(LimitRangeTest, WhatIsNoPodOrClaimIsNotLimited) {
  limit(R"({"type":"Container","max":{"cpu":"2"},"default":{"cpu":"1"}})");
  const auto made = create(*api::find_kind("", "ReplicationController"), "default",
                           R"({"metadata":{"name":"r"},"spec":{"selector":{"a":"b"},"template":{
      "metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i",
      "resources":{"limits":{"cpu":"9"}}}]}}}})");
  EXPECT_TRUE(made) << message(made);
}

}  // namespace
}  // namespace muster::server
