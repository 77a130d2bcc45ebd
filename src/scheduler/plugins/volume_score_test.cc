#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/standing.h"
#include "scheduler/plugins/volume_binding.h"
#include "scheduler/volumes/volumes_testing.h"

// How good a node is by the storage that a pod would use there.
namespace muster::scheduler {
namespace {

class VolumeScore : public ::testing::Test {
 protected:
  NodeId add(const std::string& name) {
    cluster_.set_node(
        NodeSample{.name = name, .labels = {{"kubernetes.io/hostname", name}}}.make());
    NodeId id{};
    EXPECT_TRUE(cluster_.find_node(name, id));
    return id;
  }
  template <typename... Samples>
  void put(const Samples&... samples) {
    (cluster_.put_volume_object(samples.make()), ...);
  }
  // Drivers report so much for volumes of the class on every node.
  void report(const std::string& storage_class, const std::string& amount) {
    cluster_.put_volume_object(
        object_of(api::kinds::csi_driver(),
                  R"({"metadata":{"name":"csi.example.com"},"spec":{"storageCapacity":true}})"));
    cluster_.put_volume_object(object_of(
        api::kinds::csi_storage_capacity(),
        R"({"metadata":{"name":"k-)" + storage_class +
            R"(","namespace":"x"},"storageClassName":")" + storage_class + R"(","capacity":")" +
            amount + R"(","nodeTopology":{"matchLabels":{"kubernetes.io/hostname":"n1"}}})"));
  }
  Standing& standing_of(std::initializer_list<std::string_view> claims,
                        VolumeBindingArgs args = {}) {
    const auto pod = PodSample{.name = "p", .spec = mounts(claims)}.make();
    cluster_.count_claim_users(*pod, 1);
    profile_ = std::make_unique<Profile>();
    profile_->add<VolumeBinding>(1, std::move(args));
    standing_ = std::make_unique<Standing>(cluster_.class_of(pod), *profile_, cluster_);
    standing_->catch_up();
    return *standing_;
  }
  // One row and the whole column must agree.
  std::int64_t score(NodeId node) {
    const ScorePass& pass = *standing_->scores().front().pass;
    Column<std::int32_t> totals;
    totals.resize(cluster_.rows());
    pass.add_local(2, totals);
    EXPECT_EQ(totals[node], 2 * pass.local(node));
    return pass.local(node);
  }

  Cluster cluster_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<Standing> standing_;
};

TEST_F(VolumeScore, FollowsTheShapeOfTheProfile) {
  using Shape = std::vector<VolumeBindingArgs::Point>;
  struct Case {
    Shape shape;
    int percent;
    std::int64_t want;
  };
  const Shape bent{{0, 0}, {50, 100}, {100, 20}};
  const Shape short_one{{40, 70}, {80, 10}};
  const Case cases[] = {
      {bent, 1, 2},        {bent, 30, 60},      {bent, 50, 100},     {bent, 75, 60},
      {bent, 51, 99},      {bent, 100, 20},     {short_one, 20, 70}, {short_one, 40, 70},
      {short_one, 60, 40}, {short_one, 80, 10}, {short_one, 81, 10}, {short_one, 100, 10},
      {{{0, 30}}, 50, 30},
  };
  const NodeId n1 = add("n1");
  put(ClassSample{}, VolumeSample{.name = "v", .size = "100Gi"});
  for (const Case& c : cases) {
    put(ClaimSample{.name = "a", .size = std::to_string(c.percent) + "Gi"});
    VolumeBindingArgs args;
    args.shape = c.shape;
    standing_of({"a"}, args);
    EXPECT_EQ(score(n1), c.want) << c.percent;
  }
}

TEST_F(VolumeScore, IsOfTheVolumesThatAreLeft) {
  const NodeId n1 = add("n1");
  const NodeId n2 = add("n2");
  put(ClassSample{.provisioner = "kubernetes.io/no-provisioner"},
      ClaimSample{.name = "a", .size = "5Gi"},
      VolumeSample{.name = "v1", .size = "10Gi", .host = "n1"},
      VolumeSample{.name = "v2", .size = "40Gi", .host = "n1"},
      VolumeSample{.name = "v3", .size = "20Gi", .host = "n2"});
  Standing& standing = standing_of({"a"});
  EXPECT_EQ(score(n1), 50) << "the smallest that is large enough: 5 of 10";
  EXPECT_EQ(score(n2), 75);
  const PodClass& pods = standing.pods();
  cluster_.place(pods, n1);
  standing.placed(pods, n1);
  EXPECT_EQ(score(n1), 88) << "12 percent of the larger one";
  EXPECT_EQ(score(n2), 75);
  cluster_.unplace(pods, n1);
  standing.removed(pods, n1);
  EXPECT_EQ(score(n1), 50);
}

TEST_F(VolumeScore, VolumesOfOneClassAreTakenTogether) {
  const NodeId n1 = add("n1");
  put(ClassSample{}, ClaimSample{.name = "a", .size = "1Gi"},
      ClaimSample{.name = "b", .size = "5Gi"}, VolumeSample{.name = "v1", .size = "4Gi"},
      VolumeSample{.name = "v2", .size = "20Gi"});
  standing_of({"a", "b"});
  EXPECT_EQ(score(n1), 75) << "6 of 24";
}

TEST_F(VolumeScore, ReportedCapacityIsSharedByTheClaimsOfItsClass) {
  const NodeId n1 = add("n1");
  const NodeId n2 = add("n2");
  put(ClassSample{}, ClaimSample{.name = "a", .size = "3Gi"},
      ClaimSample{.name = "b", .size = "6Gi"});
  report("fast", "12Gi");
  standing_of({"a", "b"});
  EXPECT_EQ(score(n1), 25) << "9 of 12";
  EXPECT_EQ(score(n2), 0) << "nothing is reported there";
}

TEST_F(VolumeScore, StorageThatHasToBeMadeDoesNotCountBesideVolumes) {
  const NodeId n1 = add("n1");
  put(ClassSample{}, ClassSample{.name = "made"}, ClaimSample{.name = "a", .size = "1Gi"},
      ClaimSample{.name = "m", .storage_class = "made", .size = "9Gi"},
      VolumeSample{.name = "v", .size = "10Gi"});
  report("made", "10Gi");
  standing_of({"a", "m"});
  EXPECT_EQ(score(n1), 90) << "1 of 10 by the volume, whatever the rest takes";
}

TEST_F(VolumeScore, NothingIsScoredWithoutAChoice) {
  add("n1");
  put(ClassSample{}, ClaimSample{.name = "bound", .volume = "v"},
      VolumeSample{.name = "v", .claim = "bound"}, ClaimSample{.name = "made"});
  EXPECT_TRUE(standing_of({"bound"}).scores().empty());
  EXPECT_TRUE(standing_of({}).scores().empty());
}

}  // namespace
}  // namespace muster::scheduler
