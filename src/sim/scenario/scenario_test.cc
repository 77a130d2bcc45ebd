#include "sim/scenario/scenario.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

// What is wrong with the text, in its form or in its run; empty if nothing is.
std::string wrong(std::string_view text) {
  const Result<Scenario> scenario = parse_scenario("s.txt", text);
  return scenario ? run_scenario(*scenario, {}) : scenario.error().message;
}

constexpr std::string_view kCluster =
    "cluster\n"
    "  rack r1  nodes n[1..2]  cpu=4\n";

std::string with_cluster(std::string_view text) {
  return std::string(kCluster) + std::string(text);
}

TEST(Scenario, PassesWhenAllIsAsExpected) {
  EXPECT_EQ(wrong(with_cluster("submit pod web  cpu=1\n"
                               "cycle\n"
                               "  web  placed in rack r1  # anywhere there\n")),
            "");
}

TEST(Scenario, SaysWhatIsTheCaseInsteadAndShowsTheMap) {
  EXPECT_EQ(wrong(with_cluster("submit pod web  cpu=1\n"
                               "cycle\n"
                               "  web  placed on n2\n")),
            "s.txt:5: expected: web  placed on n2\n"
            "  is the case: placed 1 of 1: n1\n"
            "    rack r1\n"
            "      n1  cpu 1/4  web\n"
            "      n2  cpu 0/4  -\n");
}

TEST(Scenario, NamesTheLineAndTheWordsThatWouldBeRight) {
  struct Case {
    std::string_view text;
    std::string_view want;
  };
  const Case cases[] = {
      {"cycel\n",
       "s.txt:3: unknown word `cycel`; a step begins with one of cluster, add, storage, running,"},
      {"submit gang g  pods=2  wihtin=rack\n", "s.txt:3: unknown word `wihtin=rack` about a group"},
      {"submit gang g  pods=2  within=rak\n", "s.txt:3: within=rak: there is no such level"},
      {"submit basic g  min=2\n", "s.txt:3: a basic group has no minimum"},
      {"cycle\n  web  plcaed\n", "s.txt:4: unknown expectation `plcaed`; there are X placed,"},
      {"cycle\n  web  placed two\n", "s.txt:4: two is no whole number"},
      {"cordon n1\n  web  placed\n", "s.txt:4: nothing can be indented under `cordon`"},
      {"add rack r2 nodes m[1..\n", "s.txt:3: m[1.. is no range of names"},
      {"add rack r2 nodes m1 cpu=lots\n", "s.txt:3: cpu=lots: lots is no amount"},
      {"wait soon\n", "s.txt:3: soon is no length of time"},
      {"\tcycle\n", "s.txt:3: indent with spaces"},
      {"cycle\n    a  placed\n  b  placed\n", "s.txt:5: indented unlike the lines beside it"},
      {"finish web\n", "s.txt:3: `finish web` failed: nobody here is called web"},
  };
  for (const Case& c : cases)
    EXPECT_TRUE(wrong(with_cluster(c.text)).starts_with(c.want)) << wrong(with_cluster(c.text));
}

TEST(Scenario, AKnownFaultMustNotPass) {
  const std::string fails = with_cluster("submit pod web  cpu=9\ncycle\n  web  placed\n");
  EXPECT_NE(wrong(fails), "");
  EXPECT_EQ(wrong("expected to fail: nine do not fit\n" + fails), "");
  EXPECT_EQ(wrong("expected to fail: four would fit\n" +
                  with_cluster("submit pod web  cpu=4\ncycle\n  web  placed\n")),
            "s.txt: expected to fail (four would fit), but it passes: take that line away\n");
}

TEST(Scenario, EveryExpectationCanFail) {
  constexpr std::string_view kStory =
      "running\n"
      "  old  on n1  cpu=2\n"
      "submit gang train  pods=3  cpu=2  within=rack\n"
      "submit gang big  pods=3  cpu=3  within=rack\n"
      "cycle\n";
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"train  placed 2 of 3", "placed 3 of 3: n1, n2 (2)"},
      {"train  placed in rack r2", "placed 3 of 3: n1, n2 (2)"},
      {"train  waits", "placed 3 of 3: n1, n2 (2)"},
      {"big  placed", "3 waiting: pod group is unschedulable, 0/1 placements"},
      {"big  waits: rack r1 fits 2 of 3", "waits: rack r1 fits 0 of 3"},
      {"big  waits because of the weather", "3 waiting: pod group is unschedulable"},
      {"big  condition SchedulerError", "condition False Unschedulable: pod group"},
      {"big  no condition", "condition False Unschedulable: pod group"},
      {"big  event Preempted", "event FailedScheduling: pod group is unschedulable"},
      {"train  no event", "event Scheduled: Successfully placed the pods that it needs"},
      {"big  attempts 2", "1 attempts in this step"},
      {"attempts at most 1", "2 attempts in this step"},
      {"queue resting=0", "queue active=0 backoff=0 gated=0 incomplete=0 resting=1"},
      {"node n1  uses cpu=3", "cpu 4; it holds old train-"},
      {"node n2  empty", "it holds train-"},
      {"train  gated", "placed 3 of 3"},
      {"old  gone", "placed 1 of 1: n1"},
  };
  for (const auto& [line, want] : cases) {
    const std::string said =
        wrong(with_cluster(std::string(kStory) + "  " + std::string(line) + "\n"));
    EXPECT_NE(said.find(fmt::format("expected: {}\n  is the case: {}", line, want)),
              std::string::npos)
        << said;
  }
}

TEST(Scenario, TellsEveryStep) {
  const Result<Scenario> scenario =
      parse_scenario("s.txt", with_cluster("submit gang g  pods=2  cpu=4\ncycle\n  g  placed\n"));
  ASSERT_TRUE(scenario);
  std::string text;
  EXPECT_EQ(
      run_scenario(*scenario, {.seed = 1, .say = [&](std::string_view more) { text += more; }}),
      "");
  EXPECT_EQ(text,
            "cluster\n"
            "submit gang g  pods=2  cpu=4\n"
            "cycle\n"
            "    g                    placed 2 of 2: n1, n2\n"
            "      rack r1\n"
            "        n1  cpu 4/4  g-0\n"
            "        n2  cpu 4/4  g-1\n");
}

}  // namespace
}  // namespace muster::sim
