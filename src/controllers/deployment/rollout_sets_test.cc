#include "controllers/deployment/rollout_sets.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controllers/deployment/deployment_testing.h"

namespace muster::controllers {
namespace {

// "name=replicas" of each set that was given a size, the oldest first.
Texts sizes(RolloutSets& sets) {
  Texts out;
  for (const RolloutSet* set : sets.all())
    if (set->sized) out.push_back(fmt::format("{}={}", set->object->meta().name, set->replicas));
  return out;
}

// Sets of an older template, each a minute younger than the one before, and one of the newest.
RolloutSets some(const DeploymentText& text, std::vector<SetText> texts) {
  std::vector<api::ObjectPtr> objects;
  int minute = 0;
  for (SetText& set : texts) {
    set.created = fmt::format("2025-12-31T00:{:02}:00Z", minute++);
    objects.push_back(make_set(set));
  }
  return split_sets(make_deployment(text)->view<api::DeploymentView>(), objects);
}

Texts rolled(const DeploymentText& text, const std::vector<SetText>& texts) {
  RolloutSets sets = some(text, texts);
  roll(make_deployment(text)->view<api::DeploymentView>(), sets);
  return sizes(sets);
}

Texts scaled(const DeploymentText& text, const std::vector<SetText>& texts) {
  RolloutSets sets = some(text, texts);
  scale_in_proportion(make_deployment(text)->view<api::DeploymentView>(), sets);
  return sizes(sets);
}

SetText newest(std::int64_t replicas, std::int64_t available, const std::string& annotations = "") {
  return {.name = "new",
          .image = "v2",
          .replicas = replicas,
          .available = available,
          .annotations = annotations};
}

DeploymentText to_v2(int replicas, std::string_view surge, std::string_view unavailable) {
  return {.replicas = replicas, .image = "v2", .spec = rolling(surge, unavailable)};
}

TEST(RolloutSets, OfSeveralWithTheTemplateTheOldestIsNewestThenTheFirstByName) {
  const auto deployment = make_deployment({});
  const auto set = [](const std::string& name, const std::string& image, int hour) {
    return make_set(
        {.name = name, .image = image, .created = fmt::format("2025-12-31T{:02}:00:00Z", hour)});
  };
  RolloutSets sets = split_sets(
      deployment->view<api::DeploymentView>(),
      {set("late", "v1", 3), set("b", "v1", 2), set("a", "v1", 2), set("other", "v0", 1)});
  ASSERT_TRUE(sets.newest);
  EXPECT_EQ(sets.newest->object->meta().name, "a");
  Texts all;
  for (const RolloutSet* each : sets.all()) all.push_back(each->object->meta().name);
  EXPECT_EQ(all, (Texts{"other", "b", "late", "a"})) << "the newest last, others by age";
}

TEST(RolloutSets, TheNewestShrinksToWhatIsWanted) {
  EXPECT_EQ(rolled(to_v2(3, "1", "1"), {newest(5, 5)}), Texts{"new=3"});
  EXPECT_EQ(rolled(to_v2(3, "1", "1"), {newest(3, 3)}), Texts{});
}

TEST(RolloutSets, TheNewestDoesNotGrowWhileThereAreTooManyPods) {
  EXPECT_EQ(
      rolled(to_v2(3, "1", "0"), {{.name = "a", .replicas = 5, .available = 3}, newest(1, 0)}),
      Texts{"a=3"})
      << "six pods of four, but two of them do not work";
  EXPECT_EQ(
      rolled(to_v2(4, "2", "0"), {{.name = "a", .replicas = 3, .available = 3}, newest(1, 1)}),
      Texts{"new=3"});
  EXPECT_EQ(
      rolled(to_v2(4, "3", "0"), {{.name = "a", .replicas = 1, .available = 1}, newest(2, 2)}),
      Texts{"new=4"})
      << "no more than all of them";
}

TEST(RolloutSets, WhatDoesNotWorkGoesFromTheOldestOnAndThenWhatCanBeSpared) {
  // Of eight pods four must work, five do.
  EXPECT_EQ(rolled(to_v2(6, "2", "2"), {{.name = "a", .replicas = 2, .available = 1},
                                        {.name = "none", .replicas = 0},
                                        {.name = "b", .replicas = 4, .available = 2},
                                        newest(2, 2)}),
            (Texts{"a=0", "b=2"}));
}

TEST(RolloutSets, NoMoreGoThanMayBeMissing) {
  EXPECT_EQ(rolled(to_v2(6, "1", "0"), {{.name = "a", .replicas = 2, .available = 1},
                                        {.name = "b", .replicas = 3, .available = 1},
                                        newest(2, 2)}),
            Texts{"a=1"});
  EXPECT_EQ(
      rolled(to_v2(6, "2", "0"), {{.name = "a", .replicas = 5, .available = 1}, newest(3, 3)}),
      Texts{"a=3"});
  EXPECT_EQ(rolled(to_v2(6, "0", "2"), {{.name = "a", .replicas = 3, .available = 3},
                                        {.name = "b", .replicas = 3, .available = 3},
                                        newest(0, 0)}),
            Texts{"a=1"});
}

TEST(RolloutSets, ASetThatIsShrinkingAlreadyDoesNotGrow) {
  // Of the three pods of a, one is wanted.
  EXPECT_EQ(rolled(to_v2(4, "1", "1"), {{.name = "a", .replicas = 1, .available = 3, .pods = 3},
                                        {.name = "b", .replicas = 3, .available = 0},
                                        newest(1, 0)}),
            Texts{"b=2"});
}

TEST(RolloutSets, WhoHasMostGetsWhatIsLeftAndOfEqualOnesTheYounger) {
  const std::vector<SetText> two{
      {.name = "a", .replicas = 5, .available = 5, .annotations = sized(10, 10)},
      newest(5, 0, sized(10, 10))};
  EXPECT_EQ(scaled(to_v2(11, "0", "1"), two), (Texts{"a=5", "new=6"}));
  EXPECT_EQ(scaled(to_v2(9, "0", "1"), two), (Texts{"a=4", "new=5"})) << "the older if one must go";
  EXPECT_EQ(scaled(to_v2(10, "0", "1"), two), (Texts{"a=5", "new=5"}));
  EXPECT_EQ(scaled(to_v2(13, "0", "1"), {{.name = "a", .replicas = 6, .annotations = sized(10, 10)},
                                         newest(4, 0, sized(10, 10))}),
            (Texts{"a=8", "new=5"}));
}

TEST(RolloutSets, SharesThatAreRoundedDoNotExceedTheChange) {
  const auto threes = [](std::int64_t at_most) {
    return std::vector<SetText>{{.name = "a", .replicas = 3, .annotations = sized(6, at_most)},
                                newest(3, 0, sized(6, at_most))};
  };
  EXPECT_EQ(scaled(to_v2(9, "0", "1"), threes(6)), (Texts{"a=4", "new=5"}));
  EXPECT_EQ(scaled(to_v2(3, "0", "1"), threes(6)), (Texts{"a=1", "new=2"}));
  EXPECT_EQ(scaled(to_v2(5, "0", "1"), {{.name = "a", .replicas = 4, .annotations = sized(8, 12)},
                                        newest(4, 0, sized(8, 12))}),
            (Texts{"a=2", "new=3"}));
}

TEST(RolloutSets, WithoutAnAnnotationSharesAreOfWhatTheStatusSays) {
  DeploymentText text = to_v2(12, "0", "1");
  const std::vector<SetText> two{{.name = "a", .replicas = 4}, newest(2, 0)};
  text.status = R"({"replicas":6})";
  EXPECT_EQ(scaled(text, two), (Texts{"a=8", "new=4"}));
  text.status = "{}";
  EXPECT_EQ(scaled(text, two), (Texts{"a=10", "new=2"})) << "all to the largest";
  text.replicas = 1;
  EXPECT_EQ(
      scaled(text, {{.name = "a", .replicas = 1}, {.name = "b", .replicas = 1}, newest(1, 0)}),
      (Texts{"a=0", "b=1", "new=1"}))
      << "never below nothing";
}

TEST(RolloutSets, OldOnesGoOnceTheNewestHasAllForTheSizeThereIs) {
  const auto beside = [](const SetText& set) {
    return scaled(to_v2(3, "1", "0"),
                  {{.name = "a", .replicas = 1, .available = 1, .annotations = sized(3, 4)},
                   {.name = "none", .replicas = 0},
                   set});
  };
  EXPECT_EQ(beside(newest(3, 3, sized(3, 4))), Texts{"a=0"});
  EXPECT_EQ(beside(newest(3, 2, sized(3, 4))), (Texts{"a=1", "new=3"}));
  EXPECT_EQ(beside(newest(3, 3, sized(2, 4))), (Texts{"a=1", "new=3"})) << "for another size";
  EXPECT_EQ(beside(newest(2, 3, sized(3, 4))), (Texts{"a=1", "new=3"})) << "it wants fewer";
}

TEST(RolloutSets, WithRecreateSeveralSetsAreLeftAsTheyAre) {
  EXPECT_EQ(
      scaled({.replicas = 9, .image = "v2", .spec = R"(,"strategy":{"type":"Recreate"})"},
             {{.name = "a", .replicas = 2, .annotations = sized(3, 3)}, newest(1, 0, sized(3, 3))}),
      Texts{});
}

TEST(RolloutSets, HowFarARolloutMayGo) {
  const auto bounds = [](const DeploymentText& text) {
    const auto deployment = make_deployment(text);
    const auto& view = deployment->view<api::DeploymentView>();
    return std::pair(max_surge(view), max_unavailable(view));
  };
  using Bounds = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(bounds({.replicas = 4, .spec = rolling("2", "3")}), (Bounds{2, 3}));
  EXPECT_EQ(bounds({.replicas = 0, .spec = rolling("2", "3")}), (Bounds{2, 0}));
  EXPECT_EQ(bounds({.replicas = 4, .spec = R"(,"strategy":{"type":"Recreate"})"}), (Bounds{0, 0}));
  EXPECT_EQ(bounds({.replicas = 4, .spec = rolling("1", "0")}), (Bounds{1, 0}));
}

}  // namespace
}  // namespace muster::controllers
