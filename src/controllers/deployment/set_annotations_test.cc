#include "controllers/deployment/set_annotations.h"

#include <gtest/gtest.h>

#include <string>

#include "controllers/deployment/deployment_testing.h"

namespace muster::controllers {
namespace {

TEST(SetAnnotations, ANewSetGetsThoseOfItsDeploymentAndARevision) {
  const auto deployment = make_deployment(
      {.annotations =
           R"("kubernetes.io/change-cause":"why","deployment.kubernetes.io/revision":"1")"});
  EXPECT_EQ(newest_set_annotations(*deployment, nullptr, 2),
            (Annotations{{"deployment.kubernetes.io/revision", "2"},
                         {"kubernetes.io/change-cause", "why"}}));
}

TEST(SetAnnotations, ASetThatIsRolledBackToKeepsItsOldRevisions) {
  const auto deployment = make_deployment({});
  const auto once =
      make_set({.name = "a", .annotations = R"("deployment.kubernetes.io/revision":"1")"});
  EXPECT_EQ(newest_set_annotations(*deployment, once.get(), 3),
            (Annotations{{"deployment.kubernetes.io/revision", "3"},
                         {"deployment.kubernetes.io/revision-history", "1"}}));
  const auto twice = make_set(
      {.name = "a",
       .annotations =
           R"("deployment.kubernetes.io/revision":"3","deployment.kubernetes.io/revision-history":"1")"});
  EXPECT_EQ(newest_set_annotations(*deployment, twice.get(), 5)
                .at("deployment.kubernetes.io/revision-history"),
            "1,3");
  EXPECT_TRUE(newest_set_annotations(*deployment, twice.get(), 3).empty());
}

TEST(SetAnnotations, TheOldestRevisionsMakeRoomForNewOnes) {
  std::string history = "1";
  while (history.size() < 1999) history += ",7";
  const auto set = make_set(
      {.name = "a",
       .annotations =
           R"("deployment.kubernetes.io/revision":"8","deployment.kubernetes.io/revision-history":")" +
           history + "\""});
  const auto found = newest_set_annotations(*make_deployment({}), set.get(), 9);
  const std::string& longer = found.at("deployment.kubernetes.io/revision-history");
  EXPECT_LE(longer.size(), 2000U);
  EXPECT_TRUE(longer.starts_with("7,")) << "without the 1";
  EXPECT_TRUE(longer.ends_with(",7,8"));
}

TEST(SetAnnotations, SizesAreSetOnlyIfTheyDiffer) {
  const auto set = make_set({.name = "a", .annotations = sized(3, 4)});
  EXPECT_TRUE(size_annotations(set.get(), 3, 4).empty());
  EXPECT_EQ(size_annotations(set.get(), 3, 5),
            (Annotations{{"deployment.kubernetes.io/max-replicas", "5"}}));
}

}  // namespace
}  // namespace muster::controllers
