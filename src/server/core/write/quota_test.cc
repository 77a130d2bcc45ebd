#include "server/core/write/quota.h"

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class QuotaTest : public CoreTest {
 protected:
  static const api::Kind& kind(std::string_view group, std::string_view name) {
    return *api::find_kind(group, name);
  }
  static const api::Kind& quotas() { return kind("", "ResourceQuota"); }

  Result<Answer> create_quota(std::string_view name, std::string_view spec) {
    return create(quotas(), "default",
                  fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{{}}}}})", name, spec));
  }
  Result<Answer> create_pod(std::string_view name, std::string_view resources,
                            std::string_view more_spec = "") {
    return create(
        pods(), "default",
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"containers":[{{"name":"main","image":"i","resources":{}}}]{}}}}})",
            name, resources, more_spec));
  }
  std::string used(std::string_view name) {
    return at(get(quotas(), "default", name), "status.used");
  }
};

TEST_F(QuotaTest, WhatIsUsedIsKnownWithTheWriteThatUsesIt) {
  ASSERT_TRUE(create_quota(
      "q",
      R"("hard":{"pods":"2","requests.cpu":"3","limits.memory":"1Gi","count/configmaps":"1"})"));
  EXPECT_EQ(used("q"),
            R"({"count/configmaps":"0","limits.memory":"0","pods":"0","requests.cpu":"0"})");
  const auto made = create_pod("a", R"({"requests":{"cpu":"1500m"},"limits":{"memory":"512Mi"}})");
  ASSERT_TRUE(made) << message(made);
  EXPECT_EQ(
      used("q"),
      R"({"count/configmaps":"0","limits.memory":"512Mi","pods":"1","requests.cpu":"1500m"})");
  EXPECT_EQ(at(get(quotas(), "default", "q"), "status.hard.pods"), "2");
}

TEST_F(QuotaTest, WhatExceedsItIsRefusedInUpstreamsWords) {
  ASSERT_TRUE(create_quota("q", R"("hard":{"pods":"5","cpu":"2","memory":"1Gi"})"));
  ASSERT_TRUE(create_pod("a", R"({"requests":{"cpu":"1500m","memory":"1Gi"}})"));
  const auto refused = create_pod("b", R"({"requests":{"cpu":"1","memory":"1Mi"}})");
  EXPECT_EQ(reason(refused), Reason::Forbidden);
  EXPECT_EQ(
      message(refused),
      R"(pods "b" is forbidden: exceeded quota: q, requested: cpu=1,memory=1Mi, used: cpu=1500m,memory=1Gi, limited: cpu=2,memory=1Gi)");
  EXPECT_EQ(used("q"), R"({"cpu":"1500m","memory":"1Gi","pods":"1"})");
}

TEST_F(QuotaTest, WhoSaysNothingOfWhatIsLimitedIsRefused) {
  ASSERT_TRUE(create_quota("q", R"("hard":{"requests.cpu":"2","limits.memory":"1Gi"})"));
  EXPECT_EQ(
      message(create_pod("a", "{}")),
      R"(pods "a" is forbidden: failed quota: q: must specify limits.memory for: main; requests.cpu for: main)");
}

TEST_F(QuotaTest, WhatGoesOrEndsIsGivenBack) {
  ASSERT_TRUE(create_quota("q", R"("hard":{"pods":"1","count/pods":"9"})"));
  ASSERT_TRUE(create_pod("a", "{}"));
  EXPECT_EQ(reason(create_pod("b", "{}")), Reason::Forbidden);
  const auto ended = merge(pods(), "default", "a", R"({"status":{"phase":"Succeeded"}})", "status");
  ASSERT_TRUE(ended) << message(ended);
  EXPECT_EQ(used("q"), R"({"count/pods":"1","pods":"0"})") << "it still exists";
  ASSERT_TRUE(create_pod("b", "{}"));
  ASSERT_TRUE(remove(pods(), "default", "b"));
  EXPECT_EQ(used("q"), R"({"count/pods":"1","pods":"0"})");
}

TEST_F(QuotaTest, WhatAPodThatFailedTookIsGivenBack) {
  ASSERT_TRUE(create_quota("q", R"("hard":{"pods":"1","requests.cpu":"1"})"));
  ASSERT_TRUE(create_pod("a", R"({"requests":{"cpu":"1"}})"));
  const auto failed = merge(pods(), "default", "a", R"({"status":{"phase":"Failed"}})", "status");
  ASSERT_TRUE(failed) << message(failed);
  EXPECT_EQ(used("q"), R"({"pods":"0","requests.cpu":"0"})");
  EXPECT_TRUE(create_pod("b", R"({"requests":{"cpu":"1"}})"));
}

TEST_F(QuotaTest, WhatTakesLessIsAllowedAboveALoweredLimit) {
  ASSERT_TRUE(create_quota("q", R"("hard":{"requests.cpu":"3"})"));
  ASSERT_TRUE(create_pod("a", R"({"requests":{"cpu":"3"}})"));
  ASSERT_TRUE(merge(quotas(), "default", "q", R"({"spec":{"hard":{"requests.cpu":"1"}}})"));
  const auto smaller =
      patch(pods(), "default", "a", PatchType::StrategicMerge,
            R"({"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"2"}}}]}})",
            "resize");
  EXPECT_TRUE(smaller) << message(smaller);
  EXPECT_EQ(used("q"), R"({"requests.cpu":"2"})");
}

TEST_F(QuotaTest, AQuotaThatComesLaterCountsWhatIsThere) {
  ASSERT_TRUE(create_pod(
      "a", R"({"requests":{"cpu":"2","nvidia.com/gpu":"4"},"limits":{"nvidia.com/gpu":"4"}})"));
  ASSERT_TRUE(create(kind("", "ConfigMap"), "default", R"({"metadata":{"name":"m"}})"));
  ASSERT_TRUE(create_quota(
      "q",
      R"("hard":{"requests.nvidia.com/gpu":"6","configmaps":"5","resourcequotas":"1","count/deployments.apps":"0"})"));
  EXPECT_EQ(
      used("q"),
      R"({"configmaps":"1","count/deployments.apps":"0","requests.nvidia.com/gpu":"4","resourcequotas":"1"})");
  EXPECT_EQ(
      message(create_quota("r", R"("hard":{"pods":"1"})")),
      R"(resourcequotas "r" is forbidden: exceeded quota: q, requested: resourcequotas=1, used: resourcequotas=1, limited: resourcequotas=1)");
  const auto refused =
      create(kind("apps", "Deployment"), "default",
             R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
      "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  EXPECT_EQ(
      message(refused),
      R"(deployments.apps "d" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=0, limited: count/deployments.apps=0)");
  const auto wider = merge(quotas(), "default", "q", R"({"spec":{"hard":{"pods":"3"}}})");
  ASSERT_TRUE(wider) << message(wider);
  EXPECT_EQ(at(wider, "status.used.pods"), "1");
}

TEST_F(QuotaTest, ScopesChooseWhichPodsCount) {
  ASSERT_TRUE(create_quota("best", R"("hard":{"pods":"9"},"scopes":["BestEffort"])"));
  ASSERT_TRUE(create_quota("rest", R"("hard":{"pods":"9"},"scopes":["NotBestEffort"])"));
  ASSERT_TRUE(create_quota("brief", R"("hard":{"pods":"9"},"scopes":["Terminating"])"));
  ASSERT_TRUE(create_quota(
      "high",
      R"("hard":{"pods":"9"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["gold"]}]})"));
  ASSERT_TRUE(
      create(api::kinds::priority_class(), "", R"({"metadata":{"name":"gold"},"value":5})"));
  ASSERT_TRUE(create_pod("a", "{}"));
  ASSERT_TRUE(create_pod("b", R"({"requests":{"cpu":"1"}})", R"(,"activeDeadlineSeconds":9)"));
  const auto gold = create_pod("c", "{}", R"(,"priorityClassName":"gold")");
  ASSERT_TRUE(gold) << message(gold);
  EXPECT_EQ(used("best"), R"({"pods":"2"})");
  EXPECT_EQ(used("rest"), R"({"pods":"1"})");
  EXPECT_EQ(used("brief"), R"({"pods":"1"})");
  EXPECT_EQ(used("high"), R"({"pods":"1"})");
}

TEST_F(QuotaTest, ClaimsAndServicesCountByWhatTheyAskFor) {
  ASSERT_TRUE(create_quota(
      "q",
      R"("hard":{"requests.storage":"10Gi","fast.storageclass.storage.k8s.io/requests.storage":"4Gi","services.nodeports":"1"})"));
  const auto claim = [&](std::string_view name, std::string_view size) {
    return create(
        kind("", "PersistentVolumeClaim"), "default",
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"accessModes":["ReadWriteOnce"],"storageClassName":"fast","resources":{{"requests":{{"storage":"{}"}}}}}}}})",
            name, size));
  };
  const auto first = claim("a", "3Gi");
  ASSERT_TRUE(first) << message(first);
  EXPECT_EQ(
      message(claim("b", "2Gi")),
      R"(persistentvolumeclaims "b" is forbidden: exceeded quota: q, requested: fast.storageclass.storage.k8s.io/requests.storage=2Gi, used: fast.storageclass.storage.k8s.io/requests.storage=3Gi, limited: fast.storageclass.storage.k8s.io/requests.storage=4Gi)");
  const auto service = [&](std::string_view name) {
    return create(
        kind("", "Service"), "default",
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"type":"NodePort","ports":[{{"port":80}}]}}}})",
            name));
  };
  EXPECT_TRUE(service("s"));
  EXPECT_EQ(reason(service("t")), Reason::Forbidden);
}

TEST_F(QuotaTest, OtherNamespacesAreFree) {
  ASSERT_TRUE(create_quota("q", R"("hard":{"pods":"0"})"));
  ASSERT_TRUE(create(namespaces(), "", R"({"metadata":{"name":"free"}})"));
  EXPECT_TRUE(create(pods(), "free", pod_json("a")));
  EXPECT_EQ(reason(create(pods(), "default", pod_json("a"))), Reason::Forbidden);
}

// Quotas limit what is asked for, not what is: a pod that comes back to life is reported, not
// asked.
TEST_F(QuotaTest, AReportIsWrittenThoughItExceedsTheQuota) {
  ASSERT_TRUE(create_quota("q", R"("hard":{"pods":"1"})"));
  ASSERT_TRUE(create_pod("a", "{}"));
  ASSERT_TRUE(merge(pods(), "default", "a", R"({"status":{"phase":"Succeeded"}})", "status"));
  ASSERT_TRUE(create_pod("b", "{}"));
  const auto again = merge(pods(), "default", "a", R"({"status":{"phase":"Running"}})", "status");
  EXPECT_TRUE(again) << message(again);
  EXPECT_EQ(used("q"), R"({"pods":"2"})");
  EXPECT_EQ(reason(create_pod("c", "{}")), Reason::Forbidden);
  ASSERT_TRUE(remove(pods(), "default", "a"));
  EXPECT_EQ(used("q"), R"({"pods":"1"})");
}

TEST_F(QuotaTest, AQuotaMayBeUsedUpToItsLimit) {
  ASSERT_TRUE(create_quota("q", R"("hard":{"pods":"2","requests.cpu":"2"})"));
  EXPECT_TRUE(create_pod("a", R"({"requests":{"cpu":"1"}})"));
  EXPECT_TRUE(create_pod("b", R"({"requests":{"cpu":"1"}})"));
  EXPECT_EQ(message(create_pod("c", R"({"requests":{"cpu":"1m"}})")),
            R"(pods "c" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=1m, )"
            "used: pods=2,requests.cpu=2, limited: pods=2,requests.cpu=2");
  const auto grown =
      patch(pods(), "default", "a", PatchType::StrategicMerge,
            R"({"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"2"}}}]}})",
            "resize");
  EXPECT_EQ(message(grown), R"(pods "a" is forbidden: exceeded quota: q, requested: )"
                            "requests.cpu=1, used: requests.cpu=2, limited: requests.cpu=2")
      << "a resize asks, too";
}

TEST_F(QuotaTest, EveryQuotaOfANamespaceIsAsked) {
  ASSERT_TRUE(create_quota("a", R"("hard":{"pods":"9"})"));
  ASSERT_TRUE(create_quota("b", R"("hard":{"pods":"1"})"));
  ASSERT_TRUE(create_pod("p", "{}"));
  EXPECT_EQ(message(create_pod("q", "{}")),
            R"(pods "q" is forbidden: exceeded quota: b, requested: pods=1, used: pods=1, )"
            "limited: pods=1");
  EXPECT_EQ(used("a"), R"({"pods":"1"})") << "what is refused uses nothing";
}

}  // namespace
}  // namespace muster::server
