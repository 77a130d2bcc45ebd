#include "scheduler/framework/profile.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/framework/profiles.h"

namespace muster::scheduler {
namespace {

using Point = ExtensionPoint;

// A gate that holds back every pod with this label, for a reason of its own.
class HoldsBack : public Gate {
 public:
  explicit HoldsBack(std::string label) : label_(std::move(label)) {}
  std::optional<std::string> holds_back(const api::Object& pod) const override {
    if (api::lookup(pod.meta().labels, label_) == nullptr) return std::nullopt;
    return "has " + label_;
  }

 private:
  std::string label_;
};
class FirstGate final : public HoldsBack {
 public:
  static constexpr std::string_view kName = "FirstGate";
  FirstGate() : HoldsBack("one") {}
};
class SecondGate final : public HoldsBack {
 public:
  static constexpr std::string_view kName = "SecondGate";
  SecondGate() : HoldsBack("two") {}
};

// Says yes to what it was told to.
struct Opinion {
  bool listens = true;
  bool could_help = true;
  bool helps_by_now = true;
};
class Opinionated final : public Hints {
 public:
  static constexpr std::string_view kName = "Opinionated";
  explicit Opinionated(Opinion opinion) : opinion_(opinion) {}
  bool could_help(const api::Object&, const ClusterEvent&) const override {
    return opinion_.could_help;
  }
  bool listens(Resource resource, Action action) const override {
    return opinion_.listens && resource == Resource::Node && action == Action::Add;
  }
  bool helps_by_now(const api::Object&, const ClusterEvent&, const Cluster&) const override {
    return opinion_.helps_by_now;
  }

 private:
  Opinion opinion_;
};

// Has an answer to every question.
class Everything final : public Gate,
                         public Filter,
                         public Score,
                         public Hints,
                         public Reserve,
                         public Permit,
                         public PreBind,
                         public PostBind,
                         public PlacementGenerate,
                         public PlacementFeasible,
                         public PlacementScore,
                         public PodGroupPostFilter {
 public:
  static constexpr std::string_view kName = "Everything";
  std::optional<std::string> holds_back(const api::Object&) const override { return "no"; }
  std::unique_ptr<FilterPass> prepare_filter(const PodClass&, const Cluster&) const override {
    return nullptr;
  }
  std::unique_ptr<ScorePass> prepare_score(const PodClass&, const Cluster&) const override {
    return nullptr;
  }
  bool could_help(const api::Object&, const ClusterEvent&) const override { return false; }
  Answer reserve(const api::ObjectPtr&, std::string_view, Cluster&) const override { return {}; }
  void unreserve(const api::ObjectPtr&, Cluster&) const override {}
  Progress permit(const api::ObjectPtr&, std::string_view, const Cluster&) const override {
    return {};
  }
  Duration patience() const override { return {}; }
  std::unique_ptr<Preparation> prepare_binding(const api::ObjectPtr&, std::string_view,
                                               const Cluster&) const override {
    return nullptr;
  }
  void bound(const api::ObjectPtr&, std::string_view, Cluster&) const override {}
  std::string placements_of(const GroupSpec&) const override { return "all"; }
  PlacementColumn generate(std::string_view, Cluster& cluster) const override {
    return {{}, cluster.rows()};
  }
  PlacementStatus status(const GroupSpec&, const PlacementProgress&) const override { return {}; }
  std::string reason(const GroupSpec&, const PlacementProgress&) const override { return {}; }
  std::int64_t score(const PlacementView&) const override { return 0; }
  PreemptionPlan make_room(ClusterModel&, const Group&, Time) const override { return {}; }
};

// Says of a group's placements what it was told to.
class Generates : public PlacementGenerate {
 public:
  static constexpr std::string_view kName = "Generates";
  explicit Generates(std::string placements) : placements_(std::move(placements)) {}
  std::string placements_of(const GroupSpec&) const override { return placements_; }
  PlacementColumn generate(std::string_view, Cluster& cluster) const override {
    return {{}, cluster.rows()};
  }

 private:
  std::string placements_;
};
class ByLabel final : public Generates {
 public:
  static constexpr std::string_view kName = "ByLabel";
  using Generates::Generates;
  bool is_label() const override { return true; }
};

api::ObjectPtr pod_with(std::map<std::string, std::string> labels = {}) {
  return PodSample{.name = "p", .labels = std::move(labels)}.make();
}
ClusterEvent event_about(Resource resource) {
  return {.resource = resource, .action = Action::Add, .before = nullptr, .after = nullptr};
}
const ClusterEvent kNodeCame = event_about(Resource::Node);

struct Place {
  Point point;
  std::function<std::vector<std::int64_t>(const Profile&)> weights;  // of those filed there
};
template <typename List>
std::vector<std::int64_t> weights_in(const List& list) {
  std::vector<std::int64_t> weights;
  for (const auto& entry : list) weights.push_back(entry.weight);
  return weights;
}
const std::vector<Place>& places() {
  static const std::vector<Place> kPlaces{
      {Point::Filter, [](const Profile& p) { return weights_in(p.filters()); }},
      {Point::Score, [](const Profile& p) { return weights_in(p.scores()); }},
      {Point::Reserve, [](const Profile& p) { return weights_in(p.reserves()); }},
      {Point::Permit, [](const Profile& p) { return weights_in(p.permits()); }},
      {Point::PreBind, [](const Profile& p) { return weights_in(p.pre_binds()); }},
      {Point::PostBind, [](const Profile& p) { return weights_in(p.post_binds()); }},
      {Point::PlacementGenerate,
       [](const Profile& p) { return weights_in(p.placement_generators()); }},
      {Point::PlacementFeasible,
       [](const Profile& p) { return weights_in(p.placement_feasibles()); }},
      {Point::PlacementScore, [](const Profile& p) { return weights_in(p.placement_scores()); }},
      {Point::PodGroupPostFilter,
       [](const Profile& p) { return weights_in(p.group_post_filters()); }},
  };
  return kPlaces;
}

TEST(Plugin, AnswersAtThePointsOfItsRoles) {
  const Plugin everything = make_plugin<Everything>();
  for (std::size_t i = 0; i < kExtensionPoints; ++i) {
    const auto point = static_cast<Point>(i);
    const bool is_engines =
        point == Point::QueueSort || point == Point::PostFilter || point == Point::Bind;
    EXPECT_EQ(everything.points.contains(point), !is_engines) << point_name(point);
  }
  const Plugin gate = make_plugin<FirstGate>();
  EXPECT_EQ(gate.name, "FirstGate");
  for (std::size_t i = 0; i < kExtensionPoints; ++i) {
    const auto point = static_cast<Point>(i);
    EXPECT_EQ(gate.points.contains(point), point == Point::PreEnqueue) << point_name(point);
  }
}

TEST(Profile, FilesAPluginUnderThePointsThatAreNamedAndNoOther) {
  const Plugin everything = make_plugin<Everything>();
  for (std::size_t i = 0; i < kExtensionPoints; ++i) {
    const auto point = static_cast<Point>(i);
    Profile profile;
    profile.add(everything, {point}, 7);
    for (const Place& place : places()) {
      const bool has_weight = place.point == Point::Score || place.point == Point::PlacementScore;
      const std::vector<std::int64_t> here{has_weight ? 7 : 1};
      EXPECT_EQ(place.weights(profile), place.point == point ? here : std::vector<std::int64_t>{})
          << point_name(point) << " at " << point_name(place.point);
    }
    EXPECT_EQ(profile.pre_enqueue(*pod_with()).has_value(), point == Point::PreEnqueue);
    EXPECT_EQ(profile.has_generated_placements(), point == Point::PlacementGenerate);
    for (std::size_t other = 0; other < kExtensionPoints; ++other)
      EXPECT_EQ(profile.runs("Everything", static_cast<Point>(other)),
                other == i && everything.points.contains(point));
    EXPECT_TRUE(profile.has("Everything"));
    EXPECT_FALSE(profile.runs("Other", point));
    EXPECT_FALSE(profile.has("Other"));
  }
}

TEST(Profile, APluginWithoutARoleIsFiledNowhere) {
  Profile profile;
  profile.add(make_plugin<Opinionated>(Opinion{}), Points::all(), 1);
  for (const Place& place : places())
    EXPECT_TRUE(place.weights(profile).empty()) << point_name(place.point);
  EXPECT_FALSE(profile.pre_enqueue(*pod_with()).has_value());
}

TEST(Profile, APluginMayBeAddedPointByPoint) {
  Profile profile;
  const Plugin everything = make_plugin<Everything>();
  profile.add(everything, {Point::Filter}, 1);
  profile.add<FirstGate>(1);
  profile.add(everything, {Point::Score}, 3);
  EXPECT_TRUE(profile.runs("Everything", Point::Filter));
  EXPECT_TRUE(profile.runs("Everything", Point::Score));
  EXPECT_FALSE(profile.runs("Everything", Point::Reserve));
  EXPECT_TRUE(profile.runs("FirstGate", Point::PreEnqueue));
}

TEST(Profile, TheFirstGateThatSaysNoGivesItsReason) {
  Profile profile;
  profile.add<FirstGate>(1);
  profile.add<SecondGate>(1);
  EXPECT_EQ(profile.pre_enqueue(*pod_with()), std::nullopt);
  EXPECT_EQ(profile.gated_by(*pod_with()), std::nullopt);
  const auto second = pod_with({{"two", ""}});
  EXPECT_EQ(profile.pre_enqueue(*second), "has two");
  EXPECT_EQ(profile.gated_by(*second), "SecondGate");
  const auto both = pod_with({{"one", ""}, {"two", ""}});
  EXPECT_EQ(profile.pre_enqueue(*both), "has one");
  EXPECT_EQ(profile.gated_by(*both), "FirstGate");
}

TEST(Profile, AnEventHelpsOnlyIfThePluginListensAndSaysSoTwice) {
  const Cluster cluster;
  const auto pod = pod_with();
  const auto helps = [&](Opinion opinion, const ClusterEvent& event, const Cluster* now) {
    Profile profile;
    profile.add<FirstGate>(1);
    profile.add<Opinionated>(1, opinion);
    return profile.could_help("Opinionated", *pod, event, now);
  };
  EXPECT_TRUE(helps({}, kNodeCame, &cluster));
  EXPECT_FALSE(helps({}, event_about(Resource::Namespace), nullptr));
  EXPECT_FALSE(helps({.listens = false}, kNodeCame, nullptr));
  EXPECT_FALSE(helps({.could_help = false}, kNodeCame, nullptr));
  EXPECT_FALSE(helps({.helps_by_now = false}, kNodeCame, &cluster));
  EXPECT_TRUE(helps({.helps_by_now = false}, kNodeCame, nullptr)) << "nobody asks what is now";
}

TEST(Profile, APluginWithoutAnOpinionIsHelpedByEverything) {
  Profile profile;
  profile.add<FirstGate>(1);
  profile.add<Opinionated>(1, Opinion{.listens = false, .could_help = false});
  for (const char* name : {"FirstGate", "Unknown"}) {
    EXPECT_TRUE(profile.could_help(name, *pod_with(), kNodeCame));
    EXPECT_TRUE(profile.listens(name, Resource::Node, Action::Add));
  }
  EXPECT_FALSE(profile.listens("Opinionated", Resource::Node, Action::Add));
}

TEST(Profile, PlacementsAreGeneratedOnceAPluginDoesMoreThanNameALabel) {
  Profile profile;
  profile.add<ByLabel>(1, "rack");
  EXPECT_FALSE(profile.has_generated_placements());
  profile.add<Generates>(1, "halls");
  EXPECT_TRUE(profile.has_generated_placements());
  profile.add<ByLabel>(1, "zone");
  EXPECT_TRUE(profile.has_generated_placements());
}

TEST(Profile, CopiesHaveOneIdentityAndOthersAnother) {
  const Profile profile;
  const Profile copy = profile;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.identity(), profile.identity());
  EXPECT_NE(Profile().identity(), profile.identity());
}

TEST(IgnoredResources, AreExtendedOnesByNameOrByGroup) {
  const IgnoredResources ignored{
      .names = {"example.com/gadget", "cpu", "kubernetes.io/odd", "requests.example.com/gadget"},
      .groups = {"devices.example.com", "batch.kubernetes.io"}};
  EXPECT_TRUE(ignored.contains("example.com/gadget"));
  EXPECT_TRUE(ignored.contains("devices.example.com/any"));
  for (const char* name : {"example.com/other", "cpu", "kubernetes.io/odd",
                           "batch.kubernetes.io/any", "requests.example.com/gadget"})
    EXPECT_FALSE(ignored.contains(name)) << name;
}

// --- several profiles ---

Profile profile_with(const Plugin& plugin) {
  Profile profile;
  profile.add(plugin, Points::all(), 1);
  return profile;
}

TEST(Profiles, AreFoundByTheNameThatPodsAskFor) {
  const Profile usual;
  Profiles profiles(usual);
  EXPECT_TRUE(profiles.serves("default-scheduler"));
  EXPECT_FALSE(profiles.serves("batch"));
  EXPECT_EQ(profiles.find("batch"), nullptr);
  const Profile batch;
  profiles.add("batch", batch);
  ASSERT_NE(profiles.find("batch"), nullptr);
  EXPECT_EQ(profiles.find("batch")->identity(), batch.identity());
  EXPECT_EQ(profiles.first().scheduler_name, "default-scheduler");
  const Profile other;
  profiles.add("default-scheduler", other);
  EXPECT_EQ(profiles.find("default-scheduler")->identity(), other.identity());
  ASSERT_EQ(profiles.all().size(), 2U);
  EXPECT_EQ(profiles.all()[1].scheduler_name, "batch");
}

TEST(Profiles, ListenIfOneOfThemThatHasThePluginDoes) {
  const auto deaf = make_plugin<Opinionated>(Opinion{.listens = false});
  Profiles profiles(profile_with(deaf));
  EXPECT_FALSE(profiles.listens("Opinionated", Resource::Node, Action::Add));
  EXPECT_TRUE(profiles.listens("Unknown", Resource::Node, Action::Add)) << "nobody knows better";
  profiles.add("without", Profile());
  EXPECT_FALSE(profiles.listens("Opinionated", Resource::Node, Action::Add));
  profiles.add("listens", profile_with(make_plugin<Opinionated>(Opinion{})));
  EXPECT_TRUE(profiles.listens("Opinionated", Resource::Node, Action::Add));
  EXPECT_FALSE(profiles.listens("Opinionated", Resource::Node, Action::Delete));
}

TEST(Profiles, SayWhatPluginsGenerateBesideLabels) {
  Profile halls;
  halls.add<ByLabel>(1, "rack");
  halls.add<Generates>(1, "halls");
  Profiles profiles("batch", halls);
  profiles.add("silent", profile_with(make_plugin<Generates>("")));
  profiles.add("labels", profile_with(make_plugin<ByLabel>("zone")));
  profiles.add("other", profile_with(make_plugin<Generates>("rows")));
  EXPECT_EQ(profiles.placements_of({}), "batch: Generates: halls\nother: Generates: rows\n");
  EXPECT_EQ(Profiles(Profile()).placements_of({}), "");
}

}  // namespace
}  // namespace muster::scheduler
