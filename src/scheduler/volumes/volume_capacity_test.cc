#include <gtest/gtest.h>

#include <string>

#include "scheduler/volumes/volume_book.h"
#include "scheduler/volumes/volumes_testing.h"

namespace muster::scheduler {
namespace {

// Whether storage can be made for a claim of 3Gi where a driver reports this much.
bool is_enough(const std::string& amounts) {
  VolumeBook book;
  book.put(ClassSample{}.make());
  book.put(ClaimSample{.name = "a", .size = "3Gi"}.make());
  book.put(object_of(api::kinds::csi_driver(),
                     R"({"metadata":{"name":"csi.example.com"},"spec":{"storageCapacity":true}})"));
  book.put(object_of(api::kinds::csi_storage_capacity(),
                     R"({"metadata":{"name":"k","namespace":"x"},"storageClassName":"fast",)"
                     R"("nodeTopology":{},)" +
                         amounts + "}"));
  return book.reserve(*pod_with("p", {"a"}), *host("n1")).reservation != nullptr;
}

TEST(VolumeCapacity, AClaimMayTakeAllThereIs) {
  EXPECT_TRUE(is_enough(R"("capacity":"3Gi")"));
  EXPECT_FALSE(is_enough(R"("capacity":"2Gi")"));
}

TEST(VolumeCapacity, AClaimMayBeAsLargeAsTheLargestVolume) {
  EXPECT_TRUE(is_enough(R"("capacity":"9Gi","maximumVolumeSize":"3Gi")"));
  EXPECT_FALSE(is_enough(R"("capacity":"9Gi","maximumVolumeSize":"2Gi")"));
}

}  // namespace
}  // namespace muster::scheduler
