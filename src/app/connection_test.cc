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

}  // namespace
}  // namespace muster::app
