#include "app/connection.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::app {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// One that served groups once it has the gate alone would still serve none.
TEST(ConnectionTest, WhereGroupsAreNotServedItSaysWhichGatesAndVersionsAreNeeded) {
  ForeignCluster cluster;
  cluster.version = "v1.37.0";
  std::string text = describe(cluster);
  EXPECT_TRUE(contains(text,
                       "  podgroups                    not served: no gangs; pods are scheduled "
                       "one by one (kube-apiserver 1.37 needs "
                       "--feature-gates=GenericWorkload=true "
                       "--runtime-config=scheduling.k8s.io/v1beta1=true)\n"))
      << text;
  EXPECT_TRUE(contains(text,
                       "TopologyAwareWorkloadScheduling=true,CompositePodGroup=true "
                       "--runtime-config=scheduling.k8s.io/v1alpha3=true"))
      << text;
  cluster.version = "v1.36.3";
  text = describe(cluster);
  EXPECT_TRUE(contains(text,
                       "--feature-gates=GenericWorkload=true,GangScheduling=true "
                       "--runtime-config=scheduling.k8s.io/v1alpha2=true"))
      << text;
}

TEST(ConnectionTest, AnOlderVersionIsServedWithWhatItCosts) {
  ForeignCluster cluster;
  cluster.served.set(api::kinds::pod_group(), "v1alpha2");
  const std::string text = describe(cluster);
  EXPECT_TRUE(contains(text,
                       "  podgroups                    scheduling.k8s.io/v1alpha2; older: minCount "
                       "cannot be changed, groups have no preemption policy, and there are no "
                       "groups of groups\n"))
      << text;
  for (const char* version : {"v1beta1", "v1alpha3"}) {
    cluster.served.set(api::kinds::pod_group(), version);
    EXPECT_FALSE(contains(describe(cluster), "older")) << version;
  }
}

TEST(ConnectionTest, SaysWhatIsServedAndWhatTheRestCosts) {
  ForeignCluster cluster;
  cluster.config.server = "https://x:6443";
  cluster.version = "v1.37.1";
  for (const api::Kind* kind : {&api::kinds::pod_group(), &api::kinds::workload()})
    cluster.served.set(*kind, "v1beta1");
  EXPECT_EQ(describe(cluster),
            "https://x:6443 (Kubernetes v1.37.1) serves:\n"
            "  podgroups                    scheduling.k8s.io/v1beta1\n"
            "  workloads                    scheduling.k8s.io/v1beta1\n"
            "  compositepodgroups           not served: no groups of groups (kube-apiserver 1.37 "
            "needs --feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,"
            "CompositePodGroup=true --runtime-config=scheduling.k8s.io/v1alpha3=true)\n"
            "  groupbindings                not served: a gang is bound pod by pod, and repaired "
            "if that is interrupted\n");
  cluster.version.clear();
  cluster.served = {};
  cluster.served.set(api::kinds::workload(), "v1alpha2");
  const std::string text = describe(cluster);
  EXPECT_TRUE(contains(text, "https://x:6443 (Kubernetes of unknown version) serves:\n")) << text;
  EXPECT_TRUE(contains(text,
                       "  workloads                    scheduling.k8s.io/v1alpha2; older: "
                       "templates cannot be nested\n"))
      << text;
}

}  // namespace
}  // namespace muster::app
