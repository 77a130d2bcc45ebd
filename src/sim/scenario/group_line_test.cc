#include "sim/scenario/group_line.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

std::vector<Line> lines_of(std::string_view text) { return read_lines(text).value(); }

Result<GroupLine> group(std::string_view text) {
  const std::vector<Line> lines = lines_of(text);
  return read_group(lines.at(0), Words(lines.at(0)));
}
// The pods of a lone pod's line "pod NAME ...".
Result<LonePods> pods(std::string_view words) {
  const std::vector<Line> lines = lines_of("pod web " + std::string(words));
  return read_lone_pods(lines.at(0), Words(lines.at(0), 1));
}
std::string fault(std::string_view text) {
  const Result<GroupLine> read = group(text);
  return read ? "" : read.error().message;
}
std::string pod_fault(std::string_view words) {
  const Result<LonePods> read = pods(words);
  return read ? "" : read.error().message;
}

TEST(ReadGroup, ALineSaysAllAboutItsGroup) {
  const GroupLine read =
      group(
          "gang g  within=rack  min=3  priority=-5  expects=7  prefers=zone  prefers-for=10m  "
          "parent=p  owned-by=o  disrupts=all  never-preempts  pods=4  cpu=2")
          .value();
  EXPECT_EQ(read.role, GroupRole::Gang);
  EXPECT_EQ(read.name, "g");
  EXPECT_EQ(read.within, "topology.kubernetes.io/rack");
  EXPECT_EQ(read.minimum, 3);
  EXPECT_EQ(read.priority, -5);
  EXPECT_EQ(read.expects, 7);
  EXPECT_EQ(read.prefers, "topology.kubernetes.io/zone");
  EXPECT_EQ(read.prefers_for, "10m");
  EXPECT_EQ(read.parent, "p");
  EXPECT_EQ(read.owner, "o");
  EXPECT_TRUE(read.disrupted_together);
  EXPECT_TRUE(read.never_preempts);
  ASSERT_EQ(read.pods.size(), 1U);
  EXPECT_EQ(read.pods[0].count, 4);
  EXPECT_FALSE(read.pods[0].never_preempts) << "the word is about the group";
  const GroupLine plain = group("basic g").value();
  EXPECT_EQ(plain.role, GroupRole::Basic);
  EXPECT_EQ(plain.minimum, std::nullopt);
  EXPECT_EQ(plain.priority, std::nullopt);
  EXPECT_FALSE(plain.disrupted_together || plain.never_preempts || plain.basic);
  EXPECT_EQ(plain.pods.at(0).count, 1);
  EXPECT_EQ(group("gang g within=example.com/row")->within, "example.com/row");
}

TEST(ReadGroup, GroupsAndShapesAreIndentedBelow) {
  const GroupLine tree = group(
                             "workload w  basic\n"
                             "  gang a  cpu=1\n"
                             "    shape big  pods=2  cpu=4\n"
                             "    shape small  gpu=1\n"
                             "  composite c\n"
                             "    basic b  pods=3\n")
                             .value();
  EXPECT_EQ(tree.role, GroupRole::Composite);
  EXPECT_TRUE(tree.basic);
  ASSERT_EQ(tree.children.size(), 2U);
  const std::vector<PodLine>& shapes = tree.children[0].pods;
  ASSERT_EQ(shapes.size(), 2U);
  using Resources = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(shapes[0].name, "big");
  EXPECT_EQ(shapes[0].count, 2);
  EXPECT_EQ(shapes[0].resources, (Resources{{"cpu", "4"}})) << "what the shape says wins";
  EXPECT_EQ(shapes[1].name, "small");
  EXPECT_EQ(shapes[1].resources, (Resources{{"cpu", "1"}, {"nvidia.com/gpu", "1"}}));
  EXPECT_EQ(tree.children[1].children.at(0).pods.at(0).count, 3);
  EXPECT_TRUE(group("workload w min=2")) << "its children come later";
}

TEST(ReadGroup, SaysWhatIsWrong) {
  EXPECT_EQ(fault("team g"), "1: `team` is no group: write gang, basic, workload or composite");
  EXPECT_EQ(fault("gang"), "1: `gang` ends where the name of the group is expected");
  EXPECT_EQ(fault("basic g min=1"), "1: a basic group has no minimum; write gang");
  EXPECT_EQ(fault("workload w"), "1: a workload without groups below it needs min=N");
  EXPECT_EQ(fault("workload w\n  pod x"),
            "2: `pod` cannot be indented under a workload; gang, basic and composite can");
  EXPECT_EQ(fault("gang g\n  gang h"),
            "2: `gang` cannot be indented under a group of pods; only `shape NAME pods=N` can");
  EXPECT_EQ(fault("gang g\n  shape"), "2: `shape` ends where the name of the shape is expected");
  EXPECT_EQ(fault("gang g\n  shape s min=3").substr(0, 41),
            "2: unknown word `min=3` about pods; there");
  EXPECT_EQ(fault("gang g within=rak"),
            "1: within=rak: there is no such level; write zone, block, rack, host or a label key "
            "such as example.com/row");
  const std::string of_group =
      "within=LEVEL, min=N, priority=N, never-preempts, disrupts=all, expects=N, prefers=LEVEL, "
      "prefers-for=10m, parent=GROUP, owned-by=POD";
  EXPECT_EQ(fault("workload w pods=2"),
            "1: unknown word `pods=2` about a group; there are " + of_group)
      << "a workload has no pods of its own";
  const std::string of_gang = fault("gang g odd");
  EXPECT_EQ(of_gang.find("1: unknown word `odd` about a group; there are " + of_group +
                         "; about its pods: pods=N, "),
            0U)
      << of_gang;
  for (const char* word : {"min=x", "priority=x", "expects=x", "pods=x", "port=x"})
    EXPECT_EQ(fault("gang g " + std::string(word)), "1: x is no whole number") << word;
}

TEST(ReadPods, ALineSaysAllAboutItsPods) {
  const LonePods lone = pods(
                            "cpu=1 gated never-preempts host-network own-users priority=9 "
                            "tolerates=spot tolerates=a=b:NoExecute selector=zone=z port=80 "
                            "image=app:2 runs-for=30s stops-in=5s exit=1 claim=c "
                            "resource-claim=r own-claim=fast:10Gi cpu=2 memory=1Gi")
                            .value();
  const PodLine& read = lone.pods;
  EXPECT_EQ(lone.name, "web");
  EXPECT_EQ(read.count, 0) << "web, not web/0";
  EXPECT_TRUE(read.gated && read.never_preempts && read.host_network && read.own_users);
  EXPECT_EQ(read.priority, 9);
  EXPECT_EQ(api::to_text(read.tolerations),
            R"([{"key":"spot","operator":"Exists"},)"
            R"({"effect":"NoExecute","key":"a","operator":"Equal","value":"b"}])");
  EXPECT_EQ(api::to_text(read.node_selector), R"({"topology.kubernetes.io/zone":"z"})");
  EXPECT_EQ(read.ports, std::vector<int>{80});
  EXPECT_EQ(read.image, "app:2");
  EXPECT_EQ(read.runs_for + read.stops_in + read.exit_code, "30s5s1");
  EXPECT_EQ(read.claims, std::vector<std::string>{"c"});
  EXPECT_EQ(read.resource_claims, std::vector<std::string>{"r"});
  EXPECT_EQ(read.own_claim, std::pair(std::string("fast"), std::string("10Gi")));
  using Resources = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(read.resources, (Resources{{"cpu", "2"}, {"memory", "1Gi"}})) << "the last one wins";
  const PodLine plain = pods("")->pods;
  EXPECT_FALSE(plain.gated || plain.never_preempts || plain.host_network || plain.own_users);
  EXPECT_EQ(pods("pods=3")->pods.count, 3);
}

TEST(ReadPods, SaysWhatIsWrong) {
  EXPECT_EQ(pod_fault("own-claim=fast"), "1: write own-claim=CLASS:SIZE");
  EXPECT_EQ(pod_fault("cpu=lots"), "1: cpu=lots: lots is no amount such as 8, 500m or 64Gi");
  EXPECT_EQ(pod_fault("runs-for=soon"), "1: soon is no length of time such as 30s");
  EXPECT_EQ(pod_fault("stops-in=soon"), "1: soon is no length of time such as 30s");
  EXPECT_EQ(pod_fault("cpu=1\n  below"), "2: nothing can be indented under a lone pod");
  EXPECT_EQ(pod_fault("min=3").find("1: unknown word `min=3` about pods; there are pods=N, "), 0U);
  EXPECT_EQ(pod_fault("label=x"), "1: label=x: write label=KEY=VALUE");
  EXPECT_EQ(pod_fault("near=app=web"), "1: app=web: write KEY=VALUE@LEVEL, such as app=web@zone");
  EXPECT_EQ(pod_fault("near=web@zone"), "1: web@zone: write KEY=VALUE@LEVEL, such as app=web@zone");
  EXPECT_EQ(pod_fault("spread=app=web@zone"),
            "1: app=web@zone: write KEY=VALUE@LEVEL:SKEW, such as app=web@zone:1");
  EXPECT_EQ(pod_fault("spread=app=web@zone:x"), "1: x is no whole number");
}

TEST(ReadPods, CompanyIsWantedOrAvoided) {
  const Company company =
      pods(
          "label=app=web near=app=db@zone near=a=b@rack away-from=app=web@host "
          "prefers-near=c=d@zone prefers-away-from=e=f@zone spread=app=web@zone:1 "
          "spread-softly=app=web@rack:2")
          ->pods.company;
  const auto term = [](const std::string& key, const std::string& name, const std::string& value) {
    return R"({"topologyKey":")" + key + R"(","labelSelector":{"matchLabels":{")" + name +
           R"(":")" + value + R"("}}})";
  };
  const std::string zone = "topology.kubernetes.io/zone";
  const std::string rack = "topology.kubernetes.io/rack";
  const std::string required = R"("requiredDuringSchedulingIgnoredDuringExecution":[)";
  const std::string preferred =
      R"("preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"podAffinityTerm":)";
  EXPECT_EQ(api::to_text(company.labels), R"({"app":"web"})");
  EXPECT_EQ(api::to_text(company.affinity),
            R"({"podAffinity":{)" + required + term(zone, "app", "db") + "," +
                term(rack, "a", "b") + "]," + preferred + term(zone, "c", "d") +
                R"(}]},"podAntiAffinity":{)" + required +
                term("kubernetes.io/hostname", "app", "web") + "]," + preferred +
                term(zone, "e", "f") + "}]}}");
  EXPECT_EQ(api::to_text(company.spread),
            R"([{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{"matchLabels":)"
            R"({"app":"web"}},"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule"},)"
            R"({"topologyKey":"topology.kubernetes.io/rack","labelSelector":{"matchLabels":)"
            R"({"app":"web"}},"maxSkew":2,"whenUnsatisfiable":"ScheduleAnyway"}])");
}

}  // namespace
}  // namespace muster::sim
