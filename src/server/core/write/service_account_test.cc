#include <fmt/format.h>

#include "api/reading.h"
#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class ServiceAccountTest : public CoreTest {
 protected:
  static const api::Kind& accounts() { return *api::find_kind("", "ServiceAccount"); }
  Result<Answer> create_account(std::string_view name, std::string_view members) {
    return create(
        accounts(), "default",
        fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default"}}{}}})", name, members));
  }
  // Texts of the members `member` in a list of the pod's spec; "" where an entry has none.
  static std::vector<std::string> each(const Result<Answer>& pod, std::string_view list,
                                       std::string_view member) {
    std::vector<std::string> out;
    const auto parsed = api::parse_json(seen(pod));
    if (!parsed) return {seen(pod)};
    for (const api::Json& entry : api::elements(api::part_of(parsed->value, "spec"), list)) {
      const api::Json* value = api::find(entry, member);
      out.push_back(value == nullptr     ? ""
                    : value->is_string() ? std::string(value->get_string())
                                         : api::to_text(*value));
    }
    return out;
  }
  static std::string mount(std::string_view volume) {
    return fmt::format(
        R"({{"name":"{}","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}})",
        volume);
  }
  static std::vector<std::string> mounts(const Result<Answer>& pod) {
    return each(pod, "containers", "volumeMounts");
  }
  static constexpr std::string_view kPrefix = "kube-api-access-";
};

TEST_F(ServiceAccountTest, APodThatNamesNoneUsesTheDefaultOne) {
  const auto pod = create_pod("web");
  EXPECT_EQ(at(pod, "spec.serviceAccountName"), "default") << message(pod);
  EXPECT_EQ(at(pod, "spec.serviceAccount"), "default");
  ASSERT_EQ(each(pod, "volumes", "name").size(), 1U);
  const std::string volume = each(pod, "volumes", "name")[0];
  EXPECT_TRUE(volume.starts_with(kPrefix)) << volume;
  EXPECT_EQ(volume.size(), kPrefix.size() + 5);
  EXPECT_EQ(mounts(pod), std::vector{"[" + mount(volume) + "]"});
  EXPECT_EQ(
      at(pod, "spec.volumes"),
      fmt::format(
          R"([{{"name":"{}","projected":{{"sources":[{{"serviceAccountToken":{{"expirationSeconds":3607,"path":"token"}}}},)"
          R"({{"configMap":{{"name":"kube-root-ca.crt","items":[{{"key":"ca.crt","path":"ca.crt"}}]}}}},)"
          R"({{"downwardAPI":{{"items":[{{"path":"namespace","fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.namespace"}}}}]}}}}],)"
          R"("defaultMode":420}}}}])",
          volume));
}

TEST_F(ServiceAccountTest, EveryContainerGetsTheTokenUnlessItMountsSomethingThere) {
  const auto pod = create(pods(), "default", R"({"metadata":{"name":"web"},"spec":{
      "volumes":[{"name":"mine","emptyDir":{}}],
      "initContainers":[{"name":"i","image":"x"}],
      "containers":[{"name":"a","image":"x","volumeMounts":[{"name":"mine","mountPath":"/data"}]},
                    {"name":"b","image":"x","volumeMounts":[{"name":"mine",
                     "mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}]}})");
  const std::vector<std::string> volumes = each(pod, "volumes", "name");
  ASSERT_EQ(volumes.size(), 2U) << message(pod);
  EXPECT_EQ(volumes[0], "mine");
  EXPECT_EQ(each(pod, "initContainers", "volumeMounts"),
            std::vector{"[" + mount(volumes[1]) + "]"});
  EXPECT_EQ(
      mounts(pod),
      (std::vector<std::string>{
          R"([{"name":"mine","mountPath":"/data"},)" + mount(volumes[1]) + "]",
          R"([{"name":"mine","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}])"}));
}

// Its token's mounts count: else the pod could be made, but no longer labelled.
TEST_F(ServiceAccountTest, APodHasNoMoreValuesThanAnObjectMayHaveWithItsTokens) {
  const auto with_containers = [&](const std::string& name, int count) {
    std::string containers;
    for (int i = 0; i < count; ++i)
      containers += fmt::format(R"({}{{"name":"c{}","image":"x"}})", i == 0 ? "" : ",", i);
    return create(pods(), "default",
                  fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"containers":[{}]}}}})",
                              name, containers));
  };
  const auto refused = with_containers("wide", 2'000);  // 14,000 values without mounts
  EXPECT_EQ(reason(refused), Reason::RequestEntityTooLarge) << message(refused);
  const auto made = with_containers("web", 1'500);
  EXPECT_TRUE(made.has_value()) << message(made);
  const auto labelled = merge(pods(), "default", "web", R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_TRUE(labelled.has_value()) << message(labelled);
}

TEST_F(ServiceAccountTest, AVolumeOfThatNameIsUsedAsItIs) {
  const auto pod = create(pods(), "default", R"({"metadata":{"name":"web"},"spec":{
      "volumes":[{"name":"kube-api-access-mine","emptyDir":{}}],
      "containers":[{"name":"a","image":"x"}]}})");
  EXPECT_EQ(mounts(pod), std::vector{"[" + mount("kube-api-access-mine") + "]"}) << message(pod);
  EXPECT_EQ(each(pod, "volumes", "name"), std::vector<std::string>{"kube-api-access-mine"});
}

TEST_F(ServiceAccountTest, PodAndAccountMayDeclineTheToken) {
  const std::vector<std::string> none{""};
  EXPECT_EQ(mounts(create_pod("a", R"("automountServiceAccountToken":false)")), none);
  ASSERT_TRUE(create_account("shy", R"(,"automountServiceAccountToken":false)"));
  const auto pod = create_pod("b", R"("serviceAccountName":"shy")");
  EXPECT_EQ(at(pod, "spec.serviceAccountName"), "shy") << message(pod);
  EXPECT_EQ(mounts(pod), none);
  EXPECT_EQ(at(pod, "spec.volumes"), "");
  const auto both =
      create_pod("c", R"("serviceAccountName":"shy","automountServiceAccountToken":true)");
  EXPECT_NE(mounts(both), none) << "the pod has the last word";
}

TEST_F(ServiceAccountTest, AnAccountThatDoesNotExistIsRefused) {
  const auto pod = create_pod("web", R"("serviceAccountName":"nobody")");
  EXPECT_EQ(reason(pod), Reason::Forbidden);
  EXPECT_EQ(message(pod), R"(pods "web" is forbidden: error looking up service account )"
                          R"(default/nobody: serviceaccount "nobody" not found)");
  ASSERT_TRUE(remove(accounts(), "default", "default"));
  EXPECT_EQ(message(create_pod("web")),
            R"(pods "web" is forbidden: error looking up service account default/default: )"
            R"(serviceaccount "default" not found)");
}

TEST_F(ServiceAccountTest, PodsWithoutImagePullSecretsGetThoseOfTheAccount) {
  ASSERT_TRUE(create_account("puller", R"(,"imagePullSecrets":[{"name":"registry"}])"));
  const auto pod = create_pod("a", R"("serviceAccountName":"puller")");
  EXPECT_EQ(at(pod, "spec.imagePullSecrets"), R"([{"name":"registry"}])") << message(pod);
  const auto own =
      create_pod("b", R"("serviceAccountName":"puller","imagePullSecrets":[{"name":"own"}])");
  EXPECT_EQ(at(own, "spec.imagePullSecrets"), R"([{"name":"own"}])") << message(own);
}

TEST_F(ServiceAccountTest, MirrorPodsStayAsTheyAre) {
  const auto mirror = [&](std::string_view name, std::string_view spec) {
    return create(
        pods(), "default",
        fmt::format(
            R"({{"metadata":{{"name":"{}","annotations":{{"kubernetes.io/config.mirror":"m"}}}},
                 "spec":{{"nodeName":"n","containers":[{{"name":"a","image":"x"}}]{}}}}})",
            name, spec));
  };
  const auto pod = mirror("a", "");
  EXPECT_EQ(at(pod, "spec.serviceAccountName"), "") << message(pod);
  EXPECT_EQ(at(pod, "spec.volumes"), "");
  EXPECT_EQ(message(mirror("b", R"(,"serviceAccountName":"default")")),
            R"(pods "b" is forbidden: a mirror pod may not reference service accounts)");
  EXPECT_EQ(message(mirror("c", R"(,"imagePullSecrets":[{"name":"s"}])")),
            R"(pods "c" is forbidden: a mirror pod may not reference secrets)");
  EXPECT_EQ(
      message(mirror(
          "d",
          R"(,"volumes":[{"name":"t","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}])")),
      R"(pods "d" is forbidden: a mirror pod may not use ServiceAccountToken volume projections)");
}

// Nobody can see the namespace before its account.
TEST_F(ServiceAccountTest, ANamespaceComesWithItsDefaultAccount) {
  const auto made = create(namespaces(), "", R"({"metadata":{"name":"team"}})");
  ASSERT_TRUE(made);
  const api::ObjectPtr account = store_->get("serviceaccounts/team/default");
  ASSERT_NE(account, nullptr);
  EXPECT_NE(account->meta().uid, "");
  EXPECT_TRUE(create(pods(), "team", pod_json("web")));
  for (const std::string_view name : {"default", "kube-system", "kube-public", "kube-node-lease"})
    EXPECT_NE(store_->get(fmt::format("serviceaccounts/{}/default", name)), nullptr) << name;
  ASSERT_TRUE(remove(pods(), "team", "web"));
  ASSERT_TRUE(remove(namespaces(), "", "team"));
  EXPECT_EQ(store_->get("serviceaccounts/team/default"), nullptr);
}

TEST_F(ServiceAccountTest, AMirrorPodMayNotGetAtSecretsInAnyWay) {
  struct Case {
    std::string_view what;
    std::string_view container;
    std::string_view spec;
  };
  for (
      const Case& one :
      {Case{"a volume", "", R"(,"volumes":[{"name":"v","secret":{"secretName":"s"}}])"},
       Case{"a projected one", "",
            R"(,"volumes":[{"name":"v","projected":{"sources":[{"secret":{"name":"s"}}]}}])"},
       Case{"a variable",
            R"(,"env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}])", ""},
       Case{"all variables", R"(,"envFrom":[{"secretRef":{"name":"s"}}])", ""},
       Case{
           "a driver", "",
           R"(,"volumes":[{"name":"v","csi":{"driver":"d","nodePublishSecretRef":{"name":"s"}}}])"}}) {
    const auto pod = create(
        pods(), "default",
        fmt::format(
            R"({{"metadata":{{"name":"p","annotations":{{"kubernetes.io/config.mirror":"m"}}}},
                 "spec":{{"nodeName":"n","containers":[{{"name":"a","image":"x"{}}}]{}}}}})",
            one.container, one.spec));
    EXPECT_EQ(message(pod), R"(pods "p" is forbidden: a mirror pod may not reference secrets)")
        << one.what;
  }
}

}  // namespace
}  // namespace muster::server
